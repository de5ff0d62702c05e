from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoryreview.core import text
from memoryreview.core.errors import NotUtf8Error
from memoryreview.core.model import Rewrite

pieces = st.lists(st.sampled_from([b"a", b"\r", b"\n", b"\r\n", b"\x0c", b"\xc2\x85", b"\xff", "\u2028".encode()]))


@given(pieces.map(b"".join))
@settings(max_examples=200)
def test_split_lines_concatenates_to_the_input(data: bytes) -> None:
    lines = text.split_lines(data)

    assert b"".join(line.body + line.eol for line in lines) == data
    assert [data[line.start : line.end] for line in lines] == [line.body + line.eol for line in lines]
    assert [line.number for line in lines] == list(range(1, len(lines) + 1))
    assert len(lines) == data.count(b"\n") + (not data.endswith(b"\n") and data != b"")


def test_c110_split_lines_knows_no_other_line_ends() -> None:
    lines = text.split_lines("one\u2028still one\nx\x0cy\nz\x85z\n".encode())

    assert [line.body.decode() for line in lines] == ["one\u2028still one", "x\x0cy", "z\x85z"]


def test_split_lines_keeps_a_lone_cr_and_the_missing_final_newline() -> None:
    lines = text.split_lines(b"a\rb\r\n\r\r\nlast")

    assert [(line.body, line.eol) for line in lines] == [(b"a\rb", b"\r\n"), (b"\r", b"\r\n"), (b"last", b"")]


def test_decode_keeps_the_byte_order_mark() -> None:
    assert text.decode(b"\xef\xbb\xbfx", "a.md") == "\ufeffx"


def test_decode_names_path_and_offset_of_the_first_bad_byte() -> None:
    with pytest.raises(NotUtf8Error) as caught:
        text.decode(b"ok\xff", "a.md")

    assert (caught.value.path, caught.value.offset) == ("a.md", 2)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", b"\n"),
        (b"a", b"\n"),
        (b"a\nb\r\n", b"\n"),
        (b"a\r\nb\r\nc\n", b"\r\n"),
        (b"a\rb\rc\r\n", b"\r\n"),
    ],
)
def test_line_end_follows_the_majority(data: bytes, expected: bytes) -> None:
    assert text.line_end(data) == expected


def test_normalise_collapses_space_and_tab_only() -> None:
    assert text.normalise(" \te\u0301  x\t\ty ") == "é x y"
    assert text.normalise("a\u00a0\u00a0b\u3000") == "a\u00a0\u00a0b\u3000"


@pytest.mark.parametrize(
    ("one", "other"), [("alpha.md", "Alpha.md"), ("caf\u00e9.md", "cafe\u0301.md"), ("straße.md", "STRASSE.md")]
)
def test_c052_fold_name_makes_equal_names_equal(one: str, other: str) -> None:
    assert text.fold_name(one) == text.fold_name(other)


def test_fold_name_keeps_different_names_apart() -> None:
    assert text.fold_name("a-b.md") != text.fold_name("a_b.md")


def test_apply_rewrites_changes_only_the_spans() -> None:
    rewrites = [Rewrite("a", 0, 0, b"<"), Rewrite("a", 1, 3, b"X"), Rewrite("a", 3, 3, b"Y"), Rewrite("a", 4, 4, b">")]

    assert text.apply_rewrites(b"abcd", rewrites) == b"<aXYd>"


def test_c010_apply_rewrites_counts_the_byte_order_mark() -> None:
    data = b"\xef\xbb\xbf# Title\n\nold word here\n"
    start = data.index(b"old")

    assert text.apply_rewrites(data, [Rewrite("a", start, start + 3, b"new")]) == data.replace(b"old", b"new")


@pytest.mark.parametrize("spans", [[(2, 1)], [(0, 5)], [(2, 3), (0, 1)], [(0, 2), (1, 3)], [(-1, 0)]])
def test_apply_rewrites_refuses_bad_spans(spans: list[tuple[int, int]]) -> None:
    with pytest.raises(ValueError, match="span"):
        text.apply_rewrites(b"abcd", [Rewrite("a", start, end, b"") for start, end in spans])


def test_is_cjk_knows_scripts_without_blanks() -> None:
    assert [char for char in "漢々かカ한ไทﾊ𠀀ーa1é。、 \u3000①" if text.is_cjk(char)] == list("漢々かカ한ไทﾊ𠀀ー")
