from __future__ import annotations

import os

import pytest

from memoryreview.review.presenters.editing import boxes, typed_texts


@pytest.mark.parametrize(
    ("path", "content", "refusal"),
    [
        ("a.md", None, "This document goes"),
        ("a.md", b"caf\xe9\n", "is not UTF-8"),
        ("a.md", b"one\rtwo\n", "a character that a text box does not keep"),
        ("a.md", b"one\0two\n", "a character that a text box does not keep"),
        ("a.md", b"x" * (1024 * 1024 + 1), "too large for a text box"),
        ("line\nbreak.md", b"text\n", "cannot carry the name"),
        (os.fsdecode(b"caf\xe9.md"), b"text\n", "cannot carry the name"),
    ],
)
def test_box_is_refused_where_a_byte_would_be_lost(path: str, content: bytes | None, refusal: str) -> None:
    [box] = boxes({path: content})

    assert refusal in box.refusal
    assert box.text == ""


def test_box_keeps_marks_and_line_ends() -> None:
    [box] = boxes({"a.md": "\ufeff\r\n\r\ntext\r\n".encode()})

    assert (box.text, box.refusal) == ("\ufeff\r\n\r\ntext\r\n", "")


def test_typed_text_stands_before_the_documents_own() -> None:
    first, second = boxes({"b.md": b"two\n", "a.md": b"one\n"}, {"b.md": "typed"})

    assert [(box.path, box.text) for box in (first, second)] == [("a.md", "one\n"), ("b.md", "typed")]


def test_texts_of_a_form_are_read_by_path() -> None:
    form = {"path-0": "a.md", "text-0": "one", "path-1": "b.md", "text-2": "lost", "version": "3"}

    assert typed_texts(form) == {"a.md": "one"}
