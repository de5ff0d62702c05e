"""Which runs differ between two sequences of lines or words: minimal where it can be paid for, always deterministic."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple

from rapidfuzz.distance import LCSseq

MAX_CELLS = 20_000 * 20_000
"""Budget of one alignment: the product of two lengths. Some 100 ms and 50 MB."""


class Hunk(NamedTuple):
    """Replace old[old_start:old_end] by new[new_start:new_end]. Offsets are 0-based, half-open."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int

    def shifted(self, by: int) -> Hunk:
        return Hunk(self.old_start + by, self.old_end + by, self.new_start + by, self.new_end + by)


def align(old: Sequence[Hashable], new: Sequence[Hashable]) -> tuple[Hunk, ...]:
    """Return the maximal changed runs between two sequences, in order.

    Fewest possible removed and added members while the lengths fit MAX_CELLS, beyond that coarser: members that occur
    once on both sides anchor the rest, and a gap that cannot be paid for is one run. A pure addition or removal that
    could stand in several places stands in the last one, so that two diffs against one base name the same place.
    """
    whole = between_equal_ends(old, new)
    return _slid(old, new, list(_runs(old, new, whole)))


def between_equal_ends(old: Sequence[Hashable], new: Sequence[Hashable], gap: Hunk | None = None) -> Hunk:
    """Return what is left of two sequences, or of a gap of them, without equal members at the start and at the end."""
    old_start, old_end, new_start, new_end = gap or Hunk(0, len(old), 0, len(new))
    while old_start < old_end and new_start < new_end and old[old_start] == new[new_start]:
        old_start, new_start = old_start + 1, new_start + 1
    while old_start < old_end and new_start < new_end and old[old_end - 1] == new[new_end - 1]:
        old_end, new_end = old_end - 1, new_end - 1
    return Hunk(old_start, old_end, new_start, new_end)


def grouped(hunks: Sequence[Hunk], context: int) -> Iterator[tuple[Hunk, ...]]:
    """Yield runs together that fewer equal members divide than their context above and below takes."""
    start = 0
    for at, hunk in enumerate(hunks, start=1):
        if at == len(hunks) or hunks[at].old_start - hunk.old_end > 2 * context:
            yield tuple(hunks[start:at])
            start = at


