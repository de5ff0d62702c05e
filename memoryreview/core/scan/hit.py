"""A finding while it still knows its place by offset."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

from memoryreview.core.model import Finding, Severity

RANK = {Severity.NOTE: 0, Severity.REVIEW: 1, Severity.BLOCK: 2}


@dataclass(frozen=True, slots=True)
class Hit:
    """What a scanner saw at the half-open character span [start, end) of the text as it stands."""

    scanner: str
    rule: str
    severity: Severity
    start: int
    end: int
    message: str


def without_covered(hits: Iterable[Hit]) -> list[Hit]:
    """Drop each hit that lies inside another one of the same or a higher severity. Of equal spans the first stays."""
    kept: list[Hit] = []
    reach: dict[int, int] = {}
    by_size = sorted(enumerate(hits), key=lambda pair: (pair[1].start, -pair[1].end, -RANK[pair[1].severity], pair[0]))
    for _, hit in by_size:
        rank = RANK[hit.severity]
        if any(reach.get(r, -1) >= hit.end for r in range(rank, 3)):
            continue
        reach[rank] = max(reach.get(rank, -1), hit.end)
        kept.append(hit)
    return kept


def line_starts(text: str) -> list[int]:
    """Return the offset of the first character of each line. Lines end at LF only."""
    return [0, *(match.end() for match in re.finditer("\n", text))]


def findings_of(text: str, hits: Iterable[Hit], path: str) -> list[tuple[Finding, Hit]]:
    """Give each hit its 1-based line and column in characters."""
    starts = line_starts(text)
    placed: list[tuple[Finding, Hit]] = []
    for hit in hits:
        line = bisect_right(starts, hit.start)
        column = hit.start - starts[line - 1] + 1
        length = hit.end - hit.start
        placed.append((Finding(hit.scanner, hit.rule, hit.severity, line, column, length, hit.message, path=path), hit))
    return placed
