from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client

from memoryreview.core.edits import Delete, Rename
from memoryreview.review.models import Change, Proposal, Store
from memoryreview.review.views import history
from tests.conftest import MakeStore, Propose, on_disk, replaced

from .conftest import BUILD, GIT, Browser
from .reading import Page, read

Approve = Callable[..., Change]


@pytest.fixture
def approve(owner_client: Client, propose: Propose) -> Approve:
    """Propose and approve as a person does; return the change."""

    def act(store: Store, *operations: object) -> Change:
        proposal = propose(store, *operations)
        address = f"/proposals/{proposal.pk}/approve"
        owner_client.post(
            address, {**read(owner_client.get(f"/proposals/{proposal.pk}")).form(address), "confirm": "1"}
        )
        return Change.objects.get(proposal=proposal)

    return act


@pytest.fixture
def change(store: Store, approve: Approve) -> Change:
    return approve(store, replaced("build.md", "5432", "5433"))


def _titles(page: Page) -> list[str]:
    headers = page.all("th", scope="row")
    return [link.text for link in page.all("a") if link.ancestors and link.ancestors[-1] in headers]


def _roll_back(client: Client, change: Change) -> str:
    address = f"/changes/{change.oid}/rollback"
    return client.post(address, read(client.get(f"/changes/{change.oid}")).form(address)).headers["Location"]


def test_history_lists_every_change_newest_first(owner_client: Client, change: Change, store: Store) -> None:
    page = read(owner_client.get("/history/"))

    assert _titles(page) == [change.title, "Adopt notes: 2 documents"]


def test_history_offers_ticks_only_where_something_can_be_rolled_back(
    owner_client: Client, store: Store, approve: Approve
) -> None:
    adopted_only = read(owner_client.get("/history/"))
    assert adopted_only.all("form", id="ticked") == adopted_only.all("td", class_="table__tick") == []

    approve(store, replaced("build.md", "5432", "5433"))

    page = read(owner_client.get("/history/"))
    page.one("form", id="ticked")
    assert len(page.all("input", type="checkbox", name="change")) == 1


def test_history_of_one_document(owner_client: Client, change: Change, store: Store, approve: Approve) -> None:
    approve(store, replaced("git.md", "- Rebase", "- Sign every tag.\n- Rebase"))

    page = read(owner_client.get("/history/", {"store": "notes", "path": "build.md"}))

    assert _titles(page) == [change.title, "Adopt notes: 2 documents"]
    assert page.one("h1").text == "Changes of build.md in notes"


def test_history_of_one_store_only(owner_client: Client, change: Change, make_store: MakeStore) -> None:
    other = make_store({"a.md": "# A\n"}, name="other")

    titles = _titles(read(owner_client.get("/history/", {"store": "other"})))

    assert titles == [Change.objects.get(store=other).title]


def test_history_is_filtered_by_kind_agent_person_and_day(
    owner_client: Client, change: Change, approve: Approve, store: Store
) -> None:
    adopted = "Adopt notes: 2 documents"
    today, tomorrow = change.at.date(), change.at.date() + timedelta(days=1)
    for asked, expected in (
        ({"kind": "approved"}, [change.title]),
        ({"kind": "rollback"}, []),
        ({"kind": "no such kind"}, []),
        ({"agent": "claude"}, [change.title]),
        ({"person": "olga"}, [change.title, adopted]),
        ({"person": "sam"}, []),
        ({"since": str(today), "until": str(today)}, [change.title, adopted]),
        ({"since": str(tomorrow)}, []),
        ({"until": "9999-12-31", "since": "no day"}, [change.title, adopted]),
        ({"path": "build.md", "kind": "adopt"}, [adopted]),
    ):
        page = read(owner_client.get("/history/", {"store": "notes", **asked}))

        assert _titles(page) == expected, asked
        filled = {field.attributes.get("name"): field.attributes.get("value") for field in page.all("input")}
        assert filled["agent"] == asked.get("agent", "")
        assert [one.attributes["value"] for one in page.all("option", selected="")] == (
            [asked["kind"]] if asked.get("kind") in ("approved", "rollback", "adopt") else []
        )


