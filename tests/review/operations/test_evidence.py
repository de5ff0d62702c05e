from __future__ import annotations

import os
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from memoryreview.core.model import Evidence
from memoryreview.review.models import Change, Store
from memoryreview.review.operations import evidence as looked_up
from memoryreview.review.operations.audit import audit
from memoryreview.review.operations.evidence import MAX_FILES, evidence, sightings
from memoryreview.review.operations.stores import Workshop
from tests.conftest import MakeStore, Propose, replaced

NOTE = "---\nname: ports\nlast_verified: 2026-01-02\n---\n\nStaging listens on 5432.\n"
CODE = "import os\n\nPORT = 5432\nif True:\n    HOST =  'db'\n    PORT = 5432\n"


@pytest.fixture
def code(tmp_path: Path) -> Path:
    folder = tmp_path / "code"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "db.py").write_text(CODE)
    (folder / "big.py").write_text("PORT = 5432\n" + "x" * looked_up.MAX_FILE_BYTES)
    (tmp_path / "outside.py").write_text(CODE)
    (folder / "link.py").symlink_to(tmp_path / "outside.py")
    (folder / "up").symlink_to(tmp_path)
    os.mkfifo(folder / "pipe")
    return folder


@pytest.fixture
def store(make_store: MakeStore, code: Path) -> Store:
    store = make_store({"ports.md": NOTE})
    Store.objects.filter(pk=store.pk).update(evidence_root=str(code))
    return Store.objects.get(pk=store.pk)


def cite(path: str = "src/db.py", line: Any = 3, text: Any = "PORT = 5432") -> dict[str, Any]:
    return {"files": [{"path": path, "line": line, "text": text}]}


@pytest.mark.parametrize("source", [{}, {"session": "x"}, {"evidence": "  "}, {"files": []}, {"files": "src/db.py"}])
def test_nothing_that_could_be_looked_up_is_no_evidence(store: Store, source: dict[str, Any]) -> None:
    assert evidence(store, source) is Evidence.NONE


@pytest.mark.parametrize("source", [cite(), {"evidence": "He said so."}])
def test_evidence_is_attached_where_the_store_names_no_folder(make_store: MakeStore, source: dict[str, Any]) -> None:
    assert evidence(make_store({"a.md": "a\n"}), source) is Evidence.ATTACHED


@pytest.mark.parametrize(
    ("source", "line"),
    [
        (cite(), 3),
        (cite(line=6), 6),
        (cite(line=None), 3),
        (cite(line=1), 3),  # it moved
        (cite(text="  HOST = 'db'\n  PORT = 5432\n"), 5),
    ],
)
def test_cited_text_is_found_with_its_line_of_now(store: Store, source: dict[str, Any], line: int) -> None:
    assert [sighting.line for sighting in sightings(store, source)] == [line]
    assert evidence(store, source) is Evidence.FOUND


@pytest.mark.parametrize(
    "source",
    [
        cite(text="PORT = 5433"),
        cite(text="PORT = 543"),  # a part of a number is another number
        cite(text="ORT = 5432"),
        cite(text="=="),
        cite(text=""),
        cite(text=None),
        cite(path="src/other.py"),
        cite(path="src"),
        cite(path="../outside.py"),
        cite(path="src/../../outside.py"),
        cite(path="up/outside.py"),
        cite(path="link.py"),
        cite(path="/etc/passwd", text="root"),
        cite(path="src/db.py\0"),
        cite(path="pipe"),
        cite(path="big.py"),
        cite(path="\ud800.py"),
        {"files": cite()["files"] * (MAX_FILES + 1)},
        {"files": [*cite()["files"], *cite(text="gone text")["files"]]},
        {"evidence": "PORT = 5432"},  # a quote names no place
    ],
)
def test_what_is_not_there_is_missing(store: Store, source: dict[str, Any]) -> None:
    assert evidence(store, source) is Evidence.MISSING


def test_memory_does_not_bear_itself_out(make_store: MakeStore, tmp_path: Path) -> None:
    store = make_store({"ports.md": NOTE})
    store.evidence_root = str(tmp_path)

    assert evidence(store, cite("memory/notes/ports.md", 6, "Staging listens on 5432.")) is Evidence.MISSING


def test_folder_that_is_gone_shows_nothing(store: Store) -> None:
    store.evidence_root += "-gone"

    assert evidence(store, cite()) is Evidence.MISSING


def test_date_of_verification_moves_on_when_the_server_found_the_text(store: Store, propose: Propose) -> None:
    update = replaced("ports.md", "2026-01-02", "2026-03-04")

    assert propose(store, update, source=cite(text="PORT = 6432")).state == "pending"
    proposal = propose(store, replaced("ports.md", "2026-01-02", "2026-03-05"), source=cite())

    assert (proposal.state, proposal.revision.actions[0]["kind"]) == ("applied", "verified.update")
    assert audit(store) == []


def test_proof_by_evidence_outlives_the_evidence(store: Store, code: Path, propose: Propose) -> None:
    propose(store, replaced("ports.md", "2026-01-02", "2026-03-04"), source=cite())
    (code / "src" / "db.py").write_text("nothing\n")
    Store.objects.filter(pk=store.pk).update(evidence_root="")

    assert audit(store) == []
    assert Change.objects.get(store=store, kind="auto").certificate["context"]["evidence"] == "found"  # type: ignore[index]


def test_text_that_went_before_the_lock_was_held_lets_it_wait(
    store: Store, code: Path, propose: Propose, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memoryreview.review.operations import apply, settle

    def burst_late(shop: Workshop) -> AbstractContextManager[apply.Burst]:
        (code / "src" / "db.py").write_text("nothing\n")
        return apply.burst(shop)

    monkeypatch.setattr(settle, "burst", burst_late)

    proposal = propose(store, replaced("ports.md", "2026-01-02", "2026-03-04"), source=cite())

    assert (proposal.state, proposal.changes.count()) == ("pending", 0)
    assert "does not hold" in proposal.failure
