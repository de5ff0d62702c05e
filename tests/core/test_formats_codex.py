from __future__ import annotations

import pytest

from memoryreview.core import formats
from memoryreview.core.model import FormatName
from tests.core.folders import lint, problems, tree


def test_c026_comment_stands_before_the_group() -> None:
    data = b"<!-- GOVERNANCE -->\n\n# Task Group: importer\n\nscope: x\napplies_to: cwd=/a\n\n## Task 1: do\n"
    found = formats.of(FormatName.CODEX).entries("MEMORY.md", data)

    assert [(entry.kind, entry.lines) for entry in found] == [
        ("paragraph", (1, 1)),
        ("task-group", (3, 6)),
        ("task", (8, 8)),
    ]
    assert found[1].title == "importer"


def test_c028_missing_handbook_is_flagged_with_the_number_of_threads() -> None:
    documents = tree(
        raw_memories="# Raw Memories\n\n## Thread `a`\nx\n\n## Thread `b`\ny\n",
        rollout_summaries__s="thread_id: a\n",
    )
    [problem] = problems(documents)

    assert (problem.kind, problem.path, problem.line) == ("no-index", "raw_memories.md", None)
    assert "No MEMORY.md yet: 0 task groups, 2 raw threads" in problem.message


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("v1\n\n## User Profile\n", []),
        ("v1\r\n", []),
        ("# Summary\nv1\n", ["format-mark"]),
        ("v1 \n", ["format-mark"]),
        ("", ["format-mark"]),
    ],
)
def test_c025_first_line_is_a_format_mark(text: str, kinds: list[str]) -> None:
    documents = tree(memory_summary=text, MEMORY="# Task Group: a\n")

    assert [kind for kind, _, _ in lint(documents)] == kinds


def test_summary_is_measured_in_estimated_tokens() -> None:
    data = b"v1\n" + b"x" * 9_996 + b"\n" + b"y\n"
    [meter] = formats.of(FormatName.CODEX).meters("memory_summary.md", data)

    assert (meter.unit, meter.used, meter.limit, meter.cut_line) == ("tokens", 2_501, 2_500, 3)
    [problem] = problems({"memory_summary.md": data})
    assert (problem.kind, problem.line) == ("budget-warning", 3)
    assert "estimated" in problem.message


def test_generated_files_are_known_and_not_checked() -> None:
    codex = formats.of(FormatName.CODEX)
    generated = [
        "raw_memories.md",
        "rollout_summaries/a.md",
        "m/rollout_summaries/a.md",
        "phase2_workspace_diff.md",
    ]

    assert [path for path in [*generated, "MEMORY.md", "memory_summary.md"] if codex.is_generated(path)] == generated
    documents = tree(MEMORY="# Task Group: a\n", raw_memories="---\nname: a: b\n---\n[x](gone.md)\n")
    assert lint(documents) == []


def test_many_missing_summaries_are_one_finding() -> None:
    cited = "".join(f"- rollout_summaries/{number}.md (cwd=/a)\n" for number in range(7))
    documents = tree(MEMORY=f"# Task Group: a\n\n## Task 1: b\n\n### rollout_summary_files\n\n{cited}")

    assert lint(documents) == [("bulk-dead", "MEMORY.md", None)]
