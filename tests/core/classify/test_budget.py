"""What a classification may cost is counted, never timed: above the count a change waits."""

from __future__ import annotations

from collections import Counter

import pytest

from memoryreview.core.classify import reasons
from memoryreview.core.classify.budget import MAX_SINGLE_CHECKS, MAX_STEPS, Budget
from memoryreview.core.classify.classify import classify
from memoryreview.core.classify.document import Document, read
from memoryreview.core.classify.rules.dedupe_exact import entries
from memoryreview.core.classify.rules.index_trim import Targets
from memoryreview.core.classify.steps import compare
from memoryreview.core.model import Action, Classification, Context, FormatName, Kind, Verdict

MARKDOWN = Context()
LONG_TEXT = "too long"
DEEP_LINES = 6_000


def change(before: str, after: str, context: Context = MARKDOWN, path: str = "a.md") -> Classification:
    return classify({path: before.encode()}, {path: after.encode()}, context)


def document(text: str) -> Document:
    return read("a.md", text.encode(), MARKDOWN, is_delimited=False, is_plain=False)


def kinds(found: Classification) -> Counter[tuple[Kind, Verdict]]:
    return Counter((action.kind, action.verdict) for action in found.actions)


def deep(word: str, lines: int = DEEP_LINES) -> str:
    """Return text of few bytes that counts as much to parse: two states of DEEP_LINES are beyond the budget."""
    return "".join(f"{'> ' * 8}{word} {i}\n" for i in range(lines))


def waiting(found: Classification) -> list[Action]:
    return [action for action in found.actions if action.verdict is Verdict.REVIEW]


def test_budget_charges_what_it_pays_and_nothing_else() -> None:
    budget = Budget(parsed=10, split_lines=3, steps=2, comparisons=4, searched_bytes=5, known_bytes=6)

    paid = [budget.pays_splitting(b"a\nb"), budget.pays_steps(3), budget.pays_comparisons(4), budget.pays_knowing(b"x")]
    refused = [budget.pays_parsing(b"- a\n" * 9), budget.pays_searching(b"123", b"456")]

    assert (paid, refused) == ([True, False, True, True], [False, False])
    assert budget == Budget(parsed=10, split_lines=1, steps=2, comparisons=0, searched_bytes=5, known_bytes=5)


def test_parsing_is_charged_by_lines_marks_and_text() -> None:
    budget = Budget(parsed=100)

    assert budget.pays_parsing(b"- > a\n- b\n", b"x" * 320)

    assert budget.parsed == 100 - (3 + 3) - (1 + 10)


def test_thousands_of_repeats_all_go_and_one_copy_stays() -> None:
    found = change("- a b c d e f\n" * 2_000, "- a b c d e f\n")

    assert kinds(found) == {(Kind.DEDUPE_EXACT, Verdict.SAFE): 1_999}


def test_repeat_is_found_by_one_look_up() -> None:
    known = entries(document("- a\n- b\n\ntext\n\n- a\n- b\n- a\n"), {0, 6})

    assert sorted((key[0], block.span[0]) for key, block in known.kept.items()) == [(("a",), 0), (("b",), 6)]
    assert sorted(known.in_list.values()) == [0, 1, 5, 6]
    assert known.first == {("a",): 0, ("b",): 1, ("text",): 3}


def test_kept_copy_is_found_among_those_that_stay_however_many_go() -> None:
    found = change("- x\n" + "- a\n- b\n" * 500, "- x\n- a\n- b\n")

    assert kinds(found) == {(Kind.DEDUPE_EXACT, Verdict.SAFE): 998}


def test_hundreds_of_equal_rows_go_and_one_stays() -> None:
    base = {"MEMORY.md": "- [N](t.md) — hello\n".encode() * 600, "t.md": b"x\n"}
    proposed = {**base, "MEMORY.md": "- [N](t.md) — hello\n".encode()}

    found = classify(base, proposed, Context(format=FormatName.CLAUDE))

    assert kinds(found) == {(Kind.DEDUPE_INDEX, Verdict.SAFE): 599}


def test_comparisons_are_counted_and_above_the_budget_blocks_pair_by_their_order() -> None:
    old, new = document("- alpha one\n- beta two\n"), document("- zzz\n- alpha 1\n- beta 2\n")
    rich, poor = Budget(comparisons=6), Budget(comparisons=5)

    paired, unpaired = compare(old, new, rich), compare(old, new, poor)

    assert (rich.comparisons, poor.comparisons) == (0, 5)
    assert [(bool(s.old_block), bool(s.new_block)) for s in paired.steps].count((True, True)) == 2
    assert [(bool(s.old_block), bool(s.new_block)) for s in unpaired.steps].count((True, True)) == 0


def test_document_with_more_steps_than_the_budget_is_one_action_that_waits() -> None:
    count = MAX_STEPS + 1

    found = change("".join(f"- old {i}\n" for i in range(count)), "".join(f"- new {i}\n" for i in range(count)))

    loss, whole = found.actions
    assert (loss.kind, loss.title) == (Kind.MASS_CHANGE, f"Lose {count} of {count} entries")
    assert (whole.kind, whole.verdict, whole.lines, whole.reasons) == (
        Kind.FACT_REWRITE,
        Verdict.REVIEW,
        (1, count),
        (reasons.TOO_LARGE,),
    )


