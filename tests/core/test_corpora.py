"""What a scan of each sample folder reports, number by number."""

from __future__ import annotations

from collections import Counter

import pytest

from memoryreview.core import formats
from memoryreview.core.formats import index
from memoryreview.core.model import FormatName, Problem, Scope
from memoryreview.core.scan import scan
from tests.core.folders import CORPORA, folder, problems


def notes(name: str) -> dict[str, bytes]:
    return {path: data for path, data in folder(name).items() if path.endswith(".md")}


def found(name: str) -> dict[str, Problem]:
    return {problem.kind: problem for problem in problems(notes(name))}


def test_claude_clean_reports_nothing() -> None:
    assert problems(notes("claude-clean/memory")) == ()


def test_claude_index_300_reports_both_caps_and_what_fills_it() -> None:
    said = found("claude-index-300/memory")

    assert list(said) == ["wrapped-rows", "long-rows", "index-lines", "index-bytes", "never-loaded"]
    assert "332 of 200 lines and 31,572 of 25,000 bytes" in said["index-lines"].message
    assert said["wrapped-rows"].message.startswith("30 rows are wrapped over 90 lines")
    assert said["long-rows"].message.startswith("20 rows hold whole notes")
    assert said["never-loaded"].message.startswith("96 rows are never loaded, newest first: “Correction 6”")
    newest = ", ".join(f"“Correction {number}”" for number in range(6, 0, -1))
    assert newest in said["never-loaded"].message
    assert said["never-loaded"].message.endswith("51 of them lie beyond both limits.")
    data = notes("claude-index-300/memory")["MEMORY.md"]
    first = data.index(b"- [Correction 1]")
    assert (first > 25_000, data.count(b"\n", 0, first) >= 200) == (True, True)


def test_claude_index_only_reports_one_bulk_finding() -> None:
    [problem] = problems(notes("claude-index-only/memory"))

    assert (problem.kind, problem.message.partition(":")[0]) == ("bulk-dead", "57 of 60 targets are missing")


def test_broken_frontmatter_reports_each_fault_and_lists_every_document() -> None:
    counts = Counter(problem.kind for problem in problems(notes("broken-frontmatter/memory")))
    fails = {"head-colon", "head-quote", "head-tab", "head-alias", "head-special"}

    assert sum(counts[kind] for kind in fails) == 6
    assert {kind: count for kind, count in counts.items() if kind not in fails} == {
        "head-rule": 1,
        "head-unclosed": 1,
        "head-stacked": 1,
        "head-comment": 2,
        "head-type-conflict": 1,
        "head-doubled-key": 1,
        "head-empty-name": 1,
    }
    claude = formats.of(FormatName.CLAUDE)
    named = {path: claude.entries(path, data) for path, data in notes("broken-frontmatter/memory").items()}
    assert all(entries and entries[0].title for path, entries in named.items() if path != "empty.md")


def test_cjk_mixed_reports_the_byte_cap_alone() -> None:
    said = found("cjk-mixed/memory")
    index_text = notes("cjk-mixed/memory")["MEMORY.md"]

    assert list(said) == ["index-bytes", "never-loaded"]
    assert "181 of 200 lines and 30,300 of 25,000 bytes" in said["index-bytes"].message
    assert (len(index_text.decode()), "both" in said["never-loaded"].message) == (15_513, False)


def test_codex_memories_reports_groups_tasks_and_the_missing_summary() -> None:
    documents = notes("codex-memories/memories")
    kinds = Counter(e.kind for e in formats.of(FormatName.CODEX).entries("MEMORY.md", documents["MEMORY.md"]))

    assert formats.detect(documents) is FormatName.CODEX
    assert (kinds["task-group"], kinds["task"]) == (2, 3)
    assert [(p.kind, p.path) for p in problems(documents)] == [("missing-summary", "MEMORY.md")]


def test_hermes_memories_reports_entries_and_the_file_without_delimiter() -> None:
    documents = notes("hermes-memories")
    hermes = formats.of(FormatName.HERMES)

    counts = {path: len(hermes.entries(path, documents[path])) for path in documents}
    assert {path: count for path, count in counts.items() if not path.startswith("legacy")} == {
        "memories/MEMORY.md": 9,
        "memories/USER.md": 48,
        "crlf/MEMORY.md": 3,
    }
    assert [(p.kind, p.path) for p in problems(documents)] == [
        ("no-delimiter", "legacy/MEMORY.md"),
        ("budget-warning", "memories/USER.md"),
    ]


def test_daily_log_workspace_reports_copies_markers_and_the_table() -> None:
    kinds = Counter(problem.kind for problem in problems(notes("daily-log-workspace")))

    assert kinds == {"conflict-copy": 2, "merge-marker": 1, "broken-table": 1}
    others = [path for path in folder("daily-log-workspace") if not path.endswith(".md")]
    assert len(others) == 9


def test_scopes_report_the_sub_agent_store_contained_in_the_other() -> None:
    [problem] = problems(notes("scopes-user-project-team"))

    assert (problem.kind, problem.path) == ("contained", "repo/.claude/agent-memory/reviewer/MEMORY.md")
    small, large = ("repo/.claude/agent-memory/reviewer", "home/.claude/agent-memory/reviewer")
    assert f"All that “{small}” says stands in “{large}” too" in problem.message


def test_scopes_hold_what_stops_a_promotion() -> None:
    documents = notes("scopes-user-project-team")
    private = [path for path in documents if path.startswith(("user/memory/user_", "project/memory/project_vendor"))]

    for path in private:
        text = documents[path].decode()
        assert {finding.scanner for finding in scan(text, path=path, scope=Scope.TEAM)} & {"personal", "secret"}, path


@pytest.mark.parametrize("name", sorted(path.name for path in CORPORA.iterdir() if path.is_dir()))
def test_no_scan_names_what_is_not_there(name: str) -> None:
    documents = notes(name)

    for problem in problems(documents):
        assert problem.path in documents
        assert problem.line is None or 1 <= problem.line <= documents[problem.path].count(b"\n") + 1


def test_rows_of_the_big_index_are_objects_of_several_lines() -> None:
    rows = index.rows(notes("claude-index-300/memory")["MEMORY.md"])

    assert Counter(row.lines[1] - row.lines[0] + 1 for row in rows) == {1: 206, 3: 30}
