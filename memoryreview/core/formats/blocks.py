"""Entries of ordinary Markdown: headings, bullets, paragraphs. What no format knows better ends up here."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from memoryreview.core import frontmatter, markdown
from memoryreview.core.frontmatter import Frontmatter
from memoryreview.core.markdown import Place, Spot
from memoryreview.core.text import Line, split_lines

from .base import Entry, IndexRow, stem

MAX_TITLE_CHARS = 80

_BLANKS = re.compile(r"[ \t\r\n]+")
_OPENING_MARKS = re.compile(r"[ \t]*(?:#{1,6}[ \t]+|>[ \t]?|[-*+][ \t]+|[0-9]{1,9}[.)][ \t]+)")
_UNDERLINE = re.compile(r"\n[ \t]*(?:=+|-+)[ \t]*\Z")
_MARKED = frozenset({Place.HEADING, Place.ITEM, Place.ORDERED, Place.QUOTE})
_TABLE_RULE = re.compile(rb"[ \t]*\|?[ \t]*:?-[-:| \t]*")
_PAGE_BREAKS = frozenset({Place.BLANK, Place.RULE, Place.FRONTMATTER})


def entries(path: str, data: bytes, rows: Mapping[int, IndexRow] | None = None) -> tuple[Entry, ...]:
    """Return the headings, bullets and other blocks of a document, in order, not overlapping. Total.

    Args: rows: index rows by the number of their first line; a bullet that is one becomes a "row".
    """
    lines, spots = split_lines(data), markdown.outline(data)
    known = rows or {}
    return tuple(
        _entry(path, data, lines[first : last + 1], spots[first], known) for first, last in _runs(lines, spots)
    )


def document_entry(path: str, data: bytes) -> tuple[Entry, ...]:
    """Return the frontmatter as the entry that stands for the document, none without frontmatter."""
    head = frontmatter.read(data)
    if not isinstance(head, Frontmatter):
        return ()
    lineno = data.count(b"\n", 0, head.end) + (not data[: head.end].endswith(b"\n"))
    end = len(data[: head.end].rstrip(b"\r\n"))
    title = head.name or stem(path)
    return (Entry("document", path, 0, end, (1, lineno), short(title), one_line(head.description or title)),)


def one_line(text: str) -> str:
    return _BLANKS.sub(" ", text).strip(" ")


def short(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= MAX_TITLE_CHARS else line[: MAX_TITLE_CHARS - 1].rstrip() + "…"


def _runs(lines: Sequence[Line], spots: Sequence[Spot]) -> Iterator[tuple[int, int]]:
    """Yield (first, last) index of the lines of each block; blanks, rules and frontmatter are no block."""
    for key, group in groupby(range(len(spots)), key=lambda index: _block_key(lines[index], spots[index])):
        if key is None:
            continue
        filled = [index for index in group if spots[index].place is not Place.BLANK]
        if filled:
            yield filled[0], filled[-1]


def _block_key(line: Line, spot: Spot) -> tuple[str, int] | None:
    if spot.item_start:
        return "item", spot.item_start
    if spot.place in _PAGE_BREAKS:
        return None
    if spot.place is Place.HEADING:
        return "heading", spot.section
    if spot.place is Place.TABLE:
        return None if _TABLE_RULE.fullmatch(line.body) else ("table", spot.lineno)
    return spot.place.value, spot.section


def _entry(path: str, data: bytes, lines: Sequence[Line], first: Spot, rows: Mapping[int, IndexRow]) -> Entry:
    start, end = lines[0].start, lines[-1].start + len(lines[-1].body)
    span = (lines[0].number, lines[-1].number)
    raw = data[start:end].decode("utf-8", "replace").removeprefix("\ufeff")
    text = one_line(_without_marks(raw, first.place))
    row = rows.get(first.lineno)
    if row:
        return Entry("row", path, start, end, span, short(row.title.strip("*_")), text)
    kind = "paragraph"
    if first.item_start == first.lineno:
        kind = "bullet"
    elif first.place is Place.HEADING:
        kind = "section"
    return Entry(kind, path, start, end, span, short(text), text)


def _without_marks(raw: str, place: Place) -> str:
    if place not in _MARKED:
        return raw
    plain = _OPENING_MARKS.sub("", raw, count=1)
    return _UNDERLINE.sub("", plain) if place is Place.HEADING else plain
