"""Until when something can be put aside."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta, tzinfo
from enum import StrEnum

MORNING = time(9)


class Snooze(StrEnum):
    """How long something is put aside. Whole days end in the morning: one begins a day with what waits."""

    HOUR = "hour"
    MORNING = "morning"
    WEEK = "week"


def ends_at(chosen: Snooze, now: datetime, zone: tzinfo) -> datetime:
    """Return when it is time again, in UTC and to the minute. Args: now: aware. zone: whose mornings are meant."""
    match chosen:
        case Snooze.HOUR:
            return (now.astimezone(UTC) + timedelta(hours=1)).replace(second=0, microsecond=0)
        case Snooze.MORNING:
            return _morning(now, 1, zone)
        case Snooze.WEEK:
            return _morning(now, 7, zone)


def _morning(now: datetime, days: int, zone: tzinfo) -> datetime:
    day = now.astimezone(zone).date() + timedelta(days=days)
    return datetime.combine(day, MORNING, zone).astimezone(UTC)
