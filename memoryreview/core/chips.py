"""Text for people in which nothing can hide: invisible, bidi and control characters, and letters of another script that
pass for Latin ones, become labelled chips."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from .scan.normalise import ascii_lookalike


class Mark(StrEnum):
    SAME = "same"
    ADDED = "added"
    REMOVED = "removed"


class Piece(NamedTuple):
    """A run of text in a line.

    `chip` is "" for ordinary text, else the label of one invisible, bidi or disguised character ("U+202E RLO",
    "U+0430 Cyrillic a") that is shown as a box instead of the character, or says what is left out ("3,200 characters
    not shown"); `text` is then the label too.
    """

    text: str
    mark: Mark
    chip: str = ""


MAX_DRAWN_CHARS_PER_BYTE = 16
"""No label is longer for each byte of the character that it stands for."""

# Printable to Python, yet drawn as nothing or as a blank; U+FFFD stands for what could not be read.
_UNSEEN = "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\ufffd\U000e0100-\U000e01ef"
_UNSEEN_CHAR = re.compile(f"[{_UNSEEN}]")
_MAY_DISGUISE = re.compile("[\u0370-\u0373\u0376-\u0377\u037b-\u037d\u037f\u0386-\u03ff\u0400-\u0481\u048a-\u052f]")
_LATIN = re.compile("[A-Za-z]")
_WORD = re.compile(r"\w+")
_PLAIN_BLANKS = "\t\u3000"
_SELECTORS = "\ufe0e\ufe0f"
_JOINER = "\u200d"
_KEYCAP = "\u20e3"
_C0 = (
    "NUL SOH STX ETX EOT ENQ ACK BEL BS HT LF VT FF CR SO SI DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC FS GS RS US"
)
_SHORT_NAMES = {
    "\x7f": "DEL",
    "\x85": "NEL",
    "\u00a0": "NBSP",
    "\u00ad": "SHY",
    "\u034f": "CGJ",
    "\u061c": "ALM",
    "\u180e": "MVS",
    "\u200b": "ZWSP",
    "\u200c": "ZWNJ",
    "\u200d": "ZWJ",
    "\u200e": "LRM",
    "\u200f": "RLM",
    "\u2028": "LSEP",
    "\u2029": "PSEP",
    "\u202a": "LRE",
    "\u202b": "RLE",
    "\u202c": "PDF",
    "\u202d": "LRO",
    "\u202e": "RLO",
    "\u202f": "NNBSP",
    "\u2060": "WJ",
    "\u2066": "LRI",
    "\u2067": "RLI",
    "\u2068": "FSI",
    "\u2069": "PDI",
    "\ufeff": "BOM",
    "\ufffd": "REPLACEMENT",
}
_CATEGORY_NAMES = {"Cc": "CONTROL", "Cf": "FORMAT", "Cn": "UNASSIGNED", "Co": "PRIVATE USE", "Cs": "SURROGATE"}


def visible(text: str) -> tuple[Piece, ...]:
    """Split a title or name into pieces so that no invisible, bidi or control character reaches a page raw."""
    return tuple(pieces(text, Mark.SAME))


def pieces(text: str, mark: Mark) -> Iterable[Piece]:
    """Return a text as ordinary runs and chips. A byte that is not UTF-8 (`surrogateescape`) is a chip too."""
    if text.isascii():
        if text.isprintable():
            return (Piece(text, mark),) if text else ()
        return _with_chips(text, mark, frozenset())
    disguised = frozenset(_disguised(text)) if _MAY_DISGUISE.search(text) else frozenset()
    if not disguised and text.isprintable() and not _UNSEEN_CHAR.search(text):
        return (Piece(text, mark),)
    return _with_chips(text, mark, disguised)


def _disguised(text: str) -> Iterator[int]:
    """Yield where a Greek or Cyrillic letter stands for the Latin one that it looks like: in a word with Latin ones."""
    for word in _WORD.finditer(text):
        if _LATIN.search(word[0]):
            places = (match.start() for match in _MAY_DISGUISE.finditer(word[0]))
            yield from (word.start() + at for at in places if ascii_lookalike(word[0][at]) != word[0][at])


def _with_chips(text: str, mark: Mark, disguised: frozenset[int]) -> Iterator[Piece]:
    start = 0
    for at, char in enumerate(text):
        if at not in disguised and (not is_unseen(char) or _is_part_of_emoji(text, at)):
            continue
        if start < at:
            yield Piece(text[start:at], mark)
        yield _chip(char, mark)
        start = at + 1
    if start < len(text):
        yield Piece(text[start:], mark)


@lru_cache(maxsize=4096)
def is_unseen(char: str) -> bool:
    """Whether a character is shown as a chip: one that draws nothing, reorders text, or is another kind of blank."""
    if char in _PLAIN_BLANKS:
        return False
    return not char.isprintable() or _UNSEEN_CHAR.match(char) is not None


def holds_unseen(text: str) -> bool:
    """Whether any character of a text may be shown as a chip for what it is, whatever stands around it."""
    return not text.isprintable() or _UNSEEN_CHAR.search(text) is not None


def _is_part_of_emoji(text: str, at: int) -> bool:
    """Whether a selector or joiner belongs to the symbol before it in this run, as in most emoji."""
    before, after = text[at - 1 : at] if at else "", text[at + 1 : at + 2]
    if text[at] in _SELECTORS:
        return after == _KEYCAP or (before != "" and unicodedata.category(before) in ("So", "Sm"))
    if text[at] != _JOINER or not before or not after or unicodedata.category(after) != "So":
        return False
    return before in _SELECTORS or unicodedata.category(before) in ("So", "Sk")


@lru_cache(maxsize=4096)
def _chip(char: str, mark: Mark) -> Piece:
    name = label(char)
    return Piece(name, mark, chip=name)


def label(char: str) -> str:
    """Return the label of one character: code point and short name, or the byte that could not be decoded."""
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:
        return f"U+FFFD byte {code - 0xDC00:02X}"
    if _MAY_DISGUISE.match(char) and not is_unseen(char):
        return f"U+{code:04X} {unicodedata.name(char).split()[0].capitalize()} {ascii_lookalike(char)}"
    return f"U+{code:04X} {_name(char, code)}"


def _name(char: str, code: int) -> str:
    if code < 0x20:
        return _C0.split()[code]
    if char in _SHORT_NAMES:
        return _SHORT_NAMES[char]
    if 0xFE00 <= code <= 0xFE0F:
        return f"VS{code - 0xFE00 + 1}"
    if 0xE0100 <= code <= 0xE01EF:
        return f"VS{code - 0xE0100 + 17}"
    if 0xE0020 < code <= 0xE007E:
        return f"TAG {chr(code - 0xE0000)}"
    return unicodedata.name(char, "") or _CATEGORY_NAMES.get(unicodedata.category(char), "CHARACTER")