def test_renamed_document_is_followed_and_says_so(
    owner_client: Client, change: Change, approve: Approve, store: Store
) -> None:
    moved = approve(store, Rename("build.md", "made.md"))

    page = read(owner_client.get("/history/", {"store": "notes", "path": "made.md"}))
    assert _titles(page) == [moved.title, change.title, "Adopt notes: 2 documents"]
    assert page.text.count("renamed from build.md") == 1
    assert page.text.count("then called build.md") == 2

    left = read(owner_client.get("/history/", {"store": "notes", "path": "build.md"}))
    assert left.one("a", href="/history/?store=notes&path=made.md").text == "made.md"


def test_history_of_others_is_not_shown(browser: Browser, stranger: User, change: Change) -> None:
    page = read(browser(stranger).get("/history/"))

    assert _titles(page) == []
    assert change.title not in page.text


def test_history_pages_follow_each_other(
    owner_client: Client, change: Change, store: Store, approve: Approve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "ROWS", 1)
    seen: list[str] = []
    address = "/history/?store=notes"
    while address:
        page = read(owner_client.get(address))
        seen += _titles(page)
        older = [link for link in page.all("a") if link.text == "Older changes"]
        address = older[0].attributes["href"] if older else ""

    assert seen == [change.title, "Adopt notes: 2 documents"]


