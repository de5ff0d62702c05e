"""Pairs that may never be settled without a person, whatever a rule makes of them: siblings of the reported cases."""

from __future__ import annotations

import pytest

from memoryreview.core.classify.classify import classify
from memoryreview.core.model import Kind, Verdict

from .test_classify import CLAUDE, CODEX, MARKDOWN, bullets, change, kinds


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Keep five releases", "Keep 3 releases"),
        ("waits 30 s", "waits 30 min"),
        ("port 8088", "port 8080"),
        ("Node 20", "Node 22"),
        ("≤ 5 copies", "≥ 5 copies"),
        ("retries: 3", "retries: 30"),
        ("keeps 1 GB", "keeps 1 GiB"),
        ("see /srv/a", "see /srv/b"),
        ("run `make a`", "run `make b`"),
        ("on Tuesday", "on Thursday"),
        ("v1.2.3 is out", "v1.2.30 is out"),
        ("always ask", "never ask"),
        ("保留 5 份", "保留 6 份"),
        ("部署需要审批", "部署不需要审批"),
        ("必ず確認する", "確認しない"),
        ("x < 5", "x > 5"),
        ("first deploy", "second deploy"),
        ("10,5 %", "10.5 %"),
        ("Use MUST here", "Use must here"),
    ],
)
def test_c073_lines_that_differ_in_what_counts_are_no_repeats(one: str, two: str) -> None:
    for kept, gone in [(one, two), (two, one)]:
        assert change(bullets(kept, gone), bullets(kept)).verdict is Verdict.REVIEW
        assert change(bullets(kept), bullets(gone)).verdict is Verdict.REVIEW


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("`sync pull` → --pull (dry run)", "`sync push` → --push (dry run)"),
        ("terms: https://x.example/terms", "privacy: https://x.example/privacy"),
        ("`git fetch` first", "`git pull` first"),
    ],
)
def test_c074_parallel_lines_are_no_repeats(one: str, two: str) -> None:
    assert change(bullets(one, two), bullets(one)).verdict is Verdict.REVIEW


@pytest.mark.parametrize(
    "text",
    [
        "## Staging\n\n- Mail goes to the sink.\n\n## Production\n\n- Mail goes to the sink.\n",
        "# A\n\n- same\n\n# B\n\n- same\n",
        "Staging:\n\n- same\n\nProduction:\n\n- same\n",
        "- Staging\n  - same\n- Production\n  - same\n",
        "- same\n\ntext\n\n- same\n",
    ],
)
def test_c076_one_sentence_under_two_heads_is_two_facts(text: str) -> None:
    at = text.rindex("- ")
    start = text.rfind("\n", 0, at) + 1

    assert change(text, text[:start]).verdict is Verdict.REVIEW


@pytest.mark.parametrize(
    "text",
    [
        "| a |\n|---|\n| x |\n| x |\n",
        "```\na\na\n```\n",
        "Related: [[a]], [[b]]\n\nRelated: [[a]], [[b]]\n",
        "a\n\n---\n\nb\n\n---\n",
        "- [ ] call\n- [ ] call\n",
        "1. build\n2. build\n",
        "> quote\n\n> quote\n",
        "<!-- x -->\n\n<!-- x -->\n",
        "[a]: b.md\n[a]: b.md\n",
    ],
)
def test_c077_what_repeats_legitimately_is_no_repeat(text: str) -> None:
    lines = text.splitlines(keepends=True)
    for index in range(len(lines)):
        if lines[index].strip():
            assert change(text, "".join(lines[:index] + lines[index + 1 :])).verdict is not Verdict.SAFE


@pytest.mark.parametrize(
    ("longer", "shorter"),
    [
        ("Do not build the project. The user does it.", "Do not build the project."),
        ("Use pnpm, because npm breaks the lock file", "Use pnpm"),
        ("部署前先备份。备份在 NAS 上。", "部署前先备份。"),
    ],
)
def test_c079_shorter_form_of_a_rule_waits(longer: str, shorter: str) -> None:
    for base, proposed in [((longer, shorter), (longer,)), ((longer, shorter), (shorter,)), ((longer,), (shorter,))]:
        assert change(bullets(*base), bullets(*proposed)).verdict is Verdict.REVIEW


def test_c080_deletion_with_a_new_fact_elsewhere_still_says_that_nothing_replaces_it() -> None:
    found = change(bullets("likes peppers", "a a", "b b"), bullets("a a", "b b", "Deploys run on Tuesday"))

    assert [action.kind for action in found.actions] == [Kind.FACT_DELETE, Kind.FACT_ADD]
    assert "nothing replaces it" in found.actions[0].reasons[-1]


def test_c080_replacement_is_one_action() -> None:
    found = change(bullets("likes peppers", "b b"), bullets("no longer likes peppers", "b b"))

    assert kinds(found) == [Kind.FACT_REWRITE]


@pytest.mark.parametrize(("before", "after"), [(b"a\n", b"a\n"), (b"", b""), (b"\xff", b"\xff")])
def test_c083_byte_equal_is_no_change(before: bytes, after: bytes) -> None:
    assert change(before, after).verdict is Verdict.UNCHANGED


@pytest.mark.parametrize("deleted", [20, 41])
def test_c085_many_deleted_documents_name_the_number(deleted: int) -> None:
    base = {f"d{i:02}.md": f"- note {i} of day\n".encode() for i in range(46)}

    found = classify(base, dict(list(base.items())[deleted:]), MARKDOWN)

    assert found.verdict is Verdict.REVIEW
    assert found.actions[0].kind is Kind.MASS_CHANGE
    assert f"{deleted} of them deleted" in found.actions[0].title


def test_c028_creating_the_handbook_waits() -> None:
    base = {"raw_memories.md": b"# Raw Memories\n"}

    found = classify(base, {**base, "MEMORY.md": b"# Task Group: a\n\nscope: x\n"}, CODEX)

    assert (found.verdict, kinds(found)) == (Verdict.REVIEW, [Kind.FILE_ADD])


def test_c031_normalised_separators_wait() -> None:
    assert change("- [A](a.md); x\n", "- [A](a.md) — x\n", CLAUDE, "MEMORY.md").verdict is Verdict.REVIEW


def test_c032_text_moved_out_of_a_cell_is_told_in_both_documents() -> None:
    base = {"MEMORY.md": b"| [d](d.md) | feat: page builder needs hand work\n\nmore\n", "d.md": b"# D\n"}
    proposed = {
        "MEMORY.md": b"| [d](d.md) | feat |\n\n",
        "d.md": b"# D\n\nfeat: page builder needs hand work\n\nmore\n",
    }

    found = classify(base, proposed, MARKDOWN)

    assert found.verdict is Verdict.REVIEW
    assert {action.path for action in found.actions} == {"MEMORY.md", "d.md"}
