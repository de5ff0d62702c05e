"""Differences for people: lines and words by rapidfuzz, cleaned by diff-match-patch in small pieces. For display only:
nothing here feeds a verdict or applies a change."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from .align import Hunk as Run
from .align import align, grouped
from .canvas import Canvas, Group, differ_in_blanks_only, is_short
from .chips import Mark, Piece, holds_unseen, is_unseen, visible
from .lines import Lines
from .shown import DiffLine, DocumentDiff, Hunk
from .text import line_end
from .words import MAX_MARKED_PAIRS

__all__ = ["DiffLine", "DocumentDiff", "Hunk", "Mark", "Piece", "document_diff", "is_shown_whole", "visible"]

MAX_FINE_LINES = 20_000
MAX_FINE_BYTES = 1024 * 1024
MAX_FINE_CHANGES = 3_000
"""Of both sides together: lines, bytes, lines that differ. Above, no words, moves or counterparts are looked for."""

Opened = Sequence[tuple[int, int]]


def document_diff(
    path: str,
    old: bytes | None,
    new: bytes | None,
    *,
    context_lines: int = 3,
    window_chars: int = 80,
    opened: Opened = (),
    uncut: Collection[str] = (),
) -> DocumentDiff:
    """Compare two states of one document (None: does not exist). Total on arbitrary bytes; bounded by counts.

    Args:
        window_chars: what is kept on each side of a change in a line of more than 1,000 characters.
        opened: further unchanged lines to show, as 1-based half-open spans of the old document that touch a hunk or
            each other; what touches none is left out.
        uncut: names of lines (`DiffLine.name`) that are shown whole however long they are.
    """
    left, right = Lines(old), Lines(new)
    runs = align(left.keys, right.keys)
    added = sum(run.new_end - run.new_start for run in runs)
    removed = sum(run.old_end - run.old_start for run in runs)
    is_coarse = _is_too_much(left, right, added + removed)
    canvas = Canvas(left, right, runs, window_chars, uncut, is_coarse=is_coarse)
    groups = _groups(runs, context_lines, len(left), opened)
    hunks, reached = _drawn(canvas, groups)
    shown, wanted = sum(len(hunk.lines) for hunk in hunks), sum(group.height for group in groups)
    said = list(_in_words(old, new, canvas)) if old is not None and new is not None else []
    if is_coarse and runs and added and removed:
        said.append("much text, compared line by line: words and moves are not marked")
    if canvas.is_tired:
        said.append(f"words are marked in the first {MAX_MARKED_PAIRS} changed lines only")
    if shown < wanted:
        said.append(f"{shown:,} of {wanted:,} lines shown")
    if canvas.is_cut:
        said.append("very long lines are cut")
    return DocumentDiff(
        path=path,
        old_exists=old is not None,
        new_exists=new is not None,
        added=added,
        removed=removed,
        hunks=tuple(hunks),
        summary="; ".join(said),
        truncated=shown < wanted or canvas.is_cut,
        folded=len(left) - reached if shown == wanted and runs else 0,
    )


def _is_too_much(left: Lines, right: Lines, changed: int) -> bool:
    return (
        len(left) + len(right) > MAX_FINE_LINES
        or len(left.document) + len(right.document) > MAX_FINE_BYTES
        or changed > MAX_FINE_CHANGES
    )


def _drawn(canvas: Canvas, groups: Iterable[Group]) -> tuple[list[Hunk], int]:
    """Return the hunks that the canvas has room for, and the old line before which they end."""
    hunks: list[Hunk] = []
    reached = 0
    for group in groups:
        hunk = canvas.hunk(group, group.start - reached)
        if hunk is None:
            break
        hunks.append(hunk)
        reached = group.end
    return hunks, reached


def is_shown_whole(old: bytes | None, new: bytes | None) -> bool:
    """Whether `document_diff` shows all there is between two states; nothing is drawn to know it of short ones."""
    if is_short(old or b"", new or b""):
        return True
    return not document_diff("", old, new).truncated


def _groups(runs: Sequence[Run], context_lines: int, line_count: int, opened: Opened) -> list[Group]:
    groups: list[Group] = []
    for together in grouped(runs, context_lines):
        start, end = (
            max(0, together[0].old_start - context_lines),
            min(line_count, together[-1].old_end + context_lines),
        )
        groups.append(Group(together, start, end))
    for first, last in sorted(opened):
        groups = _with_opened(groups, max(0, first - 1), min(line_count, last - 1))
    return groups


def _with_opened(groups: Sequence[Group], start: int, end: int) -> list[Group]:
    """Widen the groups that a span touches; those that then touch become one."""
    widened: list[Group] = []
    for group in groups:
        if start <= group.end and group.start <= end and start < end:
            group = Group(group.runs, min(start, group.start), max(end, group.end))
        if widened and group.start <= widened[-1].end:
            before = widened.pop()
            group = Group((*before.runs, *group.runs), before.start, max(before.end, group.end))
        widened.append(group)
    return widened


def _differ_in_unseen_only(old: str, new: str) -> bool:
    if not holds_unseen(old) and not holds_unseen(new):
        return False
    return old != new and [char for char in old if not is_unseen(char)] == [char for char in new if not is_unseen(char)]


def _in_words(old: bytes, new: bytes, canvas: Canvas) -> Iterator[str]:
    """Yield what a person cannot see, or not see well, between two states of a document."""
    if old and new and old.endswith(b"\n") != new.endswith(b"\n"):
        yield "the final newline is added" if new.endswith(b"\n") else "the final newline is removed"
    has_cr = b"\r" in old or b"\r" in new
    if has_cr and b"\n" in old and b"\n" in new and line_end(old) != line_end(new):
        names = {b"\n": "LF", b"\r\n": "CRLF"}
        yield f"line ends change from {names[line_end(old)]} to {names[line_end(new)]}"
    removed, added = canvas.removed, canvas.added
    blank = _blank_lines(canvas) + sum(
        differ_in_blanks_only(removed.lines.body(left), added.lines.body(right))
        for left, right in removed.partners.items()
    )
    pairs = ((removed.lines[left], added.lines[right]) for left, right in removed.partners.items())
    unseen = sum(_differ_in_unseen_only(*pair) for pair in pairs)
    changed = sum(max(run.old_end - run.old_start, run.new_end - run.new_start) for run in canvas.runs)
    if blank:
        yield _count_in_words(blank, changed, "in blanks only")
    if unseen:
        yield _count_in_words(unseen, changed, "in invisible characters only")
    broken = sum(len(flow.new) for flow in canvas.flows if flow.is_same_words)
    if broken:
        yield f"{broken:,} {'line holds' if broken == 1 else 'lines hold'} the same words as before, broken elsewhere"
    if any(not flow.is_same_words for flow in canvas.flows):
        yield "a paragraph is broken into lines anew; only its other words are marked"
    if removed.moves:
        count = len(removed.moves)
        yield f"{count:,} {'line is' if count == 1 else 'lines are'} moved, word for word"


def _blank_lines(canvas: Canvas) -> int:
    """Count blank lines that came or went."""
    count = 0
    for run in canvas.runs:
        for side, numbers in ((canvas.removed, range(*run[:2])), (canvas.added, range(*run[2:]))):
            blank = (at for at in numbers if not side.lines.keys[at].strip(b" \t\r\n"))
            count += sum(at not in side.partners and at not in side.moves for at in blank)
    return count


def _count_in_words(count: int, of: int, how: str) -> str:
    if count < of:
        return f"{count:,} of {of:,} changed lines {'differs' if count == 1 else 'differ'} {how}"
    return f"{count:,} {'line differs' if count == 1 else 'lines differ'} {how}"
