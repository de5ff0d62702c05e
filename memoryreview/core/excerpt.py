"""One line of a difference as pieces, cut to what a person needs where it is very long."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from .chips import Mark, Piece, pieces

LONG_LINE_CHARS = 1_000
MAX_LINE_CHARS = 100_000
"""What one line may take, labels of chips counted in full."""
_REST = "the rest of this line is not shown"


@dataclass(frozen=True, slots=True)
class Excerpt:
    """`is_shortened`: something is left out. `is_cut`: even text that matters may be left out."""

    pieces: tuple[Piece, ...]
    is_shortened: bool
    is_cut: bool


def excerpt(text: str, mark: Mark, spans: Sequence[tuple[int, int]], window_chars: int) -> Excerpt:
    """Return a line of more than LONG_LINE_CHARS of which `spans` carry `mark` and the rest is shared.

    Args:
        spans: half-open character offsets, in order; an empty one only says where to look.
        window_chars: what stays on each side of a span.
    """
    kept = list(_windows(spans or [(0, 0)], len(text), window_chars))
    drawn = tuple(_capped(_cut_pieces(text, mark, spans, kept)))
    is_cut = bool(drawn) and drawn[-1].chip == _REST
    return Excerpt(drawn, is_shortened=is_cut or kept != [(0, len(text))], is_cut=is_cut)


def spanned(text: str, mark: Mark, spans: Sequence[tuple[int, int]]) -> tuple[Piece, ...]:
    """Return a whole line of which `spans` carry `mark` and the rest is shared."""
    drawn: list[Piece] = []
    at = 0
    for first, last in spans:
        if first < last:
            drawn += pieces(text[at:first], Mark.SAME)
            drawn += pieces(text[first:last], mark)
            at = last
    return (*drawn, *pieces(text[at:], Mark.SAME))


def _windows(spans: Sequence[tuple[int, int]], length: int, window_chars: int) -> Iterator[tuple[int, int]]:
    start = end = -1
    for first, last in spans:
        opens, closes = max(0, first - window_chars), min(length, last + window_chars)
        if end < 0:
            start, end = opens, closes
        elif opens <= end:
            end = max(end, closes)
        else:
            yield start, end
            start, end = opens, closes
    yield start, end


def _capped(drawn: Iterable[Piece]) -> Iterator[Piece]:
    left = MAX_LINE_CHARS
    for piece in drawn:
        left -= len(piece.text)
        if left < 0:
            if not piece.chip:
                yield piece._replace(text=piece.text[:left])
            yield Piece(_REST, Mark.SAME, chip=_REST)
            return
        yield piece


def _cut_pieces(
    text: str, mark: Mark, spans: Sequence[tuple[int, int]], kept: Sequence[tuple[int, int]]
) -> Iterator[Piece]:
    at = 0
    for start, end in kept:
        yield from _left_out(start - at)
        at = start
        for first, last in spans:
            first, last = max(first, at), min(last, end)
            if first >= last:
                continue
            yield from pieces(text[at:first], Mark.SAME)
            yield from pieces(text[first:last], mark)
            at = last
        yield from pieces(text[at:end], Mark.SAME)
        at = end
    yield from _left_out(len(text) - at)


def _left_out(chars: int) -> Iterator[Piece]:
    if chars > 0:
        said = f"{chars:,} characters not shown"
        yield Piece(said, Mark.SAME, chip=said)
