"""What the worker does by the clock."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone
from django_q.models import Schedule

CAPTURE_MINUTES = 1
PACK_MINUTES = 10
PUSH_MINUTES = 1
NOTIFY_MINUTES = 1
SEARCH_MINUTES = 1


def ensure_schedules() -> None:
    """Make sure that each scheduled task stands in the queue's tables exactly once."""
    wanted = {
        "capture": ("memoryreview.review.tasks.capture_stores", Schedule.MINUTES, CAPTURE_MINUTES),
        "pack": ("memoryreview.review.tasks.pack_baselines", Schedule.MINUTES, PACK_MINUTES),
        "push": ("memoryreview.review.tasks.push_baselines", Schedule.MINUTES, PUSH_MINUTES),
        "search": ("memoryreview.review.tasks.read_for_search", Schedule.MINUTES, SEARCH_MINUTES),
        "expire": ("memoryreview.review.tasks.expire_proposals", Schedule.HOURLY, None),
        "digest": ("memoryreview.review.tasks.make_digests", Schedule.HOURLY, None),
        "notify": ("memoryreview.review.tasks.send_messages", Schedule.MINUTES, NOTIFY_MINUTES),
        "tidy": ("memoryreview.review.tasks.tidy_stores", Schedule.DAILY, None),
        "sessions": ("memoryreview.review.tasks.clear_sessions", Schedule.HOURLY, None),
    }
    for name, (function, kind, minutes) in wanted.items():
        stated = {"func": function, "schedule_type": kind, "minutes": minutes, "repeats": -1}
        # A store is not tidied before its owner had a day to look around.
        first = {"next_run": timezone.now() + timedelta(days=1)} if name == "tidy" else {}
        Schedule.objects.update_or_create(name=name, defaults=stated, create_defaults={**stated, **first})
