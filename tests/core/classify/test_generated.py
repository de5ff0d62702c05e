"""The benches of `tests/bench` in small, so that every test run holds what they claim."""

from __future__ import annotations

import pytest

from memoryreview.core.model import SAFE_KINDS
from tests.bench import harmless, meaning
from tests.bench.edits import EDITS
from tests.bench.judging import judge
from tests.bench.near import NEAR

BLOCK = 60


@pytest.mark.parametrize("first", range(0, 300, BLOCK))
def test_no_change_of_meaning_is_applied(first: int) -> None:
    tally = meaning.unsafe(7, first, first + BLOCK)

    assert tally.missed == {}
    assert tally.share().all == BLOCK


def test_harmless_edits_of_every_maker_are_recognised_as_their_kind() -> None:
    tally = harmless.recognised(7, 0, len(EDITS) * 8)

    present = {name for name in tally.counts if name.partition(":")[0] in SAFE_KINDS and "relative" not in name}
    assert {name: tally.counts[name] for name in present} == {
        name: (tally.counts[name][1], tally.counts[name][1]) for name in present
    }, tally.missed


def test_cases_follow_from_seed_and_number_alone() -> None:
    one, other = (meaning.case_of(7, 11) for _ in range(2))

    assert (one.name, one.base, one.proposed) == (other.name, other.base, other.proposed)


def test_generated_cases_reach_every_near_miss_and_change_something() -> None:
    cases = [meaning.case_of(8, number) for number in range(300)]

    assert {case.name for case in cases if case.name.startswith("near")} == {f"near: {name}" for name in NEAR}
    assert all(dict(case.base) != dict(case.proposed) for case in cases)


def test_a_bench_would_notice_what_is_applied_wrongly() -> None:
    """An allowed edit taken for a change of meaning is seen, so the count of zero says something."""
    _, case = harmless.case_of(7, 0)

    assert not judge(case).is_unsafe(case)
    assert judge(case).is_unsafe(type(case)(case.name, case.base, case.proposed, case.context))
