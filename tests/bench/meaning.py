"""`python -m tests.bench mutations`: changes of meaning, of which none may be applied without a person."""

from __future__ import annotations

from functools import lru_cache
from random import Random

from memoryreview.core.model import Context, FormatName

from .edits import EDITS, Edit
from .judging import Case, context, inviting, judge
from .mutations import MUTATIONS
from .near import FORMATS, NEAR, Near
from .running import Tally, chunked
from .stores import Store, store

_WAYS = (
    "change",
    "change",
    "change",
    "change",
    "beside a safe edit",
    "beside a safe edit",
    "near",
    "near",
    "near",
    "near",
)

SHARED = 40
"""Cases that share a few stores, because making one costs as much as judging it."""


def case_of(seed: int, index: int) -> Case:
    """Return one case: a change of meaning alone, beside a safe edit elsewhere, or in the shape of a safe edit."""
    random = Random(f"meaning {seed} {index}")
    make = {"change": _change, "beside a safe edit": _beside, "near": _near}[_WAYS[index % len(_WAYS)]]
    while True:
        case = make(random, f"{seed} {index // SHARED} {random.randrange(4)}")
        if case is not None and dict(case.base) != dict(case.proposed):
            return case


@lru_cache(maxsize=64)
def _store(key: str, format_: FormatName | None = None) -> Store:
    return store(Random(f"store {key} {format_}"), format_)


def _change(random: Random, key: str) -> Case | None:
    name = random.choice([*MUTATIONS])
    before = _store(key)
    after = MUTATIONS[name](random, before, frozenset())
    if after is None:
        return None
    return Case(f"change: {name}", before.tree(), after.tree(), inviting(random, before.tree(), before.format))


def _beside(random: Random, key: str) -> Case | None:
    """A change of meaning beside one or two safe edits: only these, each whole, may be applied."""
    first = EDITS[random.choice([*EDITS])](random, _store(key))
    if first is None:
        return None
    name = random.choice([*MUTATIONS])
    kept = first.pieces | first.core
    after = MUTATIONS[name](random, first.after, kept)
    if after is None or (set(after.pages) - set(first.after.pages) and first.kind == "index.sync"):
        return None
    base = first.base.tree()
    return Case(
        f"beside: {name}", base, after.tree(), inviting(random, base, first.base.format, [first]), (first.after.tree(),)
    )


def _near(random: Random, key: str) -> Case | None:
    name = random.choice([*NEAR, "misquoted", "misquoted", "turned back"])
    near = NEAR[name](random, _store(key, FORMATS.get(name)))
    if near is None:
        return None
    return Case(f"near: {name}", near.base.tree(), near.proposed.tree(), _near_context(random, near))


def _near_context(random: Random, near: Near) -> Context:
    base = near.base
    if not near.is_known:
        return Context(format=base.format)
    known: list[Edit] = [near.edit] if near.edit else []
    found = inviting(random, base.tree(), base.format, known)
    history = found.history
    ended = [*(history.ended.values() if history else ()), *near.extra]
    first = [(path, text.decode(), day) for (path, text), day in (history.first_approved.items() if history else ())]
    return context(base.format, ended=ended, lines=[*first, *near.lines], evidence=near.evidence)


def unsafe(seed: int, first: int, stop: int) -> Tally:
    """Judge some cases. Returns by name how many there were and in how many nothing was applied but what may be."""
    tally = Tally()
    for index in range(first, stop):
        case = case_of(seed, index)
        judged = judge(case)
        tally.add(case.name, not judged.is_unsafe(case), f"case {index}")
    return tally


def run(*, count: int, seed: int, jobs: int) -> bool:
    """Print what was judged, by name, and each unsafe case. Bound: none."""
    total = Tally()
    for tally in chunked(unsafe, seed, count, jobs):
        total.take(tally)
    for name, (good, all_) in sorted(total.counts.items()):
        print(f"{name:40} {all_:>8,}" + (f"   UNSAFE {all_ - good}: {total.missed[name]}" if good < all_ else ""))
    share = total.share()
    wrong = share.all - share.good
    print(f"unsafe automatic verdicts: {wrong} of {share.all:,} (bound 0): {'pass' if not wrong else 'FAIL'}")
    return wrong == 0


def told(case: Case) -> str:
    """Return a case and its verdict as text, to look into one."""
    judged = judge(case)
    lines = [case.name, f"{case.context.format}"]
    for path in sorted({*case.base, *case.proposed}):
        before, after = (tree.get(path, b"(none)") for tree in (case.base, case.proposed))
        if before != after:
            lines += [f"--- {path}", before.decode("utf-8", "replace"), f"+++ {path}", after.decode("utf-8", "replace")]
    lines += [f"{a.verdict} {a.kind} {a.path} {a.lines} {a.title} {a.reasons} {a.proof}" for a in judged.found.actions]
    return "\n".join(lines)
