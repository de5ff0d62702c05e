"""What holds for every pair of trees, also for those that nobody thought of."""

from __future__ import annotations

from datetime import UTC, date, datetime

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memoryreview.core.classify.classify import classify
from memoryreview.core.classify.split import apply_proof, rebase, safe_part
from memoryreview.core.classify.verify import verify
from memoryreview.core.model import (
    Context,
    Ended,
    Evidence,
    FormatName,
    History,
    Kind,
    Proof,
    Rewrite,
    Tree,
    Verdict,
)
from memoryreview.core.overlay import Overlay
from memoryreview.core.text import split_lines

QUICK = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
NOW = datetime(2026, 6, 15, 12, tzinfo=UTC)
LINES = ("- moved yesterday", "- moved 13/04/2025", "- use pnpm", "Text of 24. Dez. 2025\t")
HISTORY = History(
    {
        "gone.md": Ended("gone.md", "gone", "0" * 64),
        "old.md": Ended("old.md", "ports", "1" * 64, "a.md"),
        "a.md": Ended("a.md", "a", "2" * 64),
    },
    {(path, line.encode()): date(2025, 4, 14) for path in ("a.md", "MEMORY.md") for line in LINES},
)
CONTEXTS = st.sampled_from(
    [
        context
        for name in FormatName
        for context in (Context(format=name), Context(format=name, now=NOW, history=HISTORY, evidence=Evidence.FOUND))
    ]
)
"""Nothing known besides the trees, and as much as can be."""

PATHS = st.sampled_from(["MEMORY.md", "a.md", "memory_summary.md", "raw_memories.md", "n/b.md", "A.md"])
BYTES = st.one_of(st.binary(max_size=60), st.text(max_size=60).map(str.encode))
TREES = st.dictionaries(PATHS, BYTES, max_size=3)

PIECES = st.sampled_from(
    [
        "- use pnpm",
        "- use pnpm ",
        "- use  pnpm",
        "- port 5432",
        "- moved 13/04/2025",
        "- moved 13/04/2025  ",
        "- moved 03/04/2025",
        "- moved yesterday",
        "- moved 2025-04-13 (yesterday)",
        "# 2025-04-14",
        "- [Gone](gone.md): was there",
        "- see [old](old.md)",
        "- see [old](a.md)",
        "name: ports",
        "  modified: 2026-01-02T08:00:00Z",
        "  modified: 2026-03-02T08:00:00Z",
        "verified_at: 2026-03-02",
        "  continued 2025/04/03",
        "  - nested",
        "  - use pnpm",
        "* other mark",
        "1. step on April 13, 2025",
        "2. step",
        "- [Ports](ports.md): where",
        "- [Ports](ports.md): where",
        "- Staging:",
        "- **Bold**",
        "- [ ] call",
        "# Heading",
        "## Related",
        "Text of 24. Dez. 2025\t",
        "Text with a break  ",
        "Text with a break \\ ",
        "> quoted 13/04/2025 ",
        "| a | b |",
        "|---|---|",
        "```",
        "    code 13/04/2025 ",
        "<!-- 13/04/2025 ",
        "-->",
        "---",
        "===",
        "- ",
        "§",
        "§ ",
        " ",
        "",
        "",
        "",
        "\ufeff- x",
        "日本語の行、13/04/2025",
    ]
)
DATES = [
    ("13/04/2025", "2025-04-13"),
    ("03/04/2025", "2025-04-03"),
    ("24. Dez. 2025", "2025-12-24"),
    ("April 13, 2025", "2025-04-13"),
]
PROPOSED_SPANS = st.lists(st.tuples(PATHS, st.integers(-2, 70), st.integers(0, 70), BYTES))


@st.composite
def documents(draw: st.DrawFn) -> list[str]:
    return draw(st.lists(PIECES, min_size=1, max_size=14))


@st.composite
def changed_pairs(draw: st.DrawFn) -> tuple[Tree, Tree, Context]:
    """A document and what tidying, editing and clumsiness made of it."""
    lines = draw(documents())
    changed = list(lines)
    for _ in range(draw(st.integers(1, 5))):
        index = draw(st.integers(0, len(changed))) if changed else 0
        act = draw(st.sampled_from(["repeat", "drop", "strip", "date", "add", "swap", "edit"]))
        if act == "add" or index >= len(changed):
            changed.insert(index, draw(PIECES))
        elif act == "drop":
            del changed[index]
        elif act == "repeat":
            changed.insert(draw(st.integers(0, len(changed))), changed[index])
        elif act == "strip":
            changed[index] = changed[index].rstrip(" \t")
        elif act == "date":
            for old, new in DATES:
                changed[index] = changed[index].replace(old, new)
        elif act == "swap":
            changed.insert(0, changed.pop(index))
        else:
            changed[index] += draw(st.sampled_from(["x", " not", " "]))
    if draw(st.booleans()):
        lines, changed = changed, lines
    end = draw(st.sampled_from(["\n", "\r\n"]))
    last = draw(st.sampled_from([end, ""]))
    path = draw(st.sampled_from(["a.md", "MEMORY.md"]))
    base, proposed = ({path: (end.join(each) + last).encode()} for each in (lines, changed))
    return base, proposed, draw(CONTEXTS)


