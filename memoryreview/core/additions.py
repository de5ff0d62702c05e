"""Where and how a new entry is written into a document of each format."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .markdown import Place, Spot, outline
from .model import FormatName
from .text import Line, line_end, split_lines

_BULLET = re.compile(rb" {0,3}[-*+](?: {1,4}|\t)(?=\S)")
_LIST_MARKER = re.compile(r" {0,3}(?:[-*+]|\d{1,9}[.)])[ \t]")
_RULE = "§"


def holds_rule(text: str) -> bool:
    """Whether text has a line that is the `§` rule: it would come back as two entries."""
    return any(line.strip(" \t\r") == _RULE for line in text.split("\n"))


def append_entry(document: bytes, text: str, format: FormatName) -> bytes:  # noqa: A002
    """Return the document with one entry added, in the form of its format; all other bytes stay.

    Args:
        text: UTF-8 encodable, not blank; for the `§` format without the rule.
    """
    plain = text.replace("\r\n", "\n").strip("\n")
    if format is FormatName.HERMES:
        return document + _ruled(document, plain)
    return _with_bullet(document, plain)


def _ruled(document: bytes, text: str) -> bytes:
    """Return what follows the document: the agent splits at LF `§` LF only and wants no final newline."""
    eol = line_end(document)
    entry = text.encode().replace(b"\n", eol)
    lines = split_lines(document)
    if not any(line.body.strip() for line in lines):
        return entry
    rule = b"" if lines[-1].body == _RULE.encode() else _RULE.encode() + eol
    return (b"" if lines[-1].eol else eol) + rule + entry


def _with_bullet(document: bytes, text: str) -> bytes:
    eol = line_end(document)
    lines, spots = split_lines(document), outline(document)
    bullet = _last_bullet(lines, spots)
    if bullet is None:
        entry = _bulleted(text, "- ").encode().replace(b"\n", eol)
        return _at_end(document, lines, entry, eol)
    match = _BULLET.match(lines[bullet].body)
    marker = match[0].decode() if match else "- "
    entry = _bulleted(text, marker).encode().replace(b"\n", eol)
    end = bullet + 1
    while end < len(lines) and spots[end].depth and not _starts_item(spots[end]):
        end += 1
    gap = eol if _is_loose(spots, bullet) else b""
    at = lines[end - 1].end
    if not lines[end - 1].eol:
        return document + eol + gap + entry
    return document[:at] + gap + entry + eol + document[at:]


def _last_bullet(lines: Sequence[Line], spots: Sequence[Spot]) -> int | None:
    """Return the 0-based line that begins the last bullet of the last list that stands on its own."""
    for index in range(len(spots) - 1, -1, -1):
        spot = spots[index]
        if spot.place is Place.ITEM and _starts_item(spot) and _BULLET.match(lines[index].body):
            return index
    return None


def _starts_item(spot: Spot) -> bool:
    return spot.depth == 1 and spot.item_start == spot.lineno


def _is_loose(spots: Sequence[Spot], bullet: int) -> bool:
    """Whether the list keeps a blank line between its bullets."""
    if bullet < 2 or spots[bullet - 1].place is not Place.BLANK:
        return False
    return any(spot.list_id == spots[bullet].list_id for spot in spots[:bullet])


def _bulleted(text: str, marker: str) -> str:
    if _LIST_MARKER.match(text):
        return text
    indent = " " * len(marker.expandtabs(4))
    first, *rest = text.split("\n")
    return "\n".join([marker + first, *(indent + line if line.strip() else line for line in rest)])


def _at_end(document: bytes, lines: Sequence[Line], entry: bytes, eol: bytes) -> bytes:
    if not lines:
        return entry + eol
    gap = eol if lines[-1].body.strip() else b""
    if lines[-1].eol:
        return document + gap + entry + eol
    return document + eol + gap + entry
