from __future__ import annotations

import io
import json
import socket
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from pytest_django.live_server_helper import LiveServer

from memoryreview.connect.propose import command
from memoryreview.review.models import Proposal, Store
from memoryreview.review.operations import accounts
from memoryreview.review.operations.stores import reading
from tests.conftest import MakeStore, on_disk

NOTE = "# Build\n\n- Moved to the new runner on 13/04/2025.\n- The database listens on port 5432.\n"
FACT = NOTE.replace("5432", "5433")

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "queue"])


class StandardInput(io.TextIOWrapper):
    """Standard input that holds bytes."""

    def __init__(self, content: bytes) -> None:
        super().__init__(io.BytesIO(content), encoding="utf-8")


@pytest.fixture
def store(owner: User, make_store: MakeStore, live_server: LiveServer, monkeypatch: pytest.MonkeyPatch) -> Store:
    """A store, a running server, and the token of an agent in the environment."""
    monkeypatch.setenv("MEMORYREVIEW_URL", live_server.url)
    monkeypatch.setenv("MEMORYREVIEW_TOKEN", accounts.add_agent("claude", person=owner).token)
    return make_store({"build.md": NOTE, "deep/note.md": "# Deep\n"})


def proposed(path: str) -> bytes | None:
    content: Any = Proposal.objects.get().revision.documents.get(path=path).content
    return None if content is None else bytes(content)


def test_file_is_proposed_whole(store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    draft = tmp_path / "build.md"
    draft.write_text(FACT)

    said = ["--title", "Port", "--rationale", "seen", "--evidence", "a", "--evidence", "b"]

    code = command(["--store", "notes", "--file", str(draft), *said])

    proposal = Proposal.objects.get()
    assert code == 0
    assert proposed("build.md") == FACT.encode()
    assert (proposal.claimed_title, proposal.rationale, proposal.source) == ("Port", "seen", {"evidence": "a\nb"})
    assert capsys.readouterr().out == (
        f"Waits for review: {proposal.title} (proposal {proposal.pk}: http://127.0.0.1:8765/proposals/{proposal.pk})\n"
    )


def test_file_in_the_store_keeps_its_place(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    inside = Path(store.root) / "deep" / "note.md"
    inside.write_text("# Deep\n\nA new fact.\n")
    monkeypatch.chdir(inside.parent)

    assert command(["--store", "notes", "--file", "note.md"]) == 0
    assert proposed("deep/note.md") == b"# Deep\n\nA new fact.\n"


def test_file_can_be_named_otherwise(store: Store, tmp_path: Path) -> None:
    (tmp_path / "draft.txt").write_bytes(b"# Fresh\r\n")

    assert command(["--store", "notes", "--file", str(tmp_path / "draft.txt"), "--as", "deep/fresh.md"]) == 0
    assert proposed("deep/fresh.md") == b"# Fresh\r\n"


def test_file_comes_from_standard_input(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", StandardInput(FACT.encode()))

    assert command(["--store", "notes", "--file", "-", "--as", "build.md"]) == 0
    assert proposed("build.md") == FACT.encode()


def test_patch_comes_from_standard_input(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    diff = (
        "--- a/build.md\n+++ b/build.md\n@@ -4 +4 @@\n"
        "-- The database listens on port 5432.\n+- The database listens on port 5433.\n"
    )
    monkeypatch.setattr("sys.stdin", StandardInput(diff.encode()))

    assert command(["--store", "notes", "--patch", "-"]) == 0
    assert proposed("build.md") == FACT.encode()


def test_what_was_done_is_one_line(store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    draft = tmp_path / "build.md"
    lines = []
    for text in (NOTE.replace("13/04/2025", "2025-04-13"), FACT, FACT, NOTE.replace("13/04/2025", "2025-04-13")):
        draft.write_text(text)
        assert command(["--store", "notes", "--file", str(draft)]) == 0
        lines.append(capsys.readouterr().out)

    waiting = Proposal.objects.get(state="pending")
    assert [line.split(":")[0] for line in lines] == [
        "Applied", "Waits for review", f"Already waiting as proposal {waiting.pk}", "Unchanged",
    ]  # fmt: skip
    assert all(line.count("\n") == 1 for line in lines)


def test_answer_is_printed_as_json(store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "build.md").write_text(FACT)

    code = command(["--store", "notes", "--file", str(tmp_path / "build.md"), "--json"])

    answer = json.loads(capsys.readouterr().out)
    assert (code, answer["id"], answer["state"]) == (0, Proposal.objects.get().pk, "pending")


def test_base_is_sent(store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "build.md").write_text(FACT)
    with reading(store) as repository:
        head = repository.head()

    assert command(["--store", "notes", "--file", str(tmp_path / "build.md"), "--base", "0" * 40]) == 1
    assert command(["--store", "notes", "--file", str(tmp_path / "build.md"), "--base", str(head)]) == 0
    assert capsys.readouterr().err.startswith("The base is not a commit of this store.")


def test_refusal_is_the_servers_sentence(store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "build.md").write_text("x\n")

    code = command(["--store", "nowhere", "--file", str(tmp_path / "build.md"), "--as", "build.md"])

    shown = capsys.readouterr()
    assert (code, shown.out) == (1, "")
    assert shown.err == "There is no store “nowhere” that you may use. Nothing was stored.\n"
    assert on_disk(store, "build.md") == NOTE.encode()


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--store", "notes"],
        ["--store", "notes", "--file", "a.md", "--patch", "b.diff"],
        ["--file", "a.md"],
        ["--store", "notes", "--patch", "x", "--as", "a.md"],
        ["--store", "notes", "--file", "-"],
        ["--store", "notes", "--file", "a.md", "--approve"],
    ],
)
def test_wrong_usage_is_exit_code_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert command(arguments) == 2
    assert capsys.readouterr().err != ""


def test_help_is_exit_code_0(capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["--help"]) == 0
    assert "--patch FILE" in capsys.readouterr().out


def test_missing_file_is_a_sentence(store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = str(tmp_path / "none.md")

    assert command(["--store", "notes", "--file", name]) == 2
    assert capsys.readouterr().err == f"“{name}” cannot be read: no such file or directory.\n"


def test_file_that_is_not_utf_8_is_refused(store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "latin.md").write_bytes(b"caf\xe9")

    assert command(["--store", "notes", "--file", str(tmp_path / "latin.md")]) == 1
    assert "is not UTF-8 (byte 3)" in capsys.readouterr().err
    assert Proposal.objects.count() == 0


def test_server_that_is_down_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.md").write_text("x\n")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        monkeypatch.setenv("MEMORYREVIEW_URL", f"http://127.0.0.1:{taken.getsockname()[1]}")
        monkeypatch.setenv("MEMORYREVIEW_TOKEN", "mrv_x")

        code = command(["--store", "notes", "--file", str(tmp_path / "a.md")])

    shown = capsys.readouterr().err
    assert code == 1
    assert shown.startswith("memoryreview does not answer at http://127.0.0.1:")
    assert shown.count("\n") == 1


def test_missing_token_is_a_sentence(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delenv("MEMORYREVIEW_TOKEN", raising=False)

    assert command(["--store", "notes", "--file", "a.md"]) == 1
    assert capsys.readouterr().err.startswith("MEMORYREVIEW_TOKEN is not set.")
