"""What a list of proposals shows and where its pages begin, as cheap for a million that wait as for a thousand.

Every question follows an index in the order of the list, store by store, and stops after one page. What no index serves
is looked for among the next WALKED only: a page says so, and leads on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import reduce
from operator import or_
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Case, Exists, IntegerField, OuterRef, Q, QuerySet, Subquery, When
from django.utils import timezone

from memoryreview.core.concerns import HIGH, MEDIUM
from memoryreview.core.model import Scope
from memoryreview.review.models import Agent, Proposal, Revision, Role, State, Store
from memoryreview.review.querysets import ProposalQuerySet

from .waiting import COUNTED_AT_MOST

WALKED = 1_000
"""Proposals among which one page looks for what no index serves."""

_WALKED_BY_STORE = 40
"""Somebody who sees more stores has them walked together: an index for each would cost more than it saves."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class View(StrEnum):
    """A part of the queue that has a name."""

    ALL = ""
    MINE = "mine"  # the person may decide it
    SECOND = "second"  # the person had a hand in it, so another maintainer decides it
    AGENTS = "agents"  # its agent was asked for changes


class Risk(StrEnum):
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class Standing(StrEnum):
    """States as a list tells them apart."""

    PENDING = "pending"
    QUARANTINED = "quarantined"
    FAILED = "failed"
    CHANGES_REQUESTED = "changes_requested"


