"""Days and times in ISO form, as machines write them, read strictly."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone

_FORM = re.compile(
    r"(?P<day>[0-9]{4}-[0-9]{2}-[0-9]{2})"
    r"(?:(?P<mark>[T ])(?P<clock>[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]{1,9})?)?)"
    r"(?P<zone>Z|[+-][0-9]{2}:[0-9]{2})?)?"
)
_MAX_OFFSET = timedelta(hours=15)


@dataclass(frozen=True, slots=True)
class Moment:
    """A day, or a time of it.

    Args:
        at: a `date` without a time, else a `datetime`, naive when no zone is written.
        form: equal for two moments that are written alike: with or without seconds, `T` or blank, `Z` or offset.
    """

    at: date
    form: str

    @property
    def has_zone(self) -> bool:
        return isinstance(self.at, datetime) and self.at.tzinfo is not None

    def is_after(self, other: Moment) -> bool:
        """Whether it lies later than another moment of the same form."""
        return self.at > other.at

    def is_beyond(self, now: datetime) -> bool:
        """Whether it lies after `now`, which has a zone: that of whoever writes a day or a time without one."""
        if not isinstance(self.at, datetime):
            return self.at > now.date()
        return self.at > (now if self.has_zone else now.replace(tzinfo=None))


def read(text: str) -> Moment | None:
    """Return what a text means as a whole, None when it is no ISO day or time of the years 1900 to 2199."""
    match = _FORM.fullmatch(text)
    if match is None or not "1900" <= text[:4] <= "2199":
        return None
    zone = match["zone"] or ""
    try:
        day = date(*(int(part) for part in match["day"].split("-")))
        if not match["clock"]:
            return Moment(day, "day")
        whole, _, fraction = match["clock"].replace(",", ".").partition(".")
        clock = [int(part) for part in whole.split(":")]
        microsecond = int(fraction[:6].ljust(6, "0")) if fraction else 0
        seconds = clock[2] if len(clock) == 3 else 0
        at = datetime(day.year, day.month, day.day, clock[0], clock[1], seconds, microsecond, _zone(zone))
    except ValueError:
        return None
    return Moment(at, f"{match['mark']}{len(clock)}{zone[:1] if zone in ('', 'Z') else '+'}")


def _zone(written: str) -> timezone | None:
    """Return the zone that is written, None for none. Raises ValueError when there is no such zone."""
    if not written:
        return None
    if written == "Z":
        return UTC
    hours, minutes = int(written[1:3]), int(written[4:6])
    offset = timedelta(hours=hours, minutes=minutes)
    if minutes > 59 or offset > _MAX_OFFSET:
        raise ValueError(written)
    return timezone(-offset if written[0] == "-" else offset)
