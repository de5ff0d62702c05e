"""Where the matrix strikes: every point and fault that makes sense, or a fair share of them for each test run."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence

from .lab import Experiment, Lab, Outcome
from .scenarios import Scenario
from .tripwire import DATABASE_ERRORS, SYSTEM_ERRORS, applies

CRASHES = ("kill", "raise")
ALL = (*CRASHES, "torn", "write", *SYSTEM_ERRORS, *DATABASE_ERRORS)


def points(events: Sequence[str], what: str) -> list[int]:
    """Return the numbers of the events at which that fault can come."""
    return [at for at, event in enumerate(events, 1) if applies(what, event)]


def steps(events: Sequence[str]) -> list[int]:
    """Return the numbers of the durable steps that the product announces, and of the commits of the database."""
    return [at for at, event in enumerate(events, 1) if event.startswith("step.") or event == "sql.COMMITTED"]


def everything(scenario: str, clean: Outcome, *, deep: bool = False) -> Iterator[Experiment]:
    """Yield the product of points and faults. Args: deep: also a second kill at each event of the recovery."""
    for what in ALL:
        for at in points(clean.events, what):
            yield Experiment(scenario, what, at)
    for at in steps(clean.events):
        count = len(clean.recovery) + 40  # the recovery from a kill has more to do; beyond its end nothing strikes
        for again in range(1, count, 1 if deep else 7):
            yield Experiment(scenario, "kill", at, again + at % 7)


def share(scenario: Scenario, clean: Outcome, *, of: int) -> Iterator[Experiment]:
    """Yield a kill at every kind of step (at one in four where another scenario goes the same way), and of all else
    about one in `of`. The same ones every time."""
    name = scenario.name
    first = {event: at for at, event in reversed([*enumerate(clean.events, 1)]) if event.startswith("step.")}
    kills = sorted(first.values())
    for at in kills if scenario.is_thorough else kills[len(name) % 4 :: 4]:
        yield Experiment(name, "kill", at)
    for what in ALL:
        for at in _some(points(clean.events, what), name + what, of):
            yield Experiment(name, what, at)
    for at in kills[len(name) % 5 :: 5]:
        yield Experiment(name, "kill", at, 1 + zlib.crc32(f"{name}{at}".encode()) % 40)


def _some(numbers: Iterable[int], seed: str, of: int) -> list[int]:
    return [at for at in numbers if zlib.crc32(f"{seed}{at}".encode()) % of == 0]


class Tally:
    """Figures of a run: points struck, by fault, and what did not hold."""

    def __init__(self) -> None:
        self.struck: dict[str, int] = {}
        self.points: set[tuple[str, int]] = set()
        self.broken: list[str] = []

    def add(self, experiment: Experiment, outcome: Outcome) -> None:
        if not outcome.tripped:
            return
        what = "kill, and again in recovery" if outcome.struck else experiment.what
        self.struck[what] = self.struck.get(what, 0) + 1
        self.points.add((experiment.scenario, experiment.at))
        for fault in outcome.faults:
            self.broken.append(
                f"{experiment.scenario}, {experiment.what} at {experiment.at} ({outcome.tripped}),"
                f" again {experiment.again}: {fault}"
            )

    def take(self, other: Tally) -> None:
        for what, count in other.struck.items():
            self.struck[what] = self.struck.get(what, 0) + count
        self.points |= other.points
        self.broken += other.broken

    def __str__(self) -> str:
        faults = ", ".join(f"{count} {what}" for what, count in sorted(self.struck.items()))
        total = sum(self.struck.values())
        return f"{len(self.points)} points, {total} faults struck ({faults}); {len(self.broken)} losses"


def run(lab: Lab, experiments: Iterable[Experiment], tally: Tally) -> None:
    for experiment in experiments:
        tally.add(experiment, lab.run(experiment))
