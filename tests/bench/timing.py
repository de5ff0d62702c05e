"""Ratios of two pieces of work, measured in turns in one run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median
from time import process_time

from memoryreview.core import frontmatter, markdown
from memoryreview.core.classify import claim
from memoryreview.core.classify.invariants import blank, dated, repeat

_CACHED = (frontmatter, markdown, claim, blank, dated, repeat)


def cold() -> None:
    """Forget what was parsed, so that each round does all of its work."""
    for module in _CACHED:
        for value in vars(module).values():
            if hasattr(value, "cache_clear"):
                value.cache_clear()


def interleaved(
    works: Sequence[Callable[[], object]], rounds: int, clock: Callable[[], float] = process_time
) -> list[float]:
    """Return the median seconds of each work, each done cold once a round, in turns.

    Args: clock: of the processor, so that what else the machine does counts less; on the wall for other processes.
    """
    times: list[list[float]] = [[] for _ in works]
    for work in works:
        work()
    for _ in range(rounds):
        for at, work in enumerate(works):
            cold()
            start = clock()
            work()
            times[at].append(clock() - start)
    return [median(each) for each in times]


def verdict(name: str, ratio: float, bound: float) -> bool:
    """Print a ratio beside its bound and say whether it holds."""
    holds = ratio <= bound
    print(f"{name:64} {ratio:6.2f}x (bound {bound:g}x): {'pass' if holds else 'FAIL'}")
    return holds
