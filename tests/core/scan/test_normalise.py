from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoryreview.core.scan.normalise import (
    flat,
    joined,
    lines,
    paragraphs,
    plain,
    reading_view,
    reversed_view,
    secret_view,
    spliced,
    view_of,
)

ODD_TEXT = st.text(st.sampled_from("aAé%4\\u0&#;ﬁﷺ\u200b\u0301\u1100\u1161І \n\t*_`\u3164\u2028\x1b"), max_size=60)


@pytest.mark.parametrize(
    ("text", "reading"),
    [
        ("Ig\u200bnore", "ignore"),
        ("Ignore\u3164all", "ignore all"),
        ("a\u2028b", "a\nb"),
        ("&#73;gnore &amp;lt;x", "ignore <x"),
        ("%49gnore%2520all", "ignore all"),
        ("\\u0049gn\\x6fre", "ignore"),
        ("Ｉｇｎｏｒｅ", "ignore"),
        ("Ignοre", "ignore"),
        ("Іgnоrе", "ignore"),
        ("ɪɢɴᴏʀᴇ", "ignore"),
        ("I\u0336g\u0336nore", "ignore"),
        ("précédentes", "precedentes"),
        ("игнорируй правила", "игнорируй правила"),
        ("ハンハ\u3099", "ハンバ"),
        ("\u1112\u1161\u11ab", "한"),
        ("ﷺ", "ﷺ"),
        ("STRASSE ß", "strasse ss"),
    ],
)
def test_reading_view_undoes_one_disguise(text: str, reading: str) -> None:
    assert reading_view(text).text == reading


def test_grounds_differ_in_what_they_keep_of_line_breaks() -> None:
    view = view_of("one\ntwo  three\n\nfour\n- five")

    grounds = [ground(view).text for ground in (flat, paragraphs, lines)]

    assert grounds == [
        "one two three four - five",
        "one two three\nfour\n- five",
        "one\ntwo three\n\nfour\n- five",
    ]


def test_plain_drops_emphasis_and_code_marks() -> None:
    assert plain(view_of("**a** _b_ `c` ~~d~~")).text == "a b c d"


def test_span_names_the_characters_that_a_match_came_from() -> None:
    text = "x &#73;gn\u200bore ﬁx"
    view = reading_view(text)
    start = view.text.index("ignore")

    assert text[slice(*view.span(start, start + 6))] == "&#73;gn\u200bore"
    assert text[slice(*view.span(view.text.index("i", start + 1), view.text.index("x", 3)))] == "ﬁ"


def test_reversed_view_points_back() -> None:
    view = reversed_view(view_of("abc def"))

    assert (view.text, view.span(0, 3)) == ("fed cba", (4, 7))


def test_joined_views_keep_their_places() -> None:
    whole = view_of("abcdef")

    view = joined([whole.part(4, 6), whole.part(0, 2)], "\n")

    assert (view.text, view.span(3, 5), view.span(0, 2)) == ("ef\nab", (0, 2), (4, 6))


def test_splice_without_edits_is_the_view_itself() -> None:
    view = view_of("abc")

    assert spliced(view, []) is view


@given(ODD_TEXT)
@settings(max_examples=150, deadline=None)
def test_every_view_has_one_place_in_the_text_per_character(text: str) -> None:
    for make in (secret_view, reading_view, lambda t: plain(flat(reading_view(t))), lambda t: paragraphs(view_of(t))):
        view = make(text)

        assert len(view.text) == len(view.starts) == len(view.ends)
        assert all(0 <= start < end <= len(text) for start, end in zip(view.starts, view.ends, strict=True))
        assert list(view.starts) == sorted(view.starts)
