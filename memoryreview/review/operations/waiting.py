"""What waits for a person: how much, and since when."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Expression, OuterRef, Subquery
from django.utils import timezone

from memoryreview.review.models import Proposal, Store
from memoryreview.review.querysets import Person, StoreQuerySet, awake

COUNTED_AT_MOST = 1000


def waiting_count(person: Person) -> int:
    """Return how many proposals a person has to decide, COUNTED_AT_MOST + 1 for more: counting grows with the queue."""
    return Proposal.objects.visible_to(person).waiting()[: COUNTED_AT_MOST + 1].count()


@dataclass(frozen=True, slots=True)
class Watched:
    """What a person has to know of a store: `alarm` as in the store, and its oldest waiting proposal.

    Args: since, title, claimed: when that came, its title, and what its agent calls it.
    """

    slug: str
    alarm: str
    oldest: int | None
    since: datetime | None
    title: str | None
    claimed: str | None


WATCHED = ("slug", "alarm", "oldest", "since", "oldest_title", "oldest_claimed")
"""What `with_oldest` lets one ask of a store, in the order of Watched."""


def with_oldest(stores: StoreQuerySet, now: datetime | Expression) -> StoreQuerySet:
    """Name the oldest proposal of each store that waits now: look-ups in an index, however long the queue is."""
    first = Proposal.objects.undecided().filter(awake(now), store=OuterRef("pk")).order_by("pk")
    return stores.annotate(
        oldest=Subquery(first.values("pk")[:1]),
        since=Subquery(first.values("created_at")[:1]),
        oldest_title=Subquery(first.values("title")[:1]),
        oldest_claimed=Subquery(first.values("claimed_title")[:1]),
    )


def watched(person: Person) -> tuple[Watched, ...]:
    """Return the stores of a person, by name."""
    found = with_oldest(Store.objects.visible_to(person), timezone.now()).order_by("slug")
    return tuple(Watched(*row) for row in found.values_list(*WATCHED))


def oldest(stores: Iterable[Watched]) -> Watched | None:
    """Return the store whose oldest proposal waits longest, None where nothing waits."""
    waiting = [(store.oldest, store) for store in stores if store.oldest is not None]
    return min(waiting, key=lambda one: one[0])[1] if waiting else None


def is_overdue(since: datetime) -> bool:
    """Whether something waits longer than the setting OLD_DAYS."""
    return timezone.now() - since > timedelta(days=settings.OLD_DAYS)


def overdue(stores: Iterable[Watched]) -> Watched | None:
    """Return the store whose oldest proposal waits longest, when that is too long."""
    return oldest(store for store in stores if store.since is not None and is_overdue(store.since))
