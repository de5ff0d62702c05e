"""What a difference between two states of a document is made of, as pages show it."""

from __future__ import annotations

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
