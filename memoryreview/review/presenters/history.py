"""What somebody wants to see of the history, as an address says it, and the rows that fit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from functools import reduce
from heapq import merge
from itertools import islice
from operator import or_

from django.db.models import Q
from django.utils.translation import gettext as _

from memoryreview.review.models import Change, ChangeKind, Store
from memoryreview.review.operations.anew import loss_of
from memoryreview.review.operations.errors import CannotApplyError
from memoryreview.review.operations.horizon import beginning, holds, looks_whole
from memoryreview.review.operations.lineage import passages, renamed_to
from memoryreview.review.operations.stores import reading
from memoryreview.review.querysets import ChangeQuerySet

from .changes import ChangeRow, change_rows
from .links import history_url, store_url
from .words import CHANGE_WORDS

UNREAD = "unread"
_MAX_CHARS = 1200


@dataclass(frozen=True, slots=True)
class Wanted:
    """A filter. Texts are "" where nothing is asked; days are those of UTC, both included.

    Args:
        show: "unread" for what landed unread.
        entry: a line of the document, or words of an entry; its history is told then, as of the commit `at`.
        before: only changes with a smaller id, 0 for all.
    """

    store: str = ""
    path: str = ""
    kind: str = ""
    agent: str = ""
    person: str = ""
    since: date | None = None
    until: date | None = None
    show: str = ""
    before: int = 0
    entry: str = ""
    at: str = ""

    @classmethod
    def of(cls, query: Mapping[str, str], *, before: int) -> Wanted:
        """Read an address; a date that is none counts as not asked."""
        said = {
            name: query.get(name, "")[:_MAX_CHARS]
            for name in ("store", "path", "kind", "agent", "person", "entry", "at")
        }
        show = UNREAD if query.get("show") == UNREAD else ""
        since, until = _day(query.get("since", "")), _day(query.get("until", ""))
        return cls(**said, since=since, until=until, show=show, before=before)

    @property
    def is_narrowed(self) -> bool:
        """Whether more than store, document and unread is asked."""
        return any((self.kind, self.agent, self.person, self.since, self.until))

    def query(self) -> dict[str, str]:
        """Return the filter as parameters of an address, without the place in the list."""
        texts = {
            name: getattr(self, name) for name in ("show", "store", "path", "entry", "at", "kind", "agent", "person")
        }
        days = {name: day.isoformat() for name, day in (("since", self.since), ("until", self.until)) if day}
        return {name: text for name, text in texts.items() if text} | days

    def condition(self, prefix: str = "") -> Q:
        """Return what a change must be, store and document left out."""
        asked: dict[str, object] = {}
        if self.kind:
            asked["kind"] = self.kind
        if self.agent:
            asked["agent__name"] = self.agent
        if self.person:
            asked["person__username"] = self.person
        if self.since:
            asked["at__gte"] = _midnight(self.since)
        if self.until and self.until < date.max:
            asked["at__lt"] = _midnight(self.until + timedelta(days=1))
        if self.show:
            asked["unread"] = True
        return Q(**{prefix + name: value for name, value in asked.items()})


@dataclass(frozen=True, slots=True)
class HistoryLink:
    path: str
    url: str


@dataclass(frozen=True, slots=True)
class Listed:
    """`older` is the parameter `before` of the next page, "" on the last one. `lost` leads to the stores of these rows
    that need a new baseline."""

    rows: tuple[ChangeRow, ...]
    older: str
    lost: tuple[HistoryLink, ...] = ()


_WALKED_BY_STORE = 40
"""Somebody who sees more stores has them read together: a walk for each would cost more than it saves."""


def kind_choices() -> tuple[tuple[str, str], ...]:
    """Return the kinds of changes that the filter offers, with their words."""
    return tuple((str(kind), CHANGE_WORDS[kind]) for kind in ChangeKind)


def listed_changes(
    visible: ChangeQuerySet, wanted: Wanted, stores: Iterable[Store], now: datetime, *, rows: int
) -> Listed:
    """Return one page of changes, newest first. A document is followed through its earlier names.

    Args:
        visible: what the person may see, newest first, with what rows print fetched.
        stores: those that the person may see, and asks for.
    """
    if wanted.path:
        return _of_document(visible, wanted, stores, now, rows)
    changes = list(_newest(visible, wanted, [store.pk for store in stores], rows + 1))
    return _page(change_rows(changes, now), changes, rows)


def _newest(visible: ChangeQuerySet, wanted: Wanted, stores: Sequence[int], count: int) -> ChangeQuerySet:
    """Ask for the newest changes. Each of several stores has its own walk along an index, and the walks are merged:
    told to order them all, a database reads every change first."""
    within = wanted.condition() & (Q(pk__lt=wanted.before) if wanted.before else Q())
    if len(stores) == 1:
        return visible.filter(within, store=stores[0])[:count]
    if not 0 < len(stores) <= _WALKED_BY_STORE:
        return visible.filter(within, store__in=stores)[:count]
    walks = [Change.objects.filter(within, store=store).newest_first().values("pk")[:count] for store in stores]
    return visible.filter(reduce(or_, (Q(pk__in=walk) for walk in walks)))[:count]


def _of_document(visible: ChangeQuerySet, wanted: Wanted, stores: Iterable[Store], now: datetime, rows: int) -> Listed:
    keep = wanted.condition("change__")
    walks = [passages(store, wanted.path, before=wanted.before or None, keep=keep, batch=rows + 1) for store in stores]
    found = list(islice(merge(*walks, key=lambda passage: -passage.pk), rows + 1))
    changes = visible.in_bulk([passage.pk for passage in found])
    shown = []
    for passage in found:
        if passage.pk not in changes:
            continue
        [row] = change_rows([changes[passage.pk]], now)
        note = _("renamed from %(was)s") % {"was": passage.was} if passage.was else ""
        note = note or (_("then called %(path)s") % {"path": passage.path} if passage.path != wanted.path else "")
        shown.append(replace(row, path=passage.path, note=note))
    return _page(shown, changes.values(), rows)


def _page(shown: Iterable[ChangeRow], changes: Iterable[Change], rows: int) -> Listed:
    """Say of each row whether its baseline still holds the commit: what it does not hold can no longer be undone."""
    by_store: dict[Store, list[Change]] = {}
    for change in changes:
        by_store.setdefault(change.store, []).append(change)
    gone = {change.pk for store, ones in by_store.items() for change in _out_of_reach(store, ones)}
    lost = [store.slug for store in by_store if not looks_whole(store) and loss_of(store)]
    listed = tuple(replace(row, is_out_of_reach=True, is_undoable=False) if row.id in gone else row for row in shown)
    return Listed(
        rows=listed[:rows],
        older=str(listed[rows - 1].id) if len(listed) > rows else "",
        lost=tuple(HistoryLink(slug, store_url(slug)) for slug in sorted(lost)),
    )


def _out_of_reach(store: Store, changes: Sequence[Change]) -> Sequence[Change]:
    if looks_whole(store):  # a page of a long history reads no object
        began = beginning(store)
        return [change for change in changes if began is not None and change.pk < began.pk]
    try:
        with reading(store) as repository:
            repository.snapshot(repository.head() or "")  # without a head nothing can be undone
            return [change for change in changes if not holds(change, repository)]
    except CannotApplyError:
        return changes


def renamed_link(store: Store, path: str) -> HistoryLink | None:
    """Return the history of the name that a document was given, None when it bears its own or is gone."""
    name = renamed_to(store, path)
    return HistoryLink(name, history_url(store=store.slug, path=name)) if name else None


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)
