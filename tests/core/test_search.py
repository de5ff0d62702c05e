from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryreview.core.search import MAX_TERMS, Part, fold, hits, marked, terms, trigrams


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("npm  Port", ("npm", "port")),
        ('"never force-push" main', ("never force-push", "main")),
        ('"open end', ("open end",)),
        ('"" " "', ()),
        ("ÉTÉ e\u0301te\u0301", ("été",)),
        ("端口", ("端口",)),
        ("a" * 300, ("a" * 100,)),
    ],
)
def test_what_is_typed_becomes_terms(wanted: str, found: tuple[str, ...]) -> None:
    assert terms(wanted) == found


def test_terms_are_limited() -> None:
    assert len(terms(" ".join(map(str, range(50))))) == MAX_TERMS


def test_short_terms_have_no_trigram() -> None:
    assert trigrams("ab") == ()
    assert trigrams("abcab") == ("abc", "bca", "cab")


def test_lines_that_hold_most_come_first_and_stay_in_order() -> None:
    data = b"npm\nport\nneither\nthe npm port\nnpm again\n"

    found = hits(data, ("npm", "port"), at_most=2)

    assert [hit.lineno for hit in found.lines] == [1, 4]
    assert found.count == 4
    assert found.lines[1].parts == (Part("the ", False), Part("npm", True), Part(" ", False), Part("port", True))


def test_marks_fit_characters_that_folding_lengthens() -> None:
    assert marked("die Straße hier", ("strasse",)) == (
        Part("die ", False),
        Part("Straße", True),
        Part(" hier", False),
    )
    assert marked("ŉab", ("n",)) == (Part("ŉ", True), Part("ab", False))


def test_marks_that_touch_become_one() -> None:
    assert marked("数据库端口", ("数据", "据库")) == (Part("数据库", True), Part("端口", False))


def test_long_lines_are_cut_around_the_first_hit() -> None:
    parts = marked("x" * 5_000 + "needle" + "y" * 5_000, ("needle",))

    assert [part.text for part in parts if part.is_hit] == ["needle"]
    assert (parts[0].text, parts[-1].text[-2:]) == ("…", "y…")
    assert sum(len(part.text) for part in parts) < 250


@given(st.text(), st.text(min_size=1, max_size=3))
def test_marking_changes_no_character(text: str, wanted: str) -> None:
    short = text[:200]

    assert "".join(part.text for part in marked(short, terms(wanted))) == short


@given(st.binary())
def test_any_bytes_can_be_searched(data: bytes) -> None:
    assert hits(data, ("a",), at_most=3).count == sum(
        "a" in fold(line.decode("utf-8", "replace")) for line in data.split(b"\n")
    )