@dataclass(frozen=True, slots=True)
class Asked:
    """Which proposals somebody wants to see; "" and 0 where nothing is asked. `days`: it waits that long or longer."""

    view: View = View.ALL
    words: str = ""
    agent: str = ""
    store: str = ""
    scope: str = ""
    kind: str = ""
    risk: Risk | None = None
    state: Standing | None = None
    days: int = 0

    @property
    def is_by_age(self) -> bool:
        """Whether the oldest come first: who asks for what waits long wants to begin there."""
        return self.days > 0 and not self._is_with_agents

    @property
    def _is_with_agents(self) -> bool:
        return self.view is View.AGENTS or self.state is Standing.CHANGES_REQUESTED

    def parts(self, now: datetime) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return what one index serves, and what is left over. Both are conditions of a proposal."""
        old_enough = {"created_at__lte": now - timedelta(days=self.days)} if self.days else {}
        agent = {"agent": Subquery(Agent.objects.filter(name=self.agent).values("pk")[:1])} if self.agent else {}
        kind = {"lead_kind": self.kind} if self.kind else {}
        if self._is_with_agents:
            return {"is_live": True, "state": str(State.CHANGES_REQUESTED)}, {**agent, **kind, **old_enough}
        if self.is_by_age:
            return {"is_open": True, **old_enough}, {**self._state(), **agent, **kind, **_risks(self.risk)}
        if self.state is Standing.FAILED:
            return {"has_failed": True, **_risks(self.risk)}, {**agent, **kind}
        if self.state is not None:
            return {"is_live": True, **self._state(), **_risks(self.risk)}, {**agent, **kind}
        if agent:
            return {"is_open": True, **agent, **_risks(self.risk)}, kind
        return {"is_open": True, **kind, **_risks(self.risk)}, {}

    def _state(self) -> dict[str, Any]:
        if self.state is Standing.FAILED:
            return {"has_failed": True}
        return {"state": str(self.state)} if self.state is not None else {}


def _risks(risk: Risk | None) -> dict[str, Any]:
    match risk:
        case Risk.HIGH:
            return {"risk__gte": HIGH}
        case Risk.MEDIUM:
            return {"risk__gte": MEDIUM, "risk__lt": HIGH}
        case Risk.LOW:
            return {"risk__lt": MEDIUM}
        case None:
            return {}


@dataclass(frozen=True, slots=True)
class Reachable:
    """A store that somebody sees. `decides`: its owner, or a maintainer of its team."""

    pk: int
    slug: str
    scope: str
    decides: bool


@dataclass(frozen=True, slots=True)
class Place:
    """A place between two rows: behind or in front of one. `first` is its risk, or where ages count its time in µs."""

    first: int
    pk: int


@dataclass(frozen=True, slots=True)
class Listing:
    """One page. `later` and `earlier` say where the next and the previous one lie, None where there is none.

    `is_short`: the page looked among WALKED proposals; more of what was asked for may stand behind them.
    """

    proposals: tuple[Proposal, ...]
    later: Place | None = None
    earlier: Place | None = None
    is_short: bool = False


@dataclass(frozen=True, slots=True)
class _Order:
    """How a list is sorted; `falls`: the highest come first."""

    field: str
    falls: bool

    def sorting(self, *, is_backwards: bool) -> tuple[str, str]:
        sign = "-" if self.falls != is_backwards else ""
        return f"{sign}{self.field}", f"{sign}id"

    def beyond(self, place: Place | None, *, is_backwards: bool) -> Q:
        """Keep what comes behind a row. The first bound is implied by the second; it lets the index do the work."""
        if place is None:
            return Q()
        side = "lt" if self.falls != is_backwards else "gt"
        value = _EPOCH + timedelta(microseconds=place.first) if self.field == "created_at" else place.first
        return Q(**{f"{self.field}__{side}e": value}) & (
            Q(**{f"{self.field}__{side}": value}) | Q(**{self.field: value, f"id__{side}": place.pk})
        )

    def place(self, first: Any, pk: int) -> Place:
        return Place((first - _EPOCH) // timedelta(microseconds=1) if self.field == "created_at" else first, pk)


@dataclass(frozen=True, slots=True)
class _Walk:
    """What fits among the proposals that were looked through; `end`: where to look on, None at the end of the list."""

    fitting: tuple[int, ...]
    end: Place | None


_BY_RISK, _BY_AGE = _Order("risk", falls=True), _Order("created_at", falls=False)


@dataclass(frozen=True, slots=True)
class Reader:
    """Lists and counts for one person: `stores` are those that the person sees, by name.

    `is_alone`: there is nobody else who could approve what the person proposed.
    """

    person: User
    stores: tuple[Reachable, ...]
    is_alone: bool
    now: datetime

    @classmethod
    def of(cls, person: User) -> Reader:
        maintained = person.memberships.filter(role=str(Role.MAINTAINER), team=OuterRef("team"))
        seen = Store.objects.visible_to(person).annotate(
            decides=Case(When(scope=str(Scope.PRIVATE), then=True), default=Exists(maintained)),
            has_others=Exists(User.objects.filter(is_active=True).exclude(pk=person.pk)),
        )
        rows = list(seen.order_by("slug").values_list("pk", "slug", "scope", "decides", "has_others"))
        stores = tuple(Reachable(pk, slug, scope, decides) for pk, slug, scope, decides, _ in rows)
        return cls(person, stores, not any(has_others for *_, has_others in rows), timezone.now())

    def page_after(self, place: Place | None, asked: Asked, found: ProposalQuerySet, *, rows: int) -> Listing:
        """Return the page behind a place, the first one for None. Args: found: all, with what of each is fetched."""
        return self._page(asked, found, rows, place, is_backwards=False)

    def page_before(self, place: Place | None, asked: Asked, found: ProposalQuerySet, *, rows: int) -> Listing:
        """Return the page in front of a place, the last one for None."""
        return self._page(asked, found, rows, place, is_backwards=True)

    def place_of(self, asked: Asked, proposal: Proposal) -> Place:
        order = _order(asked)
        return order.place(getattr(proposal, order.field), proposal.pk)

    def holds(self, asked: Asked, pk: int) -> bool:
        """Whether a proposal is one of those that are asked for."""
        indexed, left_over = self._conditions(asked)
        return Proposal.objects.filter(left_over, pk=pk, store__in=self._chosen(asked), **indexed).exists()

    def count(self, several: Sequence[Asked], *others: QuerySet[Any, Any]) -> tuple[list[int], int]:
        """Count what fits each, COUNTED_AT_MOST + 1 at most, and name the newest proposal of all, 0 for none.

        One question, however many are asked about. What no index serves is counted among WALKED only.

        Args: others: more that is to be counted, each with its own limit.
        """
        counts = [_Count(found) for found in (*map(self._counted, several), *others)]
        newest = Subquery(Proposal.objects.order_by("-pk").values("pk")[:1])
        *numbers, last = User.objects.filter(pk=self.person.pk).values_list(*counts, newest).get()
        return [number or 0 for number in numbers], last or 0

    def is_walked(self, asked: Asked) -> bool:
        """Whether a part of what is asked has no index, so that one question sees WALKED proposals only."""
        return bool(self._conditions(asked)[1])

    def _counted(self, asked: Asked) -> QuerySet[Proposal, Any]:
        indexed, left_over = self._conditions(asked)
        found = Proposal.objects.filter(store__in=self._chosen(asked), **indexed).order_by().values("pk")
        if left_over:
            found = Proposal.objects.filter(left_over, pk__in=found[:WALKED]).order_by().values("pk")
        return found[: COUNTED_AT_MOST + 1]

    def _chosen(self, asked: Asked) -> list[int]:
        return [
            store.pk
            for store in self.stores
            if asked.store in ("", store.slug)
            and asked.scope in ("", store.scope)
            and (store.decides or asked.view is not View.MINE)
            and (store.scope == Scope.TEAM or asked.view is not View.SECOND)
        ]

    def _conditions(self, asked: Asked) -> tuple[dict[str, Any], Q]:
        """Return what an index serves, and what is left over."""
        indexed, rest = asked.parts(self.now)
        left_over = Q(**rest)
        if asked.words:
            words = ("title__icontains", "paths__icontains", "agent__name__icontains", "store__slug__icontains")
            left_over &= reduce(or_, (Q(**{name: asked.words}) for name in words))
        has_team = any(store.scope == Scope.TEAM and store.decides for store in self.stores)
        if asked.view is View.MINE and has_team and not self.is_alone:
            left_over &= Q(store__scope=str(Scope.PRIVATE)) | ~_written_by(self.person)
        if asked.view is View.SECOND:
            left_over &= Q(pk__in=[]) if self.is_alone else _written_by(self.person)
        return indexed, left_over

    def _page(
        self, asked: Asked, found: ProposalQuerySet, rows: int, place: Place | None, *, is_backwards: bool
    ) -> Listing:
        order, left_over = _order(asked), self._conditions(asked)[1]
        if left_over:
            walk = self._walk(asked, place, rows, at_most=2 * rows, is_backwards=is_backwards)
            if walk.end is not None and len(walk.fitting) <= rows:
                walk = self._walk(asked, place, rows, at_most=WALKED, is_backwards=is_backwards)
            wanted = walk.fitting[: rows + 1]
            by_pk = found.in_bulk(wanted)
            ones = [by_pk[pk] for pk in wanted if pk in by_pk]
        else:
            walk = _Walk((), None)
            within = self._within(asked, place, is_backwards=is_backwards)
            sorting = order.sorting(is_backwards=is_backwards)
            ones = list(self._in_order(found, asked, within, sorting, rows + 1)[: rows + 1])
        has_more, ones = len(ones) > rows, ones[:rows]
        onward = self.place_of(asked, ones[-1]) if has_more else walk.end
        is_short = not has_more and walk.end is not None
        back = None if place is None else (self.place_of(asked, ones[0]) if ones else place)
        if is_backwards:
            return Listing(tuple(reversed(ones)), later=back, earlier=onward, is_short=is_short)
        return Listing(tuple(ones), later=onward, earlier=back, is_short=is_short)

    def _within(self, asked: Asked, place: Place | None, *, is_backwards: bool) -> Q:
        return _order(asked).beyond(place, is_backwards=is_backwards) & Q(**self._conditions(asked)[0])

    def _walk(self, asked: Asked, place: Place | None, rows: int, *, at_most: int, is_backwards: bool) -> _Walk:
        """Look among the next `at_most` proposals for what no index serves, as many in each store.

        The walk ends where the share of one store ends: behind that, something of this store could be missing.
        """
        order, is_merged = _order(asked), self._is_merged(asked)
        share = max(rows + 1, at_most // len(self._chosen(asked))) if is_merged else at_most
        within = self._within(asked, place, is_backwards=is_backwards)
        sorting = order.sorting(is_backwards=is_backwards)
        walked = self._in_order(Proposal.objects.all(), asked, within, sorting, share)
        fits = Case(When(self._conditions(asked)[1], then=True), default=False)
        found = walked.annotate(fits=fits).values_list(order.field, "pk", "store_id", "fits")
        keys = list(found if is_merged else found[:share])
        last_of = {store if is_merged else 0: at for at, (_, _, store, _) in enumerate(keys)}
        size_of = Counter(store if is_merged else 0 for _, _, store, _ in keys)
        ends = [at for store, at in last_of.items() if size_of[store] == share]
        if not ends:
            return _Walk(tuple(pk for _, pk, _, is_fit in keys if is_fit), None)
        keys = keys[: min(ends) + 1]
        return _Walk(tuple(pk for _, pk, _, is_fit in keys if is_fit), order.place(*keys[-1][:2]))

    def _is_merged(self, asked: Asked) -> bool:
        """Whether each store is walked by itself."""
        return 1 < len(self._chosen(asked)) <= _WALKED_BY_STORE

    def _in_order(
        self, found: ProposalQuerySet, asked: Asked, within: Q, sorting: tuple[str, str], at_most: int
    ) -> ProposalQuerySet:
        """Return the beginning of a list. Each store has its own walk along the index; the walks are merged by sorting.

        The outer question names nothing that an index holds: it has to begin with the rows that the walks found.
        """
        if not self._is_merged(asked):
            return found.filter(within, store__in=self._chosen(asked)).order_by(*sorting)
        walks = (
            Q(pk__in=Proposal.objects.filter(within, store=pk).order_by(*sorting).values("pk")[:at_most])
            for pk in self._chosen(asked)
        )
        return found.filter(reduce(or_, walks)).order_by(*sorting)


class _Count(Subquery):
    """How many rows a question has."""

    template = "(SELECT COUNT(*) FROM (%(subquery)s) AS counted)"
    output_field = IntegerField()


def _order(asked: Asked) -> _Order:
    return _BY_AGE if asked.is_by_age else _BY_RISK


def _written_by(person: User) -> Q:
    """Whether a person had a hand in a proposal, as `permissions` counts it."""
    newer = Revision.objects.filter(proposal=OuterRef("proposal"), number__gt=OuterRef("number"))
    edited = Revision.objects.filter(~Exists(newer), person=person).values("proposal")
    return Q(person=person) | Q(agent__person=person) | Q(pk__in=edited)
