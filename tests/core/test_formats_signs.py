from __future__ import annotations

import time

import pytest

from memoryreview.core.formats import signs
from memoryreview.core.markdown import links
from memoryreview.core.model import FormatName
from tests.core.folders import lint, problems, tree


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("<<<<<<< HEAD\nruns at 05:00\n=======\nruns at 06:00\n>>>>>>> other\n", 1),
        ("# T\r\n<<<<<<<\r\na\r\n||||||| base\r\nb\r\n=======\r\nc\r\n>>>>>>>\r\n", 2),
        ("<<<<<<< a\nx\n<<<<<<< b\n=======\ny\n>>>>>>> c\n", 3),
    ],
)
def test_c050_unresolved_merge_is_flagged(text: str, line: int) -> None:
    assert lint(tree(n=text), FormatName.MARKDOWN) == [("merge-marker", "n.md", line)]


@pytest.mark.parametrize(
    "text",
    [
        "A heading underlined\n=======\n",
        "see <<<<<<< in git\n=======\n>>>>>>> x\n",
        "<<<<<<< a\ntext\n>>>>>>> b\n",
        ">>>>>>> a\n=======\n<<<<<<< b\n",
        "<<<<<<<< a\n=======\n>>>>>>>> b\n",
        "```\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> other\n```\n",
    ],
)
def test_c050_look_alikes_are_no_merge(text: str) -> None:
    assert lint(tree(n=text), FormatName.MARKDOWN) == []


def test_c050_merge_in_a_code_block_is_enough_for_caution() -> None:
    merge = b"<<<<<<< HEAD\na\n=======\nb\n>>>>>>> other\n"

    assert signs.has_merge_marks(b"```\n" + merge + b"```\n")
    assert signs.merge_markers(b"```\n" + merge + b"```\n") == ()
    assert signs.has_merge_marks(b"<<<<<<< HEAD\na\n")
    assert signs.has_merge_marks(b"a\r\n>>>>>>> other\r\n")
    assert not signs.has_merge_marks(b"see <<<<<<< HEAD and >>>>>>> other\n=======\n>>>>>>>> deep quote\n")


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("<<<<<<< HEAD\na\n||||||| base\nc\n=======\nb\n>>>>>>> x\n", "1-7"),
        ("<<<<<<<\na\n=======\nb\n>>>>>>>\n", "1-5"),
        ("x\n\n<<<<<<< Updated upstream\n- a\n=======\n- b\n>>>>>>> Stashed changes\n", "3-7"),
        ("<<<<<<< Conflict 1 of 1\n%%%%%%% Changes\n-a\n+b\n+++++++ Side\nc\n>>>>>>> Conflict 1 of 1 ends\n", "1-7"),
        ("---\nname: a\n<<<<<<< HEAD\ntype: user\n=======\ntype: project\n>>>>>>> x\n---\n", "3-7"),
    ],
)
def test_c050_merges_of_other_tools_and_places_are_flagged(text: str, lines: str) -> None:
    found = [problem for problem in problems(tree(n=text), FormatName.MARKDOWN) if problem.kind == "merge-marker"]

    assert [problem.message.partition(":")[0] for problem in found] == [f"Unresolved merge in lines {lines}"]


@pytest.mark.parametrize(
    ("copy", "original"),
    [
        ("2026-03-23 (conflicted copy 2026-03-24 070952).md", "2026-03-23.md"),
        ("x.sync-conflict-20260324-101112-ABCDEFG.md", "x.md"),
        ("sub/x (Ana's conflicted copy 2026-03-24).md", "sub/x.md"),
        ("x (In Konflikt stehende Kopie 2026-03-24).md", "x.md"),
        ("x_conflict-20260324-101112.md", "x.md"),
        ("x (1).md", "x.md"),
        ("x 2.md", "x.md"),
        ("x copy.md", "x.md"),
        ("x - Copy (2).md", "x.md"),
        ("x - コピー.md", "x.md"),
        ("x的副本.md", "x.md"),
        ("x (Case Conflict).md", "x.md"),
        ("x（Ana 的衝突複本 2026-03-24）.md", "x.md"),
        ("x (конфликтующая копия 2026-03-24).md", "x.md"),
        ("x (kopia w konflikcie 2026-03-24).md", "x.md"),
        ("x (cópia em conflito de Ana 2026-03-24).md", "x.md"),
        ("x (충돌된 사본 2026-03-24).md", "x.md"),
        ("x [Conflict].md", "x.md"),
        ("x.conflict.md", "x.md"),
        ("x_2026-03-24_conflict.md", "x.md"),
        ("x_conf(1).md", "x.md"),
        ("x-DESKTOP-AB12CD.md", "x.md"),
        ("x-ana-macbook-pro.md", "x.md"),
        ("x.orig.md", "x.md"),
        ("x_REMOTE_4711.md", "x.md"),
        ("x.LOCAL.md", "x.md"),
        ("x~.md", "x.md"),
        ("sub/x (conflicted copy 2026-03-24) 2.md", "sub/x.md"),
    ],
)
def test_c049_conflict_copies_are_paired_with_the_original(copy: str, original: str) -> None:
    [problem] = problems({copy: b"same", original: b"same"}, FormatName.MARKDOWN)

    assert (problem.kind, problem.path) == ("conflict-copy", copy)
    assert f"“{original}” (both say the same)" in problem.message


