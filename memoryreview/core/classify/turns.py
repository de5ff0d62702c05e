"""Safe parts land one after the other: each has to be provable where the ones before it have left the documents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from memoryreview.core.model import Context, Kind, Proof, Rewrite, Tree
from memoryreview.core.overlay import Overlay

from .budget import Budget
from .draft import Draft
from .rules import VERSIONS
from .split import apply_proof, rebase
from .verify import ACROSS_DOCUMENTS, verify

Turn: TypeAlias = tuple[Kind, str]
"""A rule and the document in which it lands, "" for a rule that is proved across documents."""


def held(drafts: Iterable[Draft], base: Tree, context: Context, budget: Budget) -> set[int]:
    """Return the identities of safe drafts whose proof would not hold after the parts that land before them.

    Each of `drafts` holds on `base`, so only what shares a document with an earlier part is looked at again.
    """
    turns: dict[Turn, list[Draft]] = {}
    for draft in sorted(drafts, key=lambda draft: list(VERSIONS).index(draft.kind)):
        place = "" if draft.kind in ACROSS_DOCUMENTS else draft.path
        turns.setdefault((draft.kind, place), []).append(draft)
    found: set[int] = set()
    landed: list[Proof] = []
    touched: set[str] = set()
    for together in turns.values():
        proof = proof_of(together)
        paths = {rewrite.path for rewrite in proof.rewrites}
        if not paths & touched or _holds([*landed, proof], base, context, budget):
            landed.append(proof)
            touched |= paths
        else:
            found |= {id(draft) for draft in together}
    return found


def proof_of(drafts: Sequence[Draft]) -> Proof:
    """Return one proof of what drafts of one rule rewrite."""
    return Proof(drafts[0].kind, VERSIONS[drafts[0].kind], tuple(rewrites_of(drafts)))


def rewrites_of(drafts: Iterable[Draft]) -> list[Rewrite]:
    """Return what drafts rewrite, in the order that a proof has."""
    found = [rewrite for draft in drafts for rewrite in draft.rewrites]
    return sorted(found, key=lambda rewrite: (rewrite.path, rewrite.start))


def _holds(proofs: Sequence[Proof], base: Tree, context: Context, budget: Budget) -> bool:
    """Whether the last of some proofs on the same base holds after the others."""
    tree = base
    *before, last = rebase(proofs)
    for proof in before:
        tree = Overlay(tree, apply_proof(tree, proof))
    changed = apply_proof(tree, last)
    states = [*changed.values(), *(tree[path] for path in changed)]
    if not budget.pays_parsing(*(content for content in states if content is not None)):
        return False
    return verify(tree, Overlay(tree, changed), last, context)
