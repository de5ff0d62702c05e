"""Every pair of the fixture files, and what must hold for all of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memoryreview.core.classify import rules
from memoryreview.core.classify.classify import classify
from memoryreview.core.classify.split import apply_proof, rebase, safe_part
from memoryreview.core.classify.verify import verify
from memoryreview.core.model import SAFE_KINDS, Verdict
from memoryreview.core.overlay import Overlay

from .pairs import Pair, pairs

PAIRS = list(pairs())


@pytest.mark.parametrize("pair", [p for p in PAIRS if p.is_accepted], ids=lambda p: p.title)
def test_accepted_pair_is_explained_by_its_rule_alone(pair: Pair) -> None:
    found = classify(pair.base, pair.proposed, pair.context)

    assert (found.verdict, {action.kind for action in found.actions}) == (Verdict.SAFE, {pair.rule})
    (proof,) = safe_part(found)
    assert Overlay(pair.base, apply_proof(pair.base, proof)) == pair.proposed


@pytest.mark.parametrize("pair", [p for p in PAIRS if not p.is_accepted], ids=lambda p: p.title)
def test_waiting_pair_has_nothing_safe_and_says_why(pair: Pair) -> None:
    found = classify(pair.base, pair.proposed, pair.context)

    reasons = [reason for action in found.actions for reason in action.reasons]
    assert found.verdict in (Verdict.REVIEW, Verdict.REFUSED)
    assert all(action.reasons and action.proof is None for action in found.actions)
    assert any(pair.reason in reason for reason in reasons), reasons


@pytest.mark.parametrize("pair", [p for p in PAIRS if p.is_accepted], ids=lambda p: p.title)
def test_accepted_pair_waits_when_the_store_switches_the_rule_off(pair: Pair) -> None:
    context = replace(pair.context, switched_off=frozenset({pair.rule}))

    found = classify(pair.base, pair.proposed, context)

    assert found.verdict is Verdict.REVIEW
    (proof,) = safe_part(classify(pair.base, pair.proposed, pair.context))
    assert not verify(pair.base, pair.proposed, proof, context)


@pytest.mark.parametrize("pair", [p for p in PAIRS if p.is_accepted], ids=lambda p: p.title)
def test_accepted_pair_is_not_undone_by_itself(pair: Pair) -> None:
    assert classify(pair.proposed, pair.base, pair.context).verdict is Verdict.REVIEW


@pytest.mark.parametrize("pair", [p for p in PAIRS if p.is_accepted], ids=lambda p: p.title)
def test_accepted_pair_verifies_action_by_action_and_rule_by_rule(pair: Pair) -> None:
    found = classify(pair.base, pair.proposed, pair.context)

    for action in found.actions:
        assert action.proof
        result = Overlay(pair.base, apply_proof(pair.base, action.proof))
        assert verify(pair.base, result, action.proof, pair.context)
    assert rebase(safe_part(found)) == safe_part(found)


def test_every_safe_rule_has_a_version_a_sentence_and_pairs_of_both_kinds() -> None:
    for kind in SAFE_KINDS:
        module = getattr(rules, kind.replace(".", "_"))
        assert rules.VERSIONS[kind] == module.VERSION
        assert module.__doc__.splitlines()[0].endswith(".")
        assert {p.is_accepted for p in PAIRS if p.rule is kind} == {True, False}
