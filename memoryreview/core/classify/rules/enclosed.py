"""Which parts of a text are quoted, code, a tag or part of a link: there words are kept as they are written."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence

_CLOSERS = {
    "“": "”",
    "„": "“”",
    "«": "»",
    "»": "«",
    "‹": "›",
    "‚": "‘’",
    "「": "」",
    "『": "』",
    "《": "》",
    "〈": "〉",
}
_SINGLE_CLOSER = re.compile(r"(?<=\S)['’](?!\w)")
_OPENER = re.compile(r"`+|<(?=[A-Za-z/!?])|\[|(?<=\])\(|[\"“„«»‹‚「『《〈]|(?<![\w'’])['‘](?=\S)")


def spans(text: str) -> list[tuple[int, int]]:
    """Return the half-open spans, in order, that are quoted, code or part of a link. What is not closed goes on to the
    end and beyond."""
    found: list[tuple[int, int]] = []
    singles = [match.end() for match in _SINGLE_CLOSER.finditer(text)]
    position = 0
    while match := _OPENER.search(text, position):
        end = _end_of(text, match, singles)
        found.append((match.start(), end if end >= 0 else len(text) + 1))
        if end < 0:
            break
        position = end
    return found


def _end_of(text: str, opener: re.Match[str], singles: Sequence[int]) -> int:
    """Return the offset after what the opener opens, -1 where it is not closed. Args: singles: ends of `'`."""
    mark = opener.group()
    if mark.startswith("`"):
        close = re.compile(rf"(?<!`){mark}(?!`)").search(text, opener.end())
        return close.end() if close else -1
    if mark == "<":
        # What a tag opens is not followed further: the rest of the block counts as HTML.
        return -1
    if mark == "[":
        return _bracket_end(text, opener.end())
    if mark in "'‘":
        closer = bisect_left(singles, opener.end() + 1)
        return singles[closer] if closer < len(singles) else opener.end()
    closers = ")" if mark == "(" else _CLOSERS.get(mark, mark)
    ends = [end for closer in closers if (end := text.find(closer, opener.end())) >= 0]
    return min(ends) + 1 if ends else -1


def _bracket_end(text: str, start: int) -> int:
    depth = 1
    for offset in range(start, len(text)):
        depth += {"[": 1, "]": -1}.get(text[offset], 0)
        if depth == 0:
            return offset + 1
    return -1


def is_inside(spans_: Sequence[tuple[int, int]], place: int) -> bool:
    """Whether an offset lies in one of the spans."""
    last = bisect_left(spans_, place, key=lambda span: span[0]) - 1
    return last >= 0 and spans_[last][1] > place
