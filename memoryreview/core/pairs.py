"""Which removed line became which added line, and which lines only moved. For display."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from .align import Hunk, align, best_chain
from .words import Budget, similarity

_BLANKS = re.compile(r"[ \t]+")
_MOST_TABLE_CELLS = 400
_LOOK_AHEAD = 8
MOVED_CHARS = 8
"""Shorter lines stand in many places by chance: that one moved is not told."""


def without_blanks(text: str) -> str:
    return _BLANKS.sub("", text)


def paired_lines(old: Sequence[str], new: Sequence[str], hunks: Iterable[Hunk], budget: Budget) -> dict[int, int]:
    """Return which removed line (0-based) became which added line: equal but for blanks, else alike, in order."""
    paired: dict[int, int] = {}
    for hunk in hunks:
        if hunk.old_start == hunk.old_end or hunk.new_start == hunk.new_end:
            continue
        olds = [without_blanks(text) for text in old[hunk.old_start : hunk.old_end]]
        news = [without_blanks(text) for text in new[hunk.new_start : hunk.new_end]]
        old_at, new_at = hunk.old_start, hunk.new_start
        for gap in (*align(olds, news), Hunk(len(olds), len(olds), len(news), len(news))):
            start = hunk.old_start + gap.old_start
            paired.update(zip(range(old_at, start), range(new_at, hunk.new_start + gap.new_start), strict=True))
            old_at, new_at = hunk.old_start + gap.old_end, hunk.new_start + gap.new_end
            paired.update(
                _similar(old, new, range(start, old_at), range(hunk.new_start + gap.new_start, new_at), budget)
            )
    return paired


def _similar(
    old: Sequence[str], new: Sequence[str], olds: range, news: range, budget: Budget
) -> Iterator[tuple[int, int]]:
    if len(olds) * len(news) <= _MOST_TABLE_CELLS:
        scores = [[similarity(old[left], new[right], budget) for right in news] for left in olds]
        yield from ((olds[row], news[column]) for row, column in best_chain(scores))
    elif len(olds) == len(news):
        yield from (
            (left, right)
            for left, right in zip(olds, news, strict=True)
            if similarity(old[left], new[right], budget) > 0
        )
    else:
        yield from _first_in_order(old, new, olds, news, budget)


def _first_in_order(
    old: Sequence[str], new: Sequence[str], olds: range, news: range, budget: Budget
) -> Iterator[tuple[int, int]]:
    start = news.start
    for left in olds:
        for right in range(start, min(start + _LOOK_AHEAD, news.stop)):
            if similarity(old[left], new[right], budget) > 0:
                yield left, right
                start = right + 1
                break


def moved_lines(
    old: Sequence[str], new: Sequence[str], hunks: Iterable[Hunk], paired: Mapping[int, int]
) -> dict[int, int]:
    """Return which removed line stands, word for word, where as an added line. Short lines move by chance: not told."""
    taken = set(paired.values())
    added: defaultdict[str, list[int]] = defaultdict(list)
    removed: defaultdict[str, list[int]] = defaultdict(list)
    for hunk in hunks:
        for left in range(hunk.old_start, hunk.old_end):
            if left not in paired and len(old[left]) >= MOVED_CHARS:
                removed[old[left]].append(left)
        for right in range(hunk.new_start, hunk.new_end):
            if right not in taken and len(new[right]) >= MOVED_CHARS:
                added[new[right]].append(right)
    return {
        left: right
        for text, lefts in removed.items()
        if len(lefts) == len(added[text])
        for left, right in zip(lefts, added[text], strict=True)
    }
