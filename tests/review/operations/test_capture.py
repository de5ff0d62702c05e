from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.db import connection

from memoryreview.review.models import Agent, Change, ChangeKind, Proposal, State, Store
from memoryreview.review.operations.capture import capture
from memoryreview.review.operations.errors import CannotApplyError
from memoryreview.review.operations.stores import reading
from tests.conftest import MakeStore, Propose, on_disk, replaced
from tests.review.operations.test_decide import approve
from tests.review.operations.test_receive import fake_aws_key

NOTE = "# Ports\n\n- Staging listens on 5432.\n- Moved on 13/04/2025.\n\nMail goes to the sink.\n"


def write(store: Store, path: str, text: str) -> None:
    (Path(store.root) / path).write_text(text)


def test_capture_of_an_untouched_folder_does_nothing(make_store: MakeStore) -> None:
    store = make_store({"ports.md": NOTE})

    assert capture(store) == []
    assert Change.objects.count() == 1


def test_direct_write_waits_and_stays_on_disk(make_store: MakeStore) -> None:
    store = make_store({"ports.md": NOTE})
    write(store, "ports.md", NOTE.replace("5432", "6432"))
    write(store, "new.md", "A new note.\n")

    made = capture(store)

    assert [(p.agent.name, p.state, p.paths) for p in made if p.agent] == [
        (Agent.DIRECT, State.PENDING, ["new.md", "ports.md"])
    ]
    assert on_disk(store, "ports.md") == NOTE.replace("5432", "6432").encode()


def test_capture_twice_makes_one_proposal(make_store: MakeStore) -> None:
    store = make_store({"ports.md": NOTE})
    write(store, "ports.md", NOTE.replace("5432", "6432"))
    capture(store)

    assert capture(store) == []
    assert Proposal.objects.count() == 1


def test_safe_direct_write_is_committed_as_it_stands(make_store: MakeStore) -> None:
    store = make_store({"ports.md": NOTE})
    fixed = NOTE.replace("13/04/2025", "2025-04-13")
    write(store, "ports.md", fixed)

    made = capture(store)

    assert [p.state for p in made] == [State.APPLIED]
    assert Change.objects.latest("pk").kind == ChangeKind.CAPTURED
    assert on_disk(store, "ports.md") == fixed.encode()


def test_mixed_direct_write_on_neighbouring_lines_splits_and_the_disk_stays(make_store: MakeStore, owner: User) -> None:
    store = make_store({"ports.md": NOTE})
    both = NOTE.replace("13/04/2025", "2025-04-13").replace("5432", "6432")
    write(store, "ports.md", both)

    proposal = capture(store)[0]

    store.refresh_from_db()
    assert (proposal.state, on_disk(store, "ports.md"), store.differing) == (State.PENDING, both.encode(), [])
    approve(proposal, owner)
    with reading(store) as repository:
        assert repository.snapshot(repository.head() or "")["ports.md"] == both.encode()


def test_newer_write_supersedes_the_older_capture(make_store: MakeStore) -> None:
    store = make_store({"ports.md": NOTE})
    write(store, "ports.md", NOTE.replace("5432", "6432"))
    first = capture(store)[0]
    write(store, "ports.md", NOTE.replace("5432", "7432"))

    second = capture(store)[0]

    first.refresh_from_db()
    assert (first.state, second.state) == (State.SUPERSEDED, State.PENDING)


def test_write_that_was_taken_back_leaves_the_queue(make_store: MakeStore) -> None:
    store = make_store({"ports.md": NOTE})
    write(store, "ports.md", NOTE.replace("5432", "6432"))
    first = capture(store)[0]
    write(store, "ports.md", NOTE)

    assert capture(store) == []

    first.refresh_from_db()
    assert first.state == State.WITHDRAWN


def test_c041_lost_folder_alarms_and_records_no_deletion(make_store: MakeStore) -> None:
    store = make_store({f"n{i}.md": "text\n" for i in range(31)})
    shutil.rmtree(store.root)
    assert capture(store) == []
    Path(store.root).mkdir()

    assert capture(store) == []

    store.refresh_from_db()
    assert "31 of 31" in store.alarm
    assert (Proposal.objects.count(), Change.objects.count()) == (0, 1)


@pytest.mark.parametrize(
    ("total", "gone", "is_alarmed"), [(31, 16, True), (31, 15, False), (2, 1, False), (2, 2, True)]
)
def test_c041_more_than_half_gone_is_a_loss(make_store: MakeStore, total: int, gone: int, is_alarmed: bool) -> None:
    store = make_store({f"n{i}.md": f"text {i}\n" for i in range(total)})
    for number in range(gone):
        (Path(store.root) / f"n{number}.md").unlink()

    made = capture(store)

    store.refresh_from_db()
    assert (bool(store.alarm), len(made)) == (is_alarmed, 0 if is_alarmed else 1)


