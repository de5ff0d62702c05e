from __future__ import annotations

import time
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone
from django_q.models import Schedule

from memoryreview.review import tasks
from memoryreview.review.models import Agent
from memoryreview.review.schedule import ensure_schedules
from memoryreview.review.views.throttle import MAX_NAMES, TRIES, WAIT_S, Throttle, wait_words
from tests.conftest import PASSWORD

from .conftest import Browser, Clock
from .reading import read


def _sign_in(client: Client, name: str, password: str) -> Any:
    return client.post("/sign-in", {"username": name, "password": password})


def _wrong(client: Client, name: str, times: int = TRIES) -> None:
    for _ in range(times):
        assert _sign_in(client, name, "wrong").status_code == 422


def test_throttle_lets_five_through_and_then_waits() -> None:
    clock = Clock()
    throttle = Throttle(clock)

    assert [throttle.begin("olga") for _ in range(TRIES + 2)] == [0] * TRIES + [WAIT_S] * 2
    clock.now_s = WAIT_S - 0.5
    assert throttle.begin("olga") == 1
    clock.now_s = WAIT_S
    assert [throttle.begin("olga") for _ in range(TRIES + 1)] == [0] * TRIES + [WAIT_S]


@pytest.mark.parametrize("spelling", ["olga", "OLGA", " olga ", "ｏｌｇａ", "olga\u00a0", "Olga\t"])
def test_throttle_takes_spellings_of_a_name_for_one(spelling: str) -> None:
    throttle = Throttle(Clock())
    for _ in range(TRIES):
        throttle.begin("olga")

    assert throttle.begin(spelling) == WAIT_S
    assert throttle.begin("sam") == 0


def test_throttle_forgets_after_the_right_password() -> None:
    throttle = Throttle(Clock())
    for _ in range(3 * TRIES):
        assert throttle.begin("olga") == 0
        throttle.forget("olga")


def test_throttle_holds_so_many_names_and_takes_any_text() -> None:
    throttle = Throttle(Clock())
    for number in range(MAX_NAMES + 5):
        throttle.begin(f"name {number}")

    assert len(throttle._tried) == MAX_NAMES
    assert throttle.begin("\udc80\x00") == throttle.begin("x" * 100_000) == 0


def test_wait_is_told_in_words() -> None:
    assert wait_words(1) == "Too many wrong passwords. Nothing was changed; wait a second and try again."
    assert wait_words(30) == "Too many wrong passwords. Nothing was changed; wait 30 seconds and try again."


def test_sign_in_waits_after_five_wrong_passwords(owner: User, client: Client, clock: Clock) -> None:
    _wrong(client, "olga")

    answer = _sign_in(Client(), "olga", PASSWORD)

    assert (answer.status_code, answer.headers["Retry-After"]) == (429, "30")
    page = read(answer)
    assert "wait 30 seconds and try again" in page.text
    assert page.one("input", name="username").attributes["value"] == "olga"
    assert PASSWORD not in answer.content.decode()
    clock.now_s = WAIT_S
    assert _sign_in(client, "olga", PASSWORD).status_code == 302


def test_wrong_passwords_for_one_name_cost_no_other(owner: User, second: User, client: Client) -> None:
    _wrong(client, "olga")

    assert _sign_in(client, "sam", PASSWORD).status_code == 302


def test_name_that_is_none_waits_alike(owner: User, client: Client) -> None:
    _wrong(client, "nobody")

    assert _sign_in(client, "nobody", "wrong").status_code == 429


def test_step_up_waits_after_five_wrong_passwords(browser: Browser, owner: User, clock: Clock) -> None:
    client = browser(owner)
    session = client.session
    session["password_at"] = time.time() - settings.STEP_UP_MINUTES * 60 - 1
    session.save()
    answers = [client.post("/agents/", {"name": "late", "password": "wrong"}) for _ in range(TRIES)]
    assert ["not right" in read(answer).text for answer in answers] == [True] * TRIES

    late = client.post("/agents/", {"name": "late", "password": PASSWORD})

    assert (late.status_code, "wait 30 seconds" in read(late).text) == (403, True)
    assert not Agent.objects.exists()
    clock.now_s = WAIT_S
    assert client.post("/agents/", {"name": "late", "password": PASSWORD}).status_code == 200
    assert Agent.objects.get().name == "late"


def test_session_of_the_sign_in_page_ends_within_the_hour_and_that_of_a_person_does_not(
    owner: User, client: Client
) -> None:
    client.get("/sign-in")
    assert (Session.objects.get().expire_date - timezone.now()).total_seconds() <= 3600

    _sign_in(client, "olga", PASSWORD)
    assert (Session.objects.get().expire_date - timezone.now()).total_seconds() > settings.SESSION_COOKIE_AGE - 60


@pytest.mark.parametrize("address", ["/", "/nowhere", "/health/", "/welcome/x", "/stores/x/a.md", "/api/v1/stores"])
def test_only_the_sign_in_page_begins_a_session(address: str, client: Client, db: None) -> None:
    client.get(address)
    client.post(address)

    assert Session.objects.count() == 0


@pytest.mark.django_db(databases=["default", "queue"])
def test_ended_sessions_are_removed_by_the_clock(owner: User, client: Client) -> None:
    client.get("/sign-in")
    Client().get("/sign-in")
    ended = Session.objects.get(pk=client.session.session_key)
    Session.objects.filter(pk=ended.pk).update(expire_date=timezone.now())

    ensure_schedules()
    assert Schedule.objects.get(name="sessions").func == f"{tasks.__name__}.{tasks.clear_sessions.__name__}"
    tasks.clear_sessions()

    assert Session.objects.count() == 1
    assert not Session.objects.filter(pk=ended.pk).exists()
