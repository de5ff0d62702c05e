"""Differences for people: lines by rapidfuzz, then words, then diff-match-patch inside small pairs. For display only:
nothing here feeds a verdict or applies a change."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from .align import Hunk as Run
from .align import align, grouped
from .chips import MAX_DRAWN_CHARS_PER_BYTE, Mark, Piece, is_unseen, pieces, visible
from .excerpt import MAX_LINE_CHARS, excerpt
from .pairs import moved_lines, paired_lines, without_blanks
from .text import Line, line_end, split_lines
from .words import Budget, changed_spans

__all__ = ["DiffLine", "DocumentDiff", "Hunk", "Mark", "Piece", "document_diff", "is_shown_whole", "visible"]

MAX_SHOWN_LINES = 5_000
MAX_SHOWN_CHARS = 512 * 1024
_HEADING_CHARS = 200
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_ATX = re.compile(r" {0,3}#{1,6}(?:[ \t]+|$)")


@dataclass(frozen=True, slots=True)
class DiffLine:
    """One shown line. Numbers are 1-based, None on the other side. `note` is "" or says, joined by "; ":
    "no newline at end", "moved from line N" / "moved to line N", "blanks only", "shortened". In a removed or added
    line, pieces marked as the line differ; the others are shared with the line it is paired with."""

    mark: Mark
    old_number: int | None
    new_number: int | None
    pieces: tuple[Piece, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Hunk:
    """Consecutive shown lines; spans are 1-based half-open. `heading` is the nearest Markdown heading above the first
    change, "" at the top, unsafe characters as their labels."""

    heading: str
    old_span: tuple[int, int]
    new_span: tuple[int, int]
    lines: tuple[DiffLine, ...]


@dataclass(frozen=True, slots=True)
class DocumentDiff:
    """`summary` says in words what a person cannot see ("2 lines differ in blanks only"), else "". `added` and
    `removed` count lines, also those beyond what is shown; `truncated` says that there are some."""

    path: str
    old_exists: bool
    new_exists: bool
    added: int
    removed: int
    hunks: tuple[Hunk, ...]
    summary: str = ""
    truncated: bool = False


def document_diff(
    path: str, old: bytes | None, new: bytes | None, *, context_lines: int = 3, window_chars: int = 80
) -> DocumentDiff:
    """Compare two states of one document (None: does not exist). Total on arbitrary bytes; bounded time.

    Args:
        window_chars: what is kept on each side of a change in a line of more than 1,000 characters.
    """
    left, right = _Document.of(old), _Document.of(new)
    runs = align(left.raw, right.raw)
    canvas = _Canvas(left, right, runs, window_chars)
    groups = [_with_context(group, context_lines, len(left.lines)) for group in grouped(runs, context_lines)]
    drawn = (canvas.hunk(group) for group in groups)
    hunks = tuple(hunk for hunk in drawn if hunk is not None)
    shown, wanted = sum(len(hunk.lines) for hunk in hunks), sum(group.height for group in groups)
    said = list(_in_words(old, new, canvas)) if old is not None and new is not None else []
    if shown < wanted:
        said.append(f"{shown:,} of {wanted:,} lines shown")
    if canvas.is_cut:
        said.append("very long lines are cut")
    return DocumentDiff(
        path=path,
        old_exists=old is not None,
        new_exists=new is not None,
        added=sum(run.new_end - run.new_start for run in runs),
        removed=sum(run.old_end - run.old_start for run in runs),
        hunks=hunks,
        summary="; ".join(said),
        truncated=shown < wanted or canvas.is_cut,
    )


def is_shown_whole(old: bytes | None, new: bytes | None) -> bool:
    """Whether `document_diff` shows all there is between two states; nothing is drawn to know it of short ones."""
    documents = (old or b"", new or b"")
    line_count = sum(document.count(b"\n") + 1 for document in documents)
    drawn_chars = MAX_DRAWN_CHARS_PER_BYTE * sum(map(len, documents))
    if line_count <= MAX_SHOWN_LINES and drawn_chars <= min(MAX_LINE_CHARS, MAX_SHOWN_CHARS):
        return True
    return not document_diff("", old, new).truncated


@dataclass(frozen=True, slots=True)
class _Document:
    """Lines as bytes, to compare, and as text, to show: bytes that are not UTF-8 as lone surrogates."""

    lines: tuple[Line, ...]
    raw: tuple[bytes, ...]
    texts: tuple[str, ...]

    @classmethod
    def of(cls, document: bytes | None) -> _Document:
        lines = split_lines(document or b"")
        texts = tuple(line.body.decode("utf-8", "surrogateescape") for line in lines)
        return cls(lines, tuple(line.raw for line in lines), texts)


@dataclass(frozen=True, slots=True)
class _Group:
    """Runs whose context touches, and how many lines of context stand above and below."""

    runs: tuple[Run, ...]
    above: int
    below: int

    @property
    def height(self) -> int:
        added = sum(run.new_end - run.new_start for run in self.runs)
        return self.above + self.runs[-1].old_end - self.runs[0].old_start + added + self.below


def _with_context(runs: tuple[Run, ...], context_lines: int, line_count: int) -> _Group:
    return _Group(runs, min(context_lines, runs[0].old_start), min(context_lines, line_count - runs[-1].old_end))


@dataclass(frozen=True, slots=True)
class _Side:
    """The removed or the added lines. Numbers of lines are 0-based.

    Args:
        partners: lines of this side to the similar lines of the other.
        moves: lines of this side to the equal lines of the other.
    """

    mark: Mark
    document: _Document
    partners: Mapping[int, int]
    moves: Mapping[int, int]
    move_word: str


class _Canvas:
    """Draws lines until a limit is reached."""

    def __init__(self, left: _Document, right: _Document, runs: Sequence[Run], window_chars: int) -> None:
        self.runs = runs
        self._window_chars = window_chars
        self._budget = Budget()
        paired = paired_lines(left.texts, right.texts, runs, self._budget)
        moved = moved_lines(left.texts, right.texts, runs, paired)
        self.removed = _Side(Mark.REMOVED, left, paired, moved, "moved to line")
        self.added = _Side(Mark.ADDED, right, _inverse(paired), _inverse(moved), "moved from line")
        self.is_cut = False
        self._has_mixed_ends = len({line.eol for line in (*left.lines, *right.lines)} - {b""}) > 1
        self._headings = _headings(right.texts if right.lines else left.texts)
        self._spans: dict[tuple[int, int], tuple[Run, ...]] = {}
        self._lines_left = MAX_SHOWN_LINES
        self._chars_left = MAX_SHOWN_CHARS

    def hunk(self, group: _Group) -> Hunk | None:
        """Return as much of a group as the limits leave room for, None when that is nothing."""
        lines: list[DiffLine] = []
        for line in self._lines(group):
            size = sum(len(piece.text) for piece in line.pieces)
            if not self._lines_left or size > self._chars_left:
                self._lines_left = 0
                break
            self._lines_left -= 1
            self._chars_left -= size
            lines.append(line)
        if not lines:
            return None
        first, last = group.runs[0], group.runs[-1]
        return Hunk(
            heading=self._headings[first.new_start if self.added.document.lines else first.old_start],
            old_span=(first.old_start - group.above + 1, last.old_end + group.below + 1),
            new_span=(first.new_start - group.above + 1, last.new_end + group.below + 1),
            lines=tuple(lines),
        )

    def _lines(self, group: _Group) -> Iterator[DiffLine]:
        at = group.runs[0].old_start - group.above
        for run in group.runs:
            shift = run.new_start - run.old_start
            yield from (self._same(old, old + shift) for old in range(at, run.old_start))
            yield from (self._changed(self.removed, old) for old in range(run.old_start, run.old_end))
            yield from (self._changed(self.added, new) for new in range(run.new_start, run.new_end))
            at = run.old_end
        shift = group.runs[-1].new_end - at
        yield from (self._same(old, old + shift) for old in range(at, at + group.below))

    def _same(self, old: int, new: int) -> DiffLine:
        drawn, notes = self._drawn(self.removed, old, Mark.SAME, Mark.SAME, ())
        return DiffLine(Mark.SAME, old + 1, new + 1, drawn, "; ".join(notes))

    def _changed(self, side: _Side, at: int) -> DiffLine:
        notes: list[str] = []
        spans, end_mark = [(0, len(side.document.texts[at]))], side.mark
        if at in side.partners:
            spans = self._pair_spans(side, at)
            other, partner = self._other(side), side.partners[at]
            if other.document.lines[partner].eol == side.document.lines[at].eol:
                end_mark = Mark.SAME
            if _differ_in_blanks_only(side.document.texts[at], other.document.texts[partner]):
                notes.append("blanks only")
        if at in side.moves:
            notes.append(f"{side.move_word} {side.moves[at] + 1}")
        drawn, more_notes = self._drawn(side, at, side.mark, end_mark, spans)
        is_removed = side.mark is Mark.REMOVED
        return DiffLine(
            mark=side.mark,
            old_number=at + 1 if is_removed else None,
            new_number=None if is_removed else at + 1,
            pieces=drawn,
            note="; ".join([*notes, *more_notes]),
        )

    def _pair_spans(self, side: _Side, at: int) -> list[tuple[int, int]]:
        """Return what differs inside a pair; its other line asks again."""
        is_removed = side.mark is Mark.REMOVED
        pair = (at, side.partners[at]) if is_removed else (side.partners[at], at)
        if pair not in self._spans:
            texts = self.removed.document.texts[pair[0]], self.added.document.texts[pair[1]]
            self._spans[pair] = changed_spans(*texts, self._budget)
        return [run[:2] if is_removed else run[2:] for run in self._spans[pair]]

    def _other(self, side: _Side) -> _Side:
        return self.added if side.mark is Mark.REMOVED else self.removed

    def _drawn(
        self, side: _Side, at: int, mark: Mark, end_mark: Mark, spans: Sequence[tuple[int, int]]
    ) -> tuple[tuple[Piece, ...], list[str]]:
        """Return the pieces of a line and what is to be noted of it."""
        line = side.document.lines[at]
        cut = excerpt(side.document.texts[at], mark, spans, self._window_chars)
        self.is_cut = self.is_cut or cut.is_cut
        line_end_pieces = pieces("\r", end_mark) if line.eol == b"\r\n" and self._has_mixed_ends else ()
        notes = [] if line.eol else ["no newline at end"]
        if cut.is_shortened:
            notes.append("shortened")
        return (*cut.pieces, *line_end_pieces), notes


def _inverse(mapping: Mapping[int, int]) -> dict[int, int]:
    return {value: key for key, value in mapping.items()}


def _differ_in_blanks_only(old: str, new: str) -> bool:
    return old != new and without_blanks(old) == without_blanks(new)


def _differ_in_unseen_only(old: str, new: str) -> bool:
    return old != new and [char for char in old if not is_unseen(char)] == [char for char in new if not is_unseen(char)]


def _headings(texts: Sequence[str]) -> list[str]:
    """Return for each line, and for the end, the nearest ATX heading above it outside frontmatter and fenced code."""
    above: list[str] = []
    heading = fence = ""
    in_frontmatter = bool(texts) and texts[0].removeprefix("\ufeff").rstrip() == "---"
    for number, text in enumerate(texts):
        above.append(heading)
        opening = _FENCE.match(text)
        if in_frontmatter:
            in_frontmatter = number == 0 or text.rstrip() not in ("---", "...")
        elif fence:
            if opening and opening[1].startswith(fence) and text.strip() == opening[1]:
                fence = ""
        elif opening:
            fence = opening[1]
        elif _ATX.match(text):
            heading = _shown_heading(text)
    return [*above, heading]


def _shown_heading(text: str) -> str:
    words = text.strip().lstrip("#").strip()
    without_closing = words.rstrip("#")
    if without_closing.endswith((" ", "\t")) or not without_closing:
        words = without_closing.rstrip()
    shown = visible(words[:_HEADING_CHARS])
    return "".join(f"[{piece.chip}]" if piece.chip else piece.text for piece in shown)


def _in_words(old: bytes, new: bytes, canvas: _Canvas) -> Iterator[str]:
    """Yield what a person cannot see, or not see well, between two states of a document."""
    if old and new and old.endswith(b"\n") != new.endswith(b"\n"):
        yield "the final newline is added" if new.endswith(b"\n") else "the final newline is removed"
    if old.count(b"\n") and new.count(b"\n") and line_end(old) != line_end(new):
        names = {b"\n": "LF", b"\r\n": "CRLF"}
        yield f"line ends change from {names[line_end(old)]} to {names[line_end(new)]}"
    olds, news = canvas.removed.document.texts, canvas.added.document.texts
    pairs = [(olds[left], news[right]) for left, right in canvas.removed.partners.items()]
    blank = sum(_differ_in_blanks_only(*pair) for pair in pairs) + _blank_lines(canvas)
    unseen = sum(_differ_in_unseen_only(*pair) for pair in pairs)
    changed = sum(max(run.old_end - run.old_start, run.new_end - run.new_start) for run in canvas.runs)
    if blank:
        yield _count_in_words(blank, changed, "in blanks only")
    if unseen:
        yield _count_in_words(unseen, changed, "in invisible characters only")


def _blank_lines(canvas: _Canvas) -> int:
    """Count blank lines that came or went."""
    count = 0
    for run in canvas.runs:
        for side, numbers in (
            (canvas.removed, range(run.old_start, run.old_end)),
            (canvas.added, range(run.new_start, run.new_end)),
        ):
            count += sum(at not in side.partners and not without_blanks(side.document.texts[at]) for at in numbers)
    return count


def _count_in_words(count: int, of: int, how: str) -> str:
    if count < of:
        return f"{count:,} of {of:,} changed lines {'differs' if count == 1 else 'differ'} {how}"
    return f"{count:,} {'line differs' if count == 1 else 'lines differ'} {how}"
