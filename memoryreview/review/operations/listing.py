"""What a list of proposals shows and where its pages begin, as cheap for a million that wait as for a thousand.

Every question follows an index in the order of the list, store by store, and stops after one page. What no index serves
is looked for among the next WALKED only: a page says so, and leads on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from functools import lru_cache, reduce
from operator import or_
from typing import Any, TypeAlias

from django.contrib.auth.models import User
from django.db.models import Case, Q, QuerySet, Subquery, When
from django.utils import timezone

from memoryreview.core.concerns import HIGH, MEDIUM
from memoryreview.core.model import Scope
from memoryreview.core.search import terms
from memoryreview.review.models import Agent, Proposal, State, Store
from memoryreview.review.prepared import Prepared, now, number
from memoryreview.review.querysets import CountRows, ProposalQuerySet, awake

from . import queue_search
from .permissions import Rights, written_by
from .queue_order import BY_AGE, BY_RISK, Order, Place
from .reach import Reachable, reach
from .relations import MAX_STORES
from .waiting import COUNTED_AT_MOST, Watched

WALKED = 1_000
"""Proposals among which one page looks for what no index serves."""

_KEPT_QUESTIONS = 128
"""Prepared questions of each sort, the newest."""

_WALKED_BY_STORE = 40
"""Somebody who sees more stores has them walked together: an index for each would cost more than it saves."""


Others: TypeAlias = Callable[[User], QuerySet[Any, Any]]
Along: TypeAlias = Callable[[User], Subquery]


class View(StrEnum):
    """A part of the queue that has a name."""

    ALL = ""
    MINE = "mine"  # the person may decide it
    SECOND = "second"  # the person had a hand in it, so another maintainer decides it
    AGENTS = "agents"  # its agent was asked for changes
    SNOOZED = "snoozed"  # somebody put it aside until a time


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
        """Whether the oldest come first: who asks for what waits long wants to begin there. Words are found by risk."""
        return self.days > 0 and not (self._is_with_agents or self.view is View.SNOOZED or self.is_found)

    @property
    def terms(self) -> tuple[str, ...]:
        return terms(self.words)

    @property
    def is_found(self) -> bool:
        """Whether an index of words finds it; what is asked for besides is looked for among what that finds."""
        return queue_search.is_indexed(self.terms)

    @property
    def _is_with_agents(self) -> bool:
        return self.view is View.AGENTS or self.state is Standing.CHANGES_REQUESTED

    def parts(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return what one index serves, and what is left over. Both are conditions of a proposal."""
        old_enough = {"created_at__lte": now(less=timedelta(days=self.days))} if self.days else {}
        agent = {"agent": Subquery(Agent.objects.filter(name=self.agent).values("pk")[:1])} if self.agent else {}
        kind = {"lead_kind": self.kind} if self.kind else {}
        if self.view is View.SNOOZED:
            return _risks(self.risk), {**self._state(), **agent, **kind, **old_enough}
        if self._is_with_agents:
            return {"is_live": True, "state": str(State.CHANGES_REQUESTED)}, {**agent, **kind, **old_enough}
        if self.is_by_age:
            return {"is_open": True, **old_enough}, {**self._state(), **agent, **kind, **_risks(self.risk)}
        if self.state is Standing.FAILED:
            return {"has_failed": True, **_risks(self.risk)}, {**agent, **kind, **old_enough}
        if self.state is not None:
            return {"is_live": True, **self._state(), **_risks(self.risk)}, {**agent, **kind, **old_enough}
        if agent:
            return {"is_open": True, **agent, **_risks(self.risk)}, {**kind, **old_enough}
        return {"is_open": True, **kind, **_risks(self.risk)}, old_enough

    def _state(self) -> dict[str, Any]:
        if self.state is Standing.FAILED:
            return {"has_failed": True}
        return {"state": str(self.state)} if self.state is not None else {}


