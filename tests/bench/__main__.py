"""`python -m tests.bench NAME`: measure one claim; exit 1 when it does not hold. Without a name: list them."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Mapping

import django
from django.core.management import call_command

from . import (
    classify_speed,
    cli_speed,
    display_diff,
    drift_scan,
    harmless,
    meaning,
    near_duplicates,
    notice_speed,
    upkeep,
)

Run = Callable[[argparse.Namespace], bool]


def _install() -> None:
    """Set the product up on a throw-away data folder; the benches of the core need not wait for it."""
    os.environ.setdefault("TMPDIR", tempfile.gettempdir())  # tests write to memory, where an fsync costs nothing
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    django.setup()
    call_command("migrate", verbosity=0)


def _apply_speed(options: argparse.Namespace) -> bool:
    _install()
    from . import apply_speed

    return apply_speed.run(rounds=options.count or 60)


def _burst_speed(options: argparse.Namespace) -> bool:
    _install()
    from . import burst_speed

    return burst_speed.run(rounds=options.count or 60)


def _soak(options: argparse.Namespace) -> bool:
    from . import soak

    processes = options.processes or 4
    return soak.run(operations=options.operations or options.count or 2_000, seed=options.seed, processes=processes)


def _faults(options: argparse.Namespace) -> bool:
    from . import faults

    return faults.run(jobs=options.jobs, only=options.only, deep=options.deep)


def _keyboard(options: argparse.Namespace) -> bool:
    from . import keyboard

    return keyboard.run(count=options.count or 100)


def _history_size(options: argparse.Namespace) -> bool:
    _install()
    from . import history_size

    return history_size.run(commits_=options.count or 20_000, rounds=9)


def _queue_pages(options: argparse.Namespace) -> bool:
    _install()
    from . import queue_pages

    return queue_pages.run(count=options.count or 1_000_000, rounds=9)


BENCHES: Mapping[str, tuple[str, Run]] = {
    "mutations": (
        "changes of meaning, of which none may be applied without a person (200,000)",
        lambda options: meaning.run(count=options.count or 200_000, seed=options.seed, jobs=options.jobs),
    ),
    "harmless": (
        "edits that change nothing, of which 99 % have to be recognised (20,000)",
        lambda options: harmless.run(count=options.count or 20_000, seed=options.seed, jobs=options.jobs),
    ),
    "classify_speed": (
        "cost of a verdict against parsing both sides, the size of the change and the size of the store",
        lambda options: classify_speed.run(rounds=options.count or 15),
    ),
    "cli_speed": (
        "classify on folders of 2,000 documents, and scan-text, against a bare Python that reads the files",
        lambda options: cli_speed.run(rounds=options.count or 5),
    ),
    "apply_speed": (
        "one safe proposal from request to durable commit, and its rollback, against a bare commit and against git",
        _apply_speed,
    ),
    "burst_speed": (
        "fifty proposals approved together, each its own commit, against fifty bare durable commits",
        _burst_speed,
    ),
    "history_size": (
        "pages of history, blame and changes after 20,000 changes against the same after 200",
        _history_size,
    ),
    "keyboard": (
        "100 mixed proposals cleared by keyboard at a person's pace; wrong targets, lost focus and layout shift 0",
        _keyboard,
    ),
    "queue_pages": (
        "pages of the queue with 1,000,000 proposals that wait against 1,000, and against rendering their template",
        _queue_pages,
    ),
    "faults": (
        "every operation broken at every point by every fault, and killed again in each recovery; losses 0",
        _faults,
    ),
    "soak": (
        "2,000 mixed operations by 4 processes with kills, each commit compared with a simple model; divergences 0",
        _soak,
    ),
    "near_duplicates": (
        "one entry against 100,000: the index against rapidfuzz over all, and how many near duplicates it finds",
        lambda options: near_duplicates.run(queries=options.count or 60, seed=options.seed),
    ),
    "upkeep": (
        "packing a baseline of 10,000 commits: its cost beside a durable commit, and the size of .git",
        lambda options: upkeep.run(commits=options.count or 10_000, seed=options.seed),
    ),
    "drift_scan": (
        "a full scan of 10,000 documents for direct writes against `git status --porcelain`",
        lambda options: drift_scan.run(rounds=options.count or 40, seed=options.seed),
    ),
    "display_diff": (
        "the difference that a page shows against `difflib.unified_diff` and `git diff --word-diff`",
        lambda options: display_diff.run(rounds=options.count or 40),
    ),
    "notice_speed": (
        "how soon one write from outside is noticed among 20 stores, against watchfiles alone",
        lambda options: notice_speed.run(rounds=options.count or 60, seed=options.seed),
    ),
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("name", nargs="?", choices=sorted(BENCHES))
    parser.add_argument("--count", type=int, default=0, help="cases, or rounds of a measurement")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--operations", type=int, default=0, help="of the soak")
    parser.add_argument("--processes", type=int, default=0, help="of the soak")
    parser.add_argument("--only", default="", help="faults: a part of the names of operations")
    parser.add_argument("--deep", action="store_true", help="faults: kill at each event of a recovery")
    parser.add_argument("--case", type=int, help="show one case of mutations instead of running them")
    options = parser.parse_args()
    if options.name is None:
        for name, (what, _) in BENCHES.items():
            print(f"{name:16} {what}")
        return 0
    if options.case is not None:
        print(meaning.told(meaning.case_of(options.seed, options.case)))
        return 0
    return 0 if BENCHES[options.name][1](options) else 1


if __name__ == "__main__":
    sys.exit(main())
