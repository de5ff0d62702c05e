"""Sentences that were recorded in English are found again and said in the language of the page."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.utils import translation

from memoryreview.core.errors import NoMatchError, NotUtf8Error
from memoryreview.review.operations.errors import BusyError, NotFoundError
from memoryreview.review.presenters.recorded import in_language, note_in_language, title_in_language
from memoryreview.review.presenters.words import plural


@pytest.fixture(autouse=True)
def chinese() -> Iterator[None]:
    with translation.override("zh-hans"):
        yield


def test_sentence_without_values_is_translated() -> None:
    assert in_language("A new document is always read by a person.") == "新文档总是由人来读。"


def test_values_are_kept_where_they_stand() -> None:
    assert in_language(str(NotUtf8Error("notes/a.md", 17))) == (
        "“notes/a.md”不是 UTF-8（字节 17）：它在这里为只读。请先转换；没有更改任何内容。"
    )


def test_words_of_ours_among_the_values_are_translated_too() -> None:
    assert in_language(str(BusyError("notes"))) == "存储库“notes”正忙于另一项变更。没有更改任何内容；请稍后重试。"
    assert in_language(str(NotFoundError("store", "x"))) == "没有您可以使用的存储库“x”。没有存储任何内容。"
    assert "出现 3 次" in in_language(str(NoMatchError("a.md", 1, 3, (), "0" * 40)))


def test_quoted_value_is_somebodys_own_and_stays() -> None:
    told = in_language(str(NotUtf8Error("This document", 1)))

    assert "“This document”" in told


def test_several_sentences_are_translated_one_by_one() -> None:
    text = "It would be forgotten, and nothing replaces it. A number changes: 5432 becomes 5433."

    assert in_language(text) == "它会被遗忘，没有内容取代它。数字改变：5432 变为 5433。"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Nobody of ours ever said this.",
        "“x” is not UTF-8",
        "x" * 100_000,
        "%(path)s %s %",
        "“" * 2_000 + " is not UTF-8 (byte 1): it is read-only here.",
    ],
)
def test_what_the_catalogue_lacks_stays_as_it_is(text: str) -> None:
    assert in_language(text) == text


def test_percent_and_names_in_a_value_are_only_text() -> None:
    assert "“%(path)s 100 % {x}”" in in_language(str(NotUtf8Error("%(path)s 100 % {x}", 1)))


def test_english_page_says_what_was_recorded() -> None:
    sentence = str(BusyError("notes"))

    with translation.override("en"):
        assert in_language(sentence) == sentence
        assert title_in_language("Add “x” to Tools") == "Add “x” to Tools"


@pytest.mark.parametrize(
    ("title", "said"),
    [
        ("Add “Use npm” to Tools", "在 Tools 中添加“Use npm”"),
        ("Delete “Use npm”", "删除“Use npm”"),
        ("Rewrite “a” as “b” in Tools", "将“a”改写为“b” (Tools)"),
        ("Rewrite “Use npm for” as “Use pnpm fo…", "将“Use npm for”改写为“Use pnpm fo…”"),
        ("5432 becomes 5433 in “The port is 5432.”", "“The port is 5432.”中 5432 变为 5433"),
        ("Roll back “Add “x””", "回滚“Add “x””"),
        ("Remove 3 trailing blanks from line 11, and 1 more", "从第 11 行移除 3 个行尾空白，以及另外 1 处"),
        ("First note", "First note"),
    ],
)
def test_titles_made_from_changes(title: str, said: str) -> None:
    assert title_in_language(title) == said


@pytest.mark.parametrize(
    "note", ["The port becomes 5433 in “x”", "Add “x” to y", "lines are", "5 lines are", "moved, word"]
)
def test_note_of_a_person_is_not_taken_for_ours(note: str) -> None:
    assert note_in_language(note) == note


def test_note_of_ours_is_translated() -> None:
    assert (
        note_in_language("A newer write, proposal 12, holds the same documents.")
        == "更新的写入，即提案 12，含有相同的文档。"
    )


def test_counts_have_their_measure_word() -> None:
    assert plural(1, "document") == "1 个文档"
    assert plural(1200, "line") == "1,200 行"
