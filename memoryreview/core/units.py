"""A document as a row of units (entries, headings) with gaps between them, and how three such rows correspond."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from rapidfuzz.fuzz import ratio

from .align import Hunk, align, best_chain
from .formats.base import Entry

Locate = Callable[[bytes], Sequence[Entry]]
"""Entries of one document: in order, not overlapping."""

ALIKE_PERCENT = 60
"""Similarity from which on a unit in the place of another counts as edited, not as a new one."""

MAX_COMPARED = 2_500
"""Pairs of units of one run that are compared; beyond that none counts as edited."""


@dataclass(frozen=True, slots=True)
class Parts:
    """`gaps[n]` stands before unit n, the last one behind them all; `headings` holds the indexes of headings."""

    units: list[bytes]
    gaps: list[bytes]
    headings: frozenset[int]

    def section(self, at: int) -> int:
        """Return the index of the heading above a unit, -1 at the top."""
        return next((n for n in range(min(at, len(self.units)) - 1, -1, -1) if n in self.headings), -1)

    def heading(self, at: int) -> bytes | None:
        above = self.section(at)
        return None if above < 0 else self.units[above]

    def heading_units(self) -> set[bytes | None]:
        return {self.units[at] for at in self.headings}


@dataclass(slots=True)
class Draft:
    """Ours while it changes. `ids` are indexes in ours, -1 for what came from the other side."""

    ids: list[int]
    units: list[bytes]
    gaps: list[bytes]

    def at(self, number: int) -> int:
        """Return where a unit of ours stands now. -1 is the start; a number past the last is the end."""
        if number < 0:
            return -1
        return self.ids.index(number) if number in self.ids else len(self.ids)

    def insert(self, at: int, units: Sequence[bytes], gaps: Sequence[bytes]) -> None:
        """Put units in the place of the gap before `at`; `gaps` are those around and between them."""
        self.ids[at:at] = [-1] * len(units)
        self.units[at:at] = units
        self.gaps[at : at + 1] = gaps

    def remove(self, at: int, gap: bytes, size: int = 1) -> None:
        """Take units out; `gap` stands where they and the gaps around them stood."""
        del self.ids[at : at + size], self.units[at : at + size]
        self.gaps[at : at + size + 1] = [gap]

    def joined(self) -> bytes:
        return b"".join(part for pair in zip(self.gaps, [*self.units, b""], strict=True) for part in pair)


@dataclass(frozen=True, slots=True)
class Sides:
    """Three sides, and where the units of base stand in ours: as they were, or as what was made of them there."""

    base: Parts
    ours: Parts
    theirs: Parts
    same: dict[int, int] = field(default_factory=dict)
    edited: dict[int, int] = field(default_factory=dict)
    gone: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        base, ours = Counter(self.base.units), Counter(self.ours.units)
        places = {unit: at for at, unit in enumerate(self.ours.units)}
        self.same.update(
            {at: places[unit] for at, unit in enumerate(self.base.units) if base[unit] == ours.get(unit) == 1}
        )
        start = shift = 0
        for hunk in [*align(self.base.units, self.ours.units), None]:
            end = hunk.old_start if hunk else len(self.base.units)
            for at in range(start, end):
                if base[self.base.units[at]] == ours[self.base.units[at]]:
                    self.same.setdefault(at, at + shift)
            if hunk is None:
                break
            self._pair(hunk)
            start, shift = hunk.old_end, hunk.new_end - hunk.old_end
        ends = {-1: -1, len(self.base.units): len(self.ours.units)}
        self.same.update(ends)

    def _pair(self, hunk: Hunk) -> None:
        """Take units of a replaced run for edited ones where they are alike, in order."""
        taken = set(self.same.values())
        if hunk.new_start == hunk.new_end:
            self.gone.update(at for at in range(hunk.old_start, hunk.old_end) if at not in self.same)
        olds = [at for at in range(hunk.old_start, hunk.old_end) if at not in self.same]
        news = [at for at in range(hunk.new_start, hunk.new_end) if at not in taken]
        if len(olds) * len(news) <= MAX_COMPARED:
            chain = best_chain([[self._likeness(old, new) for new in news] for old in olds])
            self.edited.update({olds[row]: news[column] for row, column in chain})

    def _likeness(self, old: int, new: int) -> float:
        if (old in self.base.headings) != (new in self.ours.headings):
            return 0.0
        return ratio(self.base.units[old], self.ours.units[new], score_cutoff=ALIKE_PERCENT)

    def place(self, at: int) -> int | None:
        """Return where a unit of base, or its start (-1) or end, is in ours."""
        return self.same.get(at, self.edited.get(at))


def parts(data: bytes, locate: Locate) -> Parts:
    units: list[bytes] = []
    gaps: list[bytes] = []
    headings: set[int] = set()
    end = 0
    for entry in locate(data):
        if entry.kind in {"section", "task-group"}:
            headings.add(len(units))
        gaps.append(data[end : entry.start])
        units.append(data[entry.start : entry.end])
        end = entry.end
    return Parts(units, [*gaps, data[end:]], frozenset(headings))
