from __future__ import annotations

from memoryreview.core.classify.classify import classify
from memoryreview.core.classify.split import apply_proof, rebase, safe_part
from memoryreview.core.classify.verify import verify
from memoryreview.core.model import Context, Kind, Proof, Rewrite
from memoryreview.core.overlay import Overlay

BASE = {"a.md": b"Moved 13/04/2025. \n\n\n\n- use pnpm\n- since 14/04/2025\t\n- use pnpm\n- port 1\n"}
PROPOSED = {"a.md": b"Moved 2025-04-13.\n\n- use pnpm\n- since 2025-04-14\n- port 2\n"}


def test_safe_part_has_one_proof_per_rule_in_the_order_of_the_rules() -> None:
    proofs = safe_part(classify(BASE, PROPOSED, Context()))

    assert [(proof.rule, len(proof.rewrites)) for proof in proofs] == [
        (Kind.DEDUPE_EXACT, 1),
        (Kind.DATE_NORMALIZE, 2),
        (Kind.FORMAT_BLANK, 3),
    ]


def test_rebased_proofs_verify_one_after_the_other_and_make_the_whole() -> None:
    tree = dict(BASE)

    for proof in rebase(safe_part(classify(BASE, PROPOSED, Context()))):
        after = Overlay(tree, apply_proof(tree, proof))
        assert verify(tree, after, proof, Context())
        tree = dict(after)

    assert tree == {"a.md": PROPOSED["a.md"].replace(b"port 2", b"port 1")}


def test_first_proof_is_not_moved() -> None:
    proofs = safe_part(classify(BASE, PROPOSED, Context()))

    assert rebase(proofs)[0] == proofs[0]


def test_rebase_moves_spans_by_what_went_before_them_in_the_same_document() -> None:
    first = Proof(Kind.DEDUPE_EXACT, 1, (Rewrite("a.md", 10, 14, b""), Rewrite("b.md", 0, 2, b"")))
    second = Proof(Kind.DATE_NORMALIZE, 1, (Rewrite("a.md", 2, 5, b"xxxxx"), Rewrite("a.md", 14, 20, b"y")))
    third = Proof(Kind.FORMAT_BLANK, 1, (Rewrite("a.md", 5, 6, b""), Rewrite("c.md", 7, 8, b"")))

    assert rebase((first, second, third))[1:] == (
        Proof(Kind.DATE_NORMALIZE, 1, (Rewrite("a.md", 2, 5, b"xxxxx"), Rewrite("a.md", 10, 16, b"y"))),
        Proof(Kind.FORMAT_BLANK, 1, (Rewrite("a.md", 7, 8, b""), Rewrite("c.md", 7, 8, b""))),
    )


def test_nothing_safe_has_no_part() -> None:
    assert safe_part(classify({"a.md": b"- port 1\n"}, {"a.md": b"- port 2\n"}, Context())) == ()
