"""What a run suggests because nothing proves it."""

from __future__ import annotations

import pytest

from .runs import one, planned, text_of

CITED = (
    "# Task Group: importer\nscope: x\n\n## Reusable knowledge\n\n"
    "- Verify the live table first [Task 1]\n- Other [Task 1]\n- Verify the live table first [Task 2]\n\n"
    "# Task Group: portal\nscope: y\n\n## Reusable knowledge\n\n- Verify the live table first [Task 1]\n"
)


def test_c029_entries_of_a_group_that_cite_different_tasks_are_offered_as_one() -> None:
    found = planned({"MEMORY.md": CITED}, "codex")

    assert found.steps == ()
    merged = text_of(one(found, "cited-twice").delta, "MEMORY.md")
    assert merged == CITED.replace("- Verify the live table first [Task 2]\n", "", 1).replace(
        "first [Task 1]\n- Other", "first [Task 1][Task 2]\n- Other"
    )


def test_c029_nothing_is_offered_across_groups() -> None:
    apart = CITED.replace("- Verify the live table first [Task 2]\n", "", 1)

    assert planned({"MEMORY.md": apart}, "codex").suggestions == ()


def test_the_same_words_and_citations_wait_where_lines_are_cited() -> None:
    found = planned({"MEMORY.md": CITED.replace("[Task 2]", "[Task 1]")}, "codex")

    assert found.steps == ()
    assert one(found, "dedupe.exact").why.startswith("It repeats an entry above word for word")


def test_c079_the_shorter_form_is_offered_for_removal() -> None:
    longer, shorter = "- Do not build the project. The user does it.\n", "- Do not build the project.\n"

    for text in (longer + shorter, shorter + longer):
        suggestion = one(planned({"a.md": text}), "shorter-form")
        assert text_of(suggestion.delta, "a.md") == longer
        assert "“Do not build the project. The user does it”." in suggestion.why


@pytest.mark.parametrize(
    "text",
    [
        "- Use pnpm\n- Use pnpmfile hooks\n",
        "- Do not build the project\n\n## Other\n\n- Do not build the project, ever\n",
        "1. Restart the worker\n2. Restart the worker, then wait\n",
        "- [ ] ask Dana about it\n- [ ] ask Dana about it again\n",
    ],
)
def test_no_shorter_form_is_seen_in_other_words_lists_or_steps(text: str) -> None:
    assert planned({"a.md": text}).suggestions == ()


def test_a_suggestion_keeps_its_key_while_its_texts_stay() -> None:
    text = "- Do not build the project.\n- Do not build the project. The user does it.\n"

    before, after = planned({"a.md": text}), planned({"a.md": "# New title\n\nMore.\n\n" + text + "- More.\n"})
    other = planned({"a.md": text.replace("The user", "Dana")})

    assert one(before, "shorter-form").key == one(after, "shorter-form").key
    assert one(before, "shorter-form").key != one(other, "shorter-form").key


def test_c037_rows_that_are_never_loaded_are_offered_at_the_top() -> None:
    rows = [f"- [Note {number}](n{number}.md) — about {number}\n" for number in range(1, 205)]
    files = {"MEMORY.md": "# Index\n\n" + "".join(rows)} | {f"n{n}.md": "x\n" for n in range(1, 205)}

    suggestion = one(planned(files), "never-loaded")

    assert text_of(suggestion.delta, "MEMORY.md") == "# Index\n\n" + "".join(rows[198:] + rows[:198])
    assert suggestion.why.startswith("The last 6 rows are beyond what the agent loads.")


def test_rows_under_headings_are_not_moved() -> None:
    rows = "".join(f"- [Note {number}](n{number}.md) — about\n" for number in range(1, 150))
    files = {"MEMORY.md": f"# A\n\n{rows}\n# B\n\n{rows}"} | {f"n{n}.md": "x\n" for n in range(1, 150)}

    assert planned(files).suggestions == ()


@pytest.mark.parametrize(
    ("line", "mended"),
    [
        ('name: "ship it" means merge and push', "name: '\"ship it\" means merge and push'"),
        ("description: Good pattern for #41", "description: 'Good pattern for #41'"),
        ("description: Rules: ask first", "description: 'Rules: ask first'"),
        ("description: it's one: don't", "description: 'it''s one: don''t'"),
    ],
)
def test_c001_c004_quotes_are_offered_for_a_value_that_yaml_would_not_read(line: str, mended: str) -> None:
    text = f"---\n{line}\ntype: user\n---\n\nBody\n"

    assert text_of(one(planned({"a.md": text}), "head-quotes").delta, "a.md") == text.replace(line, mended)


