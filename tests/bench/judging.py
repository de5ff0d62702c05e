"""One case: what is proposed, what may be known, and what alone may happen without a person."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone
from random import Random

from memoryreview.core.classify.classify import classify
from memoryreview.core.classify.split import apply_proof, rebase, safe_part
from memoryreview.core.model import Classification, Context, Ended, Evidence, FormatName, History, Tree
from memoryreview.core.overlay import Overlay

from .edits import TODAY, Edit

ZONE = timezone(timedelta(hours=2))
NOW = datetime(TODAY.year, TODAY.month, TODAY.day, 18, 30, tzinfo=ZONE)


@dataclass(frozen=True, slots=True)
class Case:
    """Args: allowed: what the store may be after the safe part was applied, besides what it is."""

    name: str
    base: Tree
    proposed: Tree
    context: Context
    allowed: tuple[Tree, ...] = ()


@dataclass(frozen=True, slots=True)
class Judged:
    found: Classification
    applied: Tree

    def is_unsafe(self, case: Case) -> bool:
        """Whether something was applied that the case does not allow."""
        return not any(dict(self.applied) == dict(tree) for tree in (case.base, *case.allowed))


def judge(case: Case) -> Judged:
    """Classify a case and apply what is safe in it."""
    found = classify(case.base, Overlay(case.base, _delta(case)), case.context)
    tree: Tree = case.base
    for proof in rebase(safe_part(found)):
        tree = Overlay(tree, apply_proof(tree, proof))
    return Judged(found, tree)


def _delta(case: Case) -> dict[str, bytes | None]:
    paths = [*case.base, *(path for path in case.proposed if path not in case.base)]
    return {path: case.proposed.get(path) for path in paths if case.proposed.get(path) != case.base.get(path)}


def context(
    format_: FormatName,
    *,
    ended: Iterable[Ended] = (),
    lines: Iterable[tuple[str, str, date]] = (),
    evidence: Evidence = Evidence.FOUND,
    now: datetime | None = NOW,
) -> Context:
    """Return all that a verdict may know of a change."""
    first = {(path, text.encode()): day for path, text, day in lines}
    return Context(
        format=format_,
        now=now,
        evidence=evidence,
        history=History({each.path: each for each in ended}, first),
    )


def context_of(edit: Edit) -> Context:
    """Return what has to be known for an edit to be recognised."""
    return context(edit.base.format, ended=edit.ended, lines=edit.lines)


def inviting(random: Random, base: Tree, format_: FormatName, edits: Iterable[Edit] = ()) -> Context:
    """Return what invites to apply as much as possible: evidence found, old lines, documents that went."""
    ended = [Ended(path, path.removesuffix(".md"), "0" * 64) for path in random.sample([*base], min(2, len(base)))]
    ended += [Ended(f"gone_{number}.md", f"gone {number}", "1" * 64, random.choice([*base])) for number in range(2)]
    day = TODAY - timedelta(days=random.randint(0, 900))
    lines = [(path, line, day) for path, data in base.items() for line in data.decode().splitlines()]
    for edit in edits:
        ended += edit.ended
        lines += edit.lines
    return context(format_, ended=ended, lines=lines)


def same(one: Mapping[str, bytes], other: Mapping[str, bytes]) -> bool:
    return dict(one) == dict(other)
