from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoryreview.core import formats
from memoryreview.core.formats.base import Entry
from memoryreview.core.model import FormatName
from tests.core.folders import folder, lint, problems, topic, tree


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("claude-clean/memory", FormatName.CLAUDE),
        ("claude-index-300/memory", FormatName.CLAUDE),
        ("claude-index-only/memory", FormatName.CLAUDE),
        ("broken-frontmatter/memory", FormatName.CLAUDE),
        ("cjk-mixed/memory", FormatName.CLAUDE),
        ("contradictions/memory", FormatName.CLAUDE),
        ("injection/memory", FormatName.CLAUDE),
        ("codex-memories/memories", FormatName.CODEX),
        ("hermes-memories/memories", FormatName.HERMES),
        ("hermes-memories/crlf", FormatName.HERMES),
        ("hermes-memories/legacy", FormatName.MARKDOWN),
        ("daily-log-workspace", FormatName.MARKDOWN),
        ("scopes-user-project-team/repo/.claude/agent-memory/reviewer", FormatName.MARKDOWN),
    ],
)
def test_detect_knows_the_sample_folders(name: str, expected: FormatName) -> None:
    assert formats.detect(folder(name)) is expected


def test_c022_section_sign_makes_no_hermes() -> None:
    rows = "".join(f"- [T{number}](t{number}.md) — see spec §4\n" for number in range(10))
    documents = tree(MEMORY=f"# Index\n\n{rows}- § 7\n\n§\n\ntail\n")

    assert formats.detect(documents) is FormatName.CLAUDE
    assert formats.of(FormatName.CLAUDE).meters("MEMORY.md", documents["MEMORY.md"])[0].unit == "lines"


def test_c022_section_signs_in_prose_and_lists_are_markdown() -> None:
    assert formats.detect(tree(MEMORY="See § 14\n\n- § 7\n- §\n")) is FormatName.MARKDOWN


def test_c019_file_without_delimiter_is_markdown() -> None:
    assert formats.detect(tree(MEMORY="## Schedule\n- Daily: check\n\n## Projects\nArchive\n")) is FormatName.MARKDOWN


def test_c026_comment_above_the_first_group_is_still_codex() -> None:
    assert formats.detect(tree(MEMORY="<!-- GOVERNANCE -->\n\n# Task Group: importer\nscope: x\n")) is FormatName.CODEX


@pytest.mark.parametrize(
    "documents",
    [
        tree(raw_memories="# Raw Memories\n", rollout_summaries__a="thread_id: x\n"),
        tree(memory_summary="v1\n\n## User Profile\n"),
        tree(rollout_summaries__a="thread_id: x\n"),
    ],
)
def test_c028_codex_without_a_handbook_is_codex(documents: dict[str, bytes]) -> None:
    assert formats.detect(documents) is FormatName.CODEX


def test_signs_next_to_the_top_decide_what_a_mixed_folder_is() -> None:
    codex, section = {"imports/codex/MEMORY.md": b"# Task Group: a\n"}, {"imports/USER.md": "A\n§\nB".encode()}
    notes = tree(MEMORY="- [A](a.md): x\n", a=topic("a"))

    assert formats.detect(notes | codex | section) is FormatName.CLAUDE
    assert formats.detect(codex | section) is FormatName.HERMES
    assert formats.detect({"MEMORY.md": b"# Task Group: a\n", "notes/MEMORY.md": b"- [A](a.md)\n"}) is FormatName.CODEX


@pytest.mark.parametrize(
    ("store", "path", "text", "own"),
    [
        (FormatName.CLAUDE, "USER.md", "A\n§\nB", FormatName.HERMES),
        (FormatName.CLAUDE, "MEMORY.md", "# Task Group: a\n", FormatName.CODEX),
        (FormatName.MARKDOWN, "x/memory_summary.md", "v1\n\n## User Profile\n", FormatName.CODEX),
        (FormatName.CLAUDE, "MEMORY.md", "- [A](a.md): x\n\n§\n\ntail\n", FormatName.CLAUDE),
        (FormatName.CLAUDE, "USER.md", "---\nname: a\n---\n\n§\n\ntail\n", FormatName.CLAUDE),
        (FormatName.CLAUDE, "notes.md", "A\n§\nB", FormatName.CLAUDE),
        (FormatName.HERMES, "x/MEMORY.md", "# Task Group: a\n", FormatName.CODEX),
        (FormatName.CODEX, "x/MEMORY.md", "A\n§\nB", FormatName.HERMES),
    ],
)
def test_document_is_sniffed_by_itself(store: FormatName, path: str, text: str, own: FormatName) -> None:
    assert formats.of_document(store, path, text.encode()).name is own


