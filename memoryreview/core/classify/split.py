"""The safe part of a classification, rule by rule, in the order in which it lands."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import accumulate

from memoryreview.core.model import Classification, Delta, Kind, Proof, Rewrite, Tree
from memoryreview.core.text import apply_rewrites

from .rules import VERSIONS


def safe_part(classification: Classification) -> tuple[Proof, ...]:
    """Return one proof per rule, in the order of `rules.VERSIONS`, with the rewrites of all safe actions of that rule.

    All proofs speak of the same base bytes; see `rebase` for applying one after the other.
    """
    found: dict[Kind, list[Rewrite]] = {}
    for action in classification.actions:
        if action.proof:
            found.setdefault(action.proof.rule, []).extend(action.proof.rewrites)
    return tuple(
        Proof(rule, version, tuple(sorted(found[rule], key=lambda rewrite: (rewrite.path, rewrite.start))))
        for rule, version in VERSIONS.items()
        if rule in found
    )


def rebase(proofs: Sequence[Proof]) -> tuple[Proof, ...]:
    """Shift each proof as if the ones before it had been applied. Args: proofs: all on the same base bytes.

    Proof k then verifies against the tree after proofs 1 to k-1, and all of them together make exactly the base with
    every rewrite applied. Rewrites of different proofs must not overlap.
    """
    applied: list[Rewrite] = []
    shifted: list[Proof] = []
    for proof in proofs:
        shifted.append(replace(proof, rewrites=_shifted(proof.rewrites, applied)))
        applied += proof.rewrites
    return tuple(shifted)


def apply_proof(tree: Tree, proof: Proof) -> Delta:
    """Return the documents that a proof changes, as it leaves them. Raises ValueError on a span outside."""
    paths = sorted({rewrite.path for rewrite in proof.rewrites})
    return {path: apply_rewrites(tree[path], (r for r in proof.rewrites if r.path == path)) for path in paths}


def _shifted(rewrites: Iterable[Rewrite], applied: Iterable[Rewrite]) -> tuple[Rewrite, ...]:
    """Move spans by what earlier rewrites that end before them added or took away."""
    ends: dict[str, list[int]] = {}
    totals: dict[str, list[int]] = {}
    by_end = sorted(applied, key=lambda rewrite: (rewrite.path, rewrite.end))
    for path in {rewrite.path for rewrite in by_end}:
        own = [rewrite for rewrite in by_end if rewrite.path == path]
        ends[path] = [rewrite.end for rewrite in own]
        totals[path] = [0, *accumulate(len(rewrite.new) - (rewrite.end - rewrite.start) for rewrite in own)]
    moved: list[Rewrite] = []
    for rewrite in rewrites:
        by = totals[rewrite.path][bisect_right(ends[rewrite.path], rewrite.start)] if rewrite.path in ends else 0
        moved.append(replace(rewrite, start=rewrite.start + by, end=rewrite.end + by))
    return tuple(moved)
