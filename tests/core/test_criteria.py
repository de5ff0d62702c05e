from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryreview.core.criteria import Criterion, Level, criteria, lowest
from memoryreview.core.model import Evidence, Severity

LOW, UNKNOWN, FAIR, GOOD = Level


def _levels(scores: dict[str, object], evidence: Evidence, *severities: Severity, text: str = "") -> list[Level]:
    found = criteria(scores, evidence=evidence, names_session=False, severities=severities, texts=[text])
    assert [one.name for one in found] == ["stable", "reusable", "sourced", "allowed"]
    return [one.level for one in found]


@pytest.mark.parametrize(
    ("score", "level"),
    [(1, GOOD), (0.7, GOOD), (0.69, FAIR), (0.4, FAIR), (0.39, LOW), (0, LOW)]
    + [(one, UNKNOWN) for one in (None, True, "0.9", 1.1, -1, float("nan"), [0.9])],
)
def test_figures_of_the_agent_become_levels(score: object, level: Level) -> None:
    assert _levels({"stable": score, "reusable": score}, Evidence.FOUND) == [level, level, GOOD, GOOD]


def test_what_passes_is_no_more_than_fair() -> None:
    assert _levels({"stable": 1}, Evidence.FOUND, text="The port is 5432 for now.")[0] == FAIR
    assert _levels({"stable": 1}, Evidence.FOUND, text="端口目前是 5432。")[0] == FAIR
    assert _levels({"stable": 0}, Evidence.FOUND, text="Closed today.")[0] == LOW
    assert _levels({"stable": 1}, Evidence.FOUND, text="Heuten and todays are names.")[0] == GOOD


@pytest.mark.parametrize(
    ("evidence", "level"),
    [(Evidence.FOUND, GOOD), (Evidence.ATTACHED, FAIR), (Evidence.NONE, LOW), (Evidence.MISSING, LOW)],
)
def test_sources_that_were_checked_count_most(evidence: Evidence, level: Level) -> None:
    assert _levels({}, evidence)[2] == level


def test_a_session_alone_is_fair() -> None:
    found = criteria({}, evidence=Evidence.NONE, names_session=True, severities=(), texts=())

    assert found[2].level == FAIR


def test_scanners_say_what_is_allowed() -> None:
    assert _levels({}, Evidence.FOUND, Severity.NOTE)[3] == GOOD
    assert _levels({}, Evidence.FOUND, Severity.NOTE, Severity.REVIEW)[3] == FAIR
    assert _levels({}, Evidence.FOUND, Severity.REVIEW, Severity.BLOCK)[3] == LOW


@given(st.lists(st.sampled_from(Level), min_size=1))
def test_the_lowest_counts(levels: list[Level]) -> None:
    found = [Criterion(str(at), level, "") for at, level in enumerate(levels)]

    assert lowest(found) == next(one for one in found if one.level == min(levels))
