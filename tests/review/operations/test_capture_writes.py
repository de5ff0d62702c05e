"""How files are really written: in steps, by temp files and renames, again and again, while we look."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from django.contrib.auth.models import User

from memoryreview.baseline import steps
from memoryreview.review.models import ChangeKind, Proposal, State, Store
from memoryreview.review.operations import audit
from memoryreview.review.operations.capture import MAX_HELD_WRITES, capture
from memoryreview.review.operations.errors import CannotApplyError
from tests.conftest import MakeStore, Propose, on_disk, replaced
from tests.review.operations.test_decide import approve

NOTE = "# Ports\n\n- Staging listens on 5432.\n- Mail goes to the sink.\n"
At = Callable[[str, Callable[[], object]], None]


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> At:
    """Do something at a step, once."""

    def arm(name: str, act: Callable[[], object]) -> None:
        waiting = [act]

        def on_step(step: str) -> None:
            if step == name and waiting:
                waiting.pop()()

        monkeypatch.setattr(steps, "on_step", on_step)

    return arm


def path_of(store: Store, path: str) -> Path:
    return Path(store.root) / path


def old(path: Path) -> None:
    """Let a file look as if it was written long ago."""
    long_ago_s = time.time() - 60
    os.utime(path, (long_ago_s, long_ago_s))


def waiting() -> list[list[str]]:
    return [proposal.kinds for proposal in Proposal.objects.waiting().order_by("pk")]


def _rename_over(path: Path, text: str) -> None:
    path.with_name(f"{path.name}.tmp.123").write_text(text)
    path.with_name(f"{path.name}.tmp.123").replace(path)


def _backup_and_new(path: Path, text: str) -> None:
    path.rename(path.with_name(f"{path.name}~"))
    path.with_name("4913").write_text("")
    path.write_text(text)


def _delete_and_create(path: Path, text: str) -> None:
    path.unlink()
    path.write_text(text)


def _beside_locks(path: Path, text: str) -> None:
    for name in (f".{path.name}.swp", f"#{path.name}#", f"{path.name}.lock", "~$x", f"{path.name}___jb_tmp___"):
        path.with_name(name).write_text("x")
    path.with_name(f".#{path.name}").symlink_to("ana@host.1234")
    path.write_text(text)


@pytest.mark.parametrize("save", [_rename_over, _backup_and_new, _delete_and_create, _beside_locks])
def test_saving_as_editors_do_is_one_edit(make_store: MakeStore, save: Callable[[Path, str], None]) -> None:
    store = make_store({"ports.md": NOTE})
    save(path_of(store, "ports.md"), NOTE.replace("5432", "6432"))

    capture(store)

    assert [(p.kinds, p.paths) for p in Proposal.objects.all()] == [(["fact.rewrite"], ["ports.md"])]


def test_renamed_document_is_one_rename(make_store: MakeStore) -> None:
    store = make_store({"ports.md": NOTE, "MEMORY.md": "- [Ports](ports.md)\n", "a.md": "a\n", "b.md": "b\n"})
    path_of(store, "ports.md").rename(path_of(store, "listeners.md"))
    path_of(store, "MEMORY.md").write_text("- [Ports](listeners.md)\n")

    proposal = capture(store)[0]

    assert (proposal.kinds, proposal.title) == (["file.rename"], "Rename ports.md to listeners.md, 1 link follows")


def test_rename_of_the_case_alone_is_one_rename(make_store: MakeStore, owner: User) -> None:
    store = make_store({"ports.md": NOTE, "a.md": "a\n"})
    path_of(store, "ports.md").rename(path_of(store, "Ports.md"))

    proposal = capture(store)[0]
    approve(proposal, owner)

    assert (proposal.kinds, proposal.paths) == (["file.rename"], ["Ports.md", "ports.md"])
    assert (sorted(path.name for path in Path(store.root).iterdir()), capture(store)) == (["Ports.md", "a.md"], [])


def test_moved_folder_is_renames_and_no_loss(make_store: MakeStore) -> None:
    store = make_store({f"topic/n{number}.md": f"text {number}\n" for number in range(6)})
    path_of(store, "topic").rename(path_of(store, "subject"))

    proposal = capture(store)[0]

    store.refresh_from_db()
    assert (proposal.kinds, store.alarm) == (["file.rename"], "")


def test_regenerated_files_of_codex_are_recorded(make_store: MakeStore) -> None:
    store = make_store({"MEMORY.md": "# Task Group: x\n", "raw_memories.md": "# Raw Memories\n\nold\n"}, format="codex")
    path_of(store, "raw_memories.md").write_text("# Raw Memories\n\nnew\n")
    path_of(store, "rollout_summaries").mkdir()
    path_of(store, "rollout_summaries/2026-05-19.md").write_text("summary\n")

    made = capture(store)

    assert [p.state for p in made] == [State.APPLIED]
    assert {change.kind for change in store.changes.all()} == {ChangeKind.ADOPT, ChangeKind.CAPTURED}
    assert waiting() == []


def test_half_written_document_waits_for_the_next_look(make_store: MakeStore, at: At) -> None:
    store = make_store({"ports.md": NOTE, "a.md": "a\n"})
    path_of(store, "ports.md").write_text(NOTE[:30])
    path_of(store, "a.md").write_text("b\n")
    at("drift.seen", lambda: path_of(store, "ports.md").write_text(NOTE.replace("5432", "6432")))

    first, second = capture(store), capture(store)

    assert [p.paths for p in (*first, *second)] == [["a.md"], ["ports.md"]]
    assert [p.state for p in Proposal.objects.filter(paths=["ports.md"])] == [State.PENDING]


def test_emptied_document_is_given_time_to_be_filled(make_store: MakeStore, at: At) -> None:
    store = make_store({"ports.md": NOTE})
    path_of(store, "ports.md").write_text("")
    at("drift.seen", lambda: path_of(store, "ports.md").write_text(NOTE.replace("5432", "6432")))

    made = [capture(store), capture(store)]

    assert [[p.kinds for p in each] for each in made] == [[], [["fact.rewrite"]]]


@pytest.mark.parametrize("let_age", [old, lambda _path: None])
def test_document_that_stays_empty_is_captured(make_store: MakeStore, let_age: Callable[[Path], None]) -> None:
    store = make_store({"ports.md": NOTE})
    path_of(store, "ports.md").write_text("")
    let_age(path_of(store, "ports.md"))

    assert [p.paths for p in capture(store)] == [["ports.md"]]


def test_document_that_is_gone_for_a_moment_is_not_deleted(make_store: MakeStore, at: At) -> None:
    store = make_store({"ports.md": NOTE, "a.md": "a\n", "b.md": "b\n"})
    path_of(store, "ports.md").unlink()
    at("drift.seen", lambda: path_of(store, "ports.md").write_text(NOTE))

    assert (capture(store), capture(store)) == ([], [])


def test_waiting_write_survives_while_its_document_is_written(make_store: MakeStore, at: At) -> None:
    store = make_store({"ports.md": NOTE})
    path_of(store, "ports.md").write_text(NOTE.replace("5432", "6432"))
    first = capture(store)[0]
    path_of(store, "ports.md").write_text("# Po")
    at("drift.seen", lambda: path_of(store, "ports.md").write_text("# Ports\n"))

    assert capture(store) == []

    first.refresh_from_db()
    assert first.state == State.PENDING


def test_waiting_write_survives_while_its_document_cannot_be_read(make_store: MakeStore, tmp_path: Path) -> None:
    store = make_store({"ports.md": NOTE})
    path_of(store, "ports.md").write_text(NOTE.replace("5432", "6432"))
    first = capture(store)[0]
    path_of(store, "ports.md").unlink()
    path_of(store, "ports.md").symlink_to(tmp_path / "elsewhere.md")

    assert capture(store) == []

    first.refresh_from_db()
    assert first.state == State.PENDING


def test_nothing_is_applied_to_a_document_that_is_being_written(
    make_store: MakeStore, owner: User, propose: Propose, at: At
) -> None:
    store = make_store({"ports.md": NOTE})
    proposal = propose(store, replaced("ports.md", "the sink", "a sink"))
    path_of(store, "ports.md").write_text("# Po")
    at("drift.seen", lambda: path_of(store, "ports.md").write_text("# Ports\n"))

    with pytest.raises(CannotApplyError, match="being written right now"):
        approve(proposal, owner)

    assert on_disk(store, "ports.md") == b"# Ports\n"


def test_write_between_our_look_and_our_rename_becomes_a_proposal(
    make_store: MakeStore, owner: User, propose: Propose, at: At
) -> None:
    store = make_store({"ports.md": NOTE})
    proposal = propose(store, replaced("ports.md", "the sink", "a sink"))
    theirs = NOTE.replace("5432", "6432")
    at("document.compared", lambda: path_of(store, "ports.md").write_text(theirs))

    approve(proposal, owner)

    store.refresh_from_db()
    assert (on_disk(store, "ports.md"), store.differing) == (theirs.encode(), ["ports.md"])
    made = capture(store)
    assert [p.written.delta() for p in made] == [{"ports.md": theirs.encode()}]
    assert audit.audit(store) == []


def test_write_while_enforce_puts_back_is_captured_next(make_store: MakeStore, at: At) -> None:
    store = make_store({"ports.md": NOTE}, guard="enforce")
    first, second = NOTE.replace("5432", "6432"), NOTE.replace("5432", "7432")
    path_of(store, "ports.md").write_text(first)
    at("document.compared", lambda: path_of(store, "ports.md").write_text(second))

    capture(store)
    assert on_disk(store, "ports.md") == second.encode()
    capture(store)

    held = [proposal.written.delta()["ports.md"] for proposal in Proposal.objects.waiting().order_by("pk")]
    assert (held, on_disk(store, "ports.md")) == ([first.encode(), second.encode()], NOTE.encode())


def test_next_lock_sweeps_what_a_kill_left_while_enforce_put_back(
    make_store: MakeStore, propose: Propose, at: At, owner: User
) -> None:
    store = make_store({"ports.md": NOTE, "other.md": "Other.\n"}, guard="enforce")
    written = NOTE.replace("5432", "6432").encode()
    path_of(store, "ports.md").write_bytes(written)

    def die() -> None:
        raise KeyboardInterrupt

    at("document.exchanged", die)
    with pytest.raises(KeyboardInterrupt):
        capture(store)
    assert len(list(Path(store.root).iterdir())) == 3

    approve(propose(store, replaced("other.md", "Other", "Another")), owner)

    assert sorted(path.name for path in Path(store.root).iterdir()) == ["other.md", "ports.md"]
    assert on_disk(store, "ports.md") == NOTE.encode()
    assert [one.written.delta() for one in Proposal.objects.direct()] == [{"ports.md": written}]
    capture(store)
    store.refresh_from_db()
    assert store.differing == []


def test_same_write_again_under_enforce_is_counted(make_store: MakeStore) -> None:
    store = make_store({"ports.md": NOTE}, guard="enforce")
    for _ in range(4):
        path_of(store, "ports.md").write_text(NOTE.replace("5432", "6432"))
        capture(store)
    capture(store)

    assert [(p.repeats, p.state) for p in Proposal.objects.all()] == [(3, State.PENDING)]


def test_agent_that_rewrites_at_once_does_not_flood_the_queue(make_store: MakeStore) -> None:
    store = make_store({"ports.md": NOTE, "a.md": "a\n"}, guard="enforce")
    for number in range(MAX_HELD_WRITES + 4):
        path_of(store, "ports.md").write_text(NOTE.replace("5432", str(6000 + number)))
        capture(store)

    texts = [p.written.delta()["ports.md"] for p in Proposal.objects.waiting().order_by("pk")]
    assert len(texts) == MAX_HELD_WRITES
    assert b"6008" in (texts[-1] or b"")
    assert on_disk(store, "ports.md") == NOTE.encode()


def test_read_only_folder_under_enforce_is_named(make_store: MakeStore) -> None:
    store = make_store({"ports.md": NOTE, "sub/a.md": "a\n"}, guard="enforce")
    path_of(store, "sub/a.md").write_text("b\n")
    path_of(store, "sub").chmod(0o555)
    path_of(store, "ports.md").write_text(NOTE.replace("5432", "6432"))
    try:
        made = capture(store)
    finally:
        path_of(store, "sub").chmod(0o755)

    store.refresh_from_db()
    assert ([p.paths for p in made], store.differing) == ([["ports.md", "sub/a.md"]], ["sub/a.md"])
    assert on_disk(store, "ports.md") == NOTE.encode()
    capture(store)
    store.refresh_from_db()
    assert (on_disk(store, "sub/a.md"), store.differing) == (b"a\n", [])
