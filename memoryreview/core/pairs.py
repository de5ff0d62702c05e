"""Which removed line became which added line, and which lines only moved. For display."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from .align import Hunk, align, best_chain
from .lines import Lines
from .words import Budget, similarity

_MOST_TABLE_CELLS = 400
_LOOK_AHEAD = 8
MOVED_CHARS = 8
"""Shorter lines stand in many places by chance: that one moved is told only beside a longer one."""


class Texts(Protocol):
    """Lines of a document by 0-based number, without their ends."""

    def __getitem__(self, at: int, /) -> str: ...


def without_blanks(text: str) -> str:
    return text.replace(" ", "").replace("\t", "")


def paired_lines(
    old: Texts, new: Texts, hunks: Iterable[Hunk], budget: Budget, moved: Mapping[int, int] | None = None
) -> dict[int, int]:
    """Return which removed line (0-based) became which added line: equal but for blanks, else alike, in order.

    Args: moved: removed lines that stand elsewhere as added ones; they became nothing else.
    """
    gone, come = moved or {}, set((moved or {}).values())
    paired: dict[int, int] = {}
    for hunk in hunks:
        lefts = [at for at in range(hunk.old_start, hunk.old_end) if at not in gone]
        rights = [at for at in range(hunk.new_start, hunk.new_end) if at not in come]
        if len(lefts) <= 1 or len(rights) <= 1:
            paired.update(_similar(old, new, lefts, rights, budget))
            continue
        olds = [without_blanks(old[at]) for at in lefts]
        news = [without_blanks(new[at]) for at in rights]
        old_at = new_at = 0
        for gap in (*_aligned(olds, news, budget), Hunk(len(olds), len(olds), len(news), len(news))):
            paired.update(zip(lefts[old_at : gap.old_start], rights[new_at : gap.new_start], strict=True))
            old_at, new_at = gap.old_end, gap.new_end
            between = lefts[gap.old_start : old_at], rights[gap.new_start : new_at]
            paired.update(_similar(old, new, *between, budget))
    return paired


def _aligned(olds: Sequence[str], news: Sequence[str], budget: Budget) -> tuple[Hunk, ...]:
    if not budget.takes_cells(len(olds) * len(news)):
        return (Hunk(0, len(olds), 0, len(news)),)
    return align(olds, news)


def _similar(
    old: Texts, new: Texts, olds: Sequence[int], news: Sequence[int], budget: Budget
) -> Iterator[tuple[int, int]]:
    if not olds or not news or not budget.comparisons:
        return
    if len(olds) == len(news) == 1:
        if _is_similar(old[olds[0]], new[news[0]], budget):
            yield olds[0], news[0]
    elif len(olds) * len(news) <= _MOST_TABLE_CELLS:
        texts = [new[right] for right in news]
        scores = [[similarity(one, text, budget) for text in texts] for one in (old[left] for left in olds)]
        yield from ((olds[row], news[column]) for row, column in best_chain(scores))
    elif len(olds) == len(news):
        yield from (
            (left, right) for left, right in zip(olds, news, strict=True) if _is_similar(old[left], new[right], budget)
        )
    else:
        yield from _first_in_order(old, new, olds, news, budget)


def _is_similar(old: str, new: str, budget: Budget) -> bool:
    return similarity(old, new, budget) > 0 or without_blanks(old) == without_blanks(new)


def _first_in_order(
    old: Texts, new: Texts, olds: Sequence[int], news: Sequence[int], budget: Budget
) -> Iterator[tuple[int, int]]:
    start = 0
    for left in olds:
        for place in range(start, min(start + _LOOK_AHEAD, len(news))):
            if similarity(old[left], new[news[place]], budget) > 0:
                yield left, news[place]
                start = place + 1
                break


def moved_lines(old: Lines, new: Lines, hunks: Sequence[Hunk]) -> dict[int, int]:
    """Return which removed line stands, word for word, where as an added line.

    Short lines move by chance: they are told only where they stand beside a longer one on both sides.
    """
    if len(hunks) < 2:  # what moved is gone in one place and new in another
        return {}
    removed = {at: old.body(at) for hunk in hunks for at in range(*hunk[:2])}
    added = {at: new.body(at) for hunk in hunks for at in range(*hunk[2:])}
    moved: dict[int, int] = {}
    places = _places(added)
    for text, lefts in _places(removed).items():
        if len(lefts) == len(places.get(text, ())) and len(text.decode("utf-8", "replace")) >= MOVED_CHARS:
            moved.update(zip(lefts, places[text], strict=True))
    used = set(moved.values())
    for left, right in list(moved.items()):
        for step in (-1, 1):
            at, to = left + step, right + step
            while at in removed and to in added and at not in moved and to not in used and removed[at] == added[to]:
                moved[at] = to
                used.add(to)
                at, to = at + step, to + step
    return moved


def _places(texts: Mapping[int, bytes]) -> dict[bytes, list[int]]:
    places: defaultdict[bytes, list[int]] = defaultdict(list)
    for at, text in texts.items():
        places[text].append(at)
    return places
