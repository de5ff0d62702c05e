from __future__ import annotations

import hashlib
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from pathlib import Path

import pytest
from django.contrib.auth.models import User

from memoryreview.core.classify.questions import Questions
from memoryreview.core.edits import Delete, Edit, Operation, Rename, Replacement, Write
from memoryreview.core.model import Ended, History
from memoryreview.review.models import Change, ChangedPath, ChangeKind, Store
from memoryreview.review.operations import history as past
from memoryreview.review.operations import rollback
from memoryreview.review.operations.capture import capture
from memoryreview.review.operations.stores import baseline_dir, reading
from tests.conftest import MakeStore, Propose, replaced
from tests.review.operations.test_decide import approve
from tests.review.operations.test_rollback import head, land

TOPIC = "---\nname: staging-port\ndescription: Where it listens\n---\n\nPort 5432.\n"


@pytest.fixture
def store(make_store: MakeStore) -> Store:
    return make_store({"gone.md": TOPIC, "other.md": "Other.\n"})


def tell(
    store: Store, *paths: str, lines: tuple[tuple[str, bytes], ...] = (), at: str = "", zone: tzinfo = UTC
) -> History:
    with reading(store) as repository:
        snapshot = repository.snapshot(at or repository.head() or "")
        return past.history(store, snapshot, Questions(paths, lines), zone)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def test_approved_deletion_is_told_with_name_and_digest(store: Store, propose: Propose, owner: User) -> None:
    land(propose, store, owner, Delete("gone.md"))

    told = tell(store, "gone.md", "other.md", "never.md")

    assert dict(told.ended) == {"gone.md": Ended("gone.md", "staging-port", digest(TOPIC))}


def test_document_that_came_back_and_went_again_is_told_as_it_went_last(
    store: Store, propose: Propose, owner: User
) -> None:
    land(propose, store, owner, Delete("gone.md"))
    land(propose, store, owner, Write("gone.md", "Another text.\n"))
    assert not tell(store, "gone.md").ended

    land(propose, store, owner, Delete("gone.md"))

    assert tell(store, "gone.md").ended["gone.md"] == Ended("gone.md", "", digest("Another text.\n"))


def test_first_commit_is_told_to_a_change_that_brings_a_date(store: Store, propose: Propose, owner: User) -> None:
    land(propose, store, owner, Write("other.md", "Another.\n"))
    with reading(store) as repository:
        head_ = repository.snapshot(repository.head() or "")
        first = repository.commit(Change.objects.filter(store=store).order_by("pk")[0].oid).at

        assert past.history(store, head_, Questions(is_dated=True), UTC).began == first.astimezone(UTC).date()
        assert past.history(store, head_, Questions(("gone.md",)), UTC).began is None


def test_history_is_told_as_of_a_commit(store: Store, propose: Propose, owner: User) -> None:
    before = head(store)
    deleted = land(propose, store, owner, Delete("gone.md"))
    land(propose, store, owner, Write("gone.md", "Again.\n"))

    assert not tell(store, "gone.md", at=before).ended
    assert tell(store, "gone.md", at=deleted.oid).ended["gone.md"].digest == digest(TOPIC)
    assert not tell(store, "gone.md").ended


def test_rename_chain_is_followed(store: Store, propose: Propose, owner: User) -> None:
    land(propose, store, owner, Rename("gone.md", "second.md"))
    land(propose, store, owner, Rename("second.md", "third.md"))

    told = tell(store, "gone.md").ended

    assert {path: one.renamed_to for path, one in told.items()} == {"gone.md": "second.md", "second.md": "third.md"}


def test_rename_there_and_back_ends_where_it_stands(store: Store, propose: Propose, owner: User) -> None:
    land(propose, store, owner, Rename("gone.md", "second.md"))
    land(propose, store, owner, Rename("second.md", "gone.md"))

    assert {path: one.renamed_to for path, one in tell(store, "second.md", "gone.md").ended.items()} == {
        "second.md": "gone.md"
    }


