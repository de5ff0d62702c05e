"""Lines that moved from one document of a change to another. For display."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from .chips import Mark
from .pairs import MOVED_CHARS
from .shown import DiffLine, DocumentDiff

Place = tuple[int, int]
"""Index of a document, and 1-based number of a line on its own side of the difference."""


def between(diffs: Sequence[DocumentDiff]) -> tuple[DocumentDiff, ...]:
    """Return the differences of one change with what moved between documents marked on both sides.

    A line counts when it stands, word for word, once among what goes and once among what comes, in another document.
    """
    gone, come = _places(diffs, Mark.REMOVED), _places(diffs, Mark.ADDED)
    moves: dict[Mark, dict[Place, Place]] = {Mark.REMOVED: {}, Mark.ADDED: {}}
    for text, old in gone.items():
        new = come.get(text)
        if old and new and old[0] != new[0]:
            moves[Mark.REMOVED][old] = new
            moves[Mark.ADDED][new] = old
    if not moves[Mark.REMOVED]:
        return tuple(diffs)
    paths = [diff.path for diff in diffs]
    return tuple(_marked(diff, at, moves, paths) for at, diff in enumerate(diffs))


def _places(diffs: Sequence[DocumentDiff], mark: Mark) -> dict[str, Place | None]:
    """Return where each whole line of one side stands, None for one that stands in several places."""
    places: dict[str, Place | None] = {}
    for at, diff in enumerate(diffs):
        for hunk in diff.hunks:
            for line in hunk.lines:
                if line.mark is mark and line.is_whole and not line.is_moved and len(line.text) >= MOVED_CHARS:
                    places[line.text] = None if line.text in places else (at, _number(line))
    return places


def _number(line: DiffLine) -> int:
    return line.old_number or line.new_number or 0


def _marked(
    diff: DocumentDiff, at: int, moves: Mapping[Mark, Mapping[Place, Place]], paths: Sequence[str]
) -> DocumentDiff:
    hunks = []
    for hunk in diff.hunks:
        lines = []
        for line in hunk.lines:
            to = moves[line.mark].get((at, _number(line))) if line.mark is not Mark.SAME else None
            lines.append(line if to is None else _told(line, to, at, moves[line.mark], paths))
        hunks.append(replace(hunk, lines=tuple(lines)))
    return replace(diff, hunks=tuple(hunks))


def _told(line: DiffLine, to: Place, at: int, moves: Mapping[Place, Place], paths: Sequence[str]) -> DiffLine:
    """Return a line that moved; of a block that moved together only the first says so."""
    document, number = to
    if moves.get((at, _number(line) - 1)) == (document, number - 1):
        return line._replace(is_moved=True)
    height = 1
    while moves.get((at, _number(line) + height)) == (document, number + height):
        height += 1
    whole = f"{height:,} lines " if height > 1 else ""
    way = "to" if line.mark is Mark.REMOVED else "from"
    said = f"{whole}moved {way} {paths[document]}, line {number}"
    return line._replace(is_moved=True, note="; ".join(filter(None, (said, line.note))))
