from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.utils import timezone

from memoryreview.core import scan
from memoryreview.review.models import Agent, Membership, Role, SignUpLink
from memoryreview.review.operations import accounts
from memoryreview.review.operations.adopt import adopt
from memoryreview.review.operations.errors import NotFoundError, NotPermittedError
from tests.conftest import MakeStore

GOOD = "a long enough phrase"


def _token(url: str | None) -> str:
    assert url is not None
    return url.rsplit("/", 1)[-1]


def test_owner_link_works_once(db: None) -> None:
    link = accounts.find_link(_token(accounts.owner_link()))
    assert link is not None

    owner = accounts.create_account(link, username="olga", password=GOOD)

    assert owner.is_superuser
    assert accounts.owner_link() is None
    with pytest.raises(NotFoundError):
        accounts.create_account(link, username="mallory", password=GOOD)


def test_newer_owner_link_ends_the_older(db: None) -> None:
    older = _token(accounts.owner_link())
    newer = _token(accounts.owner_link())

    assert (accounts.find_link(older), accounts.find_link(newer) is None) == (None, False)


def test_owner_link_expires(db: None) -> None:
    token = _token(accounts.owner_link())
    SignUpLink.objects.update(expires_at=timezone.now() - timedelta(seconds=1))

    assert accounts.find_link(token) is None


@pytest.mark.parametrize("password", ["short", "password1234", "olga-olga-olga"])
def test_weak_password_makes_no_account(db: None, password: str) -> None:
    link = accounts.find_link(_token(accounts.owner_link()))
    assert link is not None

    with pytest.raises(ValidationError):
        accounts.create_account(link, username="olga-olga-olga", password=password)

    assert User.objects.count() == 0


def test_owner_inherits_what_was_adopted_before(db: None, tmp_path: Path) -> None:
    store = adopt(tmp_path, name="early").store
    added = accounts.add_agent("early").agent
    link = accounts.find_link(_token(accounts.owner_link()))
    assert link is not None

    person = accounts.create_account(link, username="olga", password=GOOD)

    store.refresh_from_db()
    added.refresh_from_db()
    assert (store.owner, added.person) == (person, person)


def test_invitation_joins_a_team(make_store: MakeStore, owner: User, stranger: User) -> None:
    team = make_store({"a.md": "a\n"}, team=True).team
    assert team is not None
    with pytest.raises(NotPermittedError):
        accounts.invite(team, role=Role.MEMBER, by=stranger)
    link = accounts.find_link(_token(accounts.invite(team, role=Role.MEMBER, by=owner)))
    assert link is not None

    person = accounts.create_account(link, username="ben", password=GOOD)

    assert Membership.objects.get(person=person).role == Role.MEMBER
    assert not person.is_superuser


def test_last_maintainer_stays(make_store: MakeStore, owner: User) -> None:
    team = make_store({"a.md": "a\n"}, team=True).team
    assert team is not None

    with pytest.raises(NotPermittedError):
        accounts.set_role(team, owner, None, by=owner)


def test_token_is_kept_as_a_digest_and_found_by_our_own_scanner(owner: User) -> None:
    new = accounts.add_agent("claude")

    assert accounts.agent_by_token(new.token) == new.agent
    assert new.token not in str(Agent.objects.values().get())
    for _ in range(200):
        assert "own-token" in {finding.rule for finding in scan.scan(f"token {accounts.mint_token()} here")}


def test_revoked_agent_has_no_credentials(owner: User) -> None:
    new = accounts.add_agent("claude")

    accounts.revoke_agent(new.agent)

    assert accounts.agent_by_token(new.token) is None


@pytest.mark.parametrize("name", ["", "Eve\nReviewed-by: x", "--amend", "direct", "a" * 41, "UPPER", "x/y"])
def test_agent_names_that_could_deceive_are_refused(owner: User, name: str) -> None:
    with pytest.raises(accounts.AgentNameError):
        accounts.add_agent(name)
