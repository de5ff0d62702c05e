"""From two states of a document to the steps between them: whole blocks kept, changed, added or removed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from rapidfuzz.distance import Indel

from memoryreview.core.align import Hunk, align, best_chain
from memoryreview.core.markdown import Place

from .budget import Budget
from .document import BLANKS, Block, Document, Span

MAX_COMPARISONS = 2_500
"""Pairs of blocks that are compared by similarity in one changed run; above it blocks pair by their order."""

MIN_SIMILARITY = 0.5
"""Share of common text from which a block counts as the changed form of another."""

MAX_COMPARED_BYTES = 2_000

_OF_LINES = frozenset({Place.PARAGRAPH, Place.CODE, Place.QUOTE, Place.HTML})

Match: TypeAlias = tuple[int, int]
Element: TypeAlias = tuple[Block | None, Block | None]


@dataclass(frozen=True, slots=True)
class Step:
    """One piece of the difference. Steps of a document are in order, do not overlap and cover all that differs.

    A changed block has both blocks, an addition or removal one, a change of blank lines alone has none.
    """

    old: Span
    new: Span
    old_block: Block | None
    new_block: Block | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Steps between two states, and the blocks (by first line in the base document) that stay as they are."""

    steps: tuple[Step, ...]
    kept: frozenset[int]


def compare(old: Document, new: Document, budget: Budget) -> Comparison:
    """Return the steps from `old` to `new`. Deterministic; cost grows with the changed runs, within the budget."""
    matches = _matches([(b.place, b.text) for b in old.blocks], [(b.place, b.text) for b in new.blocks])
    steps: list[Step] = []
    before = (-1, -1)
    for match in [*matches, (len(old.blocks), len(new.blocks))]:
        steps += _region(old, new, before, match, budget)
        before = match
    return Comparison(tuple(steps), frozenset(old.blocks[i].span[0] for i, _ in matches))


def similarity(old: bytes, new: bytes) -> float:
    """Return the share of common text of two blocks, 0 to 1."""
    return Indel.normalized_similarity(_start(old), _start(new))


def _start(text: bytes) -> str:
    return text[:MAX_COMPARED_BYTES].decode("utf-8", "replace")


def _matches(old: Sequence[object], new: Sequence[object]) -> list[Match]:
    """Pair equal blocks in order. Of equal ones the earliest stays that leaves as many blocks changed on both sides."""
    pairs: list[Match] = []
    old_at = new_at = 0
    for hunk in align(old, new):
        pairs += zip(range(old_at, hunk.old_start), range(new_at, hunk.new_start), strict=True)
        old_at, new_at = hunk.old_end, hunk.new_end
    pairs += zip(range(old_at, len(old)), range(new_at, len(new)), strict=True)
    settled: list[Match] = []
    before_old = before_new = -1
    for old_index, new_index in pairs:
        surplus = (old_index - before_old) - (new_index - before_new)
        if surplus > 0:
            old_index = next(k for k in range(old_index - surplus, old_index + 1) if old[k] == old[old_index])
        elif surplus < 0:
            new_index = next(k for k in range(new_index + surplus, new_index + 1) if new[k] == new[new_index])
        settled.append((old_index, new_index))
        before_old, before_new = old_index, new_index
    return settled


def _region(old: Document, new: Document, before: Match, after: Match, budget: Budget) -> list[Step]:
    old_blocks = old.blocks[before[0] + 1 : after[0]]
    new_blocks = new.blocks[before[1] + 1 : after[1]]
    old_span, new_span = _between(old, before[0], after[0]), _between(new, before[1], after[1])
    if not old_blocks and not new_blocks and old.bodies[slice(*old_span)] == new.bodies[slice(*new_span)]:
        return []
    walk = _Walk(old, new, old_span[0], new_span[0])
    for element in _pair(old_blocks, new_blocks, budget):
        walk.take(element)
    walk.gap(old_span[1], new_span[1])
    trimmed = [step for each in walk.steps if (step := _trim(old, new, each)) is not None]
    return [part for step in trimmed for part in _by_lines(old, new, step)]


def _between(document: Document, before: int, after: int) -> Span:
    first = document.blocks[before].span[1] if before >= 0 else 0
    stop = document.blocks[after].span[0] if after < len(document.blocks) else len(document.bodies)
    return first, stop


class _Walk:
    """Lays the elements of a region and the gaps between them end to end."""

    def __init__(self, old: Document, new: Document, old_at: int, new_at: int) -> None:
        self._old, self._new = old, new
        self._old_at, self._new_at = old_at, new_at
        # A gap that cannot be a step of its own and has no step before it waits for the next one.
        self._carried: tuple[int, int] | None = None
        self.steps: list[Step] = []

    def take(self, element: Element) -> None:
        old_block, new_block = element
        if old_block and new_block:
            self.gap(old_block.span[0], new_block.span[0], has_more=True)
        old_end = old_block.span[1] if old_block else self._old_at
        new_end = new_block.span[1] if new_block else self._new_at
        old_start, new_start = self._carried or (self._old_at, self._new_at)
        self._carried = None
        self.steps.append(Step((old_start, old_end), (new_start, new_end), old_block, new_block))
        self._old_at, self._new_at = old_end, new_end

    def gap(self, old_end: int, new_end: int, has_more: bool = False) -> None:
        old_span, new_span = (self._old_at, old_end), (self._new_at, new_end)
        old_lines, new_lines = self._old.bodies[slice(*old_span)], self._new.bodies[slice(*new_span)]
        self._old_at, self._new_at = old_end, new_end
        if old_lines == new_lines:
            return
        last = self.steps[-1] if self.steps else None
        is_own = not self._old.is_delimited and len(old_lines) > 0 and len(new_lines) > 0
        if last is not None and not is_own and (last.old[1], last.new[1]) == (old_span[0], new_span[0]):
            self.steps[-1] = replace(last, old=(last.old[0], old_end), new=(last.new[0], new_end))
        elif is_own or not has_more:
            self.steps.append(Step(old_span, new_span, None, None))
        else:
            self._carried = (old_span[0], new_span[0])


