"""Ratios of two pieces of work, measured in turns in one run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from statistics import median
from time import perf_counter, process_time

from memoryreview.core import frontmatter, markdown
from memoryreview.core.classify import claim
from memoryreview.core.classify.invariants import blank, dated, repeat

FIRST_ROUNDS = 5
"""Rounds that only warm up."""

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


@dataclass(frozen=True, slots=True)
class Ratios:
    """Seconds of each work, round by round."""

    times: Mapping[str, Sequence[float]]

    def ratio(self, work: str, against: str) -> float:
        """Return the median of the ratios within each round: what slows a round down slows both of its works."""
        return median(a / b for a, b in zip(self.times[work], self.times[against], strict=True))

    def lines(self) -> Iterator[str]:
        for name, each in self.times.items():
            low, high = (sorted(each)[len(each) * tenths // 10] for tenths in (1, 9))
            yield f"{name:24} {median(each) * 1e3:8.2f} ms [{low * 1e3:.2f}-{high * 1e3:.2f}]"


def ratios(works: Mapping[str, Callable[[], Callable[[], object]]], rounds: int, *, seed: int = 1) -> Ratios:
    """Do every work once a round, in an order drawn anew for each round, timed on the wall.

    Args: works: by name, what prepares one turn, untimed, and returns what is timed.
    """
    random = Random(seed)
    times: dict[str, list[float]] = {name: [] for name in works}
    for number in range(rounds + FIRST_ROUNDS):
        for name in random.sample(sorted(works), len(works)):
            turn = works[name]()
            start = perf_counter()
            turn()
            took = perf_counter() - start
            if number >= FIRST_ROUNDS:
                times[name].append(took)
    return Ratios(times)


def verdict(name: str, ratio: float, bound: float) -> bool:
    """Print a ratio beside its bound and say whether it holds."""
    holds = ratio <= bound
    print(f"{name:64} {ratio:6.2f}x (bound {bound:g}x): {'pass' if holds else 'FAIL'}")
    return holds