def test_document_that_went_on_in_two_places_is_neither_renamed_nor_deleted(
    store: Store, propose: Propose, owner: User
) -> None:
    land(propose, store, owner, Delete("gone.md"), Write("one.md", TOPIC), Write("two.md", TOPIC))

    assert not tell(store, "gone.md").ended


def test_rolled_back_deletion_and_rename_did_not_end_it(store: Store, propose: Propose, owner: User) -> None:
    deleted = land(propose, store, owner, Delete("gone.md"))
    rollback.roll_back(deleted, person=owner)
    renamed = land(propose, store, owner, Rename("gone.md", "second.md"))
    rollback.roll_back(renamed, person=owner)

    told = tell(store, "gone.md", "second.md").ended

    assert {path: one.renamed_to for path, one in told.items()} == {"second.md": "gone.md"}


def test_deletion_that_a_tool_made_is_not_approved(make_store: MakeStore, owner: User) -> None:
    store = make_store({"MEMORY.md": "# Task Group: x\n", "raw_memories.md": "raw\n"}, format="codex")
    (Path(store.root) / "raw_memories.md").unlink()
    capture(store)

    assert Change.objects.get(store=store, paths=["raw_memories.md"]).kind == ChangeKind.CAPTURED
    assert not tell(store, "raw_memories.md").ended


def test_approved_direct_deletion_ended_it(store: Store, owner: User) -> None:
    (Path(store.root) / "gone.md").unlink()
    (proposal,) = capture(store)
    assert not tell(store, "gone.md").ended

    approve(proposal, owner)

    assert tell(store, "gone.md").ended["gone.md"].name == "staging-port"


def test_row_that_git_does_not_bear_out_is_not_believed(store: Store, propose: Propose, owner: User) -> None:
    change = land(propose, store, owner, replaced("gone.md", "5432", "6432"))
    ChangedPath.objects.create(change=change, store=store, path="never.md")
    captured = Change.objects.get(pk=land(propose, store, owner, Delete("gone.md")).pk)

    assert not tell(store, "never.md").ended
    Change.objects.filter(pk=captured.pk).update(kind=ChangeKind.PROMOTE)
    assert not tell(store, "gone.md").ended


def test_missing_rows_and_objects_answer_nothing(store: Store, propose: Propose, owner: User) -> None:
    change = land(propose, store, owner, Delete("gone.md"))
    asked = Questions(("gone.md",), (("other.md", b"Other."),))
    land(propose, store, owner, replaced("other.md", "Other.", "Other.\nNew."))
    assert tell(store, *asked.paths, lines=asked.lines) != History()

    parent = baseline_dir(store) / "objects" / change.parent[:2] / change.parent[2:]
    parent.chmod(0o600)
    parent.unlink()
    assert tell(store, *asked.paths, lines=asked.lines) == History(ended={}, first_approved={})

    ChangedPath.objects.filter(store=store).delete()
    assert tell(store, *asked.paths, lines=asked.lines) == History(ended={}, first_approved={})
    Change.objects.filter(oid=head(store)).update(oid="0" * 40)
    assert tell(store, *asked.paths) == History()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[datetime]:
    """The time at which commits are made: put another one in to move it."""
    now = [datetime(2026, 5, 1, 12, tzinfo=UTC)]
    monkeypatch.setattr("django.utils.timezone.now", lambda: now[0])
    return now


def at_day(clock: list[datetime], day: int, hour: int = 12) -> None:
    clock[0] = datetime(2026, 5, day, hour, tzinfo=UTC)


LINE = b"- Yesterday it failed."


def added(path: str, text: str) -> Operation:
    return Edit(path=path, edits=(Replacement("# Log\n", f"# Log\n{text}\n"),))


