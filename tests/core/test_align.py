from __future__ import annotations

import itertools
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Indel

from memoryreview.core import align as module
from memoryreview.core.align import Hunk, align, best_chain, grouped

short_words = st.text("abc", max_size=12)


def replay(old: Sequence[object], new: Sequence[object], hunks: Sequence[Hunk]) -> list[object]:
    out: list[object] = []
    copied = 0
    for hunk in hunks:
        out += old[copied : hunk.old_start]
        assert len(out) == hunk.new_start
        out += new[hunk.new_start : hunk.new_end]
        copied = hunk.old_end
    return [*out, *old[copied:]]


@given(short_words, short_words)
def test_align_replays_to_the_new_sequence(old: str, new: str) -> None:
    assert "".join(map(str, replay(old, new, align(old, new)))) == new


@given(short_words, short_words)
def test_align_is_minimal_and_runs_are_maximal(old: str, new: str) -> None:
    hunks = align(old, new)

    sizes = sum(hunk.old_end - hunk.old_start + hunk.new_end - hunk.new_start for hunk in hunks)
    assert sizes == Indel.distance(old, new)
    assert all(before.old_end < after.old_start for before, after in itertools.pairwise(hunks))


def test_align_puts_an_ambiguous_addition_in_the_last_place() -> None:
    assert align("a-b-c-", "a-b-b-c-X") == (Hunk(4, 4, 4, 6), Hunk(6, 6, 8, 9))


def test_align_makes_a_changed_member_among_equal_ones_one_replacement() -> None:
    assert align("xxxabc", "cxxabd") == (Hunk(0, 1, 0, 1), Hunk(5, 6, 5, 6))


def test_align_places_one_addition_alike_whatever_else_changed() -> None:
    base = [f"line {n}" for n in range(30)] + ["", "last"]
    alone = [*base[:10], "new", "", *base[10:]]

    changed_above = ["first", *alone[1:]]

    assert align(base, alone) == (Hunk(10, 10, 10, 12),)
    assert align(base, changed_above) == (Hunk(0, 1, 0, 1), Hunk(10, 10, 10, 12))


def test_align_over_budget_still_replays_and_keeps_anchors(monkeypatch: pytest.MonkeyPatch) -> None:
    old = [f"line {n}" for n in range(400)]
    new = [line if n % 7 else "again" for n, line in enumerate(old)]
    monkeypatch.setattr(module, "MAX_CELLS", 100)

    hunks = align(old, new)

    assert replay(old, new, hunks) == new
    assert len(hunks) == 58


def test_align_huge_unrelated_inputs_are_one_run() -> None:
    old, new = [f"a{n}" for n in range(30_000)], [f"b{n}" for n in range(30_000)]

    assert align(old, new) == (Hunk(0, 30_000, 0, 30_000),)


def test_align_hostile_repetition_is_bounded() -> None:
    old, new = ["x"] * 12_000, ["x", "y"] * 12_000

    assert replay(old, new, align(old, new)) == new


@pytest.mark.parametrize(
    ("scores", "chain"),
    [
        ([], []),
        ([[0.0, 0.0]], []),
        ([[0.6, 0.9], [0.9, 0.6]], [(0, 0), (1, 1)]),
        ([[0.6, 0.9], [0.0, 0.2]], [(0, 1)]),
        ([[0.5, 0.5], [0.5, 0.5], [0.5, 0.5]], [(0, 0), (1, 1)]),
        ([[0.0, 0.7], [0.8, 0.0], [0.0, 0.7]], [(1, 0), (2, 1)]),
    ],
)
def test_best_chain_rises_adds_up_to_most_and_comes_first(
    scores: list[list[float]], chain: list[tuple[int, int]]
) -> None:
    assert best_chain(scores) == chain


@pytest.mark.parametrize(("context", "sizes"), [(0, [1, 1, 1]), (1, [2, 1]), (2, [2, 1]), (3, [3])])
def test_grouped_joins_runs_whose_context_touches(context: int, sizes: list[int]) -> None:
    hunks = align("aXbcYdefghZi", "abcd" + "efgh" + "i")

    groups = list(grouped(hunks, context))

    assert [len(group) for group in groups] == sizes
    assert [hunk for group in groups for hunk in group] == list(hunks)