def test_document_too_large_to_parse_waits_as_a_whole_and_spares_the_others() -> None:
    base = {"a.md": deep("fact").encode(), "b.md": b"- moved 13/04/2025\n"}

    found = classify(base, {"a.md": base["a.md"] + b"- more\n", "b.md": b"- moved 2025-04-13\n"}, MARKDOWN)

    assert [(a.path, a.verdict) for a in found.actions] == [("a.md", Verdict.REVIEW), ("b.md", Verdict.SAFE)]
    assert found.actions[0].reasons == (reasons.TOO_LARGE,)


def test_findings_in_a_document_too_large_to_parse_are_told() -> None:
    key = "AKIA" + "Z3J9Q2M7K5X1W8V4"

    found = change(deep("fact"), deep("fact") + f"- key {key}\n")

    assert found.actions[0].reasons == (reasons.TOO_LARGE,)
    assert [(finding.scanner, finding.line) for finding in found.findings] == [("secret", DEEP_LINES + 1)]


def test_losses_in_documents_too_large_to_parse_are_counted_by_lines() -> None:
    found = change(deep("fact"), deep("other"))

    assert [action.title for action in found.actions] == [
        f"Lose {DEEP_LINES} of {DEEP_LINES} entries",
        "Rewrite the document a.md",
    ]


def test_what_cannot_be_checked_a_second_time_waits() -> None:
    text = deep("fact", 4_200)

    found = change(f"{text}\nend  \n", f"{text}\nend\n")

    (action,) = found.actions
    assert (action.kind, action.verdict, action.reasons) == (
        Kind.FORMAT_BLANK,
        Verdict.REVIEW,
        (reasons.UNCHECKED,),
    )


HALVES = ("ghp_" + "a1B2c3D4e5F6g7H8i9", "J0k1L2m3N4o5P6q7R8")


def test_change_that_joins_a_secret_waits_and_the_other_one_is_safe() -> None:
    before = f"one \n\n{HALVES[0]} \n{HALVES[1]}\n"

    found = change(before, before.replace(" \n", "\n"))

    assert [(a.verdict, a.lines) for a in found.actions] == [(Verdict.SAFE, (1, 1)), (Verdict.REVIEW, (3, 3))]
    assert found.actions[1].reasons[-1] == reasons.NEW_FINDING


@pytest.mark.parametrize(("others", "safe"), [(MAX_SINGLE_CHECKS - 1, MAX_SINGLE_CHECKS - 1), (MAX_SINGLE_CHECKS, 0)])
def test_with_a_new_finding_only_so_many_changes_are_looked_at_alone(others: int, safe: int) -> None:
    before = "".join(f"one {'ab ' * 200}and {i} \n\n" for i in range(others)) + f"{HALVES[0]} \n{HALVES[1]}\n"

    found = change(before, before.replace(" \n", "\n"))

    assert len([action for action in found.actions if action.verdict is Verdict.SAFE]) == safe
    assert {action.reasons[-1] for action in waiting(found)} == {reasons.NEW_FINDING}


def test_targets_of_rows_are_parsed_once_and_searched_within_the_budget() -> None:
    data = b"It is told here.\n"
    budget = Budget(searched_bytes=2 * len(data))
    targets = Targets(budget)

    first, second, third = targets.read(data), targets.read(data), targets.read(data)

    assert first is not None
    assert first.says("It is told here", "It is told here")
    assert second is first
    assert third is None
    assert (budget.searched_bytes, Budget().parsed - budget.parsed) == (0, 2)


@pytest.mark.parametrize(
    ("before", "reason"),
    [
        ("word " * 450 + "on 31/12/2024\n", LONG_TEXT),
        ("some words\n" * 200 + "on 31/12/2024\n", LONG_TEXT),
        ("on 31/12/2024 and " * 11 + "so\n", LONG_TEXT),
    ],
)
def test_dates_far_inside_a_long_text_wait(before: str, reason: str) -> None:
    (action,) = change(before, before.replace("31/12/2024", "2024-12-31")).actions

    assert action.verdict is Verdict.REVIEW
    assert any(reason in why for why in action.reasons)


def test_ten_dates_in_one_line_are_proved() -> None:
    before = "on 31/12/2024 and " * 10 + "so\n"

    found = change(before, before.replace("31/12/2024", "2024-12-31"))

    assert kinds(found) == {(Kind.DATE_NORMALIZE, Verdict.SAFE): 1}


@pytest.mark.parametrize("lines", [100, 2_000])
def test_blanks_at_the_end_of_a_long_paragraph_wait_only_when_it_is_too_long(lines: int) -> None:
    text = "some words\n" * lines

    (action,) = change(f"{text}more  words \nend\n", f"{text}more  words\nend\n").actions

    assert action.verdict is (Verdict.SAFE if lines == 100 else Verdict.REVIEW)
    assert any("too far down" in why for why in action.reasons) is (lines == 2_000)


@pytest.mark.parametrize("open_mark", ["'", "`", "“", "[", "<b", '"'])
def test_mark_that_opens_lines_above_still_keeps_a_date(open_mark: str) -> None:
    lines = f"says {open_mark}he\n" + "and more words\n" * 20
    close = "he' says\n" if open_mark == "'" else ""

    (action,) = change(f"{lines}on 31/12/2024\n{close}", f"{lines}on 2024-12-31\n{close}").actions

    assert action.verdict is Verdict.REVIEW


def test_same_input_costs_and_says_the_same() -> None:
    before = "".join(f"- entry {i} of {i * 7}\n" for i in range(300))
    after = "".join(f"- entry {i} of {i * 8}\n" for i in range(1, 290))

    assert change(before, after) == change(before, after)