@pytest.mark.parametrize(
    "other", ["x.local.md", "x-API.md", "x (draft).md", "x copyright.md", "x_backup_1.md", "x 12.md", "x-2.md"]
)
def test_c049_documents_with_like_names_are_no_copies(other: str) -> None:
    assert lint({"x.md": b"same", other: b"same"}, FormatName.MARKDOWN) == []


def test_c049_conflict_copy_says_how_much_differs() -> None:
    [problem] = problems({"x.md": b"a\nb\nc\n", "x (1).md": b"a\nB\nc\nd\n"}, FormatName.MARKDOWN)

    assert "“x.md” (they differ in 2 lines)" in problem.message


def test_c049_conflict_copy_of_a_missing_original_says_so() -> None:
    [problem] = problems({"x (conflicted copy 2026-03-24).md": b"a"}, FormatName.MARKDOWN)

    assert "“x.md”, which is gone" in problem.message


@pytest.mark.parametrize(
    "name",
    [
        "x (conflicted copy).md",
        "x (Konflikt auf NAS).md",
        "sub/x.sync-conflict-20260324-101112.md",
        "x konflikt 20260324.md",
        "x~conflict.md",
        "x 競合コピー.md",
        "x (1).md",
        "x - Kopie.md",
        "x copy 2.md",
        "x_LOCAL_4711.md",
        "x.orig.md",
        "x [Conflict].md",
        "x (конфликтующая копия 2026-03-24).md",
        "x-DESKTOP-AB12CD.md",
    ],
)
def test_c049_name_of_a_copy_is_enough_for_caution(name: str) -> None:
    assert signs.may_be_conflict_copy(name)


@pytest.mark.parametrize("name", ["conflict.md", "conflict rules.md", "phase 2.md", "copy.md", "conflict (old)/x.md"])
def test_c049_name_about_conflicts_is_no_copy(name: str) -> None:
    assert not signs.may_be_conflict_copy(name)


@pytest.mark.parametrize("name", ["x (1).md", "phase 2.md", "design (conflict rules).md", "conflict.md"])
def test_c049_names_that_only_look_like_copies(name: str) -> None:
    assert lint({name: b"x"}, FormatName.MARKDOWN) == []


def test_c052_existing_clashes_are_flagged_with_both_names() -> None:
    names = ["alpha.md", "Alpha.md", "caf\u00e9.md", "cafe\u0301.md", "straße.md", "STRASSE.md", "other.md"]
    found = problems(dict.fromkeys(names, b""), FormatName.MARKDOWN)

    assert [problem.kind for problem in found] == ["name-clash"] * 3
    pairs = [("Alpha.md", "alpha.md"), ("caf\u00e9.md", "cafe\u0301.md"), ("STRASSE.md", "straße.md")]
    assert all(any(one in p.message and other in p.message for p in found) for one, other in pairs)


def test_c032_broken_table_row_is_named_with_its_lines() -> None:
    text = (
        "| [2026-08-12](2026-08-12.md) | chore |\n"
        "| [2026-08-11](2026-08-11.md) | feat: page builder\n\n"
        "The first version asked for hand work.\n"
        "- builder.ts: one command |\n"
    )
    documents = {"MEMORY.md": text.encode(), "2026-08-12.md": b"", "2026-08-11.md": b""}
    [problem] = problems(documents, FormatName.MARKDOWN)

    assert (problem.kind, problem.line) == ("broken-table", 2)
    assert "Row 2026-08-11 spans 4 lines" in problem.message
    assert [link.target for link in links(documents["MEMORY.md"])] == ["2026-08-12.md", "2026-08-11.md"]


@pytest.mark.parametrize(
    "text",
    [
        "| a | b |\n|---|---|\n| 1 | 2 |\n\ntext |\n",
        "| a | b\n|---|---\n| 1 | 2\n\ntext |\n",
        "```\n| a | b\nx |\n```\n",
        "| a |\n|---|\n| open\n\n## Next\n\ntext |\n",
        "| a |\n|---|\n| open \\|\n",
    ],
)
def test_tables_that_are_not_broken(text: str) -> None:
    assert lint(tree(n=text), FormatName.MARKDOWN) == []


def test_unreadable_documents_are_named_and_the_rest_is_checked() -> None:
    documents = {"a.md": b"ok\n\xff\n", "b.md": b"[x](a.md) [y](gone.md)", "c.md": b"x" * (2 * 1024 * 1024 + 1)}

    assert lint(documents, FormatName.MARKDOWN) == [
        ("not-utf8", "a.md", 2),
        ("dead-link", "b.md", 1),
        ("over-size", "c.md", None),
    ]


def test_c056_large_notes_and_long_lines_are_scanned_in_time() -> None:
    documents = {"long.md": b"word " * 400_000, "large.md": b"a line of a large note\n" * 900_000}
    started = time.process_time()

    assert lint(documents, FormatName.CLAUDE) == [("over-size", "large.md", None)]
    assert time.process_time() - started < 20


def test_c109_strange_names_do_not_break_a_scan() -> None:
    names = ["メモ.md", "a b/c.md", "x\ny.md", "-rf.md", "tab\there.md", "q&a.md"]

    for name in FormatName:
        assert lint(dict.fromkeys(names, b"text\n"), name) == []
