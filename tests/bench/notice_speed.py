"""How soon one write from outside is noticed, against watchfiles alone with the same step.

The yardstick is `watchfiles.watch` on one folder of its own. Ours follows twenty stores, as the watcher does. Each
round writes to one document of either, at a moment drawn by chance while it is waited for. The pause that groups writes
into a burst comes after the notice and is not part of it.
"""

from __future__ import annotations

import random
import tempfile
import threading
import time
from collections.abc import Callable, Collection
from pathlib import Path
from statistics import median

import watchfiles

from memoryreview.connect.watching import DEBOUNCE_MS, PATIENCE_MS, STEP_MS, FolderWatch

from .timing import verdict

STORES = 20
LONGEST_DELAY_S = 0.06
BOUND = 2.0


def run(*, rounds: int, seed: int) -> bool:
    choose = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="memoryreview-bench-") as folder:
        roots = {number: Path(folder, f"store{number}") for number in range(STORES)}
        alone = Path(folder, "alone")
        for root in (alone, *roots.values()):
            root.mkdir()
        watch = FolderWatch()
        watch.follow(roots)
        notices = watchfiles.watch(
            alone,
            watch_filter=None,
            debounce=DEBOUNCE_MS,
            step=STEP_MS,
            rust_timeout=PATIENCE_MS,
            yield_on_timeout=True,
        )
        works = [
            lambda: _noticed(watch.changed, roots[choose.randrange(STORES)] / "note.md", choose),
            lambda: _noticed(lambda: next(notices), alone / "note.md", choose),
        ]
        times: list[list[float]] = [[], []]
        for number in range(rounds + 1):
            for at in choose.sample((0, 1), 2):
                seconds = works[at]()
                if number:  # the first round only warms up
                    times[at].append(seconds)
    ours_s, alone_s = (median(each) for each in times)
    print(f"  ours {ours_s * 1000:.1f} ms, watchfiles alone {alone_s * 1000:.1f} ms")
    return verdict(f"one write noticed among {STORES} stores, against watchfiles alone", ours_s / alone_s, BOUND)


def _noticed(wait: Callable[[], Collection[object]], path: Path, choose: random.Random) -> float:
    """Return the seconds between a write and its notice."""
    written_s: list[float] = []

    def write() -> None:
        path.write_text(f"{choose.random()}\n")
        written_s.append(time.perf_counter())

    while wait():
        pass  # what an earlier write left
    timer = threading.Timer(choose.uniform(0, LONGEST_DELAY_S), write)
    timer.start()
    while not wait():
        pass
    noticed_s = time.perf_counter()
    timer.join()
    return noticed_s - written_s[0]
