"""What the worker does by the clock."""

from __future__ import annotations

from django_q.models import Schedule

CAPTURE_MINUTES = 1


def ensure_schedules() -> None:
    """Make sure that each scheduled task stands in the queue's tables exactly once."""
    wanted = {
        "capture": ("memoryreview.review.tasks.capture_stores", Schedule.MINUTES, CAPTURE_MINUTES),
        "expire": ("memoryreview.review.tasks.expire_proposals", Schedule.HOURLY, None),
        "sessions": ("memoryreview.review.tasks.clear_sessions", Schedule.HOURLY, None),
    }
    for name, (function, kind, minutes) in wanted.items():
        Schedule.objects.update_or_create(
            name=name, defaults={"func": function, "schedule_type": kind, "minutes": minutes, "repeats": -1}
        )
