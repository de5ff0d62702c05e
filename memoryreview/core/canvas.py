"""Draws the lines of a difference until a limit is reached."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from .align import Hunk as Run
from .chips import MAX_DRAWN_CHARS_PER_BYTE, Mark, Piece, pieces
from .excerpt import LONG_LINE_CHARS, MAX_LINE_CHARS, excerpt, spanned
from .flow import Spans, flows
from .lines import Lines
from .pairs import moved_lines, paired_lines
from .sections import Sections
from .shown import DiffLine, Hunk
from .words import Budget, changed_spans

MAX_SHOWN_LINES = 1_000
MAX_SHOWN_CHARS = 256 * 1024


class Group(NamedTuple):
    """Runs whose context touches, and the lines of the old document (0-based, half-open) that are shown of it."""

    runs: tuple[Run, ...]
    start: int
    end: int

    @property
    def height(self) -> int:
        return self.end - self.start + sum(run.new_end - run.new_start for run in self.runs)


@dataclass(frozen=True, slots=True)
class Side:
    """The removed or the added lines. Numbers of lines are 0-based.

    Args:
        partners: lines of this side to the similar lines of the other.
        moves: lines of this side to the equal lines of the other.
        flow: what differs in lines whose words were broken into lines anew.
    """

    mark: Mark
    lines: Lines
    partners: Mapping[int, int]
    moves: Mapping[int, int]
    flow: Spans
    move_word: str


class _Pair(NamedTuple):
    """What differs between two lines that belong together: half-open spans in each."""

    old_spans: list[tuple[int, int]]
    new_spans: list[tuple[int, int]]
    has_same_end: bool
    is_blank_only: bool


class Canvas:
    def __init__(
        self,
        left: Lines,
        right: Lines,
        runs: Sequence[Run],
        window_chars: int,
        uncut: Collection[str] = (),
        *,
        is_coarse: bool = False,
    ) -> None:
        """Relate the changed lines of both sides.

        Args:
            uncut: names of lines that keep more than a window around each change.
            is_coarse: no word, move or counterpart is looked for.
        """
        self.runs = runs
        self._window_chars = window_chars
        self._uncut = frozenset(uncut)
        self._budget = Budget()
        self.flows = [] if is_coarse else flows(left, right, runs, self._budget)
        flowing = {flow.hunk for flow in self.flows}
        single = () if is_coarse else [run for run in runs if run not in flowing]
        moved = moved_lines(left, right, single)
        paired = paired_lines(left, right, single, self._budget, moved)
        old_flow: Spans = {at: spans for flow in self.flows for at, spans in flow.old.items()}
        new_flow: Spans = {at: spans for flow in self.flows for at, spans in flow.new.items()}
        self.removed = Side(Mark.REMOVED, left, paired, moved, old_flow, "moved to line")
        self.added = Side(Mark.ADDED, right, _inverse(paired), _inverse(moved), new_flow, "moved from line")
        self.is_cut = False
        self._has_mixed_ends = _has_mixed_ends(left.document, right.document)
        headed = right if right.keys else left
        self._sections = Sections(headed.keys, headed.document)
        self._pairs: dict[tuple[int, int], _Pair] = {}
        self._is_short = is_short(left.document, right.document)
        self._lines_left = MAX_SHOWN_LINES
        self._chars_left = MAX_SHOWN_CHARS

    @property
    def is_tired(self) -> bool:
        """Whether there were more changed lines than it looks for words in."""
        return self._budget.marked < 0

    def hunk(self, group: Group, folded: int) -> Hunk | None:
        """Return as much of a group as the limits leave room for, None when that is nothing."""
        lines = tuple(self._lines(group) if self._is_short else self._within_limits(group))
        if not lines:
            return None
        first, last = group.runs[0], group.runs[-1]
        above, below = first.old_start - group.start, group.end - last.old_end
        return Hunk(
            heading=self._sections.above(first.new_start if self.added.lines.keys else first.old_start),
            old_span=(group.start + 1, group.end + 1),
            new_span=(first.new_start - above + 1, last.new_end + below + 1),
            lines=lines,
            folded=folded,
        )

    def _within_limits(self, group: Group) -> Iterator[DiffLine]:
        for line in self._lines(group):
            size = len(line.text)
            if not self._lines_left or size > self._chars_left:
                self._lines_left = 0
                return
            self._lines_left -= 1
            self._chars_left -= size
            yield line

    def _lines(self, group: Group) -> Iterator[DiffLine]:
        at = group.start
        for run in group.runs:
            shift = run.new_start - run.old_start
            for old in range(at, run.old_start):
                yield self._same(old, old + shift)
            for old in range(run.old_start, run.old_end):
                yield self._changed(self.removed, old)
            for new in range(run.new_start, run.new_end):
                yield self._changed(self.added, new)
            at = run.old_end
        shift = group.runs[-1].new_end - at
        for old in range(at, group.end):
            yield self._same(old, old + shift)

    def _same(self, old: int, new: int) -> DiffLine:
        text = self.removed.lines[old]
        if len(text) <= LONG_LINE_CHARS and self.removed.lines.end(old) == b"\n":
            return DiffLine(Mark.SAME, old + 1, new + 1, tuple(pieces(text, Mark.SAME)))
        drawn, note = self._drawn(self.removed, old, Mark.SAME, Mark.SAME)
        return DiffLine(Mark.SAME, old + 1, new + 1, drawn, note)

    def _changed(self, side: Side, at: int) -> DiffLine:
        is_removed = side is self.removed
        end_mark, spans, notes = side.mark, [(0, len(side.lines[at]))], []
        partner = side.partners.get(at)
        if partner is not None:
            pair = self._pair(at, partner) if is_removed else self._pair(partner, at)
            spans = pair.old_spans if is_removed else pair.new_spans
            end_mark = Mark.SAME if pair.has_same_end else side.mark
            notes = ["blanks only"] if pair.is_blank_only else []
        elif at in side.flow:
            spans = side.flow[at]
        elif at in side.moves:
            notes = _move_note(side, at)
        drawn, note = self._drawn(side, at, side.mark, end_mark, spans, notes)
        return DiffLine(
            side.mark,
            at + 1 if is_removed else None,
            None if is_removed else at + 1,
            drawn,
            note,
            None if partner is None else partner + 1,
            at in side.moves,
        )

    def _pair(self, left: int, right: int) -> _Pair:
        """Compare two lines that belong together; the second of them asks again."""
        if (left, right) not in self._pairs:
            olds, news = self.removed.lines, self.added.lines
            old, new = olds[left], news[right]
            spans = changed_spans(old, new, self._budget)
            self._pairs[left, right] = _Pair(
                [(span[0], span[1]) for span in spans],
                [(span[2], span[3]) for span in spans],
                olds.end(left) == news.end(right),
                differ_in_blanks_only(olds.body(left), news.body(right)),
            )
        return self._pairs[left, right]

    def _drawn(
        self,
        side: Side,
        at: int,
        kind: Mark,
        end_mark: Mark,
        spans: Sequence[tuple[int, int]] = (),
        notes: Sequence[str] = (),
    ) -> tuple[tuple[Piece, ...], str]:
        """Return the pieces of a line and what is to be noted of it. Args: kind: SAME for one that both sides have."""
        text, end, mark = side.lines[at], side.lines.end(at), side.mark
        if len(text) <= LONG_LINE_CHARS:
            drawn = spanned(text, mark, spans)
        else:
            is_uncut = f"{kind[0]}{at + 1}" in self._uncut
            cut = excerpt(text, mark, spans, len(text) if is_uncut else self._window_chars)
            drawn, self.is_cut = cut.pieces, self.is_cut or cut.is_cut
            notes = [*notes, "shortened"] if cut.is_shortened else notes
        if self._has_mixed_ends and end == b"\r\n":
            drawn = (*drawn, *pieces("\r", end_mark))
        return drawn, "; ".join(notes if end else [*notes, "no newline at end"])


def is_short(old: bytes, new: bytes) -> bool:
    """Whether all of two documents can be drawn whatever they hold: no limit is ever reached."""
    if MAX_DRAWN_CHARS_PER_BYTE * (len(old) + len(new)) > min(MAX_LINE_CHARS, MAX_SHOWN_CHARS):
        return False
    return old.count(b"\n") + new.count(b"\n") + 2 <= MAX_SHOWN_LINES


def differ_in_blanks_only(old: bytes, new: bytes) -> bool:
    return old.translate(None, b" \t") == new.translate(None, b" \t") and old != new


def _move_note(side: Side, at: int) -> list[str]:
    """Return what is said beside the first line of a block that moved, nothing beside its other lines."""
    to = side.moves[at]
    if side.moves.get(at - 1) == to - 1:
        return []
    height = 1
    while side.moves.get(at + height) == to + height:
        height += 1
    whole = f"{height:,} lines " if height > 1 else ""
    return [f"{whole}{side.move_word} {to + 1}"]


def _inverse(mapping: Mapping[int, int]) -> dict[int, int]:
    return {value: key for key, value in mapping.items()}


def _has_mixed_ends(*documents: bytes) -> bool:
    crlf = sum(document.count(b"\r\n") for document in documents if b"\r" in document)
    return 0 < crlf < sum(document.count(b"\n") for document in documents)
