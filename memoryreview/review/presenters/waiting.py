"""How much waits and since when, in words: for the header, the queue, the health page and the digest."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from memoryreview.review.operations import waiting

from .links import proposal_url
from .rows import title_words
from .words import Moment, moment


@dataclass(frozen=True, slots=True)
class Oldest:
    """What waits longest, and for how long (`age`, in words); `is_overdue` when that is too long."""

    url: str
    title: str
    store: str
    at: Moment
    age: str
    is_overdue: bool


def oldest_view(found: waiting.Watched | None, now: datetime) -> Oldest | None:
    if found is None or found.oldest is None or found.since is None:
        return None
    at = moment(found.since, now)
    return Oldest(
        url=proposal_url(found.oldest),
        title=title_words(found.title or "", found.claimed or ""),
        store=found.slug,
        at=at,
        age=at.span,
        is_overdue=waiting.is_overdue(found.since),
    )


def count_words(count: int) -> str:
    """Return a count of what waits, "1,000+" from there on: an exact one grows with the queue."""
    return f"{waiting.COUNTED_AT_MOST:,}+" if count > waiting.COUNTED_AT_MOST else str(count)
