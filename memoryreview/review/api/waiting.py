"""Long polls: an agent without an open port waits for a decision, and never takes the last thread while it does."""

from __future__ import annotations

import threading
import time

from memoryreview.review.models import UNDECIDED_STATES, Proposal

MAX_WAIT_S = 25
MAX_WAITERS = 2
"""Per process, of the four threads that `memoryreview.serve` gives it. Whoever comes when all places are taken is
answered at once, as if the wait were over."""

POLL_S = 0.4
_places = threading.BoundedSemaphore(MAX_WAITERS)


def wait_for_change(proposal: Proposal, *, wait_s: int) -> None:
    """Return when an undecided proposal made a transition, or when the time is over."""
    is_undecided = proposal.state in UNDECIDED_STATES
    if wait_s <= 0 or not is_undecided or not _places.acquire(blocking=False):
        return
    try:
        deadline = time.monotonic() + min(wait_s, MAX_WAIT_S)
        while (left_s := deadline - time.monotonic()) > 0:
            time.sleep(min(POLL_S, left_s))
            if not Proposal.objects.filter(pk=proposal.pk, version=proposal.version).exists():
                return
    finally:
        _places.release()
