"""`python -m tests.bench harmless`: how many edits that change nothing are recognised as the kind that they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from random import Random

from memoryreview.core.model import Verdict

from .edits import EDITS, Edit
from .judging import Case, context_of, judge
from .running import Share, Tally, chunked
from .stores import store

BOUND = 0.99


def edit_of(seed: int, index: int) -> tuple[str, Edit]:
    """Return one edit; the makers take turns."""
    random = Random(f"harmless {seed} {index}")
    names = [*EDITS]
    name = names[index % len(names)]
    while True:
        edit = EDITS[name](random, store(random))
        if edit is not None:
            return name, edit


def case_of(seed: int, index: int) -> tuple[Edit, Case]:
    _, edit = edit_of(seed, index)
    after = edit.after.tree()
    return edit, Case(f"{edit.kind}: {edit.form}", edit.base.tree(), after, context_of(edit), (after,))


def recognised(seed: int, first: int, stop: int) -> Tally:
    """Judge some edits. Returns by kind and form how many there were and how many were recognised."""
    tally = Tally()
    for index in range(first, stop):
        edit, case = case_of(seed, index)
        found = judge(case).found
        is_known = found.verdict is Verdict.SAFE and {str(action.kind) for action in found.actions} == {edit.kind}
        tally.add(case.name, is_known, f"{index}: {[(a.kind.value, a.reasons) for a in found.actions]}")
    return tally


def run(*, count: int, seed: int, jobs: int) -> bool:
    """Print the share by kind and form, and whether the whole reaches the bound."""
    total = Tally()
    for tally in chunked(recognised, seed, count, jobs):
        total.take(tally)
    for line in report(total):
        print(line)
    share = total.share()
    print(f"recognised: {share} (bound {BOUND:.0%}): {'pass' if share.value >= BOUND else 'FAIL'}")
    return share.value >= BOUND


def report(total: Tally) -> Iterator[str]:
    kinds: Counter[str] = Counter()
    for name, (good, all_) in sorted(total.counts.items()):
        kind = name.partition(":")[0]
        kinds[kind] += 1
        yield f"{name:40} {Share(good, all_)}"
        yield from (f"    {each}" for each in total.missed.get(name, ())[:1])