@QUICK
@given(TREES, TREES, CONTEXTS)
def test_classify_is_total_and_deterministic_on_arbitrary_bytes(base: Tree, proposed: Tree, context: Context) -> None:
    found = classify(base, proposed, context)

    assert (found.verdict is Verdict.UNCHANGED) == (base == proposed)
    assert found == classify(dict(base), dict(proposed), context)
    assert all((a.proof is not None) == (a.verdict is Verdict.SAFE) and bool(a.title) for a in found.actions)
    assert all(a.reasons for a in found.actions if a.verdict is not Verdict.SAFE)


@QUICK
@given(
    TREES,
    TREES,
    CONTEXTS,
    st.sampled_from(list(Kind)),
    st.lists(st.tuples(PATHS, st.integers(-2, 70), st.integers(0, 70), BYTES)),
)
def test_verify_is_total_on_arbitrary_proofs(
    base: Tree, proposed: Tree, context: Context, rule: Kind, spans: list[tuple[str, int, int, bytes]]
) -> None:
    proof = Proof(rule, 1, tuple(Rewrite(path, start, start + length, new) for path, start, length, new in spans))

    assert verify(base, proposed, proof, context) in (True, False)


@QUICK
@given(changed_pairs())
def test_everything_outside_the_actions_is_equal(pair: tuple[Tree, Tree, Context]) -> None:
    base, proposed, context = pair
    found = classify(base, proposed, context)
    if found.verdict is Verdict.REFUSED:
        return

    assert _outside(base, [a.lines for a in found.actions]) == _outside(proposed, [a.new_lines for a in found.actions])


def _outside(tree: Tree, covered: list[tuple[int, int] | None]) -> list[bytes]:
    (data,) = tree.values()
    numbers = {number for span in covered if span for number in range(span[0], span[1] + 1)}
    return [line.body.removeprefix(b"\xef\xbb\xbf") for line in split_lines(data) if line.number not in numbers]


@QUICK
@given(changed_pairs())
def test_every_safe_action_verifies_by_itself_and_the_parts_make_the_whole(pair: tuple[Tree, Tree, Context]) -> None:
    base, proposed, context = pair
    found = classify(base, proposed, context)

    for action in found.actions:
        if action.proof:
            assert verify(base, Overlay(base, apply_proof(base, action.proof)), action.proof, context)
    tree = base
    for proof in rebase(safe_part(found)):
        after = dict(Overlay(tree, apply_proof(tree, proof)))
        assert verify(tree, after, proof, context)
        tree = after
    if found.verdict is Verdict.SAFE:
        assert tree == proposed


@QUICK
@given(changed_pairs())
def test_no_action_waits_because_rule_and_check_disagree(pair: tuple[Tree, Tree, Context]) -> None:
    base, proposed, context = pair
    dates_that_begin_a_list = ("13. ", "24. ")

    for action in classify(base, proposed, context).actions:
        if any("independent check" in reason for reason in action.reasons):
            assert action.old.lstrip().startswith(dates_that_begin_a_list)


@QUICK
@given(changed_pairs(), st.data())
def test_a_changed_byte_outside_the_spans_is_never_safe_as_a_whole(
    pair: tuple[Tree, Tree, Context], data: st.DataObject
) -> None:
    base, proposed, context = pair
    found = classify(base, proposed, context)
    if found.verdict is not Verdict.SAFE:
        return
    ((path, text),) = proposed.items()
    proofs = safe_part(found)
    letters = [offset for offset, byte in enumerate(text) if chr(byte).isalpha() and byte < 128]
    if not letters or any(rewrite.new and rewrite.new[:1].isalpha() for p in proofs for rewrite in p.rewrites):
        return
    offset = data.draw(st.sampled_from(letters))
    other = {path: text[:offset] + bytes([text[offset] ^ 1]) + text[offset + 1 :]}

    again = classify(base, other, context)

    assert again.verdict is not Verdict.SAFE
    assert not any(verify(base, other, proof, context) for proof in proofs)


@QUICK
@given(changed_pairs())
def test_safe_part_is_safe_without_the_rest_and_has_no_way_back(pair: tuple[Tree, Tree, Context]) -> None:
    base, proposed, context = pair
    proofs = safe_part(classify(base, proposed, context))
    tree = base
    for proof in rebase(proofs):
        tree = dict(Overlay(tree, apply_proof(tree, proof)))

    alone, back = classify(base, tree, context), classify(tree, base, context)

    assert alone.verdict is (Verdict.SAFE if proofs else Verdict.UNCHANGED)
    assert classify(tree, tree, context).verdict is Verdict.UNCHANGED
    assert not any(action.proof for action in back.actions)
