"""The whole fault matrix: every operation, every point, every fault, and a second kill during each recovery."""

from __future__ import annotations

import os
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path


def run(*, jobs: int, only: str, deep: bool) -> bool:
    """Return whether nothing was lost.

    Args:
        only: a part of the names of operations.
        deep: kill at each event of a recovery, not at every seventh.
    """
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    import django

    django.setup()
    from tests.faults import points
    from tests.faults.lab import Experiment, Lab
    from tests.faults.scenarios import SCENARIOS

    names = [name for name in SCENARIOS if only in name]
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=memory, ignore_cleanup_errors=True) as folder:

        def one_job(number: int) -> points.Tally:
            lab, tally = Lab(Path(folder) / str(number)), points.Tally()
            for name in names:
                clean = lab.run(Experiment(name))
                experiments = list(points.everything(name, clean, deep=deep))[number::jobs]
                points.run(lab, experiments, tally)
                print(f"{name}, part {number + 1} of {jobs}: {len(experiments)} tried", file=sys.stderr, flush=True)
            lab.close()
            return tally

        total = points.Tally()
        with ThreadPoolExecutor(jobs) as pool:
            for tally in pool.map(one_job, range(jobs)):
                total.take(tally)
    print(f"{len(names)} operations, {total}")
    for sentence in total.broken:
        print(f"  {sentence}")
    print("pass: losses 0" if not total.broken else f"FAIL: losses {len(total.broken)}, bound 0")
    return not total.broken
