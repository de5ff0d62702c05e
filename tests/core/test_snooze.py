from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryreview.core.snooze import Snooze, ends_at

BERLIN = ZoneInfo("Europe/Berlin")


@pytest.mark.parametrize(
    ("chosen", "now", "until"),
    [
        (Snooze.HOUR, "2026-12-01T10:20:30+00:00", "2026-12-01T11:20:00+00:00"),
        (Snooze.MORNING, "2026-12-01T10:20:30+00:00", "2026-12-02T08:00:00+00:00"),
        (Snooze.MORNING, "2026-12-01T23:30:00+00:00", "2026-12-03T08:00:00+00:00"),  # it is the second in Berlin
        (Snooze.MORNING, "2026-03-28T12:00:00+00:00", "2026-03-29T07:00:00+00:00"),  # the clocks go forward
        (Snooze.WEEK, "2026-12-01T10:20:30+00:00", "2026-12-08T08:00:00+00:00"),
    ],
)
def test_days_end_at_nine_where_people_live(chosen: Snooze, now: str, until: str) -> None:
    assert ends_at(chosen, datetime.fromisoformat(now), BERLIN) == datetime.fromisoformat(until)


@given(
    st.sampled_from(Snooze),
    st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001  # aware by timezones
    st.sampled_from([UTC, BERLIN, ZoneInfo("Asia/Kolkata"), ZoneInfo("Pacific/Apia"), ZoneInfo("America/St_Johns")]),
)
def test_it_ends_later_on_a_minute_and_within_eight_days(chosen: Snooze, now: datetime, zone: ZoneInfo) -> None:
    until = ends_at(chosen, now, zone)

    assert now < until < now + timedelta(days=8, hours=12)
    assert (until.second, until.microsecond, until.utcoffset()) == (0, 0, timedelta())
    assert chosen is Snooze.HOUR or until.astimezone(zone).hour == 9
