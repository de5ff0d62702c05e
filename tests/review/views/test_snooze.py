from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from memoryreview.review.models import Proposal, State, Store
from tests.conftest import Propose, replaced

from .conftest import Browser
from .reading import Page, read

HTMX = {"HX-Request": "true", "HX-Target": "proposal"}
NOTE = "After <b>the</b> release."


@pytest.fixture
def waiting(store: Store, propose: Propose) -> Proposal:
    return propose(store, replaced("build.md", "5432", "5433"))


@pytest.fixture
def other(store: Store, propose: Propose) -> Proposal:
    return propose(store, replaced("build.md", "5432", "6432"))


def put_aside(client: Client, proposal: Proposal, until: str = "week") -> Page:
    """Send the form of the page, and follow where it leads."""
    form = read(client.get(f"/proposals/{proposal.pk}")).form(f"/proposals/{proposal.pk}/snooze")
    sent = {**form, "until": until, "note": NOTE}
    return followed(client, f"/proposals/{proposal.pk}/snooze", sent)


def followed(client: Client, address: str, sent: dict[str, str]) -> Page:
    answer = client.post(address, sent)
    assert answer.status_code == 303
    return read(client.get(answer.headers["Location"]))


def time_passes(proposal: Proposal) -> None:
    Proposal.objects.filter(pk=proposal.pk).update(snoozed_until=timezone.now() - timedelta(minutes=1))


def undo_form(page: Page) -> dict[str, str]:
    [number] = [one for one in page.all("input", name="decision") if page.by_id("undo") in one.ancestors]
    return {"decision": number.attributes["value"]}


def rows(page: Page) -> list[str]:
    return [row.attributes["data-row"] for row in page.all("a", class_="row__link")]


def test_a_plain_form_puts_it_aside_and_shows_the_next(
    owner_client: Client, waiting: Proposal, other: Proposal
) -> None:
    page = put_aside(owner_client, waiting)

    until = f"{Proposal.objects.get(pk=waiting.pk).snoozed_until:%Y-%m-%d %H:%M} UTC"
    assert (page.by_id("proposal").attributes["data-id"], rows(page)) == (str(other.pk), [str(other.pk)])
    assert page.by_id("toast").text.startswith(f"Snoozed until {until}: {waiting.title}")
    assert page.by_id("undo").text.startswith(f"Snoozed last: {waiting.title}")
    assert page.by_id("count").text == "1"


def test_the_view_lists_it_with_its_time_and_its_page_wakes_it(
    owner_client: Client, waiting: Proposal, other: Proposal
) -> None:
    put_aside(owner_client, waiting)
    until = Proposal.objects.get(pk=waiting.pk).snoozed_until
    assert until is not None

    page = read(owner_client.get("/", {"show": "snoozed"}))

    assert rows(page) == [str(waiting.pk)]
    assert page.one("span", class_="row__age").text == f"until {until:%m-%d %H:%M}"
    assert page.all("input", class_="row__pick") == []
    assert f"olga put it aside until {until:%Y-%m-%d %H:%M} UTC. “After <b>the</b> release.”" in page.text
    form = page.form(f"/proposals/{waiting.pk}/wake")
    woken = followed(owner_client, f"/proposals/{waiting.pk}/wake", form)
    assert woken.by_id("toast").text.startswith(f"It waits again: {waiting.title}")
    assert rows(woken) == []
    assert sorted(rows(read(owner_client.get("/")))) == sorted([str(waiting.pk), str(other.pk)])


def test_undo_takes_it_back(owner_client: Client, waiting: Proposal) -> None:
    page = put_aside(owner_client, waiting)

    back = followed(owner_client, "/undo", undo_form(page))

    assert back.by_id("toast").text.startswith(f"It waits again: {waiting.title}")
    assert rows(back) == [str(waiting.pk)]


def test_what_came_back_says_so(owner_client: Client, waiting: Proposal) -> None:
    put_aside(owner_client, waiting, "hour")
    time_passes(waiting)

    page = read(owner_client.get("/"))

    assert "back from snooze" in page.one("a", class_="row__link").text
    assert "Back from snooze. olga had put it aside until" in page.text
    assert page.form(f"/proposals/{waiting.pk}/snooze")["version"] == str(waiting.version)


def test_no_time_changes_nothing_and_keeps_the_note(owner_client: Client, waiting: Proposal) -> None:
    form = read(owner_client.get(f"/proposals/{waiting.pk}")).form(f"/proposals/{waiting.pk}/snooze")

    for until in ("", "for ever"):
        answer = owner_client.post(f"/proposals/{waiting.pk}/snooze", {**form, "until": until, "note": NOTE})
        page = read(answer)
        assert answer.status_code == 422
        assert page.one("div", role="alert", class_="box box--danger").text.startswith("Choose until when")
        assert page.by_id("snooze-note").attributes["value"] == NOTE

    assert not Proposal.objects.snoozed().exists()


def test_a_form_of_before_a_decision_hears_the_truth(owner_client: Client, waiting: Proposal) -> None:
    page = read(owner_client.get(f"/proposals/{waiting.pk}"))
    form = page.form(f"/proposals/{waiting.pk}/snooze")
    owner_client.post(f"/proposals/{waiting.pk}/reject", page.form(f"/proposals/{waiting.pk}/reject"))

    answer = owner_client.post(f"/proposals/{waiting.pk}/snooze", {**form, "until": "hour"}, headers=HTMX)

    assert answer.status_code == 409
    assert "already rejected by olga" in answer.content.decode()
    assert Proposal.objects.get(pk=waiting.pk).state == State.REJECTED


def test_a_stranger_finds_nothing_and_a_get_does_nothing(
    browser: Browser, stranger: User, owner_client: Client, waiting: Proposal
) -> None:
    client = browser(stranger)
    for act in ("snooze", "wake"):
        assert client.post(f"/proposals/{waiting.pk}/{act}", {"version": 1, "until": "hour"}).status_code == 404
        assert owner_client.get(f"/proposals/{waiting.pk}/{act}").status_code == 405

    assert not Proposal.objects.snoozed().exists()
