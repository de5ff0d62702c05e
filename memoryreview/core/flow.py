"""Paragraphs whose words were broken into lines anew: what differs in them besides the breaks. For display."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from .align import Hunk
from .pairs import Texts
from .words import Budget, similarity, spans_of_words, split_words

_MOST_CHARS = 3_000
_ALIKE = 0.6
_BLOCK = re.compile(r"\s*(?:[-*+]\s|\d+[.)]\s|[#>|§]|```|~~~|$)")
_BREAK = " "

Spans = dict[int, list[tuple[int, int]]]
"""What differs, by 0-based line: half-open character spans in it, in order."""


@dataclass(frozen=True, slots=True)
class Flow:
    """A run of lines that holds much the same words, broken elsewhere. `old` and `new` have one key a line."""

    hunk: Hunk
    old: Spans
    new: Spans

    @property
    def is_same_words(self) -> bool:
        return not any(self.old.values()) and not any(self.new.values())


def flows(old: Texts, new: Texts, hunks: Iterable[Hunk], budget: Budget) -> list[Flow]:
    """Return the runs that were broken anew. Lists, tables and headings are lines of their own: never those."""
    found = []
    for hunk in hunks:
        height, width = hunk.old_end - hunk.old_start, hunk.new_end - hunk.new_start
        if not height or not width or height + width < 3:
            continue
        left = _Paragraph.of([old[at] for at in range(*hunk[:2])])
        right = _Paragraph.of([new[at] for at in range(*hunk[2:])])
        spans = _reflowed(left, right, budget) if left and right else None
        if left and right and spans is not None:
            found.append(
                Flow(
                    hunk,
                    left.by_line([span[:2] for span in spans], hunk.old_start),
                    right.by_line([span[2:] for span in spans], hunk.new_start),
                )
            )
    return found


@dataclass(frozen=True, slots=True)
class _Paragraph:
    """Words of several lines in one row; a break with the blanks around it is one word, compared as a blank.

    Args:
        words: as compared.
        starts: where each stands: line, offset in it; a break at the end of its line. One more for the end.
        breaks: indexes of the words that are breaks.
        lengths: of the lines, in characters.
        ends: where the words end, in characters as compared; 0 first.
    """

    words: tuple[str, ...]
    starts: tuple[tuple[int, int], ...]
    breaks: frozenset[int]
    lengths: tuple[int, ...]
    ends: tuple[int, ...]

    @classmethod
    def of(cls, texts: Sequence[str]) -> _Paragraph | None:
        """Return a paragraph, None when the lines are something else or too many."""
        if sum(map(len, texts)) > _MOST_CHARS or any(_BLOCK.match(text) for text in texts[1:]) or not texts[0].strip():
            return None
        words: list[str] = []
        starts: list[tuple[int, int]] = []
        breaks: set[int] = set()
        for number, text in enumerate(texts):
            body = text.strip(" \t") if number else text.rstrip(" \t")
            if number:
                breaks.add(len(words))
                words.append(_BREAK)
                starts.append((number - 1, len(texts[number - 1])))
            at = len(text) - len(text.lstrip(" \t")) if number else 0
            for word in split_words(body):
                words.append(word if word.strip(" \t") else _BREAK)
                starts.append((number, at))
                at += len(word)
        starts.append((len(texts) - 1, len(texts[-1])))
        ends = (0, *accumulate(map(len, words)))
        return cls(tuple(words), tuple(starts), frozenset(breaks), tuple(map(len, texts)), ends)

    def by_line(self, spans: Iterable[tuple[int, int]], first: int) -> Spans:
        """Return spans of the joined words as spans of their lines, the first of which has the number `first`."""
        found: Spans = {first + number: [] for number in range(len(self.lengths))}
        for start, end in spans:
            line, at = self.starts[bisect_right(self.ends, start) - 1]
            last_line, last = self.starts[bisect_right(self.ends, end) - 1]
            while line < last_line:
                found[first + line].append((at, self.lengths[line]))
                line, at = line + 1, 0
            found[first + line].append((at, last))
        return found


def _reflowed(old: _Paragraph, new: _Paragraph, budget: Budget) -> Sequence[Hunk] | None:
    """Return what differs between the words of two paragraphs, None unless a break went elsewhere."""
    if similarity("".join(old.words), "".join(new.words), budget) < _ALIKE:
        return None
    spans = spans_of_words(old.words, new.words, budget)
    left = right = 0
    for span in (*spans, Hunk(old.ends[-1], old.ends[-1], new.ends[-1], new.ends[-1])):
        while old.ends[left] < span.old_start:
            if (left in old.breaks) != (right in new.breaks):
                return spans
            left, right = left + 1, right + 1
        left, right = bisect_right(old.ends, span.old_end) - 1, bisect_right(new.ends, span.new_end) - 1
    return None
