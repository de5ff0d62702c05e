"""People and their agents and teams."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User
from django.db.models import Count, Q

from memoryreview.review.models import Agent, Role, Store, Team
from memoryreview.review.querysets import awake

from .links import store_url
from .words import Moment, Words, moment

ROLE_WORDS = Words({Role.MEMBER: "member", Role.MAINTAINER: "maintainer"})


@dataclass(frozen=True, slots=True)
class AgentRow:
    id: int
    name: str
    person: str
    stores: tuple[str, ...]
    token: str
    created: Moment
    waiting: int
    is_revoked: bool
    may_revoke: bool


@dataclass(frozen=True, slots=True)
class Member:
    id: int
    name: str
    role: str
    role_words: str
    is_me: bool


@dataclass(frozen=True, slots=True)
class TeamStore:
    slug: str
    url: str


@dataclass(frozen=True, slots=True)
class TeamView:
    slug: str
    name: str
    members: tuple[Member, ...]
    stores: tuple[TeamStore, ...]
    may_maintain: bool


def agents_visible_to(person: User) -> Iterable[Agent]:
    """Return a person's own agents, and those that were given a store the person may see."""
    stores = Store.objects.visible_to(person).values("pk")
    reachable = Q(person=person) | Q(stores__in=stores)
    return Agent.objects.exclude(name__in=Agent.RESERVED).filter(reachable).distinct()


def agent_rows(person: User, now: datetime) -> tuple[AgentRow, ...]:
    seen = set(Store.objects.visible_to(person).values_list("pk", flat=True))
    agents = (
        Agent.objects.filter(pk__in=[agent.pk for agent in agents_visible_to(person)])
        .select_related("person")
        .prefetch_related("stores")
        .annotate(waiting=Count("proposals", filter=Q(proposals__is_open=True) & awake(now, "proposals__")))
        .order_by("revoked_at", "name")
    )
    return tuple(
        AgentRow(
            id=agent.pk,
            name=agent.name,
            person=agent.person.get_username() if agent.person else "",
            stores=tuple(sorted(store.slug for store in agent.stores.all() if store.pk in seen)),
            token=f"{agent.token_hint}…" if agent.token_hint else "",
            created=moment(agent.created_at, now),
            waiting=getattr(agent, "waiting", 0),
            is_revoked=agent.revoked_at is not None,
            may_revoke=agent.revoked_at is None and agent.person_id == person.pk,
        )
        for agent in agents
    )


def team_views(person: User) -> tuple[TeamView, ...]:
    teams = (
        Team.objects.filter(memberships__person=person)
        .prefetch_related("memberships__person", "stores")
        .order_by("slug")
    )
    return tuple(_team(team, person) for team in teams)


def _team(team: Team, person: User) -> TeamView:
    memberships = sorted(team.memberships.all(), key=lambda one: one.person.get_username())
    return TeamView(
        slug=team.slug,
        name=team.name,
        members=tuple(
            Member(
                one.person.pk,
                one.person.get_username(),
                one.role,
                ROLE_WORDS[Role(one.role)],
                one.person.pk == person.pk,
            )
            for one in memberships
        ),
        stores=tuple(
            TeamStore(store.slug, store_url(store.slug)) for store in sorted(team.stores.all(), key=lambda s: s.slug)
        ),
        may_maintain=any(one.person.pk == person.pk and one.role == Role.MAINTAINER for one in memberships),
    )
