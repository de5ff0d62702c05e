"""What holds when several edits come together: the safe part never changes what the rest says, nor what is said."""

from __future__ import annotations

import unicodedata
from random import Random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memoryreview.core.classify.classify import classify
from memoryreview.core.classify.split import apply_proof, rebase, safe_part
from memoryreview.core.classify.verify import verify
from memoryreview.core.model import Context, Proof, Tree, Verdict
from memoryreview.core.overlay import Overlay
from tests.bench.compound import compound
from tests.bench.judging import Case

QUICK = settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
SEEDS = st.integers(0, 10**9)
MAX_ROUNDS = 4


def landed(base: Tree, proofs: tuple[Proof, ...], context: Context) -> dict[str, bytes]:
    """Return the tree after all proofs, each of which has to hold when its turn comes."""
    tree = dict(base)
    for proof in rebase(proofs):
        after = dict(Overlay(tree, apply_proof(tree, proof)))
        assert verify(tree, after, proof, context)
        tree = after
    return tree


def case_of(seed: int, *, is_mixed: bool) -> Case:
    crowded = ("repeated entry", "repeated row", "repeated section", "trailing blank", "blank run")
    random = Random(seed)
    return compound(random) if is_mixed else compound(random, crowded=crowded, is_mixed=False)


@QUICK
@given(SEEDS)
def test_proofs_of_a_mixed_change_land_one_after_the_other_and_are_safe_alone(seed: int) -> None:
    case = case_of(seed, is_mixed=True)
    found = classify(case.base, case.proposed, case.context)
    proofs = safe_part(found)

    tree = landed(case.base, proofs, case.context)

    alone = classify(case.base, tree, case.context)
    assert alone.verdict is (Verdict.SAFE if proofs else Verdict.UNCHANGED)
    assert landed(case.base, safe_part(alone), case.context) == tree
    assert (tree == dict(case.proposed)) == (found.verdict in (Verdict.SAFE, Verdict.UNCHANGED))


@QUICK
@given(SEEDS)
def test_what_landed_is_never_taken_back_by_the_rest(seed: int) -> None:
    """Every line that a safe action leaves stands in the proposed document, so the rest is what it was."""
    case = case_of(seed, is_mixed=True)
    found = classify(case.base, case.proposed, case.context)

    for action in found.actions:
        if action.proof and action.new_lines:
            first, last = action.new_lines
            text = case.proposed[action.path].decode().split("\n")[first - 1 : last]
            assert action.new.removesuffix("\n").split("\n") == text


@QUICK
@given(SEEDS)
def test_the_rest_comes_to_an_end(seed: int) -> None:
    """What only another rule made provable lands in the next run, and after a few runs nothing is left to prove."""
    case = case_of(seed, is_mixed=True)
    tree = dict(case.base)
    for _ in range(MAX_ROUNDS):
        proofs = safe_part(classify(tree, case.proposed, case.context))
        if not proofs:
            break
        tree = landed(tree, proofs, case.context)

    assert not safe_part(classify(tree, case.proposed, case.context))


@QUICK
@given(SEEDS)
def test_edits_that_crowd_one_document_lose_nothing_that_was_said(seed: int) -> None:
    case = case_of(seed, is_mixed=False)

    tree = landed(case.base, safe_part(classify(case.base, case.proposed, case.context)), case.context)

    assert {path: said(data) for path, data in tree.items()} == {path: said(data) for path, data in case.base.items()}


def said(data: bytes) -> set[str]:
    """Return what a document says, line by line, however often and with whatever blanks."""
    return {" ".join(unicodedata.normalize("NFC", line).split()) for line in data.decode("utf-8-sig").splitlines()} - {
        ""
    }
