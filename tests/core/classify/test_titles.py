from __future__ import annotations

import pytest

from memoryreview.core.classify.classify import classify
from memoryreview.core.model import Action, Classification, Context, FormatName, Kind, Verdict

from .test_classify import CLAUDE, CODEX, HERMES, MARKDOWN, bullets, change, kinds, only

GROUP = """# Task Group: acme billing

scope: CSV export
applies_to: cwd=/home/ana/acme; reuse_rule=safe in this checkout

## Task 1: Fix VAT rounding, success

### rollout_summary_files

- rollout_summaries/a.md (cwd=/a)

### keywords

- vat, export_csv

## Reusable knowledge

- Column order is fixed [Task 1]
"""
TASK = (
    "## Task 2: Port, fail\n\n### rollout_summary_files\n\n- rollout_summaries/b.md (cwd=/a)\n\n### keywords\n\n- p\n\n"
)
HEAD = "---\nname: a\ndescription: old words\nmetadata: \n  node_type: memory\n  type: feedback\n---\nBody\n"


def title(before: str, after: str, context: Context = MARKDOWN, path: str = "a.md") -> str:
    return only(change(before, after, context, path)).title


def test_change_in_a_section_names_the_section() -> None:
    base = "# App\n\n## Staging\n\n- Port 5432\n\n## Production\n\n- Port 5432\n- Use uv\n"

    assert title(base, base.replace("5432", "5433", 1)) == "Port 5432 becomes 5433 in Staging"
    assert title(base, base[: -len("- Use uv\n")]) == "Delete “Use uv” from Production"
    assert title(base, base + "- Ask Ana\n") == "Add “Ask Ana” to Production"
    assert title(base, base.replace("Use", "Never use")) == "Use becomes Never use in “Use uv” (Production)"


def test_title_of_the_whole_document_is_no_section() -> None:
    assert title("# App\n\n- Port 5432\n", "# App\n\n- Port 5433\n") == "Port 5432 becomes 5433"


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("waits 30 s", "waits 30 min", "waits 30 s becomes 30 min"),
        ("keep <= 5 copies", "keep >= 5 copies", "keep <= 5 becomes >= 5"),
        ("Ana owns billing", "Bob owns billing", "Ana becomes Bob in “Ana owns billing”"),
        ("Deploy is allowed", "Deploy is not allowed", "Add “not” to “Deploy is allowed”"),
        ("Release on 2026-03-04", "Release on 2026-03-05", "Release on 2026-03-04 becomes 2026-03-05"),
        ("部署在周二进行", "部署在周三进行", "部署在周二 becomes 周三"),
        ("本番のポートは 5432 です", "本番のポートは 5433 です", "5432 becomes 5433 in “本番のポートは 5432 です”"),
        ("배포는 화요일에 한다", "배포는 수요일에 한다", "배포는 화요일에 becomes 수요일에"),
        ("してよい", "してはいけない", "してよい becomes してはいけない"),
        ("会議は午前", "会議は午後", "会議は午前 becomes 午後"),
        ("[ ] call Ana", "[x] call Ana", "Tick “call Ana”"),
        ("[x] call Ana", "[ ] call Ana", "Untick “call Ana”"),
        ("cwd=/home/ana/acme", "cwd=/home/bob/acme", "cwd=/home/ana/acme becomes /home/bob/acme"),
        ("keep 80 % free", "keep 90 % free", "keep 80 becomes 90"),
        ("see the port 1 [Task 1]", "see the port 1 [Task 2]", "port 1 [Task 1] becomes [Task 2]"),
        ("Database: PostgreSQL 14 on host alpha", "Database: MySQL", "PostgreSQL 14 on host alpha becomes MySQL"),
    ],
)
def test_few_words_that_change_are_named(before: str, after: str, expected: str) -> None:
    assert title(bullets(before), bullets(after)).startswith(expected)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("## Staging\n", "## Production\n", "Rename the section “Staging” to “Production”"),
        ("## Staging\n", "### Staging\n", "Move the heading “Staging” from level 2 to 3"),
        ("## Staging\n\n- a b\n", "- a b\n", "Delete the heading “Staging”"),
        ("- a b\n", "- a b\n\n## Staging\n", "Add the heading “Staging”"),
    ],
)
def test_headings_are_named_as_such(before: str, after: str, expected: str) -> None:
    assert title(before, after) == expected


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("- [A](a.md): hook\n", "- [B](a.md): hook\n", "Rename the row “A” to “B”"),
        ("- [A](a.md) — hook\n", "- [A](a.md): hook\n", "Change the marks around the row “A”"),
        ("- [A](a.md): old hook\n", "- [A](a.md): new hook\n", "old becomes new in “A: old hook”"),
        ("| [A](a.md) | port 1 |\n|---|---|\n", "| [A](a.md) | port 2 |\n|---|---|\n", "port 1 becomes 2"),
    ],
)
def test_rows_say_what_changes_in_them(before: str, after: str, expected: str) -> None:
    assert title(before, after, CLAUDE, "MEMORY.md").startswith(expected)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("feedback", "project", "type: feedback becomes project"),
        ("name: a", "name: b", "name: a becomes b"),
        ("description: old words\n", "", "Delete description: “old words”"),
        ("description: old words\n", "description: old words\ntags: [x]\n", "Add tags: “[x]”"),
    ],
)
def test_keys_of_the_frontmatter_are_named(old: str, new: str, expected: str) -> None:
    action = only(change(HEAD, HEAD.replace(old, new), CLAUDE))

    assert (action.kind, action.title) == (Kind.META_CHANGE, expected)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("success", "partial", "success becomes partial in “Task 1: Fix VAT rounding, success”"),
        ("CSV export\n", "CSV and XML export\n", "Add “and XML” to “scope: CSV export”"),
        ("vat, ", "vat, rounding, ", "Add “rounding,” to “vat, export_csv” in keywords of Task 1 of acme billing"),
        (
            "is fixed",
            "is free",
            "fixed becomes free in “Column order is fixed [Task 1]” (Reusable knowledge of acme billing)",
        ),
    ],
)
def test_parts_of_a_codex_group_are_named(old: str, new: str, expected: str) -> None:
    assert title(GROUP, GROUP.replace(old, new, 1), CODEX, "MEMORY.md") == expected[:99] + "…" * (len(expected) > 100)


