from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from memoryreview.review.models import Agent, Role, Store
from memoryreview.review.operations import accounts
from tests.conftest import PASSWORD, MakeStore

from .conftest import Browser
from .reading import read

GOOD = "a long enough phrase"


def _path(url: str | None) -> str:
    assert url is not None
    return "/" + url.split("/", 3)[3]


@pytest.mark.parametrize(
    ("wanted", "reached"),
    [
        ("/history/?store=x", "/history/?store=x"),
        ("", "/"),
        ("//evil.example/", "/"),
        ("/\\evil.example", "/"),
        ("https:evil.example", "/"),
        ("https://evil.example/", "/"),
        ("/%2f%2fevil.example", "/%2f%2fevil.example"),
        ("javascript:alert(1)", "/"),
    ],
)
def test_sign_in_goes_only_to_our_own_pages(wanted: str, reached: str, owner: User, client: Client) -> None:
    answer = client.post("/sign-in", {"username": "olga", "password": PASSWORD, "next": wanted})

    assert (answer.status_code, answer.headers["Location"]) == (302, reached)


def test_wrong_password_lets_nobody_in(owner: User, client: Client) -> None:
    answer = client.post("/sign-in", {"username": "olga", "password": "wrong"})

    assert answer.status_code == 422
    assert "do not fit together" in read(answer).text
    assert client.get("/").status_code == 302


def test_sign_out_ends_the_session(owner_client: Client) -> None:
    owner_client.post("/sign-out")

    assert owner_client.get("/").headers["Location"] == "/sign-in?next=%2F"


def test_welcome_makes_the_first_account_and_signs_in(client: Client, db: None) -> None:
    address = _path(accounts.owner_link())

    weak = client.post(address, {"username": "olga", "password": "short", "again": "short"})
    differing = client.post(address, {"username": "olga", "password": GOOD, "again": GOOD + "x"})
    answer = client.post(address, {"username": "olga", "password": GOOD, "again": GOOD})

    assert (weak.status_code, differing.status_code) == (422, 422)
    assert "at least 12" in read(weak).text
    assert answer.headers["Location"] == "/"
    assert client.get("/").status_code == 200
    assert User.objects.get().is_superuser


def test_welcome_link_works_once(client: Client, db: None) -> None:
    address = _path(accounts.owner_link())
    client.post(address, {"username": "olga", "password": GOOD, "again": GOOD})

    for answer in (Client().get(address), Client().post(address, {"username": "eve", "password": GOOD, "again": GOOD})):
        assert answer.status_code == 404
        assert "memoryreview up" in read(answer).text

    assert User.objects.count() == 1


def test_welcome_shows_what_is_wrong_with_a_name(owner: User, client: Client, make_store: MakeStore) -> None:
    team = make_store({"a.md": "# A\n"}, name="shared", team=True).team
    assert team is not None
    address = _path(accounts.invite(team, role=Role.MEMBER, by=owner))

    answer = client.post(address, {"username": "OLGA", "password": GOOD, "again": GOOD})

    assert answer.status_code == 422
    assert "This name is taken." in read(answer).text


def test_new_agent_shows_its_secrets_once(owner_client: Client, store: Store) -> None:
    answer = owner_client.post("/agents/", {"name": "hermes", "stores": ["notes"]})

    shown = [code.text for code in read(answer).all("code", class_="command")]
    agent = Agent.objects.get(name="hermes")
    assert accounts.agent_by_token(shown[0]) == agent
    assert shown[1] == agent.webhook_secret
    assert shown[2].endswith("/hooks/v1/hermes")
    assert list(agent.stores.all()) == [store]
    again = owner_client.get("/agents/").content.decode()
    assert shown[0] not in again
    assert shown[1] not in again
    assert answer.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("name", ["", "Bad Name", "direct", "a" * 41])
def test_name_of_an_agent_is_checked(owner_client: Client, name: str) -> None:
    answer = owner_client.post("/agents/", {"name": name})

    assert answer.status_code == 422
    assert not Agent.objects.exists()


def test_store_of_others_cannot_be_given_to_an_agent(browser: Browser, stranger: User, store: Store) -> None:
    browser(stranger).post("/agents/", {"name": "spy", "stores": ["notes"]})

    assert list(Agent.objects.get(name="spy").stores.all()) == []


def test_revoking_is_harmless_twice(owner_client: Client, agent: Agent) -> None:
    for _ in range(2):
        assert owner_client.post(f"/agents/{agent.pk}/revoke").status_code == 302

    agent.refresh_from_db()
    assert agent.revoked_at is not None
    assert "claude revoked" in read(owner_client.get("/agents/")).text


def test_colleague_sees_but_cannot_revoke_my_agent(
    browser: Browser, second: User, agent: Agent, make_store: MakeStore, join: object
) -> None:
    assert callable(join)
    shared = make_store({"a.md": "# A\n"}, name="shared", team=True)
    agent.stores.add(shared)
    join(shared, second)
    colleague = browser(second)

    assert "claude" in read(colleague.get("/agents/")).text
    assert colleague.post(f"/agents/{agent.pk}/revoke").status_code == 404
    agent.refresh_from_db()
    assert agent.revoked_at is None


def test_invitation_is_shown_once_and_leads_into_the_team(owner_client: Client, make_store: MakeStore) -> None:
    store = make_store({"a.md": "# A\n"}, name="shared", team=True)

    answer = owner_client.post("/teams/acme/invite", {"role": "member"})

    link = read(answer).one("code", class_="command").text
    assert link not in owner_client.get("/teams/").content.decode()
    guest = Client()
    guest.post(_path(link), {"username": "mia", "password": GOOD, "again": GOOD})
    assert store.team is not None
    assert store.team.memberships.get(person__username="mia").role == Role.MEMBER
    assert guest.get("/stores/shared/").status_code == 200


def test_member_invites_nobody(browser: Browser, second: User, make_store: MakeStore, join: object) -> None:
    assert callable(join)
    join(make_store({"a.md": "# A\n"}, name="shared", team=True), second, role=Role.MEMBER)

    answer = browser(second).post("/teams/acme/invite", {"role": "maintainer"})

    assert answer.status_code == 403
    assert "Only a maintainer" in read(answer).text


def test_role_is_set_by_a_maintainer(owner_client: Client, second: User, make_store: MakeStore, join: object) -> None:
    assert callable(join)
    store = make_store({"a.md": "# A\n"}, name="shared", team=True)
    join(store, second, role=Role.MEMBER)
    assert store.team is not None

    owner_client.post("/teams/acme/role", {"person": second.pk, "role": "maintainer"})
    assert store.team.memberships.get(person=second).role == Role.MAINTAINER

    owner_client.post("/teams/acme/role", {"person": second.pk, "role": "none"})
    assert not store.team.memberships.filter(person=second).exists()


def test_last_maintainer_stays(owner: User, owner_client: Client, make_store: MakeStore) -> None:
    store = make_store({"a.md": "# A\n"}, name="shared", team=True)
    assert store.team is not None

    answer = owner_client.post("/teams/acme/role", {"person": owner.pk, "role": "none"})

    assert answer.status_code == 403
    assert store.team.memberships.get(person=owner).role == Role.MAINTAINER