_RANKS: Mapping[Risk | None, tuple[int, int]] = {  # half-open
    Risk.HIGH: (HIGH, queue_search.MAX_RISK + 1),
    Risk.MEDIUM: (MEDIUM, HIGH),
    Risk.LOW: (0, MEDIUM),
    None: (0, queue_search.MAX_RISK + 1),
}


def _risks(risk: Risk | None) -> dict[str, Any]:
    lowest, above = _RANKS[risk]
    return {"risk__gte": lowest, "risk__lt": above} if risk else {}


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
class Counted:
    """How much fits each; `newest` is the newest proposal of all, 0 for none; `along` answers what was asked along.

    `cut` says of each whether more than WALKED would have to be looked through to count all of it.
    """

    fitting: list[int]
    cut: list[bool]
    others: list[int]
    newest: int
    along: list[Any]


@dataclass(frozen=True, slots=True)
class Reader:
    """Lists and counts for one person: see `Reach`. Those that look for the same among the same are equal."""

    person: User
    stores: tuple[Reachable, ...]
    is_alone: bool
    now: datetime = field(compare=False)
    watched: tuple[Watched, ...] = field(compare=False)
    saved: tuple[tuple[int, str, str], ...] = field(compare=False)
    has_unsearched: bool = field(compare=False)

    @classmethod
    def of(cls, person: User) -> Reader:
        """Ask for all of it at once."""
        found = reach(person)
        return cls(
            person, found.stores, found.is_alone, timezone.now(), found.watched, found.saved, found.has_unsearched
        )

    def rights(self, store: int) -> Rights:
        """Return what the person may do in one of the stores."""
        return Rights(any(one.decides for one in self.stores if one.pk == store), self.is_alone)

    def near(self) -> tuple[Store, ...]:
        """Return the stores that a proposal may be compared with, as `relations.near` does."""
        newest = sorted(self.stores, key=lambda one: -one.pk)[:MAX_STORES]
        return tuple(Store(pk=one.pk, slug=one.slug, format=one.format, baseline=one.baseline) for one in newest)

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
        return bool(_held(self, asked).ask(now=self.now, pk=pk))

    def count(self, several: Sequence[Asked], *others: Others, along: Sequence[Along] = ()) -> Counted:
        """Count what fits each, COUNTED_AT_MOST + 1 at most, and name the newest proposal of all.

        One question, however many are asked about. What no index serves is counted among WALKED only.

        Args: others: more that is to be counted for the person, each with its own limit. along: what else is asked of
        the person in this question.
        """
        asked = tuple(dict.fromkeys(several))
        question, sifted = _count(self, asked, others, tuple(along))
        ((last, *found),) = question.ask(now=self.now)
        counts, found = [number or 0 for number in found[: len(asked) + len(others)]], found[len(asked) + len(others) :]
        walks = [one for one in asked if one.is_found]
        fitting, ends = dict(zip(asked, counts, strict=False)), dict(zip(walks, found, strict=False))
        return Counted(
            fitting=[fitting[one] for one in several],
            cut=[ends[one] is not None if one.is_found else one in sifted for one in several],
            others=counts[len(asked) :],
            newest=last or 0,
            along=found[len(walks) :],
        )

    def counted(self, asked: Asked) -> QuerySet[Proposal, Any]:
        indexed, left_over = self.conditions(asked)
        if asked.is_found:
            walk = self.index_walk(asked)
            fits = indexed & left_over & Q(store__in=self.chosen(asked))
            found = Proposal.objects.filter(fits, pk__in=walk.first(WALKED)).order_by().values("pk")
            return found[: COUNTED_AT_MOST + 1]
        found = Proposal.objects.filter(indexed, store__in=self.chosen(asked)).order_by().values("pk")
        if left_over:
            found = Proposal.objects.filter(left_over, pk__in=found[:WALKED]).order_by().values("pk")
        return found[: COUNTED_AT_MOST + 1]

    def chosen(self, asked: Asked) -> list[int]:
        return [
            store.pk
            for store in self.stores
            if asked.store in ("", store.slug)
            and asked.scope in ("", store.scope)
            and (store.decides or asked.view is not View.MINE)
            and (store.scope == Scope.TEAM or asked.view is not View.SECOND)
        ]

    def conditions(self, asked: Asked) -> tuple[Q, Q]:
        """Return what an index serves, and what is left over."""
        indexed, rest = asked.parts()
        left_over = Q(**rest)
        if asked.terms:
            left_over &= queue_search.says(asked.terms)
        has_team = any(store.scope == Scope.TEAM and store.decides for store in self.stores)
        if asked.view is View.MINE and has_team and not self.is_alone:
            left_over &= Q(store__scope=str(Scope.PRIVATE)) | ~written_by(self.person)
        if asked.view is View.SECOND:
            left_over &= Q(pk__in=[]) if self.is_alone else written_by(self.person)
        by_clock = Q(snoozed_until__gt=now()) if asked.view is View.SNOOZED else awake(now())
        return Q(**indexed) & by_clock, left_over

    def _page(
        self, asked: Asked, found: ProposalQuerySet, rows: int, place: Place | None, *, is_backwards: bool
    ) -> Listing:
        ones, end = self._walked(asked, found, rows, place, is_backwards=is_backwards)
        has_more, ones = len(ones) > rows, ones[:rows]
        onward = self.place_of(asked, ones[-1]) if has_more else end
        is_short = not has_more and end is not None
        back = None if place is None else (self.place_of(asked, ones[0]) if ones else place)
        if is_backwards:
            return Listing(tuple(reversed(ones)), later=back, earlier=onward, is_short=is_short)
        return Listing(tuple(ones), later=onward, earlier=back, is_short=is_short)

    def _values(self, asked: Asked, place: Place | None) -> dict[str, Any]:
        """Return what stands in the slots of a question for the page at a place."""
        if place is None:
            return {"now": self.now}
        values = {"now": self.now, **_order(asked).values(place)}
        if asked.is_found:
            values["beyond"] = queue_search.beyond(queue_search.place_of(place.first, place.pk), _RANKS[asked.risk])
        return values

    def _walked(
        self, asked: Asked, found: ProposalQuerySet, rows: int, place: Place | None, *, is_backwards: bool
    ) -> tuple[list[Proposal], Place | None]:
        """Return what fits behind a place, `rows` + 1 at most, and where to look on, None at the end of the list."""
        question = _walk(self, asked, found, rows, is_beyond=place is not None, is_backwards=is_backwards)
        ones: list[Proposal] = []
        for one in question.ask(**self._values(asked, place)):
            if getattr(one, "fits", True):
                ones.append(one)
            if getattr(one, "ends", False):
                return ones, self.place_of(asked, one)
        return ones, None

    def walk(
        self, asked: Asked, found: ProposalQuerySet, rows: int, *, is_beyond: bool, is_backwards: bool
    ) -> ProposalQuerySet:
        """Ask for it: `fits` says what fits and `ends` where the page ends, if it may end early.

        Each store has its own walk along the index; the walks are merged by sorting. The outer question names nothing
        that an index holds: it has to begin with the rows that the walks found. What no index serves is looked for
        among WALKED, as many in each store: the page ends where the walk of one store does, since behind that
        something of this store could be missing.
        """
        order, left_over = _order(asked), self.conditions(asked)[1]
        if asked.is_found:
            return self._found(asked, found, rows, is_beyond=is_beyond, is_backwards=is_backwards)
        behind = order.beyond(is_backwards=is_backwards) if is_beyond else Q()
        within = behind & self.conditions(asked)[0]
        sorting = order.sorting(is_backwards=is_backwards)
        walks = [
            Proposal.objects.filter(within, store__in=some).order_by(*sorting).values("pk")
            for some in self._by_walk(asked)
        ]
        if not left_over:
            if len(walks) == 1:
                return found.filter(within, store__in=self.chosen(asked)).order_by(*sorting)[: rows + 1]
            merged = found.filter(reduce(or_, (Q(pk__in=walk[: rows + 1]) for walk in walks)))
            return merged.order_by(*sorting)[: rows + 1]
        share = max(rows + 1, WALKED // len(walks)) if len(walks) > 1 else WALKED
        ends = reduce(or_, (Q(pk=Subquery(walk[share - 1 : share])) for walk in walks))
        looked = found.filter(reduce(or_, (Q(pk__in=walk[:share]) for walk in walks)))
        return self._fitting(asked, looked, left_over, ends, rows, is_backwards=is_backwards)

    def _found(
        self, asked: Asked, found: ProposalQuerySet, rows: int, *, is_beyond: bool, is_backwards: bool
    ) -> ProposalQuerySet:
        """Ask for the same of what an index of words finds: all that is asked for is looked for among that."""
        indexed, left_over = self.conditions(asked)
        walk = self.index_walk(asked, is_beyond=is_beyond, is_backwards=is_backwards)
        looked = found.filter(pk__in=walk.first(WALKED))
        fits = indexed & left_over & Q(store__in=self.chosen(asked))
        return self._fitting(asked, looked, fits, Q(pk=walk.nth(WALKED)), rows, is_backwards=is_backwards)

    def index_walk(self, asked: Asked, *, is_beyond: bool = False, is_backwards: bool = False) -> queue_search.Walk:
        return queue_search.Walk(
            asked.terms, tuple(self.chosen(asked)), is_beyond, is_backwards, risks=_RANKS[asked.risk]
        )

    def _fitting(
        self, asked: Asked, found: ProposalQuerySet, fits: Q, ends: Q, rows: int, *, is_backwards: bool
    ) -> ProposalQuerySet:
        """Ask for what fits among what a walk found, and for the one at which the walk ended early."""
        looked: ProposalQuerySet = found.annotate(
            fits=Case(When(fits, then=True), default=False), ends=Case(When(ends, then=True), default=False)
        )
        sorting = _order(asked).sorting(is_backwards=is_backwards)
        return looked.filter(Q(fits=True) | Q(ends=True)).order_by(*sorting)[: rows + 2]

    def _by_walk(self, asked: Asked) -> list[list[int]]:
        """Return the stores that are walked, each by itself where they are a few."""
        chosen = self.chosen(asked)
        return [[pk] for pk in chosen] if 1 < len(chosen) <= _WALKED_BY_STORE else [chosen]


def _order(asked: Asked) -> Order:
    return BY_AGE if asked.is_by_age else BY_RISK


@lru_cache(maxsize=_KEPT_QUESTIONS)
def _count(
    reader: Reader, several: tuple[Asked, ...], others: tuple[Others, ...], along: tuple[Along, ...]
) -> tuple[Prepared[tuple[Any, ...]], frozenset[Asked]]:
    """Prepare what `Reader.count` asks; name also those of which something is left over that no index serves."""
    found = (*map(reader.counted, several), *(other(reader.person) for other in others))
    newest = Subquery(Proposal.objects.order_by("-pk").values("pk")[:1])
    ends = [reader.index_walk(one).nth(WALKED) for one in several if one.is_found]
    asked = (newest, *map(CountRows, found), *ends, *(one(reader.person) for one in along))
    question = Prepared(User.objects.filter(pk=reader.person.pk).values_list(*asked))
    return question, frozenset(one for one in several if reader.conditions(one)[1])


@lru_cache(maxsize=_KEPT_QUESTIONS)
def _walk(
    reader: Reader, asked: Asked, found: ProposalQuerySet, rows: int, *, is_beyond: bool, is_backwards: bool
) -> Prepared[Proposal]:
    return Prepared(reader.walk(asked, found, rows, is_beyond=is_beyond, is_backwards=is_backwards))


@lru_cache(maxsize=_KEPT_QUESTIONS)
def _held(reader: Reader, asked: Asked) -> Prepared[tuple[Any, ...]]:
    indexed, left_over = reader.conditions(asked)
    one = Proposal.objects.filter(indexed, left_over, pk=number("pk"), store__in=reader.chosen(asked))
    return Prepared(one.values_list("pk"))
