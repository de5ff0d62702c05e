from __future__ import annotations

import re
import time
from typing import Any
from uuid import uuid4

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from django.urls import URLPattern

from memoryreview.review.models import Agent, Change, Proposal, State, Store
from memoryreview.review.operations import accounts
from memoryreview.review.views.access import number
from memoryreview.review.views.urls import urlpatterns
from tests.conftest import MakeStore, Propose, replaced

from .conftest import Browser
from .reading import read

OPEN_TO_ALL = {"sign-in", "sign-out", "welcome", "health", "language"}
POST_ONLY = (
    "/proposals/{proposal}/approve",
    "/proposals/{proposal}/reject",
    "/proposals/{proposal}/release",
    "/undo",
    "/promote",
    "/changes/{oid}/rollback",
    "/changes/{oid}/rollback-together",
    "/agents/{agent}/revoke",
    "/tidy/{store}/run",
    "/tidy/{store}/switch",
    "/tidy/{store}/resume",
    "/teams/{team}/invite",
    "/teams/{team}/role",
)
OF_ONE_STORE = (
    "/proposals/{proposal}",
    "/proposals/{proposal}/edit",
    "/stores/{store}/",
    "/stores/{store}/build.md",
    "/changes/{oid}",
    "/changes/{oid}/rollback-by-hand",
)


@pytest.fixture
def names(make_store: MakeStore, store: Store, propose: Propose) -> dict[str, Any]:
    """What the addresses above need: one of everything, all of it the owner's."""
    team = make_store({"a.md": "# A\n"}, name="shared", team=True)
    proposal = propose(store, replaced("build.md", "5432", "5433"))
    assert team.team is not None
    return {
        "proposal": proposal.pk,
        "oid": Change.objects.get(store=store).oid,
        "store": store.slug,
        "agent": Agent.objects.get(name="claude").pk,
        "team": team.team.slug,
    }


def _address(pattern: URLPattern, names: dict[str, Any]) -> str:
    values = {"int": names["proposal"], "oid": names["oid"], "uuid": uuid4(), "document": "build.md"}
    named = {"slug": names["store"], "oid": names["oid"], "name": "keys"}

    def fill(part: re.Match[str]) -> str:
        return str(values[part[1]] if part[1] in values else named[part[2]])

    return f"/{re.sub('<([a-z]+):([a-z]+)>', fill, str(pattern.pattern))}"


@pytest.mark.parametrize("pattern", [p for p in urlpatterns if p.name not in OPEN_TO_ALL], ids=lambda p: p.name)
def test_page_sends_strangers_without_account_to_sign_in(pattern: URLPattern, names: dict[str, Any]) -> None:
    address = _address(pattern, names)
    got, posted = Client().get(address), Client().post(address)

    allowed = {answer.headers["Location"].partition("?")[0] for answer in (got, posted) if answer.status_code == 302}
    assert allowed == {"/sign-in"}
    assert {got.status_code, posted.status_code} <= {302, 405}


def test_health_tells_the_anonymous_only_that_it_answers(client: Client, db: None) -> None:
    assert client.get("/health/").content == b"ok\n"


@pytest.mark.parametrize("address", POST_ONLY)
def test_state_never_changes_by_get(address: str, owner_client: Client, names: dict[str, Any]) -> None:
    before = list(Proposal.objects.values_list("pk", "state", "version"))

    assert owner_client.get(address.format(**names)).status_code == 405
    assert list(Proposal.objects.values_list("pk", "state", "version")) == before


@pytest.mark.parametrize("address", OF_ONE_STORE)
def test_stranger_finds_nothing(
    address: str, browser: Browser, stranger: User, owner_client: Client, names: dict[str, Any]
) -> None:
    assert owner_client.get(address.format(**names)).status_code == 200

    answer = browser(stranger).get(address.format(**names))

    assert answer.status_code == 404
    assert "npm" not in answer.content.decode()


@pytest.mark.parametrize("address", [a for a in POST_ONLY if a not in ("/undo", "/promote")])
def test_stranger_changes_nothing(address: str, browser: Browser, stranger: User, names: dict[str, Any]) -> None:
    answer = browser(stranger).post(
        address.format(**names), {"version": 1, "confirm": 1, "note": "x", "role": "maintainer", "person": stranger.pk}
    )

    assert answer.status_code == 404
    assert Proposal.objects.get(pk=names["proposal"]).state == State.PENDING
    assert Agent.objects.get(pk=names["agent"]).revoked_at is None
    assert not stranger.memberships.exists()


def test_stranger_promotes_nothing(browser: Browser, stranger: User, names: dict[str, Any]) -> None:
    answer = browser(stranger).post("/promote", {"store": "notes", "path": "build.md", "to": "shared"})

    assert answer.status_code == 404
    assert Proposal.objects.count() == 1


def test_queue_of_a_stranger_is_empty(browser: Browser, stranger: User, names: dict[str, Any]) -> None:
    page = read(browser(stranger).get("/"))

    assert page.all("a", class_="row__link") == []
    assert page.by_id("count").text == "0"


def test_c140_agent_token_decides_nothing(store: Store, owner_client: Client, propose: Propose, owner: User) -> None:
    token = accounts.add_agent("other", person=owner).token
    proposal = propose(store, replaced("build.md", "5432", "5433"))

    for client in (Client(), owner_client):
        answer = client.post(f"/proposals/{proposal.pk}/approve", headers={"Authorization": f"Bearer {token}"})
        assert answer.status_code == 403

    assert Proposal.objects.get(pk=proposal.pk).state == State.PENDING


