from __future__ import annotations

import pytest

from memoryreview.core import formats
from memoryreview.core.model import FormatName
from tests.core.folders import lint, problems, topic, tree


def test_c035_byte_cap_cuts_before_the_line_cap() -> None:
    rows = [f"- [T{number}](t.md) — {'x' * 620}" for number in range(1, 42)]
    data = ("\n".join(rows) + "\n").encode()
    found = problems(tree(t=topic()) | {"MEMORY.md": data})

    assert (data.count(b"\n"), len(data) > 25_000) == (41, True)
    assert [problem.kind for problem in found] == ["index-bytes", "never-loaded"]
    assert "41 of 200 lines" in found[0].message
    assert found[1].line == found[0].line
    first_lost = data[:25_000].count(b"\n") + 1
    assert found[1].line == first_lost
    assert found[1].message.startswith(f"{42 - first_lost} rows are never loaded, newest first: “T41”, “T40”")


def test_c037_rows_after_line_200_are_named_newest_first() -> None:
    rows = [f"- [T{number}](t.md) — x" for number in range(1, 201)]
    rows += ["", "## newest", "", "- [Correction](t.md) — replaces row 12", "- [Last](t.md)"]
    found = problems(tree(t=topic(), MEMORY="\n".join(rows)))

    assert [(problem.kind, problem.line) for problem in found] == [("index-lines", 201), ("never-loaded", 201)]
    assert "2 rows are never loaded, newest first: “Last”, “Correction”" in found[1].message


@pytest.mark.parametrize(("lines", "kinds"), [(159, []), (160, ["budget-warning"]), (200, ["budget-warning"])])
def test_warning_from_eighty_percent_on(lines: int, kinds: list[str]) -> None:
    documents = tree(t=topic(), MEMORY="- [T](t.md)\n" * lines)

    assert [kind for kind, _, _ in lint(documents)] == kinds


def test_warning_counts_bytes_too() -> None:
    [problem] = problems(tree(t=topic(), MEMORY=f"- [T](t.md) — {'x' * 20_000}\n"))

    assert problem.kind == "budget-warning"
    assert "1 of 200 lines and 20,017 of 25,000 bytes" in problem.message


def test_meters_leave_out_frontmatter_and_comments() -> None:
    data = b"---\nname: x\n---\n<!-- one\n\ntwo --> \n- [T](t.md) <!-- aside -->\n`<!-- code -->`\n<!-- open\n"
    lines, size = formats.of(FormatName.CLAUDE).meters("MEMORY.md", data)

    assert (lines.unit, lines.used, lines.limit, lines.cut_line) == ("lines", 3, 200, None)
    assert (size.unit, size.used, size.limit) == (
        "bytes",
        len(b"- [T](t.md) \n`<!-- code -->`\n<!-- open\n"),
        25_000,
    )


def test_meters_name_the_first_line_that_is_cut() -> None:
    claude = formats.of(FormatName.CLAUDE)
    comment = b"<!--\n" * 1 + b"x\n" * 50 + b"-->\n"

    assert {meter.cut_line for meter in claude.meters("MEMORY.md", comment + b"- x\n" * 205)} == {253}
    assert {meter.cut_line for meter in claude.meters("MEMORY.md", b"x" * 24_999 + b"\ny\n")} == {2}
    assert claude.meters("topic.md", b"x\n" * 500) == ()


def test_dead_rows_below_the_bulk_limit_are_named() -> None:
    rows = "".join(f"- [T{number}](t{number}.md)\n" for number in range(6))
    documents = {f"t{number}.md": topic(f"t{number}").encode() for number in range(1, 6)}

    assert lint(documents | tree(MEMORY=rows)) == [("dead-row", "MEMORY.md", 1)]


@pytest.mark.parametrize(("present", "missing", "kind"), [(0, 5, "dead-row"), (1, 6, "bulk-dead"), (30, 6, "dead-row")])
def test_c040_bulk_means_more_than_five_and_a_fifth(present: int, missing: int, kind: str) -> None:
    documents = {f"t{number}.md": topic(f"t{number}").encode() for number in range(present)}
    rows = "".join(f"- [T{number}](t{number}.md)\n" for number in range(present + missing))

    found = [kind for kind, _, _ in lint(documents | tree(MEMORY=rows))]

    assert found == [kind] * (1 if kind == "bulk-dead" else missing)


def test_table_index_counts_as_rows() -> None:
    rows = "".join(f"| [T{number}](t{number}.md) | x |\n" for number in range(9))
    documents = tree(a=topic(), MEMORY=f"- [A](a.md)\n\n| T | x |\n|---|---|\n{rows}")

    assert lint(documents) == [("bulk-dead", "MEMORY.md", None)]


def test_orphans_are_documents_that_the_index_does_not_point_to() -> None:
    documents = tree(
        MEMORY="- [A](a.md)\n\nsee [[b-name]] and [c](sub/c.md)\n",
        a=topic(body="[[e]]"),
        b=topic("b-name"),
        sub__c=topic("c"),
        sub__d=topic("d"),
        e=topic("e"),
        own__MEMORY="- [F](f.md)\n",
        own__f=topic("f"),
    ) | {"a (conflicted copy 2026-01-01).md": b"", "tool.py": b""}

    assert lint(documents) == [
        ("conflict-copy", "a (conflicted copy 2026-01-01).md", None),
        ("orphan", "e.md", None),
        ("orphan", "sub/d.md", None),
    ]


def test_document_that_the_index_names_without_a_link_is_no_orphan() -> None:
    index = "- [A](a.md)\n- `b.md`: ports\n\nsee c.md for hosts, not dd.md\n"
    documents = tree(MEMORY=index, a=topic(), b=topic("b"), c=topic("c"), d=topic("d"))

    assert lint(documents) == [("orphan", "d.md", None)]


def test_index_too_large_to_be_parsed_orphans_nothing() -> None:
    documents = tree(a=topic(), MEMORY="- [B](b.md)\n" * 50_000)

    assert lint(documents) == [("index-lines", "MEMORY.md", 201), ("index-bytes", "MEMORY.md", 201)]


def test_c034_index_with_only_a_comment_is_no_error() -> None:
    documents = tree(MEMORY="<!-- Memory index: one line per entry -->\n")

    assert lint(documents, FormatName.CLAUDE) == []


def test_entries_of_topic_and_index() -> None:
    claude = formats.of(FormatName.CLAUDE)
    found = claude.entries("a.md", topic("A note", "**Why:** x\n\n- one\n- two\n  more").encode())

    assert [(entry.kind, entry.lines, entry.text) for entry in found] == [
        ("document", (1, 6), "d"),
        ("paragraph", (8, 8), "**Why:** x"),
        ("bullet", (10, 10), "one"),
        ("bullet", (11, 12), "two more"),
    ]
    assert found[0].title == "A note"
    index = claude.entries("MEMORY.md", b"# Index\n\n- [**A**](a.md) \xe2\x80\x94 h\n- fact\n")
    assert [(entry.kind, entry.title) for entry in index] == [
        ("section", "Index"),
        ("row", "A"),
        ("bullet", "fact"),
    ]
