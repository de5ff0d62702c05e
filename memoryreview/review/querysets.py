"""Access rules and common selections."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeAlias

from django.contrib.auth.models import AnonymousUser, User
from django.db import models
from django.db.models import Exists, Expression, IntegerField, JSONField, OuterRef, Q, QuerySet, Subquery
from django.utils import timezone

from .states import State

if TYPE_CHECKING:
    from .models import Agent, Change, Proposal, Store  # noqa: F401  # named in strings

Person: TypeAlias = User | AnonymousUser


def _reachable(person: Person, prefix: str = "") -> Q:
    """Stores a person may see: their own private ones and those of their teams."""
    if isinstance(person, AnonymousUser):
        return Q(pk__in=[])
    own = Q(**{f"{prefix}scope": "private", f"{prefix}owner": person})
    return own | Q(**{f"{prefix}scope": "team", f"{prefix}team__in": person.memberships.values("team")})


def awake(now: datetime | Expression, prefix: str = "") -> Q:
    """Proposals that nobody put aside, or whose time has come: the clock brings them back, no task has to run.

    Args: now: the time of asking; a question that is prepared leaves it open, see `prepared.now`.
    """
    return Q(**{f"{prefix}snoozed_until__isnull": True}) | Q(**{f"{prefix}snoozed_until__lte": now})


class CountRows(Subquery):
    """How many rows a question has."""

    template = "(SELECT COUNT(*) FROM (%(subquery)s) AS counted)"
    output_field = IntegerField()


class JsonRows(Subquery):
    """All rows of a question as one list of lists, so that they come along with another one; None for no rows."""

    output_field = JSONField()
    _TEMPLATE = "(SELECT {}({}(%(columns)s)) FROM (%(subquery)s) AS listed)"

    def __init__(self, found: QuerySet[Any, Any], **columns: str) -> None:
        """Ask for some fields of the rows. Args: columns: the name of each field, by a name that is no field's."""
        listed = found.annotate(**{name: models.F(field) for name, field in columns.items()}).values(*columns)
        super().__init__(listed, columns=", ".join(f'"{name}"' for name in columns))

    def as_sqlite(self, compiler: Any, connection: Any, **extra: Any) -> Any:
        template = self._TEMPLATE.format("json_group_array", "json_array")
        return self.as_sql(compiler, connection, template=template, **extra)

    def as_postgresql(self, compiler: Any, connection: Any, **extra: Any) -> Any:
        template = self._TEMPLATE.format("jsonb_agg", "jsonb_build_array")
        return self.as_sql(compiler, connection, template=template, **extra)


class StoreQuerySet(models.QuerySet["Store"]):
    def visible_to(self, person: Person) -> StoreQuerySet:
        return self.filter(_reachable(person))

    def usable_by(self, agent: Agent) -> StoreQuerySet:
        """Stores that an agent may read and propose to: what its person sees, of that what it was given, if anything.

        Before the first account exists nobody owns anything, and an agent that was just added may use what is there.
        """
        mine = agent.person
        reachable = self.filter(owner__isnull=True) if mine is None else self.visible_to(mine)
        given = self.model.agents.through.objects.filter(agent=agent)
        return reachable.filter(Exists(given.filter(store=OuterRef("pk"))) | ~Exists(given))


class AgentQuerySet(models.QuerySet["Agent"]):
    def active(self) -> AgentQuerySet:
        return self.filter(revoked_at__isnull=True)


class ProposalQuerySet(models.QuerySet["Proposal"]):
    def visible_to(self, person: Person) -> ProposalQuerySet:
        return self.filter(_reachable(person, "store__"))

    def undecided(self) -> ProposalQuerySet:
        """Those that a person has to decide some day: what was put aside is among them."""
        return self.filter(is_open=True)

    def waiting(self) -> ProposalQuerySet:
        """Those that ask a person now."""
        return self.undecided().filter(awake(timezone.now()))

    def snoozed(self) -> ProposalQuerySet:
        """Those that a person put aside until a time that has not come."""
        return self.filter(snoozed_until__gt=timezone.now())

    def with_agents(self) -> ProposalQuerySet:
        """Those whose agent was asked for changes: its turn, not a person's."""
        return self.filter(state=State.CHANGES_REQUESTED)

    def live(self) -> ProposalQuerySet:
        """Those that may still land."""
        return self.filter(is_live=True)

    def direct(self) -> ProposalQuerySet:
        """Those that hold a write made on disk without asking."""
        return self.filter(agent__name="direct")

    def in_queue_order(self) -> ProposalQuerySet:
        return self.order_by("-risk", "-id")


class ChangeQuerySet(models.QuerySet["Change"]):
    def unread(self) -> ChangeQuerySet:
        """Those that landed unread, and that nobody kept or rolled back since."""
        return self.filter(unread=True)

    def visible_to(self, person: Person) -> ChangeQuerySet:
        return self.filter(_reachable(person, "store__"))

    def newest_first(self) -> ChangeQuerySet:
        return self.order_by("-id")