def test_new_task_and_new_group_are_one_action_each() -> None:
    task = only(change(GROUP, GROUP.replace("## Reusable", TASK + "## Reusable"), CODEX, "MEMORY.md"))
    group = only(change(GROUP, GROUP + "\n" + GROUP.replace("billing", "web"), CODEX, "MEMORY.md"))
    gone = only(change(GROUP.replace("## Reusable", TASK + "## Reusable"), GROUP, CODEX, "MEMORY.md"))

    assert (task.kind, task.title, task.new_lines) == (Kind.FACT_ADD, "Add “Task 2: Port, fail”", (15, 24))
    assert (group.kind, group.title) == (Kind.FACT_ADD, "Add the task group “acme web”")
    assert (gone.kind, gone.title, gone.lines) == (Kind.FACT_DELETE, "Delete “Task 2: Port, fail”", (15, 24))


def test_lost_entries_of_a_whole_task_still_count() -> None:
    knowledge = "".join(f"- fact {i} about {'abcdefgh'[i] * 5} [Task 1]\n" for i in range(8))
    base = GROUP + knowledge + "\n" + GROUP.replace("billing", "web")

    found = change(base, GROUP.replace("billing", "web"), CODEX, "MEMORY.md")

    assert found.actions[0].kind is Kind.MASS_CHANGE


# --- moves


def test_moved_and_edited_entry_is_told_as_both() -> None:
    text = "Use pnpm everywhere in the repo"
    found = change(bullets(text, "a", "b", "c"), bullets("a", "b", "c", text.replace("pnpm", "npm")))

    assert [action.title for action in found.actions] == [
        "Move “Use pnpm everywhere in the repo” to line 4 and change it",
        "Move “Use npm everywhere in the repo” from line 1 and change it",
    ]
    assert "pnpm becomes npm" in found.actions[0].reasons[0]


def test_moved_and_edited_entry_names_what_turns_its_meaning() -> None:
    base = {"a.md": b"- Never push to the main branch\n- a\n", "b.md": b"- b\n"}
    found = classify(base, {"a.md": b"- a\n", "b.md": b"- b\n- Always push to the main branch\n"}, MARKDOWN)

    assert [action.path for action in found.actions] == ["a.md", "b.md"]
    for action in found.actions:
        assert any("turns the meaning" in reason for reason in action.reasons)


def test_entries_moved_with_an_edit_are_not_lost() -> None:
    texts = [f"fact number {i} about the {'abcdefgh'[i] * 5} host" for i in range(8)]
    moved = {"a.md": bullets(*texts[:4]).encode(), "b.md": bullets(*(f"{t} today" for t in texts[4:])).encode()}

    assert Kind.MASS_CHANGE not in kinds(classify({"a.md": bullets(*texts).encode()} | {"b.md": b""}, moved, MARKDOWN))


