"""Titles of actions: what a change does, in words, short enough for a row of the queue."""

from __future__ import annotations

import re

MAX_TITLE_CHARS = 100

_MARK = re.compile(r"^[\s>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[.\][ \t]+)?|#{1,6}[ \t]+)?")
_LINK = re.compile(r"!?\[([^\[\]]{0,200})\]\([^()]{0,300}\)")
_BLANKS = re.compile(r"\s+")
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_ROOM_CHARS = 1_000
"""Room for marks and links in a line, of which a label shows no more than a few words."""


def label(text: str, max_chars: int = 60) -> str:
    """Return what people call a piece of Markdown: its first words, without marks, on one line."""
    line = next((line for line in text.split("\n") if line.strip()), "").lstrip()
    line = line[: 10 * max_chars + _ROOM_CHARS]
    shown = _LINK.sub(r"\1", unmarked(line)).replace("**", "").replace("`", "").strip("| \t")
    return shorten(plain(shown) or plain(line), max_chars)


def unmarked(text: str) -> str:
    """Return text without the list mark, check box or heading marks at its start."""
    return _MARK.sub("", text, count=1)


def plain(text: str) -> str:
    """Return text without control characters, on one line, blanks collapsed."""
    return _BLANKS.sub(" ", _CONTROLS.sub(" ", text)).strip()


def shorten(text: str, max_chars: int = MAX_TITLE_CHARS) -> str:
    """Cut at a blank where there is one, and say so by `…`."""
    if len(text) <= max_chars:
        return text
    cut = text[: max_chars - 1]
    at = cut.rfind(" ")
    return (cut[:at] if at > max_chars // 2 else cut).rstrip(" ,;:.“") + "…"


def within(title: str, place: str, word: str = "in") -> str:
    """Say where in the document it is. A title that quotes a line already names the place in brackets."""
    if not place:
        return title
    quotes = word == "in" and "in “" in title
    return shorten(f"{title} ({place})" if quotes else f"{title} {word} {place}")