def test_alarm_ends_when_the_files_are_back(make_store: MakeStore) -> None:
    store = make_store({f"n{i}.md": "text\n" for i in range(4)})
    moved = Path(store.root).rename(Path(store.root).with_name("elsewhere"))
    capture(store)
    moved.rename(store.root)

    capture(store)

    store.refresh_from_db()
    assert store.alarm == ""


def test_single_deletion_waits_as_a_deletion(make_store: MakeStore, owner: User) -> None:
    store = make_store({f"n{i}.md": f"text {i}\n" for i in range(4)})
    (Path(store.root) / "n1.md").unlink()

    proposal = capture(store)[0]

    assert (proposal.kinds, proposal.deletes) == (["file.delete"], True)
    approve(proposal, owner)
    with reading(store) as repository:
        assert "n1.md" not in repository.snapshot(repository.head() or "")


def test_secret_in_a_direct_write_is_kept_nowhere(make_store: MakeStore) -> None:
    store = make_store({"ports.md": NOTE})
    key = fake_aws_key()
    write(store, "ports.md", NOTE + f"Key: {key}\n")

    proposal = capture(store)[0]
    again = capture(store)

    with connection.cursor() as cursor:
        dump = "".join(
            str(row)
            for table in connection.introspection.table_names()
            for row in cursor.execute(f'SELECT * FROM "{table}"')
        )
    assert (proposal.state, proposal.masked, again) == (State.QUARANTINED, True, [])
    assert key not in dump
    assert key in on_disk(store, "ports.md").decode()


def test_enforce_puts_the_approved_text_back_and_holds_the_write(make_store: MakeStore, owner: User) -> None:
    store = make_store({"ports.md": NOTE}, guard="enforce")
    changed = NOTE.replace("5432", "6432")
    write(store, "ports.md", changed)

    proposal = capture(store)[0]

    assert (proposal.state, on_disk(store, "ports.md")) == (State.PENDING, NOTE.encode())
    assert capture(store) == []
    proposal.refresh_from_db()
    assert proposal.state == State.PENDING
    approve(proposal, owner)
    assert on_disk(store, "ports.md") == changed.encode()


def test_enforce_puts_the_same_write_back_again(make_store: MakeStore) -> None:
    store = make_store({"ports.md": NOTE}, guard="enforce")
    for _ in range(2):
        write(store, "ports.md", NOTE.replace("5432", "6432"))
        capture(store)

    assert (Proposal.objects.count(), on_disk(store, "ports.md")) == (1, NOTE.encode())


def test_enforce_holds_every_write(make_store: MakeStore) -> None:
    store = make_store({"a.md": "a\n", "b.md": "b\n"}, guard="enforce")
    write(store, "a.md", "first\n")
    write(store, "b.md", "other\n")
    capture(store)
    write(store, "a.md", "second\n")
    capture(store)

    held = [proposal.revision.delta() for proposal in Proposal.objects.waiting().order_by("pk")]
    assert held == [{"a.md": b"first\n", "b.md": b"other\n"}, {"a.md": b"second\n"}]


def test_looking_at_one_document_keeps_the_others_of_a_write(
    make_store: MakeStore, owner: User, propose: Propose
) -> None:
    store = make_store({"a.md": "one\n\ntwo\n", "b.md": "b\n"})
    proposal = propose(store, replaced("a.md", "two", "2"))
    write(store, "a.md", "1\n\ntwo\n")
    write(store, "b.md", "other\n")
    capture(store)
    write(store, "a.md", "uno\n\ntwo\n")

    approve(proposal, owner)

    paths = {path for waiting in Proposal.objects.waiting() for path in waiting.paths}
    assert paths == {"a.md", "b.md"}


def test_nothing_is_decided_about_a_lost_folder(make_store: MakeStore, owner: User, propose: Propose) -> None:
    store = make_store({f"n{i}.md": "text\n" for i in range(6)})
    proposal = propose(store, replaced("n0.md", "text", "other"))
    for path in Path(store.root).iterdir():
        path.unlink()

    with pytest.raises(CannotApplyError, match="gone"):
        approve(proposal, owner)

    assert [p.pk for p in Proposal.objects.all()] == [proposal.pk]


def test_link_in_the_place_of_the_folder_is_not_followed(make_store: MakeStore, tmp_path: Path) -> None:
    store = make_store({"ports.md": NOTE})
    other = tmp_path / "other"
    other.mkdir()
    (other / "diary.md").write_text("private\n")
    Path(store.root).rename(tmp_path / "away")
    Path(store.root).symlink_to(other)

    capture(store)

    store.refresh_from_db()
    assert (Proposal.objects.count(), "link" in store.alarm) == (0, True)
