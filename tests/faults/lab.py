"""A warm process that forks a child per experiment: no interpreter start, no migration, and a real `kill -9`.

`Lab` starts it and asks it over a pipe; `python -m tests.faults.lab FOLDER` is the process itself. Each experiment gets
a fresh copy of a prepared data folder at the same place, acts in one child, recovers and is judged in another.
"""

from __future__ import annotations

import gc
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from tests.template import ROOT, copy_databases

CHILD_TIMEOUT_S = 600.0


@dataclass(frozen=True, slots=True)
class Experiment:
    """One scenario with one fault, and perhaps a second one while recovering from it.

    Args: what, at, where: see tripwire.Fault; neither at nor where: nothing goes wrong. again: number of the event of
        the recovery at which the second kill comes, 0 for none; with `where`, of the events that a kill can hit.
    """

    scenario: str
    what: str = ""
    at: int = 0
    again: int = 0
    where: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of it.

    Args:
        events: what the operation asked for; complete only when nothing went wrong.
        tripped: the event at which the fault came, "" when the operation has fewer.
        error: class and sentence of what the operation raised.
        recovery: what the recovery asked for. struck: whether the second kill came.
        faults: what does not hold, () when all does.
        state: what stands at the end: trees of each store's history, documents on disk, states of proposals.
    """

    events: tuple[str, ...] = ()
    tripped: str = ""
    error: str = ""
    recovery: tuple[str, ...] = ()
    struck: bool = False
    faults: tuple[str, ...] = ()
    state: dict[str, Any] = field(default_factory=dict)


class Lab:
    """The warm process, seen from a test."""

    def __init__(self, folder: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.lab", str(folder)],
            cwd=ROOT,
            env={key: value for key, value in os.environ.items() if not key.startswith(("MEMORYREVIEW_", "DJANGO_"))},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, experiment: Experiment) -> Outcome:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(asdict(experiment)), file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline()
        assert answer, "the laboratory is gone"
        told: Any = json.loads(answer)
        for name in ("events", "recovery", "faults"):
            told[name] = tuple(told.get(name, ()))
        return Outcome(**told)

    def crowd(self, name: str) -> Outcome:
        """Let several processes act at once; see crowds.py."""
        return self.run(Experiment(name, "crowd"))

    def close(self) -> None:
        self._process.communicate()


def forked(act: Callable[[], Any]) -> Any:
    """Run `act` in a child and return its JSON answer, or None when it was killed."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        try:
            answer = act()
        except BaseException:  # noqa: BLE001  # told to the parent; nothing may leave a child but its answer
            answer = {"faults": [f"the experiment itself failed:\n{traceback.format_exc()}"]}
        with os.fdopen(write, "wb") as pipe:
            pipe.write(json.dumps(answer).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        told = pipe.read() if select.select([pipe], [], [], CHILD_TIMEOUT_S)[0] else _hung(pid)
    _, status = os.waitpid(pid, 0)
    return json.loads(told) if told or not os.WIFSIGNALED(status) else None


def _hung(pid: int) -> bytes:
    os.kill(pid, signal.SIGKILL)
    return json.dumps({"faults": [f"nothing came for {CHILD_TIMEOUT_S:.0f} s"]}).encode()


class Bench:
    """The warm process, seen from inside. `world` is where every experiment happens, `kept` where templates lie."""

    def __init__(self, folder: Path) -> None:
        self.world, self.kept = folder / "world", folder / "kept"
        self.kept.mkdir(parents=True)
        self._first: dict[str, dict[str, Any]] = {}

    def prepare(self, name: str) -> None:
        from . import trial
        from .scenarios import SCENARIOS

        self._found()
        if name not in self._first:
            self._reset("base")
            notes = forked(lambda: SCENARIOS[name].prepare())
            assert notes is not None
            assert "faults" not in notes, notes["faults"]
            forked(trial.look)
            (self.world / "notes.json").write_text(json.dumps(notes))
            shutil.copytree(self.world, self.kept / name, symlinks=True)
            self._first[name] = self._run(Experiment(name))

    def _found(self) -> None:
        from .scenarios import found_world

        if not (self.kept / "base").exists():
            copy_databases(self.world / "data")
            forked(lambda: found_world(self.world))
            shutil.copytree(self.world, self.kept / "base", symlinks=True)

    def run(self, experiment: Experiment) -> dict[str, Any]:
        if experiment.what == "crowd":
            return self._crowd(experiment.scenario)
        self.prepare(experiment.scenario)
        if not experiment.at and not experiment.where:
            return self._first[experiment.scenario]
        return self._run(experiment)

    def _run(self, experiment: Experiment) -> dict[str, Any]:
        from . import trial

        self._reset(experiment.scenario)
        notes = json.loads((self.world / "notes.json").read_text())
        expected = self._first.get(experiment.scenario, {}).get("state")
        acted: dict[str, Any] | None = forked(lambda: trial.act(experiment, notes, expected))
        if acted is not None and (acted["faults"] or "state" in acted):
            return acted
        acted = acted or {"events": [], "tripped": experiment.what, "error": "", "faults": []}
        struck = False
        if experiment.again:
            struck = forked(lambda: trial.recover(experiment)) is None
        return {**acted, **forked(lambda: trial.judge(experiment, notes, expected)), "struck": struck}

    def _crowd(self, name: str) -> dict[str, Any]:
        from . import crowds

        crowd = crowds.CROWDS[name]
        self._found()
        self._reset("base")
        notes: dict[str, Any] = forked(crowd.prepare)
        gate, go = os.pipe()

        def wait_and_act(act: Callable[[dict[str, Any]], object]) -> str:
            os.close(go)
            os.read(gate, 1)  # ends when the parent opens the gate for all
            return crowds.outcome_of(act, notes)

        with ThreadPoolExecutor(len(crowd.acts)) as pool:
            asked = [pool.submit(forked, partial(wait_and_act, act)) for act in crowd.acts]
            time.sleep(0.2)  # for most of them to stand at the gate; the rest find it open
            os.close(go)
            outcomes = [one.result() for one in asked]
        os.close(gate)
        judged: dict[str, Any] = forked(lambda: crowds.judge(crowd, notes, outcomes))
        return judged

    def _reset(self, name: str) -> None:
        shutil.rmtree(self.world)
        shutil.copytree(self.kept / name, self.world, symlinks=True)


def main() -> None:
    folder = Path(sys.argv[1]).resolve()
    home = folder / "world" / "data"
    home.mkdir(mode=0o700, parents=True)
    os.environ |= {"MEMORYREVIEW_HOME": str(home), "DJANGO_SETTINGS_MODULE": "memoryreview.settings"}
    os.umask(0o077)
    answers = os.dup(1)
    os.dup2(2, 1)  # whatever is printed by accident is no answer

    import django

    django.setup()
    from memoryreview.baseline import history, process  # noqa: F401  # git is imported once, before any fork

    from . import trial  # noqa: F401

    bench = Bench(folder)
    gc.collect()
    gc.freeze()
    with os.fdopen(answers, "w") as out:
        for line in sys.stdin:
            print(json.dumps(bench.run(Experiment(**json.loads(line)))), file=out, flush=True)
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