def test_a_head_with_anchors_is_left_alone_c016() -> None:
    head = "---\na: &a [x,x]\n" + "".join(f"k{n}: &k{n} [*a,*a,*a]\n" for n in range(200)) + "---\n"

    assert planned({"a.md": head}).suggestions == ()


def test_c044_a_row_whose_file_was_renamed_is_offered_with_all_that_may_be_meant() -> None:
    row = "- [Cache](project_cache.md) — how it is kept\n"
    files = {
        "MEMORY.md": row + "- [Ports](ports.md) — where\n",
        "ports.md": "Ports.\n",
        "project_cache_warmup.md": "Filling it.\n",
        "project_cache_limits.md": "How much it holds.\n",
    }

    found = planned(files)

    assert found.steps == ()
    suggestion = one(found, "dead-row")
    assert text_of(suggestion.delta, "MEMORY.md").startswith("- [Cache](project_cache_limits.md) — how it is kept\n")
    assert "“project_cache_limits.md” has a like name" in suggestion.why
    assert "“project_cache_warmup.md” may be meant as well" in suggestion.why


def test_two_entries_that_disagree_are_reported_and_one_is_offered_for_removal() -> None:
    found = planned({"team.md": "- The team has 4 people.\n- The team has 5 people.\n"})

    assert [(problem.kind, problem.path, problem.line) for problem in found.noticed] == [
        ("contradiction", "team.md", 2)
    ]
    suggestion = one(found, "contradiction")
    assert text_of(suggestion.delta, "team.md") == "- The team has 5 people.\n"
    assert "reject it if both hold" in suggestion.why


def test_what_disagrees_across_documents_is_reported_only() -> None:
    files = {
        "MEMORY.md": "- [Review](review.md) — approved on 2026-04-27\n",
        "review.md": "---\nname: review\ndescription: waiting for review\n---\n\nText.\n",
    }

    found = planned(files)

    assert [problem.kind for problem in found.noticed] == ["contradiction"]
    assert (found.steps, found.suggestions) == ((), ())


@pytest.mark.parametrize(
    ("other", "chosen"),
    [("", "2025-04-03"), ("- Begun on 13/04/2025.\n", "2025-04-03"), ("- Begun on 04/13/2025.\n", "2025-03-04")],
)
def test_a_date_with_two_readings_is_offered_as_its_neighbours_are_written(other: str, chosen: str) -> None:
    found = planned({"a.md": "- Moved on 03/04/2025.\n", "b.md": other})

    suggestion = one(found, "date")
    assert text_of(suggestion.delta, "a.md") == f"- Moved on {chosen}.\n"
    assert "2025-04-03" in suggestion.why
    assert "2025-03-04" in suggestion.why


def test_a_date_with_two_readings_in_code_or_a_link_is_left_alone() -> None:
    assert planned({"a.md": "- See `03/04/2025` and [x](03/04/2025).\n| 03/04/2025 | b |\n"}).suggestions == ()


def test_c064_a_date_without_a_year_is_reported() -> None:
    found = planned({"a.md": "- Apr 15 the appeal was filed.\n"}, now=None)

    assert [problem.kind for problem in found.noticed] == ["date"]


def test_a_document_without_a_description_is_offered_a_row() -> None:
    files = {
        "MEMORY.md": "- [Mail](mail.md) — the sink\n",
        "mail.md": "Sink.\n",
        "ports.md": "---\nname: Ports\n---\n\nText.\n",
    }

    suggestion = one(planned(files), "orphan")

    assert text_of(suggestion.delta, "MEMORY.md") == files["MEMORY.md"] + "- [Ports](ports.md)\n"


def test_a_document_that_contradicts_itself_gets_no_row_by_itself() -> None:
    head = "---\nname: Team\ndescription: who we are\n---\n\n- The team has 4 people.\n- The team has 5 people.\n"
    files = {"MEMORY.md": "- [Mail](mail.md) — the sink\n", "mail.md": "Sink.\n", "team.md": head}

    found = planned(files)

    assert found.steps == ()
    assert {suggestion.kind for suggestion in found.suggestions} == {"contradiction", "orphan"}


def test_a_large_store_is_compared_within_its_documents_only() -> None:
    filler = {f"{number}.md": f"# Note {number}\n\n" + "Plain words. " * 2_000 for number in range(12)}
    files = {
        "team.md": "- The team has 4 people.\n- The team has 5 people.\n",
        "other.md": "- The storage box is brand A.\n",
        "later.md": "- The storage box is brand B.\n",
    }

    assert {problem.path for problem in planned(files).noticed} == {"team.md", "other.md"}
    assert {problem.path for problem in planned(files | filler).noticed} == {"team.md"}
