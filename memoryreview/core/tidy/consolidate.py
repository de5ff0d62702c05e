"""Consolidate: turn what was gathered for one rule into one proposal, and keep what is proved of it."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass

from memoryreview.core.classify.classify import classify
from memoryreview.core.classify.split import apply_proof, safe_part
from memoryreview.core.classify.verify import verify
from memoryreview.core.model import Action, Classification, Delta, Kind, Proof, Rewrite, Tree, Verdict
from memoryreview.core.overlay import Overlay
from memoryreview.core.text import apply_rewrites

from .model import Candidate, ContextOf, Known, Step

MAX_ROUNDS = 4
"""Attempts to come from what was gathered to a proposal in which everything is proved."""

MAX_ALONE = 40
"""Candidates that are judged one by one after all of them together were not proved."""

FEW = 3
"""Edits that are tried together when all are too many."""


@dataclass(frozen=True, slots=True)
class Consolidated:
    """`postponed` counts edits beyond the limit."""

    step: Step | None
    postponed: int = 0


def consolidate(
    rule: Kind, gathered: Iterable[Candidate], tree: Tree, context_of: ContextOf, *, most: int, known: Known
) -> Consolidated:
    """Let the classifier judge all candidates of a rule at once, then once more what it proved of them.

    Where nothing is proved of all together, each is judged alone, and as many are taken as are proved together: what
    is left over is found by the next run.

    Args:
        most: edits that may be made.
        known: edits that were taken back before, which are not made again.
    """
    court = _Court(rule, tree, context_of, most, known)
    candidates = _apart(gathered)
    found = court.judge(candidates)
    if found.step is not None or found.postponed or not candidates:
        return found
    alone = [candidate for candidate in candidates[:MAX_ALONE] if court.judge([candidate]).step is not None]
    for count in sorted({count for count in (len(alone), FEW, 1) if 0 < count <= len(alone)}, reverse=True):
        found = court.judge(alone[:count])
        if found.step is not None:
            return found
    return found


class _Court:
    """Judges proposals of one rule against one tree."""

    def __init__(self, rule: Kind, tree: Tree, context_of: ContextOf, most: int, known: Known) -> None:
        self._rule, self._tree, self._context_of = rule, tree, context_of
        self._most, self._known = most, known

    def judge(self, candidates: Sequence[Candidate]) -> Consolidated:
        tree = self._tree
        delta: Delta = delta_of_rewrites(tree, (rewrite for candidate in candidates for rewrite in candidate.rewrites))
        postponed = 0
        for _ in range(MAX_ROUNDS):
            if not delta:
                break
            context = self._context_of(tree, delta)
            found = classify(tree, Overlay(tree, delta), context)
            wanted = [action for action in found.actions if self._is_wanted(action)]
            kept, postponed = wanted[: self._most], postponed + len(wanted[self._most :])
            if len(kept) == len(found.actions) and found.verdict is Verdict.SAFE:
                [proof] = safe_part(found)
                is_proved = verify(tree, Overlay(tree, delta), proof, context)
                return Consolidated(Step(self._rule, delta, proof, found) if is_proved else None, postponed)
            delta = _delta_of_actions(tree, self._rule, kept)
        return Consolidated(None, postponed)

    def _is_wanted(self, action: Action) -> bool:
        if action.verdict is not Verdict.SAFE or action.kind is not self._rule:
            return False
        return not self._known(str(action.kind), action.path, action.old, action.new)


def delta_of_rewrites(tree: Tree, rewrites: Iterable[Rewrite]) -> dict[str, bytes | None]:
    """Return the documents as rewrites leave them; rewrites may come in any order and must not overlap."""
    by_path: dict[str, list[Rewrite]] = {}
    for rewrite in rewrites:
        by_path.setdefault(rewrite.path, []).append(rewrite)
    found = {
        path: apply_rewrites(tree[path], sorted(ones, key=lambda one: (one.start, one.end)))
        for path, ones in sorted(by_path.items())
    }
    return {path: new for path, new in found.items() if new != tree[path]}


def judged(tree: Tree, delta: Delta, context_of: ContextOf) -> Classification:
    return classify(tree, Overlay(tree, delta), context_of(tree, delta))


def _apart(gathered: Iterable[Candidate]) -> list[Candidate]:
    """Drop candidates that reach into one before them: what is left over is found by the next run."""
    ordered = sorted(gathered, key=lambda candidate: [(r.path, r.start, r.end) for r in candidate.rewrites])
    ends: dict[str, int] = {}
    places: set[tuple[str, int]] = set()
    kept: list[Candidate] = []
    for candidate in ordered:
        # Insertions at one place follow each other in the order in which they were gathered.
        if all(_is_free(rewrite, ends, places) for rewrite in candidate.rewrites):
            kept.append(candidate)
            ends.update({rewrite.path: max(rewrite.end - 1, rewrite.start) for rewrite in candidate.rewrites})
            places.update((rewrite.path, rewrite.start) for rewrite in candidate.rewrites if _inserts(rewrite))
    return kept


def _is_free(rewrite: Rewrite, ends: Mapping[str, int], places: Container[tuple[str, int]]) -> bool:
    is_beside = _inserts(rewrite) and (rewrite.path, rewrite.start) in places
    return is_beside or ends.get(rewrite.path, -1) < rewrite.start


def _inserts(rewrite: Rewrite) -> bool:
    return rewrite.start == rewrite.end


def _delta_of_actions(tree: Tree, rule: Kind, actions: Sequence[Action]) -> Delta:
    rewrites = [rewrite for action in actions if action.proof for rewrite in action.proof.rewrites]
    ordered = tuple(sorted(rewrites, key=lambda rewrite: (rewrite.path, rewrite.start)))
    try:
        return apply_proof(tree, Proof(rule, 0, ordered))
    except ValueError:  # two proofs meet in one span: none of it is sure
        return {}
