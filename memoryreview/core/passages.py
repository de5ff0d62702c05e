"""Old text in a document: exact places, line ends aside; and for an error message, the passages that come nearest."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import accumulate

from rapidfuzz import fuzz

from .text import line_end

MAX_COUNTED = 1_000
_NEAREST = 3
_SCORED_CHARS = 400
_SCORED = 24
_SIEVED_CHARS = 1_000_000
_SHOWN_CHARS = 500


class LfView:
    """A document as if every CRLF were LF, with the way back to its own offsets."""

    def __init__(self, document: bytes) -> None:
        self.document = document
        parts = document.split(b"\r\n")
        self.text = b"\n".join(parts)
        self._crlf_ends = [end + at for at, end in enumerate(accumulate(len(part) for part in parts[:-1]))]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the half-open span in the document for one in the view."""
        return start + bisect_left(self._crlf_ends, start), end + bisect_left(self._crlf_ends, end)


def find_all(text: bytes, old: bytes) -> list[int]:
    """Return where `old` begins, overlapping places too, at most MAX_COUNTED of them."""
    found: list[int] = []
    at = text.find(old)
    while at >= 0 and len(found) < MAX_COUNTED:
        found.append(at)
        at = text.find(old, at + 1)
    return found


def places(document: bytes, old: bytes) -> list[tuple[int, int]]:
    """Return the half-open spans of `old` in the document. Old text without CR also matches across CRLF."""
    if b"\r" in old:
        return [(at, at + len(old)) for at in find_all(document, old)]
    view = LfView(document)
    return [view.span(at, at + len(old)) for at in find_all(view.text, old)]


def with_line_ends(document: bytes, span: tuple[int, int], old: bytes, new: bytes) -> bytes:
    """Return new text with the line ends that the document has where the old text stands.

    Line ends of lines that old and new share stay as they are, so a document with mixed ends is changed nowhere else.
    """
    if b"\r\n" not in document or b"\r" in old:
        return new
    matched = document[span[0] : span[1]]
    ends = [b"\r\n" if part.endswith(b"\r") else b"\n" for part in matched.split(b"\n")[:-1]]
    old_lines, new_lines = old.split(b"\n"), new.replace(b"\r\n", b"\n").split(b"\n")
    usual = ends[0] if ends else _end_near(document, span[0])
    top, bottom = _shared_ends(old_lines, new_lines)
    joints = len(new_lines) - 1
    chosen = [*ends[:top], *[usual] * (joints - top - bottom), *ends[len(ends) - bottom :]]
    return b"".join(line + end for line, end in zip(new_lines, [*chosen, b""], strict=True))


def _shared_ends(old: list[bytes], new: list[bytes]) -> tuple[int, int]:
    """Return how many line ends the first and the last equal lines of two texts share."""
    most = min(len(old), len(new)) - 1
    top = 0
    while top < most and old[top] == new[top]:
        top += 1
    bottom = 0
    while bottom < most - top and old[-1 - bottom] == new[-1 - bottom]:
        bottom += 1
    return top, bottom


def _end_near(document: bytes, offset: int) -> bytes:
    """Return the line end of the line at an offset, or of the one before where that line has none."""
    at = document.find(b"\n", offset)
    if at < 0:
        at = document.rfind(b"\n", 0, offset)
    if at < 0:
        return line_end(document)
    return b"\r\n" if document[at - 1 : at] == b"\r" else b"\n"


def nearest(document: bytes, old: bytes, spans: list[tuple[int, int]]) -> tuple[tuple[int, str], ...]:
    """Return up to three (1-based line, text): the places of `old` or, where there are none, what looks most like it.

    Bounded: of a large document only the first part is compared.
    """
    lines = document.decode("utf-8", "replace").replace("\r\n", "\n").split("\n")
    height = old.strip(b"\r\n").count(b"\n") + 1
    if spans:
        starts = [0, *(at + 1 for at, byte in enumerate(document) if byte == 0x0A)]
        rows = [bisect_right(starts, start) - 1 for start, _ in spans[:_NEAREST]]
        return tuple((row + 1, _window(lines, row, height)) for row in rows)
    wanted = old.decode("utf-8", "replace").strip()[:_SCORED_CHARS]
    scored = sorted((-_likeness(wanted, window), row) for row, window in _candidates(lines, height, wanted))
    chosen: list[int] = []
    for _, row in scored:
        if all(abs(row - other) >= height for other in chosen):
            chosen.append(row)
        if len(chosen) == _NEAREST:
            break
    return tuple((row + 1, _window(lines, row, height)) for row in chosen)


def _candidates(lines: list[str], height: int, wanted: str) -> list[tuple[int, str]]:
    """Return the windows that share most letter pairs with the wanted text: a cheap sieve before a dear comparison."""
    pairs = _pairs(wanted)
    sieved: list[tuple[int, int, str]] = []
    budget = _SIEVED_CHARS
    for row in range(max(1, len(lines) - height + 1)):
        window = "\n".join(lines[row : row + height])[: 4 * _SCORED_CHARS]
        budget -= len(window)
        if budget < 0:
            break
        if window.strip():
            sieved.append((-len(pairs & _pairs(window)), row, window))
    return [(row, window) for _, row, window in sorted(sieved)[:_SCORED]]


def _pairs(text: str) -> set[str]:
    return {text[at : at + 2] for at in range(len(text))}


def _likeness(wanted: str, window: str) -> float:
    # A fragment of a long line is near it; several lines are compared whole, which costs far less.
    if "\n" not in wanted and len(wanted) <= len(window):
        return fuzz.partial_ratio(wanted, window)
    return fuzz.ratio(wanted, window)


def _window(lines: list[str], row: int, height: int) -> str:
    text = "\n".join(lines[row : row + height])
    return text if len(text) <= _SHOWN_CHARS else text[:_SHOWN_CHARS] + "…"
