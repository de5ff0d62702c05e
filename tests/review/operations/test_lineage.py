"""One document through its changes and names."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection
from django.db.models import Q
from django.test import Client
from django.test.utils import CaptureQueriesContext

from memoryreview.core.edits import Delete, Rename, Write
from memoryreview.review.management.base import RefusedCommandError
from memoryreview.review.models import Change, ChangedPath, ChangeKind, RenamedPath, Store
from memoryreview.review.operations import lineage, rollback
from memoryreview.review.operations.lineage import passages, renamed_to
from tests.conftest import MakeStore, Propose, replaced
from tests.review.operations.test_rollback import land

TEXT = "# Ports\n\nThe port is 5432.\n"


@pytest.fixture
def store(make_store: MakeStore) -> Store:
    return make_store({"old.md": TEXT, "other.md": "Other.\n"})


def walked(store: Store, path: str, **asked: object) -> list[tuple[str, str, str]]:
    titles = dict(Change.objects.values_list("pk", "kind"))
    return [(titles[one.pk], one.path, one.was) for one in passages(store, path, **asked)]  # type: ignore[arg-type]


def test_a_renamed_document_goes_on_under_its_old_name(store: Store, propose: Propose, owner: User) -> None:
    land(propose, store, owner, replaced("old.md", "5432", "5433"))
    land(propose, store, owner, Rename("old.md", "new.md"))
    land(propose, store, owner, replaced("new.md", "5433", "5434"))

    assert walked(store, "new.md") == [
        ("approved", "new.md", ""),
        ("approved", "new.md", "old.md"),
        ("approved", "old.md", ""),
        ("adopt", "old.md", ""),
    ]
    assert renamed_to(store, "old.md") == "new.md"
    assert [path for _, path, _ in walked(store, "old.md")] == ["old.md"] * 3


def test_a_rename_that_was_rolled_back_is_followed_there_and_back(store: Store, propose: Propose, owner: User) -> None:
    moved = land(propose, store, owner, Rename("old.md", "new.md"))
    rollback.roll_back(moved, person=owner)

    assert walked(store, "old.md") == [
        ("rollback", "old.md", "new.md"),
        ("approved", "new.md", "old.md"),
        ("adopt", "old.md", ""),
    ]


def test_a_document_that_came_again_under_a_name_has_the_changes_of_that_name(
    store: Store, propose: Propose, owner: User
) -> None:
    land(propose, store, owner, Delete("other.md"))
    land(propose, store, owner, Write("other.md", "Quite another text.\n"))

    assert [kind for kind, _, _ in walked(store, "other.md")] == ["approved", "approved", "adopt"]


def test_names_that_go_round_in_a_circle_end(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lineage, "MAX_NAMES", 4)
    adopted = Change.objects.get(store=store)
    for _ in range(3):
        RenamedPath.objects.create(change=adopted, store=store, path="old.md", was="old.md")

    assert len(walked(store, "old.md")) == 1


def test_batches_and_bounds_tell_the_same_changes(store: Store, propose: Propose, owner: User) -> None:
    for port in range(5432, 5437):
        land(propose, store, owner, replaced("old.md", f"{port}", f"{port + 1}"))
    land(propose, store, owner, Rename("old.md", "new.md"))
    every = list(passages(store, "new.md"))

    assert list(passages(store, "new.md", batch=2)) == every
    assert [list(passages(store, "new.md", before=one.pk))[:1] for one in every] == [*([x] for x in every[1:]), []]
    kept = passages(store, "new.md", keep=Q(change__kind=ChangeKind.ADOPT), batch=1)
    assert [(one.pk, one.path) for one in kept] == [(every[-1].pk, "old.md")]


def many(store: Store, count: int) -> None:
    """Give a document a long history by rows alone."""
    made = Change.objects.bulk_create(
        Change(oid=f"{number:040x}", store=store, kind=ChangeKind.AUTO, title="A change", paths=["old.md"])
        for number in range(count)
    )
    ChangedPath.objects.bulk_create(ChangedPath(change=change, store=store, path="old.md") for change in made)


def queries_of(client: Client, **asked: str) -> int:
    with CaptureQueriesContext(
        connection,
    ) as counted:
        assert client.get("/history/", asked).status_code == 200
    return len(counted)


def test_a_page_asks_as_often_after_300_changes_as_after_60(store: Store, owner_client: Client) -> None:
    asked: tuple[dict[str, str], ...] = ({}, {"store": "notes"}, {"store": "notes", "path": "old.md"}, {"kind": "auto"})
    many(store, 60)
    few = [queries_of(owner_client, **one) for one in asked]
    Change.objects.exclude(kind=ChangeKind.ADOPT).delete()
    many(store, 300)

    assert [queries_of(owner_client, **one) for one in asked] == few


def listed(*arguments: str) -> list[dict[str, object]]:
    out = StringIO()
    call_command("history", *arguments, "--json", stdout=out)
    rows: list[dict[str, object]] = json.loads(out.getvalue())
    return rows


@pytest.mark.django_db(databases=["default", "queue"])
def test_history_command_lists_one_document_and_stops_where_told(store: Store, propose: Propose, owner: User) -> None:
    land(propose, store, owner, Rename("old.md", "new.md"))
    land(propose, store, owner, replaced("other.md", "Other", "Another"))

    assert [row["kind"] for row in listed("notes")] == ["approved", "approved", "adopt"]
    assert [row["paths"] for row in listed("notes", "--path", "new.md")] == [
        ["new.md", "old.md"],
        ["old.md", "other.md"],
    ]
    assert [row["paths"] for row in listed("--limit", "1")] == [["other.md"]]
    assert listed("notes", "--path", "never.md") == []
    with pytest.raises(RefusedCommandError, match="belongs to a store"):
        listed("--path", "new.md")


@pytest.mark.django_db(databases=["default", "queue"])
@pytest.mark.parametrize("count", [30, 300])
def test_history_command_asks_a_bounded_number_of_times(store: Store, count: int) -> None:
    many(store, count)
    with CaptureQueriesContext(connection) as counted:
        assert len(listed("notes")) == count + 1
    own = [query for query in counted.captured_queries if 'FROM "review_change"' in query["sql"]]

    assert len(own) == 1