@pytest.fixture
def log(clock: list[datetime], make_store: MakeStore) -> Store:
    return make_store({"log.md": "# Log\n- Old.\n", "other.md": "Other.\n"})


def day_of(store: Store, path: str, line: bytes, zone: tzinfo = UTC) -> date | None:
    return tell(store, lines=((path, line),), zone=zone).first_approved.get((path, line))


def test_line_is_dated_by_the_change_that_brought_it(
    log: Store, clock: list[datetime], propose: Propose, owner: User
) -> None:
    at_day(clock, 10)
    land(propose, log, owner, added("log.md", LINE.decode()))
    at_day(clock, 20)
    land(propose, log, owner, added("log.md", "- Newer."))

    assert day_of(log, "log.md", LINE) == date(2026, 5, 10)
    assert day_of(log, "log.md", b"- Old.") == date(2026, 5, 1)
    assert day_of(log, "log.md", b"- Never written.") is None
    assert day_of(log, "other.md", LINE) is None


def test_line_that_went_and_came_back_is_as_old_as_its_return(
    log: Store, clock: list[datetime], propose: Propose, owner: User
) -> None:
    at_day(clock, 10)
    land(propose, log, owner, added("log.md", LINE.decode()))
    at_day(clock, 15)
    land(propose, log, owner, replaced("log.md", LINE.decode() + "\n", ""))
    at_day(clock, 20)
    land(propose, log, owner, added("log.md", LINE.decode()))

    assert day_of(log, "log.md", LINE) == date(2026, 5, 20)


def test_line_keeps_its_day_under_another_name(
    log: Store, clock: list[datetime], propose: Propose, owner: User
) -> None:
    at_day(clock, 10)
    land(propose, log, owner, added("log.md", LINE.decode()))
    at_day(clock, 20)
    land(propose, log, owner, Rename("log.md", "days.md"))
    at_day(clock, 25)
    land(propose, log, owner, Rename("days.md", "log.md"))

    assert day_of(log, "log.md", LINE) == date(2026, 5, 10)


def test_day_is_that_of_the_zone(log: Store, clock: list[datetime], propose: Propose, owner: User) -> None:
    at_day(clock, 10, hour=23)
    land(propose, log, owner, added("log.md", LINE.decode()))

    assert day_of(log, "log.md", LINE, zone=timezone(timedelta(hours=9))) == date(2026, 5, 11)


def test_gap_in_the_rows_leaves_the_day_open(log: Store, propose: Propose, owner: User) -> None:
    land(propose, log, owner, added("log.md", LINE.decode()))
    second = land(propose, log, owner, added("log.md", "- Newer."))
    land(propose, log, owner, added("log.md", "- Newest."))
    ChangedPath.objects.filter(change=second).delete()

    assert day_of(log, "log.md", b"- Newest.") is not None
    assert day_of(log, "log.md", LINE) is None


def test_long_history_is_walked_so_far_and_no_further(
    log: Store, propose: Propose, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    land(propose, log, owner, added("log.md", LINE.decode()))
    land(propose, log, owner, added("log.md", "- Newer."))

    monkeypatch.setattr(past, "MAX_CHANGES", 1)
    assert day_of(log, "log.md", b"- Newer.") is not None
    assert day_of(log, "log.md", LINE) is None


def test_changes_elsewhere_cost_nothing(
    log: Store, propose: Propose, owner: User, django_assert_num_queries: pytest.FixtureRequest
) -> None:
    land(propose, log, owner, added("log.md", LINE.decode()))
    land(propose, log, owner, Delete("other.md"))
    for number in range(5):
        land(propose, log, owner, Write(f"note{number}.md", "Text.\n"))

    with django_assert_num_queries(4):  # type: ignore[operator]  # the commit, the last changes, and one change walked
        told = tell(log, "other.md", lines=(("log.md", LINE),))

    assert (set(told.ended), len(told.first_approved)) == ({"other.md"}, 1)
