from __future__ import annotations

import uuid

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from memoryreview.core.edits import Write
from memoryreview.review.models import Digest, Endpoint, Message, Proposal, Store
from memoryreview.review.operations import digest, notify
from tests.conftest import Propose

from .conftest import Browser
from .reading import read


@pytest.fixture
def waiting(store: Store, propose: Propose) -> Proposal:
    return propose(store, Write("new.md", "- Port 9000.\n"))


def _send(client: Client, action: str, **typed: str) -> str:
    answer = client.post(action, {**read(client.get("/digest/")).form(action), **typed})
    return read(client.get("/digest/") if answer.status_code == 303 else answer).text


def test_page_tells_what_waits_and_leads_to_it(owner_client: Client, waiting: Proposal) -> None:
    page = read(owner_client.get("/digest/"))

    assert "1 proposal waits, 0 changes landed by proof, 0 things failed." in page.text
    assert page.one("a", href="/?store=notes").text == "notes"
    assert Endpoint.objects.count() == 0


def test_today_is_made_once_however_often_it_is_pressed(owner_client: Client, waiting: Proposal) -> None:
    assert "Today’s digest is made." in _send(owner_client, "/digest/now")
    assert "Today’s digest was made already." in _send(owner_client, "/digest/now")

    made = Digest.objects.get()
    assert made.path in read(owner_client.get("/digest/")).text


def test_file_is_switched_off_and_on(owner_client: Client) -> None:
    owner_client.post("/digest/file", {})
    assert "become no files" in read(owner_client.get("/digest/")).text
    assert not Endpoint.objects.get().writes_file
    assert "becomes a file" in _send(owner_client, "/digest/file", writes_file="on")
    assert Endpoint.objects.get().writes_file


def test_secret_of_an_address_is_shown_once(owner_client: Client) -> None:
    text = _send(owner_client, "/digest/webhook", url="https://example.org/hook")

    secret = Endpoint.objects.get().secret
    assert secret in text
    assert secret not in read(owner_client.get("/digest/")).text
    assert "Nothing is sent any more." in _send(owner_client, "/digest/webhook", url="")


def test_address_that_is_refused_stays_in_its_field(owner_client: Client) -> None:
    answer = owner_client.post("/digest/webhook", {"url": "http://10.0.0.1/<b>"})

    page = read(answer)
    assert answer.status_code == 422
    assert page.one("input", name="url").attributes["value"] == "http://10.0.0.1/<b>"
    assert "must begin with https://" in page.one("p", role="alert").text
    assert Endpoint.objects.count() == 0


def test_address_needs_the_password_again(owner_client: Client) -> None:
    session = owner_client.session
    session["password_at"] = 0
    session.save()

    answer = owner_client.post("/digest/webhook", {"url": "https://example.org/hook"})

    assert answer.status_code == 403
    assert "Type your password" in read(answer).text
    assert Endpoint.objects.count() == 0


def test_others_get_no_field_for_an_address(browser: Browser, second: User) -> None:
    client = browser(second)

    assert read(client.get("/digest/")).all("form", action="/digest/webhook") == []
    assert client.post("/digest/webhook", {"url": "https://example.org/"}).status_code == 403
    assert Endpoint.objects.count() == 0


def test_message_is_sent_again_by_its_person_only(
    owner: User, owner_client: Client, browser: Browser, stranger: User, waiting: Proposal
) -> None:
    notify.set_webhook(owner, "https://example.org/hook")
    digest.make(owner, timezone.now())
    Message.objects.update(due_at=None, attempts=10, fault="It answered with status 500.")
    message = Message.objects.get()
    action = f"/digest/messages/{message.pk}"
    assert "given up, 10 attempts" in read(owner_client.get("/digest/")).text

    assert browser(stranger).post(action).status_code == 404
    assert owner_client.post(f"/digest/messages/{uuid.uuid4()}").status_code == 404
    assert "sent again within a minute" in _send(owner_client, action)

    message.refresh_from_db()
    assert (message.attempts, message.due_at is None) == (0, False)


@pytest.mark.parametrize("action", ["/digest/now", "/digest/file", "/digest/webhook"])
def test_nothing_is_done_by_looking(owner_client: Client, action: str) -> None:
    assert owner_client.get(action).status_code == 405
    assert (Digest.objects.count(), Endpoint.objects.count()) == (0, 0)
