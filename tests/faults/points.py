"""Where the matrix strikes: every point and fault that makes sense, or a fair share of them for each test run."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence

from .lab import Experiment, Lab, Outcome
from .scenarios import Scenario
from .tripwire import DATABASE_ERRORS, SYSTEM_ERRORS, Addresses, applies

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
    about one in `of`. The same ones every time and on every machine: chosen and struck by their addresses."""
    name = scenario.name
    named = list(addresses(clean.events))
    kills = list({event: where for event, where in reversed(named) if event.startswith("step.")}.values())[::-1]
    for where in kills if scenario.is_thorough else kills[len(name) % 4 :: 4]:
        yield Experiment(name, "kill", where=where)
    for what in ALL:
        for event, where in named:
            if applies(what, event) and _drawn(name, what, where, of) == 0:
                yield Experiment(name, what, where=where)
    for where in kills[len(name) % 5 :: 5]:
        yield Experiment(name, "kill", where=where, again=1 + _drawn(name, "again", where, 20))


def addresses(events: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield each event with its address."""
    counted = Addresses()
    for event in events:
        yield event, counted.next(event)


def _drawn(scenario: str, what: str, where: str, of: int) -> int:
    return zlib.crc32(f"{scenario}, {what}, {where}".encode()) % of


class Tally:
    """Figures of a run: points struck, by fault, and what did not hold."""

    def __init__(self) -> None:
        self.struck: dict[str, int] = {}
        self.points: set[tuple[str, int | str]] = set()
        self.broken: list[str] = []

    def add(self, experiment: Experiment, outcome: Outcome) -> None:
        if not outcome.tripped:
            return
        what = "kill, and again in recovery" if outcome.struck else experiment.what
        self.struck[what] = self.struck.get(what, 0) + 1
        self.points.add((experiment.scenario, experiment.where or experiment.at))
        for fault in outcome.faults:
            self.broken.append(
                f"{experiment.scenario}, {experiment.what} at {experiment.where or experiment.at} ({outcome.tripped}),"
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
