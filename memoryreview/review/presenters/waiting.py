"""How much waits and since when, in words: for the header, the queue, the health page and the digest."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from memoryreview.review.models import Proposal
from memoryreview.review.operations import waiting

from .links import proposal_url
from .rows import title_of
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


def oldest_view(proposal: Proposal | None, now: datetime) -> Oldest | None:
    if proposal is None:
        return None
    at = moment(proposal.created_at, now)
    return Oldest(
        url=proposal_url(proposal),
        title=title_of(proposal),
        store=proposal.store.slug,
        at=at,
        age=at.span,
        is_overdue=waiting.is_overdue(proposal.created_at),
    )


def count_words(count: int) -> str:
    """Return a count of what waits, "1,000+" from there on: an exact one grows with the queue."""
    return f"{waiting.COUNTED_AT_MOST:,}+" if count > waiting.COUNTED_AT_MOST else str(count)