def test_short_or_different_entries_are_no_moves() -> None:
    for one, two in [("use pnpm", "use npm"), ("Deploys happen on Tuesday", "Ana likes spicy peppers")]:
        found = change(bullets(one, "a a", "b b"), bullets("a a", "b b", two))
        assert [action.title.split()[0] for action in found.actions] == ["Delete", "Add"]


def test_moved_section_entry_is_named_by_its_text() -> None:
    found = change("A a a\n§\nB b\n§\nC c", "B b\n§\nC c\n§\nA a a", HERMES, "MEMORY.md")

    assert [action.title for action in found.actions] == ["Move “A a a” to line 4", "Move “A a a” from line 1"]


# --- Hermes: text that was appended without a delimiter


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("A a\n§\nB b", "A a\n§\nB bnew fact\n"),
        ("A a\n§\nB b", "A a\n§\nB b\nnew fact"),
        ("A a\n§\nB b", "A a\n§\nB b\n\nnew fact\n"),
        ("A a\r\n§\r\nB b", "A a\r\n§\r\nB b\r\nnew fact"),
        ("B b", "B b\nnew fact\n"),
        ("B b", "B bnew fact\n"),
    ],
)
def test_trailing_append_is_told_as_merged_into_the_last_entry(before: str, after: str) -> None:
    action = only(change(before, after, HERMES, "MEMORY.md"))

    assert (action.verdict, action.title) == (Verdict.REVIEW, "Append “new fact” to the last entry “B b”")
    assert any("No line of only “§” stands before the new text" in reason for reason in action.reasons)


def test_change_within_the_last_entry_is_no_append() -> None:
    action = only(change("A a\n§\nB b", "A a\n§\nB c b", HERMES, "MEMORY.md"))

    assert (action.title, any("§" in reason for reason in action.reasons)) == ("Add “c” to “B b”", False)


# --- what reasons say


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ("waits 30 s", "waits 30 min", "A unit changes: s becomes min."),
        ("keep <= 5", "keep >= 5", "A sign of comparison changes: <= becomes >=."),
        ("keep ≤ 5", "keep ≥ 5", "A sign of comparison changes: ≤ becomes ≥."),
        ("a b c [Task 1]", "a b c [Task 2]", "A citation changes: [Task 1] becomes [Task 2]."),
        ("see /srv/a", "see /srv/b", "An address changes: /srv/a becomes /srv/b."),
        ("5 GB", "5 MB", "A unit changes: GB becomes MB."),
    ],
)
def test_reason_names_what_turns_the_meaning(before: str, after: str, reason: str) -> None:
    assert reason in only(change(bullets(before), bullets(after))).reasons


def test_secret_in_a_heading_or_moved_line_is_quoted_nowhere() -> None:
    key = "AKIA" + "Z3J9Q2M7K5X1W8V4"
    found = change(f"# A\n\n## key {key}\n\n- port 1\n\n# B\n", f"# A\n\n## key {key}\n\n- port 2\n\n# B\n")
    moved = change(
        bullets(f"the key of the store is {key} for now", "a a", "b b"),
        bullets("a a", "b b", "the key of the store is gone for now"),
    )

    assert only(found).title == "port 1 becomes 2"
    assert not any(key in text for action in moved.actions for text in action.reasons)


def titles_of(found: Classification) -> list[str]:
    return [action.title for action in found.actions]


def test_replaced_fact_in_its_place_is_one_action_however_different() -> None:
    for one, two in [("Likes peppers", "Deploys on Tuesday"), ("猫が好き", "port 8080"), ("x", "Y is the new way")]:
        found = change(bullets("a a", one, "b b"), bullets("a a", two, "b b"))
        assert kinds(found) == [Kind.FACT_REWRITE], titles_of(found)


def test_list_entry_that_becomes_a_paragraph_in_its_place_is_one_action() -> None:
    action: Action = only(change("# T\n\n- Likes peppers\n", "# T\n\nLikes tomatoes\n"))

    assert action.kind is Kind.FACT_REWRITE


def test_context_of_any_format_names_the_change_alike() -> None:
    for name in FormatName:
        assert title("- Port 5432\n", "- Port 5433\n", Context(format=name), "n.md") == "Port 5432 becomes 5433"