def test_mixed_folder_is_checked_by_the_rules_of_each_document() -> None:
    cited = "# Task Group: a\n\n## Task 1: b\n\n### rollout_summary_files\n\n- rollout_summaries/gone.md (cwd=/a)\n"
    documents = tree(MEMORY="- [A](a.md): x\n", a=topic("a"), own__MEMORY=cited, own__USER="A\n§\n" + "x" * 1_375)
    documents |= tree(own__memory_summary="v1\n" + "y" * 10_000)

    found = [(kind, path) for kind, path, _ in lint(documents) if kind != "orphan"]

    assert found == [
        ("missing-summary", "own/MEMORY.md"),
        ("budget-warning", "own/USER.md"),
        ("budget-warning", "own/memory_summary.md"),
    ]


def test_topic_files_without_an_index_are_claude() -> None:
    assert formats.detect(tree(a=topic(), b=topic("b"), c="# Note\n")) is FormatName.CLAUDE
    assert formats.detect(tree(a="---\ntype: feedback\n---\n")) is FormatName.CLAUDE


def test_one_headed_note_among_many_is_markdown() -> None:
    notes = {f"2026-03-{day}.md": b"# Day\n" for day in range(10, 20)}

    assert formats.detect(tree(a=topic()) | notes) is FormatName.MARKDOWN


def test_empty_folder_and_other_bytes_are_markdown() -> None:
    assert formats.detect({}) is FormatName.MARKDOWN
    assert formats.detect({"MEMORY.md": b"\xff\xfe", "x.bin": b"\x00"}) is FormatName.MARKDOWN


def test_clean_folder_has_no_problem_at_all() -> None:
    assert problems(folder("claude-clean/memory")) == ()


def test_the_six_newest_rows_lie_beyond_both_caps() -> None:
    data = folder("claude-index-300/memory")["MEMORY.md"]
    last_rows = data[data.index(b"- [Correction 1]") :]

    assert len(data) - len(last_rows) > 25_000


def test_c040_index_alone_is_one_finding() -> None:
    [problem] = problems(folder("claude-index-only/memory"))

    assert (problem.kind, problem.path, problem.line) == ("bulk-dead", "MEMORY.md", None)
    assert "57 of 60 targets are missing, " in problem.message.replace(":", ",")
    assert "directory looks incomplete" in problem.message


def test_broken_frontmatter() -> None:
    found = lint(folder("broken-frontmatter/memory"))

    assert Counter(kind for kind, _, _ in found) == {
        "head-colon": 1,
        "head-quote": 1,
        "head-tab": 1,
        "head-alias": 1,
        "head-special": 2,
        "head-rule": 1,
        "head-unclosed": 1,
        "head-stacked": 1,
        "head-comment": 2,
        "head-type-conflict": 1,
        "head-doubled-key": 1,
        "head-empty-name": 1,
    }


def test_cjk_index_breaks_the_byte_cap_only() -> None:
    documents = folder("cjk-mixed/memory")
    found = problems(documents)

    assert [problem.kind for problem in found] == ["index-bytes", "never-loaded"]
    assert "181 of 200 lines and 30,300 of 25,000 bytes" in found[0].message
    assert len(documents["MEMORY.md"].decode()) == 15_513


def test_codex_store_misses_one_summary() -> None:
    documents = folder("codex-memories/memories")
    entries = formats.of(FormatName.CODEX).entries("MEMORY.md", documents["MEMORY.md"])

    assert lint(documents) == [("missing-summary", "MEMORY.md", 22)]
    kinds = Counter(entry.kind for entry in entries)
    assert (kinds["task-group"], kinds["task"]) == (2, 3)


def test_hermes_store_has_its_entries_and_a_full_user_file() -> None:
    hermes = formats.of(FormatName.HERMES)
    documents = folder("hermes-memories")
    counts = {path: len(hermes.entries(path, documents[path])) for path in documents if path.endswith(".md")}

    assert counts["memories/MEMORY.md"] == 9
    assert counts["memories/USER.md"] == 48
    assert counts["crlf/MEMORY.md"] == 3
    assert lint(documents) == [
        ("no-delimiter", "legacy/MEMORY.md", None),
        ("budget-warning", "memories/USER.md", None),
    ]
    assert lint(folder("hermes-memories/crlf")) == []