def _trim(old: Document, new: Document, step: Step) -> Step | None:
    """Drop lines that are equal at the edges of an addition, a removal or a change of blank lines."""
    if step.old_block and step.new_block:
        return step
    (old_first, old_stop), (new_first, new_stop) = step.old, step.new
    while old_first < old_stop and new_first < new_stop and old.bodies[old_first] == new.bodies[new_first]:
        old_first, new_first = old_first + 1, new_first + 1
    while old_first < old_stop and new_first < new_stop and old.bodies[old_stop - 1] == new.bodies[new_stop - 1]:
        old_stop, new_stop = old_stop - 1, new_stop - 1
    if old_first == old_stop and new_first == new_stop:
        return None
    return replace(step, old=(old_first, old_stop), new=(new_first, new_stop))


def _by_lines(old: Document, new: Document, step: Step) -> list[Step]:
    """Cut the change of a paragraph, fence or quote down to the lines that change; a list entry stays whole."""
    old_block, new_block = step.old_block, step.new_block
    if not old_block or not new_block or old.is_delimited or old_block.place is not new_block.place:
        return [step]
    if old_block.place not in _OF_LINES or (old_block.span, new_block.span) != (step.old, step.new):
        return [step]
    old_lines, new_lines = old_block.text.split(b"\n"), new_block.text.split(b"\n")
    parts: list[Step] = []
    for hunk in align(old_lines, new_lines):
        spans = [(hunk.old_start, hunk.old_end, hunk.new_start, hunk.new_end)]
        if hunk.old_end - hunk.old_start == hunk.new_end - hunk.new_start:
            olds, news = range(hunk.old_start, hunk.old_end), range(hunk.new_start, hunk.new_end)
            if all(similarity(old_lines[i], new_lines[j]) >= MIN_SIMILARITY for i, j in zip(olds, news, strict=True)):
                spans = [(i, i + 1, j, j + 1) for i, j in zip(olds, news, strict=True)]
        parts += (_part(old_block, old_lines, new_block, new_lines, Hunk(*span)) for span in spans)
    return parts


def _part(old: Block, old_lines: list[bytes], new: Block, new_lines: list[bytes], hunk: Hunk) -> Step:
    one = _lines_of(old, old_lines, hunk.old_start, hunk.old_end)
    two = _lines_of(new, new_lines, hunk.new_start, hunk.new_end)
    return Step(one.span, two.span, one if one.text else None, two if two.text else None)


def _lines_of(block: Block, lines: list[bytes], first: int, stop: int) -> Block:
    return replace(block, span=(block.span[0] + first, block.span[0] + stop), text=b"\n".join(lines[first:stop]))


def _pair(old: Sequence[Block], new: Sequence[Block], budget: Budget) -> Iterator[Element]:
    """Pair the blocks of a changed run: first those that differ in trailing blanks alone, then the similar ones."""
    if not old or not new:
        yield from _unpaired(old, new)
        return
    old_at = new_at = 0
    keys = [[_rough(block) for block in side] for side in (old, new)]
    for i, j in [*_matches(*keys), (len(old), len(new))]:
        yield from _pair_similar(old[old_at:i], new[new_at:j], budget)
        if i < len(old):
            yield old[i], new[j]
        old_at, new_at = i + 1, j + 1


def _rough(block: Block) -> tuple[Place, bytes]:
    return block.place, b"\n".join(line.rstrip(BLANKS) for line in block.text.split(b"\n"))


def _pair_similar(old: Sequence[Block], new: Sequence[Block], budget: Budget) -> Iterator[Element]:
    count = len(old) * len(new)
    if count <= 1 or count > MAX_COMPARISONS or not budget.pays_comparisons(count):
        yield from _replaced(old, new)
        return
    old_at = new_at = 0
    scores = [[_score(a, b) for b in new] for a in old]
    for i, j in [*best_chain(scores), (len(old), len(new))]:
        yield from _replaced(old[old_at:i], new[new_at:j])
        if i < len(old):
            yield old[i], new[j]
        old_at, new_at = i + 1, j + 1


def _score(old: Block, new: Block) -> float:
    """Return how alike two blocks are, 0 where neither can have become the other."""
    if old.place is not new.place:
        return 0.0
    value = similarity(old.text, new.text)
    return value if value >= MIN_SIMILARITY else 0.0


def _replaced(old: Sequence[Block], new: Sequence[Block]) -> Iterator[Element]:
    """As many blocks for as many: each replaces the one in its place. Otherwise nothing says which became which."""
    if len(old) == len(new):
        yield from zip(old, new, strict=True)
    else:
        yield from _unpaired(old, new)


def _unpaired(old: Sequence[Block], new: Sequence[Block]) -> Iterator[Element]:
    for block in old:
        yield block, None
    for block in new:
        yield None, block
