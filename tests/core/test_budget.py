from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoryreview.core.budget import BudgetChange, Used, budgets
from memoryreview.core.classify.classify import classify
from memoryreview.core.model import Action, Context, FormatName, Kind, Limits, Verdict

CLAUDE = Context(format=FormatName.CLAUDE)
CODEX = Context(format=FormatName.CODEX)
HERMES = Context(format=FormatName.HERMES)


def rows(*numbers: int) -> str:
    return "".join(f"- [Note {number}](n{number}.md): hook\n" for number in numbers)


def one(before: str, after: str, context: Context = CLAUDE, path: str = "MEMORY.md") -> BudgetChange:
    (found,) = budgets({path: before.encode()}, {path: after.encode()}, context)
    return found


def actions(before: str, after: str, context: Context = CLAUDE, path: str = "MEMORY.md") -> tuple[Action, ...]:
    return classify({path: before.encode()}, {path: after.encode()}, context).actions


def test_row_201_is_no_longer_seen() -> None:
    found = one(rows(*range(1, 201)), rows(0, *range(1, 201)))

    assert found.used[0] == Used("lines", 200, 200, 201)
    assert (found.line_before, found.line_after, found.is_cut) == (None, 201, True)
    assert (found.lost, found.lost_count, found.beyond_count) == (("Note 200",), 1, 1)


def test_byte_25_001_is_no_longer_seen() -> None:
    text = "".join(f"- [N{number}](n.md): {'x' * 480}\n" for number in range(100, 150))
    base = text + "y" * (25_000 - len(text) - 1) + "\n"

    assert one(base + "", base.replace("x", "y")).line_after is None
    found = one(base, base.replace("N100", "N1000"))
    assert (found.used[1], found.line_after) == (Used("bytes", 25_000, 25_000, 25_001), 51)
    assert found.lost_count == 1


def test_character_2_201_is_past_the_limit_but_still_read() -> None:
    entry, note = "x" * 2_190, "note\nof two lines"
    found = one(entry, f"{entry}\n§\n{note}", HERMES)

    assert found.used == (Used("characters", 2_200, 2_190, 2_190 + 3 + len(note)),)
    assert (found.line_before, found.line_after, found.is_cut) == (None, 4, False)
    assert found.lost == ("note",)
    assert one(entry, f"{entry}\n§\nsevenxx", HERMES).line_after is None


def test_token_2_501_is_no_longer_seen() -> None:
    base = "v1\n\n" + "".join(f"- topic {number:03}: {'k' * 86}\n" for number in range(100))
    found = one(base, base.replace("topic 000", "the topic 000"), CODEX, "memory_summary.md")

    assert found.used == (Used("tokens", 2_500, 2_501, 2_502),)
    assert found.line_before == found.line_after == 102
    added = one("v1\n", base, CODEX, "memory_summary.md")
    assert (added.lost_count, added.lost[0][:9]) == (1, "topic 099")


def test_what_comes_back_is_named() -> None:
    found = one(rows(*range(1, 206)), rows(*range(4, 206)))

    assert (found.lost, found.lost_count) == ((), 0)
    assert found.back == ("Note 203", "Note 202", "Note 201")
    assert found.beyond_count == 2


def test_only_always_loaded_documents_count() -> None:
    base = {"a.md": b"x\n" * 300, "MEMORY.md": rows(1).encode(), "b.md": b"x"}

    assert [found.path for found in budgets({}, base, CLAUDE)] == ["MEMORY.md"]
    assert budgets(base, {**base, "a.md": b"y"}, CLAUDE) == ()
    assert budgets(base, {"a.md": b"y"}, CLAUDE) == ()
    assert budgets(base, {**base, "MEMORY.md": b"x" * 300}, Context(FormatName.CLAUDE, Limits(file_bytes=200))) == ()


def test_titles_are_few_and_quote_no_secret() -> None:
    key = "AKIA" + "Z3J9Q2M7K5X1W8V4"
    found = one("", rows(*range(1, 240)) + f"- [api key](k.md): token = {key}\n")

    assert (found.lost_count, len(found.lost)) == (40, 20)
    assert found.lost[0] == "a line that holds a secret"


@given(st.binary(max_size=200), st.binary(max_size=200), st.sampled_from(list(FormatName)))
@settings(max_examples=80)
def test_budgets_are_total(before: bytes, after: bytes, name: FormatName) -> None:
    for path in ("MEMORY.md", "memory_summary.md", "USER.md"):
        for found in budgets({path: before}, {path: after}, Context(format=name)):
            assert found.lost_count >= len(found.lost)


# --- what the classifier says of it


def test_row_that_pushes_others_out_says_which() -> None:
    (action,) = actions(rows(*range(1, 201)), rows(0, *range(1, 201)))

    assert action.kind is Kind.INDEX_ADD
    sentence = "With this change 1 entry is past the limit of 200 lines or 25,000 bytes, "
    sentence += "so the agent does not see “Note 200”."
    assert sentence in action.reasons


def test_what_several_rows_push_out_is_said_once() -> None:
    found = actions(rows(*range(1, 200)), rows(300, 301, 302, *range(1, 200)))

    said = [sum("With this change 2 entries are past" in reason for reason in action.reasons) for action in found]
    assert said == [1, 0, 0]


def test_c037_row_that_is_never_seen_says_so() -> None:
    before, after = rows(*range(1, 205)), rows(*range(1, 205)) + "- [Correction](fix.md): replaces row 12\n"

    (action,) = actions(before, after)

    assert "It stands past the limit of 200 lines or 25,000 bytes, so the agent never sees it." in action.reasons


def test_entry_past_the_limit_of_hermes_says_that_no_more_is_added() -> None:
    (action,) = actions("x" * 2_190, "x" * 2_190 + "\n§\nanother note", HERMES)

    assert any("past the limit of 2,200 characters, from line 3 on" in reason for reason in action.reasons)


def test_change_that_shrinks_or_fits_says_nothing_of_limits() -> None:
    for before, after in [(rows(1), rows(1, 2)), (rows(*range(1, 206)), rows(*range(1, 204)))]:
        assert not any("limit" in reason for action in actions(before, after) for reason in action.reasons)


@pytest.mark.parametrize("fill", [24, 30])
def test_safe_change_that_pushes_text_out_waits(fill: int) -> None:
    text = "moved 1/13/2025 at last\n\n" + f"- {'y' * 249}\n" * 98 + f"- {'w' * 249}\n- {'z' * fill}\n"

    (action,) = actions(text, text.replace("1/13/2025", "2025-01-13"))

    is_cut_already = fill > 24
    assert (action.verdict is Verdict.REVIEW) is not is_cut_already
    assert is_cut_already or any("would end earlier" in reason for reason in action.reasons)
