"""What one classification may cost, counted and never timed: what goes beyond waits for a person."""

from __future__ import annotations

import re
from dataclasses import dataclass

MAX_PARSED = 100_000
"""Parsed lines, list and quote marks and pieces of text of one revision. Some 40 µs each."""

MAX_SPLIT_LINES = 200_000
"""Lines of documents that are read without being parsed. Some 5 µs each."""

MAX_STEPS = 5_000
"""Changed pieces that are told one by one. Some 300 µs each."""

MAX_COMPARISONS = 40_000
"""Pairs of blocks whose similarity is measured. At most some 50 µs each."""

MAX_SEARCHED_BYTES = 16 * 1024 * 1024
"""Text of index targets in which the lost words of rows are looked for."""

MAX_KNOWN_BYTES = 1024 * 1024
"""Base text that is scanned so that what stood there before is not told again. Some 3 µs each."""

MAX_SINGLE_CHECKS = 100
"""Safe changes of one document that are checked alone after all of them together were not confirmed."""

MAX_SINGLE_CHECKS_OF_NAMES = 10
"""The same for links, because each check asks all documents of the store for their names."""

_PIECE_BYTES = 32
_MARKS = re.compile(rb"[-*+>.)][ \t>]")


@dataclass(slots=True)
class Budget:
    """What is left of one classification's budget. Whatever does not fit is not charged, so that the rest may."""

    parsed: int = MAX_PARSED
    split_lines: int = MAX_SPLIT_LINES
    steps: int = MAX_STEPS
    comparisons: int = MAX_COMPARISONS
    searched_bytes: int = MAX_SEARCHED_BYTES
    known_bytes: int = MAX_KNOWN_BYTES

    def pays_parsing(self, *states: bytes) -> bool:
        cost = sum(_parse_cost(data) for data in states)
        if cost > self.parsed:
            return False
        self.parsed -= cost
        return True

    def pays_splitting(self, *states: bytes) -> bool:
        cost = sum(data.count(b"\n") + 1 for data in states)
        if cost > self.split_lines:
            return False
        self.split_lines -= cost
        return True

    def pays_steps(self, count: int) -> bool:
        if count > self.steps:
            return False
        self.steps -= count
        return True

    def pays_comparisons(self, count: int) -> bool:
        if count > self.comparisons:
            return False
        self.comparisons -= count
        return True

    def pays_searching(self, *states: bytes) -> bool:
        cost = sum(len(data) for data in states)
        if cost > self.searched_bytes:
            return False
        self.searched_bytes -= cost
        return True

    def pays_knowing(self, data: bytes) -> bool:
        if len(data) > self.known_bytes:
            return False
        self.known_bytes -= len(data)
        return True


def _parse_cost(data: bytes) -> int:
    """Count what makes a parser work: lines, what may open a list or quote on them, and the text itself."""
    return data.count(b"\n") + 1 + sum(1 for _ in _MARKS.finditer(data)) + len(data) // _PIECE_BYTES
