"""Four processes work on a few stores at once and are killed now and then; a simple model says what must stand.

The model knows no merge, no git and no database of ours: a document is the set of its lines, a proposal adds some and
takes some away. Given the order of the commits it replays every change, and each commit must hold exactly what it says.
"""

from __future__ import annotations

import json
import os
import random
import select
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.template import migrated

STORES, DOCUMENTS, LINES = 3, 3, 12
CHECK_EVERY = 100
KILL_SHARE = 0.06
WEIGHTS = {
    "propose": 34, "approve": 26, "reject": 6, "write": 10, "capture": 6, "roll_back": 10, "tidy": 3, "restore": 2,
    "both": 3,
}  # fmt: skip
ANSWER_TIMEOUT_S = 300.0


@dataclass(slots=True)
class Tally:
    """What was done, and what differs from the model."""

    outcomes: Counter[str] = field(default_factory=Counter)
    kills: int = 0
    checks: int = 0
    commits: int = 0
    divergences: list[str] = field(default_factory=list)


class Hand:
    """One process that does as it is told. `ask` sends a command, `answer` waits for what came of it."""

    def __init__(self, act: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        here, there = os.pipe(), os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(here[1])
            os.close(there[0])
            with os.fdopen(here[0]) as asked, os.fdopen(there[1], "w") as answers:
                for line in asked:
                    print(json.dumps(act(json.loads(line))), file=answers, flush=True)
            os._exit(0)
        os.close(here[0])
        os.close(there[1])
        self._asked, self.answers = os.fdopen(here[1], "w"), os.fdopen(there[0])
        self.command: dict[str, Any] | None = None

    def ask(self, command: dict[str, Any]) -> None:
        self.command = command
        print(json.dumps(command), file=self._asked, flush=True)

    def answer(self) -> dict[str, Any]:
        ready, _, _ = select.select([self.answers], [], [], ANSWER_TIMEOUT_S)
        line = self.answers.readline() if ready else ""
        self.command = None
        told: dict[str, Any] = json.loads(line) if line else {"outcome": "escaped: no answer"}
        return told

    def end(self) -> None:
        """`kill -9`: an idle process has nothing to lose, and a busy one must lose nothing."""
        os.kill(self.pid, signal.SIGKILL)
        self._asked.close()
        self.answers.close()
        os.waitpid(self.pid, 0)


def run(*, operations: int, seed: int, processes: int) -> bool:
    """Return whether nothing differed from the model."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    folder = Path(tempfile.mkdtemp(prefix="mr-soak-", dir=memory))
    migrated(folder / "data")
    for name in [name for name in os.environ if name.startswith(("MEMORYREVIEW_", "DJANGO_"))]:
        del os.environ[name]
    os.environ |= {"MEMORYREVIEW_HOME": str(folder / "data"), "DJANGO_SETTINGS_MODULE": "memoryreview.settings"}
    os.umask(0o077)
    import django

    django.setup()
    from . import soak_hand

    started, tally = time.monotonic(), Tally()
    try:
        one = Hand(lambda command: soak_hand.found(folder, command))
        one.ask({"seed": seed})
        one.answer()
        one.end()
        Driver(tally, random.Random(seed), processes).run(operations)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    done = sum(tally.outcomes.values())
    print(f"{done:,} operations by {processes} processes in {time.monotonic() - started:.0f} s, seed {seed}")
    print("  " + ", ".join(f"{count} {name}" for name, count in sorted(tally.outcomes.items())))
    print(f"  {tally.kills} kills, {tally.checks} checks of all invariants, {tally.commits} commits replayed")
    for sentence in tally.divergences:
        print(f"  {sentence}")
    print(f"{'pass' if not tally.divergences else 'FAIL'}: divergences {len(tally.divergences)}, bound 0")
    return not tally.divergences


class Driver:
    """Keeps every process busy, ends one now and then, and compares with the model when all are still."""

    def __init__(self, tally: Tally, choose: random.Random, processes: int) -> None:
        from . import soak_hand

        self._act = soak_hand.act
        self._tally, self._choose = tally, choose
        self._hands = [Hand(self._act) for _ in range(processes)]
        self._acknowledged: list[dict[str, Any]] = []

    def run(self, operations: int) -> None:
        for number in range(1, operations + 1):
            hand = self._idle()
            hand.ask(self._command(number))
            if self._choose.random() < KILL_SHARE:
                time.sleep(self._choose.uniform(0, 0.3))
                self._kill(hand)
            if number % CHECK_EVERY == 0 or number == operations:
                self._check()
                if sys.stderr.isatty():
                    print(f"{number:,} of {operations:,}", end="\r", file=sys.stderr, flush=True)
        for hand in self._hands:
            hand.end()

    def _command(self, number: int) -> dict[str, Any]:
        verb = self._choose.choices([*WEIGHTS], [*WEIGHTS.values()])[0]
        store = f"store-{self._choose.randrange(STORES)}"
        return {"do": verb, "store": store, "number": number, "seed": self._choose.randrange(2**32)}

    def _idle(self) -> Hand:
        for hand in self._hands:
            if hand.command is None:
                return hand
        ready, _, _ = select.select([hand.answers for hand in self._hands], [], [], ANSWER_TIMEOUT_S)
        for hand in self._hands:
            if hand.answers in ready or not ready:
                self._hear(hand)
                return hand
        raise AssertionError("select named a pipe of nobody")

    def _hear(self, hand: Hand) -> None:
        command, told = hand.command or {}, hand.answer()
        self._tally.outcomes[f"{command.get('do')} {told['outcome'].partition(':')[0]}"] += 1
        if told["outcome"].startswith("escaped"):
            self._tally.divergences.append(f"{command}: {told['outcome']}")
        self._acknowledged.append({**command, **told})

    def _kill(self, hand: Hand) -> None:
        self._tally.outcomes[f"{(hand.command or {}).get('do')} killed"] += 1
        self._tally.kills += 1
        hand.end()
        self._hands[self._hands.index(hand)] = Hand(self._act)

    def _check(self) -> None:
        for hand in self._hands:
            if hand.command is not None:
                self._hear(hand)
        hand = self._hands[0]
        hand.ask({"do": "check", "acknowledged": self._acknowledged})
        told = hand.answer()
        self._tally.checks += 1
        self._tally.commits = told.get("commits", 0)
        self._tally.divergences += told.get("faults", [told["outcome"]])
