from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from memoryreview.core.model import Kind
from memoryreview.review.models import ChangeKind, State, Verb
from memoryreview.review.presenters import words

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("age", "ago", "short"),
    [
        (timedelta(seconds=-5), "just now", "0 s"),
        (timedelta(seconds=9), "just now", "9 s"),
        (timedelta(seconds=59), "59 seconds ago", "59 s"),
        (timedelta(minutes=1), "1 minute ago", "1 m"),
        (timedelta(hours=23, minutes=59), "23 hours ago", "23 h"),
        (timedelta(days=1), "1 day ago", "1 d"),
        (timedelta(days=90), "3 months ago", "3 mo"),
        (timedelta(days=800), "2 years ago", "2 y"),
    ],
)
def test_moment_hints_at_the_age(age: timedelta, ago: str, short: str) -> None:
    moment = words.moment(NOW - age, NOW)

    assert (moment.ago, moment.short) == (ago, short)


def test_moment_is_exact_in_utc() -> None:
    elsewhere = datetime.fromisoformat("2026-11-30T13:45:06+05:30")

    moment = words.moment(elsewhere, NOW)

    assert (moment.exact, moment.machine) == ("2026-11-30 08:15 UTC", "2026-11-30T08:15:06+00:00")


def test_every_value_has_its_words() -> None:
    assert set(words.KIND_WORDS) == set(Kind)
    assert set(words.STATE_WORDS) == set(State)
    assert set(words.CHANGE_WORDS) == set(ChangeKind)
    assert set(words.VERB_WORDS) == set(Verb)


@pytest.mark.parametrize(
    ("many", "sentence"), [([], ""), (["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")]
)
def test_words_are_listed_as_in_a_sentence(many: list[str], sentence: str) -> None:
    assert words.listed(many) == sentence


@pytest.mark.parametrize(
    ("size", "shown"),
    [(1, "1 byte"), (999, "999 bytes"), (1500, "1.5 kB"), (2_500_000, "2.5 MB"), (84 * 10**9, "84.0 GB")],
)
def test_sizes_have_their_unit(size: int, shown: str) -> None:
    assert words.size_words(size) == shown
