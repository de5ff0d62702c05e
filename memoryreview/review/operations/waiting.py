"""What waits for a person: how much, and since when."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import OuterRef, Subquery
from django.utils import timezone

from memoryreview.review.models import Proposal, Store
from memoryreview.review.querysets import Person

COUNTED_AT_MOST = 1000


def waiting_count(person: Person) -> int:
    """Return how many proposals a person has to decide, COUNTED_AT_MOST + 1 for more: counting grows with the queue."""
    return Proposal.objects.visible_to(person).waiting()[: COUNTED_AT_MOST + 1].count()


@dataclass(frozen=True, slots=True)
class Watched:
    """What a person has to know of a store: `alarm` as in the store, and its oldest waiting proposal."""

    slug: str
    alarm: str
    oldest: int | None
    since: datetime | None


def watched(person: Person) -> tuple[Watched, ...]:
    """Return the stores of a person. One look-up in an index per store, however long the queue is."""
    first = Proposal.objects.waiting().filter(store=OuterRef("pk")).order_by("pk")
    found = Store.objects.visible_to(person).order_by("slug")
    rows = found.annotate(oldest=Subquery(first.values("pk")[:1]), since=Subquery(first.values("created_at")[:1]))
    return tuple(Watched(*row) for row in rows.values_list("slug", "alarm", "oldest", "since"))


def oldest(stores: Iterable[Watched]) -> Proposal | None:
    """Return the proposal that waits longest in some stores, with its store."""
    firsts = [store.oldest for store in stores if store.oldest is not None]
    return Proposal.objects.select_related("store").filter(pk=min(firsts)).first() if firsts else None


def is_overdue(since: datetime) -> bool:
    """Whether something waits longer than the setting OLD_DAYS."""
    return timezone.now() - since > timedelta(days=settings.OLD_DAYS)


def overdue(stores: Iterable[Watched]) -> Proposal | None:
    """Return the proposal that waits longest when that is too long; asks for none otherwise."""
    return oldest(store for store in stores if store.since is not None and is_overdue(store.since))
