from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from memoryreview.core.edits import Write
from memoryreview.review.models import Change, ChangeKind, Proposal, SavedView, Store
from memoryreview.review.operations import erase, saved
from tests.conftest import MakeStore, Propose, replaced

from .conftest import Browser
from .reading import read

FILTER = {"agent": "claude", "risk": "low", "q": "näm & more"}


@pytest.fixture
def view(owner_client: Client, owner: User) -> SavedView:
    owner_client.post("/views/save", {"name": "Low ones", **FILTER})
    return SavedView.objects.get(person=owner)


def _menu(client: Client) -> dict[str, str]:
    page = read(client.get("/"))
    inside = [a for a in page.all("a") if any("views" in e.attributes.get("class", "").split() for e in a.ancestors)]
    return {a.text: a.attributes["href"] for a in inside}


def test_a_saved_filter_stands_in_the_menu_with_its_count_and_shows_the_same(
    owner_client: Client, store: Store, propose: Propose
) -> None:
    propose(store, replaced("build.md", "5432", "5433"))
    new = propose(store, Write(path="new.md", content="# New\n\nA new note.\n"))
    page = read(owner_client.get("/views/", {"agent": "claude", "kind": "file.add"}))

    answer = owner_client.post("/views/save", {**page.form("/views/save"), "name": "New ones"})

    assert answer.headers["Location"] == "/?agent=claude&kind=file.add"
    assert _menu(owner_client)["New ones 1"] == "/?agent=claude&kind=file.add"
    rows = read(owner_client.get("/?agent=claude&kind=file.add")).all("a", class_="row__link")
    assert [row.attributes["data-row"] for row in rows] == [str(new.pk)]


def test_a_view_is_renamed_and_deleted_by_plain_forms(owner_client: Client, view: SavedView) -> None:
    owner_client.post(f"/views/{view.pk}/rename", {"name": "  Quiet \n ones "})
    assert any(words.startswith("Quiet ones ") for words in _menu(owner_client))

    page = read(owner_client.get("/views/"))
    owner_client.post(f"/views/{view.pk}/delete", page.form(f"/views/{view.pk}/delete"))

    assert not SavedView.objects.exists()


@pytest.mark.parametrize(
    ("name", "query", "sentence"),
    [
        ("", FILTER, "A view needs a name"),
        ("Low ones", FILTER, "You have a view called “Low ones” already."),
        ("Empty", {}, "The filter asks for nothing."),
    ],
)
def test_what_cannot_be_saved_says_why_and_changes_nothing(
    name: str, query: dict[str, str], sentence: str, owner_client: Client, view: SavedView
) -> None:
    answer = owner_client.post("/views/save", {"name": name, **query})

    assert answer.status_code == 403
    assert sentence in read(answer).by_id("content").text
    assert SavedView.objects.count() == 1


def test_views_are_their_persons_own(owner_client: Client, view: SavedView, stranger: User, browser: Browser) -> None:
    other = browser(stranger)

    for act in ("rename", "delete"):
        assert other.post(f"/views/{view.pk}/{act}", {"name": "Mine now"}).status_code == 404

    view.refresh_from_db()
    assert view.name == "Low ones"
    assert "Low ones" not in read(other.get("/views/")).text


def test_a_person_keeps_so_many_views(owner_client: Client, owner: User, view: SavedView) -> None:
    SavedView.objects.bulk_create(
        SavedView(person=owner, name=f"{number}", query="q=a") for number in range(saved.MAX_SAVED - 1)
    )

    answer = owner_client.post("/views/save", {"name": "One more", **FILTER})

    assert answer.status_code == 403
    assert not SavedView.objects.filter(name="One more").exists()


def test_a_name_is_text_and_nothing_else(owner_client: Client, view: SavedView) -> None:
    owner_client.post(f"/views/{view.pk}/rename", {"name": "<b id=evil>‮x</b>"})

    for address in ("/", "/views/"):
        page = read(owner_client.get(address))
        assert [e for e in page.elements if e.attributes.get("id") == "evil"] == []
        assert "<b id=evil>" in page.text


@pytest.fixture
def dated(make_store: MakeStore, propose: Propose) -> Store:
    """A store with two changes that landed by proof."""
    made = make_store({"a.md": "# A\n\n- decided on 13/04/2025 by all\n- and on 14/04/2025\n"}, name="dated")
    for day in ("13", "14"):
        propose(made, replaced("a.md", f"{day}/04/2025", f"2025-04-{day}"))
    return made


def test_what_landed_by_proof_is_listed_until_the_person_says_it_is_looked_at(
    owner_client: Client, dated: Store, propose: Propose
) -> None:
    page = read(owner_client.get("/proved/"))
    assert len(page.all("a", class_="mono")) == 2
    assert len(read(owner_client.get("/proved/")).all("a", class_="mono")) == 2  # a visit says nothing

    owner_client.post("/proved/look", page.form("/proved/look"))

    assert "Nothing was applied by proof since then." in read(owner_client.get("/proved/")).by_id("content").text
    assert "Applied by proof since you last looked 0" in _menu(owner_client)


def test_what_lands_after_the_page_was_made_is_listed_next_time(
    owner_client: Client, dated: Store, propose: Propose
) -> None:
    form = read(owner_client.get("/proved/")).form("/proved/look")
    propose(dated, Write(path="b.md", content="# B\n"))
    later = Change.objects.filter(kind=ChangeKind.AUTO).order_by("pk").last()
    assert later is not None

    owner_client.post("/proved/look", {**form, "up_to": str(later.pk - 1)})
    assert len(read(owner_client.get("/proved/")).all("a", class_="mono")) == 1
    owner_client.post("/proved/look", {**form, "up_to": "0"})  # looking back changes nothing

    assert len(read(owner_client.get("/proved/")).all("a", class_="mono")) == 1


def test_each_rolls_back_and_leads_back_to_the_list(owner_client: Client, dated: Store) -> None:
    newest = Change.objects.filter(kind=ChangeKind.AUTO).order_by("pk").last()
    assert newest is not None
    page = read(owner_client.get("/proved/"))

    answer = owner_client.post(f"/changes/{newest.oid}/rollback", page.form(f"/changes/{newest.oid}/rollback"))

    assert answer.headers["Location"] == "/proved/"
    assert newest.rolled_back_by.count() == 1


def test_a_stranger_sees_nothing_that_was_proved(dated: Store, stranger: User, browser: Browser) -> None:
    assert "dated" not in read(browser(stranger).get("/proved/")).by_id("content").text
    assert Proposal.objects.filter(store=dated).count() == 2


@pytest.mark.django_db(databases=["default", "queue"])
def test_erasing_forgets_filters_that_look_for_the_text_in_any_case(
    owner_client: Client, owner: User, view: SavedView, make_store: MakeStore
) -> None:
    store = make_store({"a.md": "- Zanzibar-4711 lives here\n"}, name="told")
    owner_client.post("/views/save", {"name": "Gone", "q": "zanzibar-4711 LIVES here"})

    text = "Zanzibar-4711 lives here"
    shown = erase.preview(store, person=owner, text=text).shown
    erase.erase(store, person=owner, text=text, shown=shown, confirmation=store.slug)

    assert list(SavedView.objects.all()) == [view]
