"""What a difference between two states of a document is made of, as pages show it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from .chips import Mark, Piece


class DiffLine(NamedTuple):
    """One shown line. Numbers are 1-based, None on the other side.

    In a removed or added line, pieces marked as the line differ; the others are shared with its counterpart.

    Args:
        note: "" or says, joined by "; ": "no newline at end", "moved from line N" / "moved to line N", "blanks only",
            "shortened".
        partner: number of the line on the other side that this one became, or came from.
        is_moved: the same line stands elsewhere on the other side.
    """

    mark: Mark
    old_number: int | None
    new_number: int | None
    pieces: tuple[Piece, ...]
    note: str = ""
    partner: int | None = None
    is_moved: bool = False

    @property
    def name(self) -> str:
        """Its side and number: "r12", "a12", or "s12" after the old number of a line that both sides have."""
        return f"{self.mark[0]}{self.old_number or self.new_number}"

    @property
    def is_shortened(self) -> bool:
        """Whether not all of it is shown, since it is very long."""
        return "shortened" in self.note.split("; ")

    @property
    def is_whole(self) -> bool:
        """Whether it is new or gone as a whole: it shares nothing with the other side."""
        return self.mark is not Mark.SAME and all(piece.mark is self.mark for piece in self.pieces)

    @property
    def text(self) -> str:
        """The shown text, labels in the place of what they stand for."""
        return "".join(piece.text for piece in self.pieces)


@dataclass(frozen=True, slots=True)
class Hunk:
    """Consecutive shown lines; spans are 1-based half-open. `heading` is the nearest heading or entry above the first
    change, "" at the top, unsafe characters as their labels. `folded` counts the unchanged lines that are not shown
    between it and the hunk above."""

    heading: str
    old_span: tuple[int, int]
    new_span: tuple[int, int]
    lines: tuple[DiffLine, ...]
    folded: int = 0


@dataclass(frozen=True, slots=True)
class DocumentDiff:
    """A compared document.

    Args:
        added, removed: count lines, also those beyond what is shown.
        summary: says in words what a person cannot see ("2 lines differ in blanks only"), else "".
        truncated: text that matters is not shown.
        folded: unchanged lines below the last hunk that are not shown.
    """

    path: str
    old_exists: bool
    new_exists: bool
    added: int
    removed: int
    hunks: tuple[Hunk, ...]
    summary: str = ""
    truncated: bool = False
    folded: int = 0


def beside(lines: Iterable[DiffLine]) -> list[tuple[DiffLine | None, DiffLine | None]]:
    """Return shown lines as rows of two sides: what became of a line stands beside it, else it stands alone.

    Lines of one run that have no counterpart stand beside each other only where neither has one, in order.
    """
    rows: list[tuple[DiffLine | None, DiffLine | None]] = []
    removed: list[DiffLine] = []
    added: list[DiffLine] = []
    for line in lines:
        if line.mark is Mark.REMOVED and not added:
            removed.append(line)
        elif line.mark is Mark.ADDED:
            added.append(line)
        else:
            rows += _beside(removed, added)
            removed, added = ([line], []) if line.mark is Mark.REMOVED else ([], [])
            if line.mark is Mark.SAME:
                rows.append((line, line))
    return [*rows, *_beside(removed, added)]


def _beside(
    removed: Sequence[DiffLine], added: Sequence[DiffLine]
) -> Iterator[tuple[DiffLine | None, DiffLine | None]]:
    """Yield the rows of one run; partners of a run rise on both sides."""
    right = 0
    numbers = {line.new_number for line in added}
    for old in removed:
        if old.partner in numbers:
            while added[right].new_number != old.partner:
                yield None, added[right]
                right += 1
            yield old, added[right]
            right += 1
        elif right < len(added) and added[right].partner is None:
            yield old, added[right]
            right += 1
        else:
            yield old, None
    for new in added[right:]:
        yield None, new
