"""Finding words in documents, whatever their case and script: parts of words count, so no language needs a list."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from .text import split_lines

MAX_TERMS = 8
MAX_TERM_CHARS = 100
TRIGRAM = 3
MAX_TRIGRAMS = 40
"""Trigrams of one term that an index is asked for: more would narrow nothing further."""

_WINDOW_CHARS = 110
_TERM = re.compile(r'"([^"]*)"?|(\S+)')


@dataclass(frozen=True, slots=True)
class Part:
    text: str
    is_hit: bool


@dataclass(frozen=True, slots=True)
class Hit:
    """A line that holds something of what is looked for. `lineno` is 1-based; `parts` are the line, cut where long."""

    lineno: int
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Hits:
    """The best lines of one document, in its order; `count` is of all of them."""

    lines: tuple[Hit, ...]
    count: int


def fold(text: str) -> str:
    """Return the form in which texts are compared: composed, and without a difference of case. No NUL stands in it."""
    return unicodedata.normalize("NFC", text).casefold().replace("\0", "\ufffd")


def terms(wanted: str) -> tuple[str, ...]:
    """Return what is looked for, folded: words apart by blanks, and whatever stands in double quotes as one."""
    found = (fold(match[1] or match[2] or "").strip() for match in _TERM.finditer(wanted))
    return tuple(dict.fromkeys(term[:MAX_TERM_CHARS] for term in found if term))[:MAX_TERMS]


def trigrams(term: str) -> tuple[str, ...]:
    """Return the runs of three characters of a term, none for a shorter one: an index of them cannot find it."""
    found = dict.fromkeys(term[at : at + TRIGRAM] for at in range(len(term) - TRIGRAM + 1))
    return tuple(found)[:MAX_TRIGRAMS]


def hits(data: bytes, wanted: Sequence[str], *, at_most: int) -> Hits:
    """Return the lines that hold most of the folded terms. Total on arbitrary bytes."""
    found: list[tuple[int, int, str]] = []
    for line in split_lines(data):
        text = unicodedata.normalize("NFC", line.body.decode("utf-8", "replace"))
        folded = fold(text)
        held = sum(term in folded for term in wanted)
        if held:
            found.append((-held, line.number, text))
    best = sorted(sorted(found, key=lambda one: one[:2])[:at_most], key=lambda one: one[1])
    return Hits(tuple(Hit(number, marked(text, wanted)) for _, number, text in best), len(found))


def marked(text: str, wanted: Sequence[str]) -> tuple[Part, ...]:
    """Split a composed text (NFC) into what is looked for and the rest; far from the first hit it is left out."""
    spans = _spans(text, wanted)
    first, last = 0, len(text)
    if len(text) > 2 * _WINDOW_CHARS:
        middle = spans[0][0] if spans else 0
        first = max(0, middle - _WINDOW_CHARS)
        last = min(len(text), first + 2 * _WINDOW_CHARS)
    parts = [Part("…", is_hit=False)] if first else []
    at = first
    for start, end in spans:
        start, end = max(start, first), min(end, last)
        if start >= end:
            continue
        parts += [Part(text[at:start], is_hit=False), Part(text[start:end], is_hit=True)]
        at = end
    parts.append(Part(text[at:last] + ("…" if last < len(text) else ""), is_hit=False))
    return tuple(part for part in parts if part.text)


def _spans(text: str, wanted: Sequence[str]) -> list[tuple[int, int]]:
    """Return where terms stand in a text, half-open, in order, not overlapping. Folding may lengthen a character."""
    folded, places = "", []
    for at, char in enumerate(text):
        alike = fold(char)
        folded += alike
        places += [at] * len(alike)
    places.append(len(text))
    found: list[tuple[int, int]] = []
    for term in wanted:
        start = folded.find(term)
        while start >= 0:
            end = start + len(term)
            found.append((places[start], max(places[end - 1] + 1, places[start] + 1)))
            start = folded.find(term, end)
    merged: list[tuple[int, int]] = []
    for start, end in sorted(found):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged
