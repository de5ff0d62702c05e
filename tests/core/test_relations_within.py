"""Repeats and contradictions inside a store: suggestions that a person can check, and nothing for look-alikes."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoryreview.core import formats
from memoryreview.core.model import FormatName
from memoryreview.core.relations import Relation, RelationKind, within
from tests.core.folders import folder, topic, tree

CONTRADICTION, NEAR, DUPLICATE = RelationKind.CONTRADICTION, RelationKind.NEAR_DUPLICATE, RelationKind.DUPLICATE
ELSEWHERE, SHORTER = RelationKind.ELSEWHERE, RelationKind.SHORTER


def of_corpus(name: str) -> tuple[Relation, ...]:
    documents = folder(name)
    return within(documents, formats.detect(documents))


def kinds(relations: tuple[Relation, ...]) -> Counter[RelationKind]:
    return Counter(relation.kind for relation in relations)


def places(relations: tuple[Relation, ...]) -> list[tuple[str, str, int | None, str, int | None]]:
    return [(r.kind.value, r.here.path, r.here.line, r.there.path, r.there.line) for r in relations]


def claude(**documents: str) -> tuple[Relation, ...]:
    return within(tree(**documents), FormatName.CLAUDE)


def test_the_five_disagreements_of_the_contradictions_folder() -> None:
    assert places(of_corpus("contradictions")) == [
        ("contradiction", "memory/MEMORY.md", 5, "memory/project_review_status.md", 3),
        ("contradiction", "memory/feedback_food.md", 11, "memory/feedback_food.md", 13),
        ("contradiction", "memory/project_stack_change.md", 11, "memory/project_database.md", 11),
        ("contradiction", "memory/project_team.md", 11, "memory/project_team.md", 12),
        ("contradiction", "memory/reference_nas.md", 11, "memory/reference_nas.md", 13),
    ]


def test_c029_a_repeat_inside_a_group_and_none_across_groups() -> None:
    assert places(of_corpus("codex-memories")) == [
        ("near-duplicate", "memories/MEMORY.md", 35, "memories/MEMORY.md", 36),
        ("contradiction", "memories/MEMORY.md", 60, "memories/MEMORY.md", 61),
    ]


def test_near_repeats_of_a_hermes_store() -> None:
    found = of_corpus("hermes-memories")
    assert kinds(found).keys() == {NEAR}
    assert {(r.here.line, r.there.line) for r in found if r.here.path.endswith("memories/MEMORY.md")} >= {(1, 5)}
    # 48 numbered entries of six sentences: every later one repeats an earlier one, told once.
    numbered = [r for r in found if r.here.path.endswith("USER.md")]
    assert len(numbered) == len({r.there.line for r in numbered}) == 42


@pytest.mark.parametrize(
    "name", ["claude-clean", "cjk-mixed", "broken-frontmatter", "claude-index-only", "daily-log-workspace", "injection"]
)
def test_nothing_is_suggested_for_a_folder_without_repeats(name: str) -> None:
    assert of_corpus(name) == ()


def test_scopes_that_disagree_about_the_deploy_window() -> None:
    found = [r for r in of_corpus("scopes-user-project-team") if r.kind is CONTRADICTION]
    assert {(r.here.path, r.there.path) for r in found} == {
        ("project/memory/MEMORY.md", "team/memory/MEMORY.md"),
        ("project/memory/project_window.md", "team/memory/team_window.md"),
        ("repo/CLAUDE.md", "team/memory/team_window.md"),
    }


def test_c073_lines_that_differ_in_a_number_are_possible_contradictions() -> None:
    found = claude(a="# A\n\n- waits 30 s\n- waits 30 min\n")
    assert [(r.kind, r.sentence) for r in found] == [(CONTRADICTION, "“30 s” here, “30 min” there.")]


def test_many_values_of_one_attribute_are_a_series() -> None:
    lines = "".join(f"- Sprint {number} of the checkout team is closed\n" for number in range(1, 9))
    assert claude(a=f"# Sprints\n\n{lines}") == ()


def test_c074_parallel_commands_get_no_suggestion() -> None:
    text = (
        "- `sync pull` → --pull (dry run), then --pull --apply\n- `sync push` → --push (dry run), then --push --apply\n"
    )
    assert claude(a=text) == ()


def test_c076_the_same_sentence_under_two_headings_is_two_facts() -> None:
    text = "".join(
        f"## {where}\n\n- Mail goes to the sink.\n- Port {port}\n\n" for where, port in (("Staging", 1), ("Live", 2))
    )
    assert claude(a=text) == ()
    assert claude(staging=topic("s", "Mail goes to the sink."), production=topic("p", "Mail goes to the sink.")) == ()


def test_c077_repeats_that_are_form_and_not_content() -> None:
    related = "Related: [[a]], [[b]]\n"
    table = "| a | b |\n|---|---|\n| 1 | 2 |\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
    form = (
        f"{table}\n---\n\n- [ ] \n- [ ] Ask first\n- [ ] Ask first\n\n---\n\n```\nrun it\n```\n\n```\nrun it\n```\n\n"
    )
    documents = dict.fromkeys("abcde", f"{form}{related}")
    assert claude(**documents) == ()


def test_c077_boilerplate_of_many_documents() -> None:
    documents = {
        f"note_{number}": topic(f"n{number}", "Written by the nightly run of the agent.") for number in "abcdef"
    }
    assert claude(**documents) == ()


def test_c079_a_shorter_form_of_a_rule_that_stands() -> None:
    found = claude(a="- Do not build the project. The user does it.\n- Do not build the project.\n")
    assert [(r.kind, r.here.line, r.there.line) for r in found] == [(SHORTER, 1, 2)]


def test_c080_a_denied_fact_is_told_with_both_places() -> None:
    found = claude(food=topic("food", "Dana likes peppers.\n\nDana no longer likes peppers."))
    assert [(r.kind, r.here.text, r.there.text) for r in found] == [
        (CONTRADICTION, "Dana likes peppers.", "Dana no longer likes peppers.")
    ]


@pytest.mark.parametrize("name", ["CLAUDE", "AGENTS"])
def test_c082_a_rule_that_stands_in_instructions_too(name: str) -> None:
    documents = {name: "# Rules\n\n- Deploy on Tuesdays 10:00-12:00\n"}
    found = claude(**documents, project_window=topic("window", "Deploy on Tuesdays 10:00-12:00"))
    assert [(r.kind, r.here.path, r.there.path) for r in found] == [(ELSEWHERE, f"{name}.md", "project_window.md")]
    assert found[0].sentence.startswith(f"The rule stands in {name}.md as well")


def test_struck_out_text_disagrees_with_nothing() -> None:
    assert claude(a="- The team has 4 people.\n- ~~The team has 3 people.~~\n") == ()


def test_ordered_steps_may_repeat() -> None:
    assert claude(a="1. Restart the importer\n2. Check the board\n3. Restart the importer\n") == ()


def test_days_of_a_log_are_not_compared() -> None:
    documents = tree(
        **{"2026-05-19": "Coverage of the suite is 81 %.\n", "2026-05-20": "Coverage of the suite is 83 %.\n"}
    )
    assert within(documents, FormatName.MARKDOWN) == ()


@pytest.mark.parametrize(
    "text",
    [
        "The service uses MySQL 8. Supersedes [[old]].",
        "MySQL ersetzt [PostgreSQL](old.md).",
        "服务改用 MySQL，取代 [[old]]。",
        "This note is superseded by [[old]].",
    ],
)
def test_a_note_that_supersedes_one_that_still_stands(text: str) -> None:
    found = claude(new=topic("new", text), old=topic("old", "Everything is kept in PostgreSQL 15."))
    assert [(r.kind, r.here.path, r.there.path) for r in found] == [(CONTRADICTION, "new.md", "old.md")]
    assert claude(new=topic("new", text)) == ()


def test_pairs_are_measured_directly_and_never_joined() -> None:
    one, two, three = (
        "Uploads are kept for 30 days",
        "Uploads and logs are kept for 30 days",
        "Logs are kept for 30 days",
    )
    found = claude(a=f"- {one}\n- {two}\n- {three}\n")
    assert (1, 3) not in {(r.here.line, r.there.line) for r in found}


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.sampled_from(["MEMORY.md", "a.md", "CLAUDE.md"]), st.binary(max_size=200)))
def test_total_on_arbitrary_bytes(documents: dict[str, bytes]) -> None:
    for name in FormatName:
        assert within(documents, name) == within(documents, name)
