"""People and agents: one-time links that make accounts, teams, and the credentials of agents."""

from __future__ import annotations

import hashlib
import re
import secrets
import string
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from memoryreview.core.errors import MemoryReviewError
from memoryreview.core.signing import serialised_secret
from memoryreview.review.models import Agent, Membership, Role, SignUpLink, Store, Team

from .errors import NotFoundError, NotPermittedError

OWNER_LINK_MINUTES = 60
INVITATION_DAYS = 7
_BASE62 = string.digits + string.ascii_uppercase + string.ascii_lowercase
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,38}[a-z0-9])?")


class AgentNameError(MemoryReviewError):
    """The name cannot be used for an agent."""


def owner_link() -> str | None:
    """Return a fresh one-time address that makes the owner's account, None once there is one; older ones end."""
    if User.objects.exists():
        return None
    SignUpLink.objects.filter(team__isnull=True, used_at__isnull=True).delete()
    return _link(expires_in=timedelta(minutes=OWNER_LINK_MINUTES))


def invite(team: Team, *, role: Role, by: User) -> str:
    """Return a one-time address that makes an account in a team. Only its maintainers may invite."""
    _require_maintainer(team, by)
    return _link(expires_in=timedelta(days=INVITATION_DAYS), team=team, role=role)


def _link(*, expires_in: timedelta, team: Team | None = None, role: Role = Role.MAINTAINER) -> str:
    token = secrets.token_urlsafe(24)
    SignUpLink.objects.create(digest=_digest(token), team=team, role=role, expires_at=timezone.now() + expires_in)
    return settings.PUBLIC_URL + reverse("welcome", args=[token])


def find_link(token: str) -> SignUpLink | None:
    """Return the link if it can still be used."""
    link = SignUpLink.objects.select_related("team").filter(digest=_digest(token)).first()
    return link if link is not None and link.is_open(timezone.now()) else None


def create_account(link: SignUpLink, *, username: str, password: str) -> User:
    """Make the account that a link stands for and use the link up. The first account owns what was adopted before it.

    Raises: django ValidationError for a weak password or a name that is taken; NotFoundError for a used link.
    """
    candidate = User(username=username)
    candidate.clean_fields(exclude=["password"])
    validate_password(password, candidate)
    if User.objects.filter(username__iexact=username).exists():
        raise ValidationError({"username": "This name is taken."})
    with transaction.atomic():
        used = SignUpLink.objects.filter(pk=link.pk, used_at__isnull=True).update(used_at=timezone.now())
        is_owner = link.team_id is None
        if not used or (is_owner and User.objects.exists()):
            raise NotFoundError("open link", "this one")
        person = User.objects.create_user(username=username, password=password, is_superuser=is_owner)
        if is_owner:
            _inherit(person)
        elif link.team is not None:
            Membership.objects.create(team=link.team, person=person, role=link.role)
    return person


def _inherit(owner: User) -> None:
    """What was adopted or added before the first account existed belongs to it."""
    Store.objects.filter(scope="private", owner__isnull=True).update(owner=owner)
    Agent.objects.filter(person__isnull=True).exclude(name__in=Agent.RESERVED).update(person=owner)
    for team in Team.objects.filter(memberships__isnull=True):
        Membership.objects.create(team=team, person=owner, role=Role.MAINTAINER)


def set_role(team: Team, person: User, role: Role | None, *, by: User) -> None:
    """Give a person a role in a team, or take them out (None). The last maintainer stays."""
    _require_maintainer(team, by)
    others = team.memberships.filter(role=Role.MAINTAINER).exclude(person=person)
    if role != Role.MAINTAINER and not others.exists():
        raise NotPermittedError("A team keeps at least one maintainer. Nothing was changed; name another one first.")
    if role is None:
        team.memberships.filter(person=person).delete()
    else:
        Membership.objects.update_or_create(team=team, person=person, defaults={"role": role})


def _require_maintainer(team: Team, person: User) -> None:
    if not team.memberships.filter(person=person, role=Role.MAINTAINER).exists():
        raise NotPermittedError("Only a maintainer of the team may do that. Nothing was changed.")


@dataclass(frozen=True, slots=True)
class NewAgent:
    """`token` and `webhook_secret` are shown once and cannot be read again from here."""

    agent: Agent
    token: str
    webhook_secret: str


def add_agent(name: str, stores: Sequence[Store] = (), person: User | None = None) -> NewAgent:
    """Register an agent; with no stores named it may propose to all. Its person defaults to the owner.

    Raises: AgentNameError.
    """
    if name in Agent.RESERVED:
        raise AgentNameError(
            f"“{name}” is the name of a part of memoryreview. Nothing was stored; choose another name."
        )
    if not _NAME.fullmatch(name):
        raise AgentNameError(
            f"“{name[:60]}” cannot name an agent: use 1 to 40 of a-z, 0-9, dot, dash, underscore. Nothing was stored."
        )
    if Agent.objects.filter(name=name).exists():
        raise AgentNameError(f"An agent “{name}” exists already. Nothing was stored; choose another name or revoke it.")
    token = mint_token()
    secret = serialised_secret(secrets.token_bytes(32))
    with transaction.atomic():
        agent = Agent.objects.create(
            name=name,
            person=person or User.objects.filter(is_superuser=True).order_by("pk").first(),
            token_digest=_digest(token),
            token_hint=token[:8],
            webhook_secret=secret,
        )
        agent.stores.set(stores)
    return NewAgent(agent, token, secret)


def mint_token() -> str:
    """Return `mrv_` + 38 random base62 characters + their CRC-32 in 6, a form that our own scanner recognises."""
    body = "".join(secrets.choice(_BASE62) for _ in range(38))
    check = zlib.crc32(body.encode("ascii"))
    digits = ""
    for _ in range(6):
        check, rest = divmod(check, 62)
        digits = _BASE62[rest] + digits
    return f"mrv_{body}{digits}"


def revoke_agent(agent: Agent) -> None:
    """Make the agent's token and webhook secret useless for good; its proposals stay."""
    Agent.objects.filter(pk=agent.pk).update(revoked_at=timezone.now(), token_digest=None, webhook_secret="")


def agent_by_token(token: str) -> Agent | None:
    """Return the active agent that holds this token."""
    return Agent.objects.active().filter(token_digest=_digest(token)).first()


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
