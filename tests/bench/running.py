"""Counts, shares, and many cases on several processes; each case depends on its seed and number alone."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field

CHUNK = 500
MAX_TOLD = 5


@dataclass(frozen=True, slots=True)
class Share:
    good: int
    all: int

    @property
    def value(self) -> float:
        return self.good / self.all if self.all else 1.0

    def __str__(self) -> str:
        return f"{self.good:,} of {self.all:,} ({self.value:.2%})"


@dataclass(slots=True)
class Tally:
    """Args: counts: (good, all) by name. missed: a few of the others, as text."""

    counts: dict[str, tuple[int, int]] = field(default_factory=dict)
    missed: dict[str, list[str]] = field(default_factory=dict)

    def add(self, name: str, is_good: bool, told: str) -> None:
        good, all_ = self.counts.get(name, (0, 0))
        self.counts[name] = (good + is_good, all_ + 1)
        if not is_good and len(self.missed.setdefault(name, [])) < MAX_TOLD:
            self.missed[name].append(told)

    def take(self, other: Tally) -> None:
        for name, (good, all_) in other.counts.items():
            own_good, own_all = self.counts.get(name, (0, 0))
            self.counts[name] = (own_good + good, own_all + all_)
        for name, told in other.missed.items():
            self.missed[name] = [*self.missed.get(name, []), *told][:MAX_TOLD]

    def share(self) -> Share:
        return Share(sum(good for good, _ in self.counts.values()), sum(all_ for _, all_ in self.counts.values()))


def chunked(work: Callable[[int, int, int], Tally], seed: int, count: int, jobs: int) -> Iterator[Tally]:
    """Yield the tallies of `work(seed, first, stop)` over all numbers below `count`."""
    spans = [(first, min(first + CHUNK, count)) for first in range(0, count, CHUNK)]
    missed = 0
    with ProcessPoolExecutor(jobs) as pool:
        for tally, (_, stop) in zip(pool.map(work, [seed] * len(spans), *zip(*spans, strict=True)), spans, strict=True):
            missed += tally.share().all - tally.share().good
            told = f"{stop:,} of {count:,} judged, {missed} missed"
            print(told, end="\r" if stop < count else "\n", file=sys.stderr, flush=True)
            yield tally