def test_form_of_another_site_is_refused(store: Store, owner_client: Client, propose: Propose) -> None:
    proposal = propose(store, replaced("build.md", "5432", "5433"))

    answer = owner_client.post(f"/proposals/{proposal.pk}/reject", headers={"Sec-Fetch-Site": "same-site"})

    assert answer.status_code == 403
    assert Proposal.objects.get(pk=proposal.pk).state == State.PENDING


def test_form_without_token_is_refused_in_our_voice(owner: User, owner_client: Client) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.cookies = owner_client.cookies

    answer = strict.post("/undo", {"decision": 1})

    assert answer.status_code == 403
    assert "Nothing was changed" in read(answer).text


def test_c128_foreign_host_reaches_no_view(owner_client: Client, names: dict[str, Any]) -> None:
    answer = owner_client.post(
        f"/proposals/{names['proposal']}/approve",
        headers={"Host": "evil.example:8765", "Origin": "http://evil.example:8765"},
    )

    assert answer.status_code == 400
    assert Proposal.objects.get(pk=names["proposal"]).state == State.PENDING


def test_every_page_forbids_inline_script_and_style(owner_client: Client, names: dict[str, Any]) -> None:
    for address in ("/", "/stores/", "/history/", "/agents/", "/help/", "/nowhere", f"/proposals/{names['proposal']}"):
        answer = owner_client.get(address)
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        page = read(answer)
        assert [e for e in page.elements if "style" in e.attributes or e.tag == "style"] == []
        assert [e for e in page.all("script") if not e.attributes.get("src", "").startswith("/static/")] == []
        assert [e for e in page.elements if any(name.startswith("on") for name in e.attributes)] == []


def test_part_of_a_page_is_sent_to_sign_in_as_a_whole(client: Client, db: None) -> None:
    answer = client.get("/proposals/1", headers={"HX-Request": "true", "HX-Current-URL": "http://testserver/?q=x"})

    assert answer.headers["HX-Redirect"] == "/sign-in?next=%2F%3Fq%3Dx"


def test_browser_that_names_no_page_comes_from_the_queue(client: Client, db: None) -> None:
    answer = client.get("/proposals/1", headers={"HX-Request": "true", "HX-Current-URL": "http://["})

    assert answer.headers["HX-Redirect"] == "/sign-in?next=%2F"


def test_poll_without_account_stops_and_moves_nobody(client: Client, db: None) -> None:
    answer = client.get("/queue/fresh", headers={"HX-Request": "true", "HX-Trigger": "fresh"})

    assert answer.status_code == 286
    assert "HX-Redirect" not in answer.headers
    assert "Sign in" in answer.content.decode()


def test_password_is_asked_again_after_a_while(owner_client: Client) -> None:
    session = owner_client.session
    session["password_at"] = time.time() - settings.STEP_UP_MINUTES * 60 - 1
    session.save()

    answer = owner_client.post("/agents/", {"name": "late"})

    assert answer.status_code == 403
    assert not Agent.objects.filter(name="late").exists()
    assert read(answer).one("input", name="password").attributes["type"] == "password"


@pytest.mark.parametrize(
    ("text", "value"),
    [("7", 7), ("007", 7), ("9" * 18, 10**18 - 1), ("9" * 19, 0), ("9" * 5000, 0), ("", 0), ("-1", 0), ("+1", 0),
     ("1_0", 0), (" 1", 0), ("1\n", 0), ("1.0", 0), ("0x1", 0), ("\u0663", 0), ("\u00b2", 0)],
)  # fmt: skip
def test_number_is_total(text: str, value: int) -> None:
    assert number(text) == value


@pytest.mark.parametrize("digits", ["9" * 18, "9" * 30, "9" * 4350, "9" * 5000, "\u0663", "\u00b2", "-1"])
def test_number_of_any_length_breaks_no_page(digits: str, owner_client: Client, names: dict[str, Any]) -> None:
    gets = (
        ("/history/", {"before": digits}),
        ("/", {"after": f"{digits}-{digits}"}),
        ("/", {"after": f"1-{digits}"}),
        ("/", {"after": f"{digits}-1"}),
        ("/queue/fresh", {"after": digits}),
    )
    posts = (
        ("/teams/{team}/role", {"person": digits, "role": "member"}, {404}),
        ("/undo", {"decision": digits}, {404, 409}),
        ("/proposals/{proposal}/approve", {"version": digits, "confirm": "1", "next": digits}, {409}),
        ("/proposals/{proposal}/reject", {"version": digits, "reason": "wrong", "next": digits}, {409}),
        ("/proposals/{proposal}/edit", {"version": digits}, {409, 422}),
    )

    assert [owner_client.get(address, query).status_code for address, query in gets] == [200] * len(gets)
    for address, form, refused in posts:
        assert owner_client.post(address.format(**names), form).status_code in refused, address
    assert Proposal.objects.get(pk=names["proposal"]).state == State.PENDING


@pytest.mark.parametrize("pk", [2**63 - 1, 2**63, 10**30])
def test_a_proposal_that_no_row_can_have_is_not_there(pk: int, owner_client: Client) -> None:
    assert owner_client.get(f"/proposals/{pk}").status_code == 404
