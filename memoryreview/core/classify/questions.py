"""What a verdict on a change may ask the history about: few enough questions that an answer costs the same for ever."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from memoryreview.core import markdown
from memoryreview.core.formats.base import directory, is_document, leads_elsewhere
from memoryreview.core.markdown import Link
from memoryreview.core.model import Context, Delta, Tree
from memoryreview.core.text import split_lines

from .budget import Budget
from .rules.calendar_form import date_like

MAX_PATHS = 200
"""Documents asked for by one change. A link beyond them gets no answer, so what depends on it waits."""

MAX_LINES = 200
"""Lines asked for by one change."""

MAX_LINE_BYTES = 2_000
"""Text of one line that is searched for dates."""

_LINK_SIGNS = (b"](", b"[[", b"]:")
_DATE = re.compile(rb"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_DATED_WORD = re.compile(rb"[0-9]{4}-[0-9]{2}-[0-9]{2}[ \t]?(?:\(|\xef\xbc\x88)")
"""A full date before a parenthesis, half or full width: what a relative word becomes, whatever its language."""


@dataclass(frozen=True, slots=True)
class Questions:
    """What to look up.

    Args:
        paths: documents that may have ended.
        lines: (path, text without line end) whose first day matters.
        is_dated: whether a full date comes, so that the day of the first commit matters.
    """

    paths: tuple[str, ...] = ()
    lines: tuple[tuple[str, bytes], ...] = ()
    is_dated: bool = False

    def __bool__(self) -> bool:
        return bool(self.paths or self.lines or self.is_dated)


def questions(base: Tree, delta: Delta, context: Context) -> Questions:
    """Return what to look up before a change is classified. Total; reads only the documents that change.

    A change asks for no less than any part of it does, so what was proved with all of it is proved with the part alone.
    """
    paths: dict[str, None] = {}
    lines: dict[tuple[str, bytes], None] = {}
    is_dated = False
    budget = Budget()
    for path in sorted(delta):
        before, after = base.get(path), delta[path]
        if before is None or after is None or max(len(before), len(after)) > context.limits.file_bytes:
            continue
        gone, come = _differing(before, after)
        if any(_DATE.search(body) for body in come):
            is_dated = True
            is_word = any(_DATED_WORD.search(body) for body in come)
            asked = (body for body in gone if body.strip() and (is_word or _may_be_date(body)))
            lines.update(dict.fromkeys((path, body) for body in asked))
        if any(sign in body for body in gone for sign in _LINK_SIGNS) and budget.pays_parsing(before):
            paths.update(dict.fromkeys(_missing(path, before, gone, base)))
    return Questions(tuple(paths)[:MAX_PATHS], tuple(lines)[:MAX_LINES], is_dated)


def _may_be_date(body: bytes) -> bool:
    """Whether a line holds what a full date may have taken the place of: the year is then that of its first day."""
    return next(date_like(body[:MAX_LINE_BYTES].decode("utf-8", "replace")), None) is not None


def _differing(before: bytes, after: bytes) -> tuple[dict[bytes, int], dict[bytes, int]]:
    """Return the lines that only one side has, or has more often, in order, with how often more."""
    old, new = (Counter(line.body for line in split_lines(side)) for side in (before, after))
    return dict(old - new), dict(new - old)


def _missing(path: str, before: bytes, gone: dict[bytes, int], base: Tree) -> Iterator[str]:
    """Yield the documents that links in lines that go may have meant, where none of these is there."""
    lines = split_lines(before)
    starts = [line.start for line in lines]
    for link in markdown.targets(before):
        # A link may begin in a line that stays: what counts is where its target is written.
        if lines[bisect_right(starts, link.target_start) - 1].body not in gone:
            continue
        meant = list(dict.fromkeys(_meant(path, link)))
        if not any(candidate in base for candidate in meant):
            yield from meant


def _meant(path: str, link: Link) -> Iterator[str]:
    if link.kind == "image" or leads_elsewhere(link.target):
        return
    folders = {directory(path): None, "": None} if link.kind == "wiki" else {directory(path): None}
    for folder in folders:
        for written in (link.target, link.raw_target):
            joined = _joined(folder, written)
            if not joined:
                continue
            name = joined if is_document(joined) else f"{joined}.md"
            yield name
            # Disks keep names in either form.
            yield unicodedata.normalize("NFC", name)
            yield unicodedata.normalize("NFD", name)


def _joined(folder: str, target: str) -> str:
    """Return a relative path as seen from a folder, "" when it leaves the store."""
    parts = folder.split("/") if folder else []
    for part in target.split("/"):
        if part == "..":
            if not parts:
                return ""
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "" if target.startswith("/") else "/".join(parts)
