from __future__ import annotations

import pytest

from memoryreview.core import formats
from memoryreview.core.model import FormatName
from tests.core.folders import lint, tree

hermes = formats.of(FormatName.HERMES)


def texts(data: bytes) -> list[str]:
    return [data[entry.start : entry.end].decode() for entry in hermes.entries("MEMORY.md", data)]


def test_entries_are_separated_by_the_three_characters_only() -> None:
    data = "\ufeffA § 1\n§\nB\n\n## h\n- x\n§\n §\nC\n§\n\n§\nD\n".encode()

    assert texts(data) == ["A § 1", "B\n\n## h\n- x", "§\nC", "D"]
    assert [entry.lines for entry in hermes.entries("MEMORY.md", data)] == [(1, 1), (3, 6), (8, 9), (13, 13)]


def test_crlf_delimiters_count() -> None:
    assert texts("A\r\n§\r\nB".encode()) == ["A", "B"]


def test_c019_file_without_delimiter_is_read_as_markdown_and_flagged() -> None:
    data = b"## Schedule\n- Daily: check\n\n## Projects\nArchive under /data\n"

    assert [entry.kind for entry in hermes.entries("MEMORY.md", data)] == [
        "section",
        "bullet",
        "section",
        "paragraph",
    ]
    assert lint({"MEMORY.md": data}) == [("no-delimiter", "MEMORY.md", None)]
    assert lint({"MEMORY.md": data}, FormatName.HERMES) == [("no-delimiter", "MEMORY.md", None)]


def test_single_entry_needs_no_delimiter() -> None:
    documents = tree(MEMORY="Project acme uses uv")

    assert lint(documents) == []
    assert lint(documents, FormatName.HERMES) == []
    assert texts(documents["MEMORY.md"]) == ["Project acme uses uv"]


def test_titled_or_indexed_markdown_is_no_hermes_file() -> None:
    assert lint(tree(MEMORY="# Reviewer\n\n- Check migrations first.\n")) == []
    assert lint(tree(MEMORY="fact\n\nfact\n", notes="x")) == []


def test_meters_count_characters_of_the_joined_entries() -> None:
    [meter] = hermes.meters("USER.md", "é\r\n§\r\nab\n".encode())

    assert (meter.unit, meter.used, meter.limit, meter.cut_line) == ("characters", len("é\n§\nab"), 1_375, None)
    assert hermes.meters("notes.md", b"x") == ()


@pytest.mark.parametrize(("chars", "kinds"), [(1_759, []), (1_760, ["budget-warning"]), (2_201, ["budget-warning"])])
def test_warning_from_eighty_percent_on(chars: int, kinds: list[str]) -> None:
    assert [kind for kind, _, _ in lint(tree(MEMORY="x" * chars), FormatName.HERMES)] == kinds