def test_history_of_several_stores_is_one_list_page_by_page(
    owner_client: Client,
    change: Change,
    make_store: MakeStore,
    approve: Approve,
    store: Store,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    make_store({"a.md": "# A\n"}, name="other")
    latest = approve(store, replaced("git.md", "- Rebase", "- Sign every tag.\n- Rebase"))
    monkeypatch.setattr(history, "ROWS", 2)

    first = read(owner_client.get("/history/"))
    [older] = [link for link in first.all("a") if link.text == "Older changes"]
    second = read(owner_client.get(older.attributes["href"]))

    assert _titles(first) == [latest.title, "Adopt other: 1 document"]
    assert _titles(second) == [change.title, "Adopt notes: 2 documents"]


def test_change_page_shows_what_it_did(owner_client: Client, change: Change) -> None:
    page = read(owner_client.get(f"/changes/{change.oid}"))

    assert page.one("h1").text == change.title
    assert [e.text for e in page.all("ins")] == ["5433"]
    assert "olga approved" in page.text
    assert page.one("a", href=f"/proposals/{change.proposal_id}").text == f"Proposal {change.proposal_id}"


def test_certificate_is_told_in_words(owner_client: Client, make_store: MakeStore, propose: Propose) -> None:
    dated = make_store({"a.md": "# A\n\n- decided on 13/04/2025 by all\n"})
    propose(dated, replaced("a.md", "13/04/2025", "2025-04-13"))
    change = Change.objects.get(kind="auto")

    page = read(owner_client.get(f"/changes/{change.oid}"))

    assert change.certificate is not None
    for part in (
        "Applied by proof, without asking. Only a date changes its form",
        "a.md: bytes 18–28 become “2025-04-13”",
        change.certificate["digest"],
    ):
        assert part in page.text


def test_rollback_is_one_click_and_names_what_it_does(owner_client: Client, change: Change, store: Store) -> None:
    page = read(owner_client.get(f"/changes/{change.oid}"))
    assert [b.text for b in page.all("button", class_="button") if "Roll back" in b.text] == [
        "Roll back: change 1 line of build.md"
    ]

    location = _roll_back(owner_client, change)

    undone = Change.objects.get(kind="rollback")
    assert location == f"/changes/{undone.oid}"
    assert on_disk(store, "build.md") == BUILD.encode()
    assert undone.oid[:7] in read(owner_client.get(f"/changes/{change.oid}")).text


def test_pressing_roll_back_twice_makes_one_commit(owner_client: Client, change: Change) -> None:
    address = f"/changes/{change.oid}/rollback"
    form = read(owner_client.get(f"/changes/{change.oid}")).form(address)

    first, second = owner_client.post(address, form), owner_client.post(address, form)

    assert first.headers["Location"] == second.headers["Location"]
    assert Change.objects.filter(kind="rollback").count() == 1


def test_rollback_can_be_rolled_back(owner_client: Client, change: Change, store: Store) -> None:
    _roll_back(owner_client, change)

    _roll_back(owner_client, Change.objects.get(kind="rollback"))

    assert on_disk(store, "build.md") == BUILD.replace("5432", "5433").encode()


def test_later_edits_elsewhere_survive(owner_client: Client, change: Change, store: Store, approve: Approve) -> None:
    approve(store, replaced("build.md", "Use npm for", "Use pnpm for"))

    _roll_back(owner_client, change)

    assert on_disk(store, "build.md") == BUILD.replace("Use npm for", "Use pnpm for").encode()


def test_conflict_names_the_later_changes_and_both_ways_out(
    owner_client: Client, change: Change, store: Store, approve: Approve
) -> None:
    later = approve(store, replaced("build.md", "5433", "6000"))

    page = read(owner_client.get(f"/changes/{change.oid}"))

    assert page.all("form", action=f"/changes/{change.oid}/rollback") == []
    sides = [[e.text for e in page.all("ins")], [e.text for e in page.all("del")]]
    assert sides == [["6000", "5432", "5433"], ["5433", "5433", "5432"]], "what came since, what goes back, the change"
    assert later.title in [link.text for link in page.all("a", href=f"/changes/{later.oid}")]
    answer = owner_client.post(f"/changes/{change.oid}/rollback")
    assert answer.status_code == 409
    assert on_disk(store, "build.md") == BUILD.replace("5432", "6000").encode()

    address = f"/changes/{change.oid}/rollback-together"
    owner_client.post(address, page.form(address))
    assert on_disk(store, "build.md") == BUILD.encode()
    assert set(Change.objects.get(kind="rollback").rolls_back.all()) == {change, later}


def test_rollback_by_hand_writes_the_typed_text(
    owner_client: Client, change: Change, store: Store, approve: Approve
) -> None:
    approve(store, replaced("build.md", "5433", "6000"))
    address = f"/changes/{change.oid}/rollback-by-hand"
    form = read(owner_client.get(address)).form(address)
    form["text-0"] = form["text-0"].replace("6000", "5432, or 6000 in staging")

    owner_client.post(address, form)

    assert on_disk(store, "build.md") == BUILD.replace("5432", "5432, or 6000 in staging").encode()
    assert list(Change.objects.get(kind="rollback").rolls_back.all()) == [change]


def test_rollback_by_hand_that_changes_nothing_keeps_the_text(
    owner_client: Client, change: Change, store: Store
) -> None:
    address = f"/changes/{change.oid}/rollback-by-hand"
    form = read(owner_client.get(address)).form(address)

    answer = owner_client.post(address, form)

    assert answer.status_code == 409
    assert read(answer).form(address)["text-0"] == form["text-0"]
    assert not Change.objects.filter(kind="rollback").exists()


def test_deleted_document_comes_back(owner_client: Client, store: Store, approve: Approve) -> None:
    gone = approve(store, Delete(path="git.md"))

    _roll_back(owner_client, gone)

    assert on_disk(store, "git.md") == GIT.encode()


def test_adoption_cannot_be_rolled_back(owner_client: Client, store: Store) -> None:
    adopted = Change.objects.get(kind="adopt")

    answer = owner_client.post(f"/changes/{adopted.oid}/rollback")

    assert answer.status_code == 409
    assert "there is nothing before it" in read(answer).text
    assert Change.objects.count() == 1


def test_two_adoptions_with_one_commit_id_are_told_apart(
    owner_client: Client, store: Store, make_store: MakeStore
) -> None:
    other = make_store({"a.md": "# A\n"}, name="other")
    mine = Change.objects.get(store=store)
    Change.objects.filter(store=other).update(oid=mine.oid)

    for slug in ("notes", "other"):
        page = read(owner_client.get(f"/changes/{mine.oid}", {"store": slug}))
        assert page.one("h1").text.startswith(f"Adopt {slug}")


def test_member_without_say_sees_why_there_is_no_button(
    owner_client: Client, browser: Browser, second: User, make_store: MakeStore, propose: Propose, join: object
) -> None:
    assert callable(join)
    shared = make_store({"a.md": "# A\n\n- decided on 13/04/2025 by all\n"}, name="shared", team=True)
    join(shared, second, role="member")
    propose(shared, replaced("a.md", "13/04/2025", "2025-04-13"))
    change = Change.objects.get(kind="auto")
    member = browser(second)

    page = read(member.get(f"/changes/{change.oid}"))

    assert "Rolling back needs the store's owner or a maintainer" in page.text
    assert member.post(f"/changes/{change.oid}/rollback").status_code == 403
    assert Proposal.objects.filter(state="rolled_back").count() == 0