def best_chain(scores: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """Return the (row, column) pairs, rising on both sides, whose scores add up to most; a score of 0 is no pair.

    Of chains that are equally good it is the one whose pairs come first. Time grows with rows times columns.
    """
    height, width = len(scores), len(scores[0]) if scores else 0
    best = [[0.0] * (width + 1) for _ in range(height + 1)]
    for row in range(height - 1, -1, -1):
        for column in range(width - 1, -1, -1):
            paired = scores[row][column] + best[row + 1][column + 1] if scores[row][column] else 0.0
            best[row][column] = max(paired, best[row + 1][column], best[row][column + 1])
    chain: list[tuple[int, int]] = []
    row = column = 0
    while row < height and column < width:
        if scores[row][column] and best[row][column] == scores[row][column] + best[row + 1][column + 1]:
            chain.append((row, column))
            row, column = row + 1, column + 1
        elif best[row][column] == best[row + 1][column]:
            row += 1
        else:
            column += 1
    return chain


def _runs(left: Sequence[Hashable], right: Sequence[Hashable], whole: Hunk) -> Iterator[Hunk]:
    if _cells(whole) <= MAX_CELLS:
        yield from _minimal(left, right, whole)
        return
    budget = MAX_CELLS
    for between in _between_anchors(left, right, whole):
        gap = between_equal_ends(left, right, between)
        if _cells(gap) > budget:
            yield gap
            continue
        budget -= _cells(gap)
        yield from _minimal(left, right, gap)


def _cells(gap: Hunk) -> int:
    return (gap.old_end - gap.old_start) * (gap.new_end - gap.new_start)


def _minimal(left: Sequence[Hashable], right: Sequence[Hashable], gap: Hunk) -> Iterator[Hunk]:
    if _cells(gap) <= 1:  # of two single members between equal ends, each is another
        if gap.old_start < gap.old_end or gap.new_start < gap.new_end:
            yield gap
        return
    numbers: dict[Hashable, int] = {}  # rapidfuzz tells members apart by their hash alone
    olds = [numbers.setdefault(member, len(numbers)) for member in left[gap.old_start : gap.old_end]]
    news = [numbers.setdefault(member, len(numbers)) for member in right[gap.new_start : gap.new_end]]
    opcodes = LCSseq.opcodes(olds, news)
    old_at, new_at = gap.old_start, gap.new_start
    for code in opcodes:
        if code.tag != "equal":
            continue
        old_start, new_start = gap.old_start + code.src_start, gap.new_start + code.dest_start
        if (old_at, new_at) != (old_start, new_start):
            yield Hunk(old_at, old_start, new_at, new_start)
        old_at, new_at = gap.old_start + code.src_end, gap.new_start + code.dest_end
    if (old_at, new_at) != (gap.old_end, gap.new_end):
        yield Hunk(old_at, gap.old_end, new_at, gap.new_end)


def _between_anchors(left: Sequence[Hashable], right: Sequence[Hashable], whole: Hunk) -> Iterator[Hunk]:
    """Yield the gaps between the longest rising chain of members that occur once on both sides."""
    olds, news = range(whole.old_start, whole.old_end), range(whole.new_start, whole.new_end)
    old_counts = Counter(left[at] for at in olds)
    new_counts = Counter(right[at] for at in news)
    new_place = {right[at]: at for at in news}
    candidates = [
        (at, new_place[left[at]]) for at in olds if old_counts[left[at]] == 1 and new_counts.get(left[at]) == 1
    ]
    old_at, new_at = whole.old_start, whole.new_start
    for old_anchor, new_anchor in _rising(candidates):
        yield Hunk(old_at, old_anchor, new_at, new_anchor)
        old_at, new_at = old_anchor + 1, new_anchor + 1
    yield Hunk(old_at, whole.old_end, new_at, whole.new_end)


def _rising(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest chain of pairs, given by rising first number, whose second number rises too."""
    tails: list[int] = []
    tail_pairs: list[int] = []
    before: list[int] = []
    for index, (_, second) in enumerate(pairs):
        length = bisect_left(tails, second)
        before.append(tail_pairs[length - 1] if length else -1)
        tails[length : length + 1] = [second]
        tail_pairs[length : length + 1] = [index]
    chain: list[tuple[int, int]] = []
    index = tail_pairs[-1] if tail_pairs else -1
    while index >= 0:
        chain.append(pairs[index])
        index = before[index]
    return chain[::-1]


def _slid(left: Sequence[Hashable], right: Sequence[Hashable], hunks: list[Hunk]) -> tuple[Hunk, ...]:
    # Each step moves one hunk by one member; the budget keeps hostile repetition linear.
    budget = 4 * (len(left) + len(right))
    settled: list[Hunk] = []
    for hunk in reversed(_gathered(left, right, hunks)):
        current = hunk
        while True:
            stop = settled[-1].old_start if settled else len(left)
            while budget and current.old_end < stop and _can_slide_down(left, right, current):
                current = current.shifted(1)
                budget -= 1
            if not settled or current.old_end < stop:
                break
            current = _joined(current, settled.pop())
        settled.append(current)
    return tuple(reversed(settled))


def _gathered(left: Sequence[Hashable], right: Sequence[Hashable], hunks: list[Hunk]) -> list[Hunk]:
    """Join each addition or removal with the run above it where it can slide up to it: a changed member is then one
    replacement, not an addition here and a removal of an equal member further down."""
    budget = 4 * (len(left) + len(right))
    gathered: list[Hunk] = []
    for hunk in hunks:
        if not gathered:
            gathered.append(hunk)
            continue
        stop = gathered[-1].old_end
        current = hunk
        while budget and current.old_start > stop and _can_slide_up(left, right, current):
            current = current.shifted(-1)
            budget -= 1
        if current.old_start == stop:
            gathered[-1] = _joined(gathered[-1], current)
        else:
            gathered.append(hunk)
    return gathered


def _joined(above: Hunk, below: Hunk) -> Hunk:
    return Hunk(above.old_start, below.old_end, above.new_start, below.new_end)


def _can_slide_down(left: Sequence[Hashable], right: Sequence[Hashable], hunk: Hunk) -> bool:
    if hunk.old_start == hunk.old_end:
        return right[hunk.new_start] == right[hunk.new_end]
    if hunk.new_start == hunk.new_end:
        return left[hunk.old_start] == left[hunk.old_end]
    return False


def _can_slide_up(left: Sequence[Hashable], right: Sequence[Hashable], hunk: Hunk) -> bool:
    if hunk.old_start == hunk.old_end:
        return right[hunk.new_start - 1] == right[hunk.new_end - 1]
    if hunk.new_start == hunk.new_end:
        return left[hunk.old_start - 1] == left[hunk.old_end - 1]
    return False
