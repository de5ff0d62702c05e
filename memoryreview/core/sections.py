"""The heading or entry that a line of a document stands under, for people who see a part of it."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence

from .chips import visible
from .text import BYTE_ORDER_MARK

_HEADING_CHARS = 200
_ENTRY_CHARS = 60
_MAY_MATTER = frozenset((b"#", b"`", b"~", b" "))
_FENCE = re.compile(rb" {0,3}(`{3,}|~{3,})")
_ATX = re.compile(rb" {0,3}#{1,6}(?:[ \t]+|$)")
_ENTRY_END = "§".encode()
_GROUP = b"# Task Group: "


class Sections:
    """Nearest ATX headings outside frontmatter and fenced code, read as far as is asked.

    Where a line holds only a section sign, as Hermes separates entries, it is the entry; below a task group of Codex,
    the group stands before the heading.

    Args: lines: of one document, without their ends.
    """

    def __init__(self, lines: Sequence[bytes], document: bytes) -> None:
        self._lines = lines
        self._has_entries = b"\n\xc2\xa7" in document and any(line.rstrip() == _ENTRY_END for line in lines)
        self._reached = 0 if self._has_entries else _frontmatter_end(lines)
        self._numbers: list[int] = []
        self._marks: list[tuple[bytes, bytes]] = []
        self._fence = self._group = b""

    def above(self, at: int) -> str:
        """Return what is above a line (0-based), or above the end of the document; "" at the top."""
        if self._has_entries:
            return self._entry(at)
        if at > self._reached:
            self._read(at)
        place = bisect_left(self._numbers, at) - 1
        if place < 0:
            return ""
        group, line = self._marks[place]
        return " › ".join(_heading_words(one) for one in (group, line) if one)

    def _read(self, end: int) -> None:
        start, self._reached = self._reached, end
        for number, line in enumerate(self._lines[start:end], start):
            if line[:1] in _MAY_MATTER:
                self._look(number, line)

    def _look(self, number: int, line: bytes) -> None:
        opening = _FENCE.match(line)
        if self._fence:
            if opening and opening[1].startswith(self._fence) and line.strip() == opening[1]:
                self._fence = b""
        elif opening:
            self._fence = opening[1]
        elif _ATX.match(line):
            is_top = line.startswith(b"# ")
            if is_top:
                self._group = line if line.startswith(_GROUP) else b""
            self._numbers.append(number)
            self._marks.append((b"" if is_top else self._group, line))

    def _entry(self, at: int) -> str:
        ends = [number for number, line in enumerate(self._lines[:at]) if line.rstrip() == _ENTRY_END]
        start = ends[-1] + 1 if ends else 0
        words = self._lines[start].strip().decode("utf-8", "surrogateescape") if start < len(self._lines) else ""
        cut = words[:_ENTRY_CHARS] + ("…" if len(words) > _ENTRY_CHARS else "")
        return _shown(f"Entry {len(ends) + 1}" + (f": {cut}" if cut else ""))


def _frontmatter_end(lines: Sequence[bytes]) -> int:
    if not lines or lines[0].removeprefix(BYTE_ORDER_MARK).rstrip() != b"---":
        return 0
    return next((n + 1 for n, line in enumerate(lines) if n and line.rstrip() in (b"---", b"...")), len(lines))


def _heading_words(heading: bytes) -> str:
    words = heading.decode("utf-8", "surrogateescape").strip().lstrip("#").strip()
    without_closing = words.rstrip("#")
    if without_closing.endswith((" ", "\t")) or not without_closing:
        words = without_closing.rstrip()
    return _shown(words[:_HEADING_CHARS])


def _shown(words: str) -> str:
    return "".join(f"[{piece.chip}]" if piece.chip else piece.text for piece in visible(words))
