"""Candidates: which entries share rare words with a text. One look-up per word, never all pairs.

Kept in memory, because that is the simplest form that meets the bound: an answer among 100,000 entries takes a tenth
of comparing with all of them, on any database, and nothing needs to be kept in step. An index over rows (SQLite FTS5,
or `pg_trgm` for PostgreSQL) is slower at the same recall, differs between the two databases, and would add thousands
of row writes to the transaction that records a change. Each web process pays for its own copy: it reads every document
of a store once, and later only those that changed.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections.abc import Iterator, Mapping
from itertools import pairwise

from rapidfuzz import fuzz, process

from memoryreview.core.text import is_cjk

LOOKED_UP_WORDS = 6
MAX_CANDIDATES = 2_000
SHORT_WORDS = 9
NEAR_RATIO = 80.0
"""rapidfuzz `ratio` (0 to 100) from which on two texts are nearly the same."""

_WORD = re.compile(r"[^\W_]+")


def words_of(text: str) -> set[str]:
    """Return the words under which a text is found: folded; pairs of characters where no blanks divide words.

    A short text may hold common words only, so its pairs of neighbouring words are added.
    """
    folded = unicodedata.normalize("NFC", text).casefold()
    words = _WORD.findall(folded)
    pairs = [f"{first} {second}" for first, second in pairwise(words)] if len(words) <= SHORT_WORDS else []
    if folded.isascii():
        return {*words, *pairs}
    return {*pairs, *(piece for word in words for piece in _pieces(word))}


def _pieces(word: str) -> Iterator[str]:
    if word.isascii() or not any(map(is_cjk, word)):
        yield word
        return
    yield from (first + second for first, second in pairwise(word)) if len(word) > 1 else (word,)


class Index:
    """Texts by number. Numbers are given out in order and not used again."""

    def __init__(self) -> None:
        self._texts: dict[int, str] = {}
        self._numbers: dict[str, array[int]] = {}
        self._next = 0

    def __len__(self) -> int:
        return len(self._texts)

    def add(self, text: str) -> int:
        """Take in a text and return its number."""
        number = self._next
        self._next += 1
        self._texts[number] = text
        for word in words_of(text):
            numbers = self._numbers.get(word)
            if numbers is None:
                self._numbers[word] = array("L", (number,))
            else:
                numbers.append(number)
        return number

    def remove(self, number: int) -> None:
        """Forget a text."""
        for word in words_of(self._texts.pop(number)):
            numbers = self._numbers[word]
            numbers.remove(number)
            if not numbers:
                del self._numbers[word]

    def candidates(self, text: str, own: int = -1, at_most: int = MAX_CANDIDATES) -> Mapping[int, str]:
        """Return texts that share one of the rarest words, rarest first.

        Words that no other text has do not count: those are the ones in which near duplicates differ.

        Args: own: number of the text itself, where it is in the index.
        """
        known = [(numbers, word) for word in words_of(text) if (numbers := self._numbers.get(word)) is not None]
        if own >= 0:
            known = [(numbers, word) for numbers, word in known if len(numbers) > 1]
        known.sort(key=lambda entry: (len(entry[0]), entry[1]))
        found: dict[int, str] = {}
        for numbers, _ in known[:LOOKED_UP_WORDS]:
            room = at_most - len(found)
            if room <= 0:
                break
            for number in numbers[-room:]:
                found[number] = self._texts[number]
        found.pop(own, None)
        return found

    def near(self, text: str, ratio: float = NEAR_RATIO) -> list[tuple[int, float]]:
        """Return the texts that are at least so much alike, with their ratio, best first."""
        found = process.extract(
            text, self.candidates(text), scorer=fuzz.ratio, score_cutoff=ratio, limit=None, processor=None
        )
        return [(number, score) for _, score, number in found]
