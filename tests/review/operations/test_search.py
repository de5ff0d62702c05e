"""Searching finds what is approved now, in the stores that its reader may see, and nothing that is gone."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.db import connection
from pytest_django import DjangoAssertNumQueries

from memoryreview.core.edits import Delete, Write
from memoryreview.review import tasks
from memoryreview.review.models import SearchedDocument, Store
from memoryreview.review.operations import anew, rollback, search
from memoryreview.review.operations.rebuild import rebuild
from memoryreview.review.operations.search import Found
from memoryreview.review.operations.stores import aside_dir, baseline_dir
from tests.conftest import MakeStore, Propose, replaced
from tests.review.operations.test_decide import approve
from tests.review.operations.test_erase import do_erase

pytestmark = pytest.mark.django_db(databases=["default", "queue"])

BUILD = "# Build\n\nUse npm for everything.\nThe port is 5432.\n"


@pytest.fixture
def store(make_store: MakeStore) -> Store:
    return make_store({"build.md": BUILD, "端口/メモ.md": "# メモ\n\nデータベースの端口は5432です。\n"})


def told(found: Found) -> list[tuple[str, str, list[int]]]:
    return [(one.store.slug, one.path, [hit.lineno for hit in one.hits.lines]) for one in found.matches]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("NPM", [("notes", "build.md", [3])]),
        ("veryth", [("notes", "build.md", [3])]),
        ("npm port", [("notes", "build.md", [3, 4])]),
        ("5432", [("notes", "build.md", [4]), ("notes", "端口/メモ.md", [3])]),
        ("端口", [("notes", "端口/メモ.md", [3])]),
        ("端口は5", [("notes", "端口/メモ.md", [3])]),
        ("build.md", [("notes", "build.md", [])]),
        ("npm yarn", []),
        ('"npm the"', []),
        ("%", []),
        ("_pm", []),
        ('"', []),
        ("'; DROP TABLE review_store; --", []),
        ("", []),
    ],
)
def test_words_and_parts_of_words_are_found(
    store: Store, owner: User, wanted: str, found: list[tuple[str, str, list[int]]]
) -> None:
    assert told(search.search(owner, wanted)) == found


def test_a_stranger_finds_nothing(store: Store, make_store: MakeStore, owner: User, stranger: User) -> None:
    make_store({"build.md": BUILD}, name="shared", team=True)

    assert [slug for slug, _, _ in told(search.search(owner, "npm"))] == ["notes", "shared"]
    assert told(search.search(stranger, "npm")) == []
    assert told(search.search(stranger, "npm", slug="notes")) == []
    assert [slug for slug, _, _ in told(search.search(owner, "npm", slug="shared"))] == ["shared"]


def test_what_lands_is_found_and_what_goes_is_not(store: Store, owner: User, propose: Propose) -> None:
    assert told(search.search(owner, "yarn")) == []
    approve(propose(store, replaced("build.md", "npm", "yarn")), owner)
    change = approve(propose(store, Write("more.md", "# More\n\nYarn as well.\n")), owner).change
    waiting = propose(store, replaced("build.md", "5432", "9999"))

    assert told(search.search(owner, "yarn")) == [("notes", "build.md", [3]), ("notes", "more.md", [3])]
    assert (told(search.search(owner, "npm")), told(search.search(owner, "9999"))) == ([], [])
    assert change is not None
    rollback.roll_back(change, person=owner)
    assert told(search.search(owner, "yarn")) == [("notes", "build.md", [3])]
    approve(propose(store, Delete("build.md")), owner)
    assert told(search.search(owner, "yarn")) == []
    assert waiting.pk


def _pages() -> bytes:
    """Return all that the index of SQLite keeps, removed entries included."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT block FROM review_searched_trigrams_data")
        return b"".join(bytes(row[0]) for row in cursor.fetchall())


@pytest.mark.skipif(connection.vendor != "sqlite", reason="looks at the pages of SQLite")
@pytest.mark.django_db(transaction=True, databases=["default", "queue"])
def test_an_erased_text_is_in_no_page_of_the_database(store: Store, owner: User, propose: Propose) -> None:
    approve(propose(store, Write("people.md", "# People\n\nOlga lives at Zqxjkv Street.\n")), owner)
    assert told(search.search(owner, "zqxjkv street")) == [("notes", "people.md", [3])]
    assert b"zqx" in _pages()
    approve(propose(store, replaced("people.md", "Zqxjkv", "Elm")), owner)
    assert told(search.search(owner, "zqxjkv")) == []
    assert b"zqx" in _pages()

    erasure = do_erase(store, owner, text="Olga lives at Zqxjkv Street")

    assert erasure.forgotten
    assert not SearchedDocument.objects.filter(store=store).exists()
    assert b"zqx" not in _pages()
    assert told(search.search(owner, "people")) == [("notes", "people.md", [1])]
    assert b"peo" in _pages()


def test_nothing_is_read_while_an_erasure_is_not_finished(store: Store, owner: User) -> None:
    aside_dir(store).mkdir()

    assert told(search.search(owner, "npm")) == []
    aside_dir(store).rmdir()
    assert told(search.search(owner, "npm")) != []


def test_an_unchanged_store_costs_a_few_questions(
    store: Store, owner: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    search.search(owner, "npm")

    with django_assert_num_queries(3):
        search.search(owner, "npm")


def test_a_large_store_is_read_in_parts_and_by_the_clock(
    store: Store, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "MAX_READ_DOCUMENTS", 1)

    first = search.search(owner, "5432")

    assert (len(first.matches), first.unread) == (1, 1)
    monkeypatch.undo()
    assert tasks.read_for_search() == 1
    assert tasks.read_for_search() == 0
    assert len(search.search(owner, "5432").matches) == 2


def test_rows_that_differ_are_made_anew_by_a_rebuild(store: Store, owner: User) -> None:
    search.search(owner, "npm")
    SearchedDocument.objects.filter(path="build.md").update(text="forged words")
    assert told(search.search(owner, "forged")) == []

    assert rebuild(store) == ["Read the documents of notes for searching again."]
    assert rebuild(store) == []
    assert told(search.search(owner, "npm")) == [("notes", "build.md", [3])]


def test_a_store_that_cannot_be_read_is_left_out(store: Store, make_store: MakeStore, owner: User) -> None:
    make_store({"build.md": BUILD}, name="other")
    search.search(owner, "npm")
    shutil.rmtree(baseline_dir(store))

    assert told(search.search(owner, "npm")) == [("other", "build.md", [3])]


def test_a_new_baseline_is_read_anew(store: Store, owner: User) -> None:
    search.search(owner, "npm")
    shutil.rmtree(baseline_dir(store))
    (Path(store.root) / "build.md").write_text("# Build\n\nUse bun.\n")

    anew.begin_anew(store, person=owner)

    assert told(search.search(owner, "npm")) == []
    assert told(search.search(owner, "bun")) == [("notes", "build.md", [3])]