def test_daily_log_workspace() -> None:
    found = problems(folder("daily-log-workspace"))

    assert [(problem.kind, problem.path, problem.line) for problem in found] == [
        ("broken-table", "MEMORY.md", 19),
        ("conflict-copy", "memory/2026-03-22.sync-conflict-20260324-101112-ABCDEFG.md", None),
        ("conflict-copy", "memory/2026-03-23 (conflicted copy 2026-03-24 070952).md", None),
        ("merge-marker", "memory/merge_markers.md", 3),
    ]
    assert "Row 2026-03-23 spans 6 lines" in found[0].message
    assert "“memory/2026-03-22.md”" in found[1].message
    assert "lines 3-7" in found[3].message


def test_other_folders() -> None:
    assert lint(folder("contradictions/memory")) == [("orphan", "feedback_food.md", None)]
    assert lint(folder("injection/memory")) == []
    for store in ("user/memory", "project/memory", "team/memory", "repo/.claude/agent-memory/reviewer"):
        assert lint(folder(f"scopes-user-project-team/{store}")) == []


pieces = st.sampled_from(
    ["# Task Group: a", "scope: x", "## Task 1: b", "- a", "  - b", "§", "text", "", "---", "name: n", "| a |", "```"]
)
documents = st.lists(st.tuples(pieces, st.sampled_from(["\n", "\r\n"])), max_size=12).map(
    lambda lines: "".join(body + eol for body, eol in lines).encode()
)


@pytest.mark.parametrize("name", list(FormatName))
@pytest.mark.parametrize("path", ["MEMORY.md", "USER.md", "sub/note.md"])
@given(data=documents | st.binary(max_size=40))
@settings(max_examples=60)
def test_entries_are_sorted_spans_that_do_not_overlap(name: FormatName, path: str, data: bytes) -> None:
    found = formats.of(name).entries(path, data)

    assert_spans(found, data)
    assert {entry.path for entry in found} <= {path}
    formats.of(name).meters(path, data)


def assert_spans(found: tuple[Entry, ...], data: bytes) -> None:
    end = 0
    for entry in found:
        assert end <= entry.start < entry.end <= len(data)
        assert entry.lines == (data[: entry.start].count(b"\n") + 1, data[: entry.end].count(b"\n") + 1)
        assert "\n" not in entry.text + entry.title
        end = entry.end


@given(
    st.dictionaries(
        st.sampled_from(["MEMORY.md", "a.md", "b/MEMORY.md", "raw_memories.md"]), documents | st.binary(max_size=30)
    )
)
@settings(max_examples=80)
def test_detect_and_lint_are_total(tree: dict[str, bytes]) -> None:
    detected = formats.detect(tree)

    for name in {detected, *FormatName}:
        for problem in formats.of(name).lint(tree):
            assert problem.path in tree
            assert problem.line is None or 1 <= problem.line <= tree[problem.path].count(b"\n") + 1


def test_messages_carry_no_character_that_acts_on_a_terminal_or_page() -> None:
    evil = "a\x1b\u202eb\u200b"
    head = f"---\nname: {evil} #x\ntype: {evil}\nmetadata:\n  type: y{evil}\n{evil}: *x\n{evil}: 2\n---\n"
    body = f"[l](<no{evil}.md>) [[no{evil}]] [m](<a.md#{evil}>)\n\n| {evil} |\n|---|\n| {evil}\n\nx |\n"
    rows = f"- [{evil}](<gone{evil}.md>)\n" + f"- [{evil}](<a.md#{evil}>)\n" * 230
    documents = {"MEMORY.md": rows, "a.md": head + body, f"{evil}.md": "", f"{evil} (conflicted copy 2026).md": ""}
    cited = f"# Task Group: a\n\n### rollout_summary_files\n\n- rollout_summaries/{evil}.md\n"

    found = problems({path: text.encode() for path, text in documents.items()}, FormatName.CLAUDE)
    found += problems(tree(MEMORY=cited), FormatName.CODEX)

    assert {"dead-row", "dead-link", "unresolved-link", "anchor-missing", "conflict-copy"} < {p.kind for p in found}
    assert {"never-loaded", "head-comment", "broken-table", "missing-summary", "orphan"} < {p.kind for p in found}
    assert [p.kind for p in found if set(p.message) & set("\x1b\u202e\u200b\n")] == []


def test_texts_outside_entries_are_blank_or_delimiters() -> None:
    for name, corpus in [
        (FormatName.HERMES, "hermes-memories/memories"),
        (FormatName.CODEX, "codex-memories/memories"),
    ]:
        for path, data in folder(corpus).items():
            if not path.endswith(".md"):
                continue
            rest = bytearray(data)
            for entry in reversed(formats.of(name).entries(path, data)):
                del rest[entry.start : entry.end]
            assert rest.replace("§".encode(), b"").replace(b"---", b"").strip() == b"", path
