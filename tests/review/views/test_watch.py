from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from memoryreview.core.edits import Write
from memoryreview.review.models import Proposal, State, Store
from memoryreview.review.operations.waiting import oldest, watched
from tests.conftest import MakeStore, Propose

from .conftest import Browser
from .reading import read

BOTH = pytest.mark.django_db(databases=["default", "queue"])


@pytest.fixture
def two(store: Store, propose: Propose) -> list[Proposal]:
    return [propose(store, Write(f"new{n}.md", f"- Port 900{n}.\n")) for n in range(2)]


def _age(proposal: Proposal, **age: int) -> None:
    Proposal.objects.filter(pk=proposal.pk).update(created_at=timezone.now() - timedelta(**age))


def test_count_says_how_much_waits_for_this_person(
    owner_client: Client, browser: Browser, stranger: User, two: list[Proposal]
) -> None:
    mine, none = (client.get("/queue/count").json() for client in (owner_client, browser(stranger)))

    told = {"count": 2, "words": "2", "sentence": "2 proposals wait for you.", "badge": "/badge/2.svg"}
    assert mine == told
    assert none == {"count": 0, "words": "0", "sentence": "0 proposals wait for you.", "badge": ""}


def test_count_of_an_ended_session_leads_to_the_sign_in_page(client: Client) -> None:
    assert client.get("/queue/count").headers["Location"].startswith("/sign-in?")


def test_icon_of_the_tab_carries_the_number(owner_client: Client, two: list[Proposal]) -> None:
    shown = read(owner_client.get("/history/")).one("link", rel="icon").attributes["href"]

    answer = owner_client.get(shown)

    assert (shown, answer.headers["Content-Type"]) == ("/badge/2.svg", "image/svg+xml")
    assert read(answer).one("text").text == "2"
    assert read(owner_client.get("/badge/4000.svg")).one("text").text == "99+"


def test_icon_has_no_number_when_nothing_waits(owner_client: Client) -> None:
    icon = read(owner_client.get("/history/")).one("link", rel="icon").attributes

    assert icon["href"] == icon["data-plain"]


def test_queue_says_what_waits_too_long(owner_client: Client, two: list[Proposal], settings: Settings) -> None:
    settings.OLD_DAYS = 3
    _age(two[0], days=2, hours=23)
    assert read(owner_client.get("/")).all("p", class_="list__note list__note--warn") == []

    _age(two[0], days=5)

    page = read(owner_client.get("/"))
    assert page.one("p", class_="list__note list__note--warn").text == f"Waiting for 5 days: {two[0].title}"
    page.one("a", href=f"/proposals/{two[0].pk}", data_row=str(two[0].pk))


@BOTH
def test_health_names_the_oldest_and_asks_for_it(owner_client: Client, two: list[Proposal]) -> None:
    _age(two[1], days=8)
    _age(two[0], days=9)

    text = read(owner_client.get("/health/")).text

    assert f"{two[0].title}, in notes, waiting for 9 days" in text
    assert "Nobody decided it for more than 7 days: open the queue." in text


def test_oldest_is_what_a_person_may_see_and_has_to_decide(
    owner: User,
    stranger: User,
    store: Store,
    make_store: MakeStore,
    propose: Propose,
    two: list[Proposal],
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    other = make_store({"a.md": "- A.\n"}, name="other")
    propose(other, Write("b.md", "- B.\n"))
    Proposal.objects.filter(pk=two[0].pk).update(state=State.REJECTED)

    with django_assert_num_queries(1):
        found = oldest(watched(owner))

    assert found is not None
    assert (found.slug, found.oldest, found.title) == (store.slug, two[1].pk, two[1].title)
    assert oldest(watched(stranger)) is None
