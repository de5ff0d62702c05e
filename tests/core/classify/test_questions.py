from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoryreview.core.classify.questions import MAX_LINES, MAX_PATHS, Questions, questions
from memoryreview.core.model import Context, Limits

CONTEXT = Context()


def asked(path: str, before: str, after: str | None, **others: str) -> Questions:
    base = {path: before.encode(), **{f"{name}.md": text.encode() for name, text in others.items()}}
    return questions(base, {path: after.encode() if after is not None else None}, CONTEXT)


@pytest.mark.parametrize(
    ("path", "row", "paths"),
    [
        ("MEMORY.md", "- [Gone](gone.md) — old", ("gone.md",)),
        ("a/MEMORY.md", "- [Gone](../b/gone.md#part)", ("b/gone.md",)),
        ("MEMORY.md", "- [Gone](sub/../my%20gone.md)", ("my gone.md", "my%20gone.md")),
        ("MEMORY.md", "- [[gone]]", ("gone.md",)),
        ("a/MEMORY.md", "- [[gone|label]]", ("a/gone.md", "gone.md")),
        ("MEMORY.md", "See [it].\n\n[it]: gone.md", ("gone.md",)),
        ("MEMORY.md", "- [Café](café.md)", ("café.md", "cafe\u0301.md")),
        ("MEMORY.md", "See [it](gone.md) and\n[that\none](also.md).", ("gone.md", "also.md")),
    ],
)
def test_missing_target_of_a_line_that_goes_is_asked_for(path: str, row: str, paths: tuple[str, ...]) -> None:
    assert asked(path, f"# Index\n\n{row}\n", "# Index\n").paths == paths


@pytest.mark.parametrize(
    "row",
    [
        "- [Here](here.md) — stands",
        "- [Web](https://example.org/gone.md)",
        "- ![Image](gone.md)",
        "- [Out](../../gone.md)",
        "- [Place](#part)",
        "- `[code](gone.md)`",
    ],
)
def test_link_that_names_no_missing_document_is_not_asked_for(row: str) -> None:
    assert not asked("MEMORY.md", f"{row}\n- x\n", "- x\n", here="Text.\n")


def test_link_in_a_line_that_stays_is_not_asked_for() -> None:
    row = "- [Gone](gone.md)\n"

    assert not asked("MEMORY.md", f"{row}- a\n", f"{row}- b\n")
    assert asked("MEMORY.md", f"{row}{row}", row).paths == ("gone.md",)


def test_new_and_deleted_documents_ask_nothing() -> None:
    assert not asked("MEMORY.md", "- [Gone](gone.md)\n", None)
    assert not questions({}, {"new.md": b"- [Gone](gone.md)\n"}, CONTEXT)


def test_line_is_asked_for_when_a_date_with_a_word_takes_its_place() -> None:
    before = "- Yesterday it failed.\n- Other.\n"

    assert asked("log.md", before, "- 2026-05-19 (yesterday) it failed.\n- Other.\n").lines == (
        ("log.md", b"- Yesterday it failed."),
    )
    assert asked("log.md", "- 昨天失败了\n", "- 2026-05-19（昨天）失败了\n").lines == (
        ("log.md", "- 昨天失败了".encode()),
    )
    assert not asked("log.md", before, "- It failed.\n- Other.\n")


def test_questions_are_bounded() -> None:
    rows = "".join(f"- [Row {n}](gone{n}.md)\n" for n in range(MAX_PATHS + 50))
    lines = "".join(f"- Yesterday {n} failed.\n" for n in range(MAX_LINES + 50))

    assert asked("MEMORY.md", rows, "").paths == tuple(f"gone{n}.md" for n in range(MAX_PATHS))
    assert len(asked("log.md", lines, "- 2026-05-19 (yesterday)\n").lines) == MAX_LINES


def test_document_that_is_never_safe_asks_nothing() -> None:
    context = Context(limits=Limits(file_bytes=10))

    assert not questions({"MEMORY.md": b"- [Gone](gone.md)\n"}, {"MEMORY.md": b""}, context)


_LINE = st.sampled_from(
    ["- [A](a.md)", "- [[b]]", "- Yesterday it broke.", "- 2026-05-19 (yesterday) it broke.", "", "# Log"]
)
_TEXT = st.lists(_LINE, max_size=8).map(lambda lines: "".join(f"{line}\n" for line in lines).encode())


@settings(max_examples=60, deadline=None)
@given(base=st.dictionaries(st.sampled_from(["m.md", "n.md", "a.md"]), _TEXT | st.binary(max_size=40)), new=_TEXT)
def test_part_of_a_change_asks_no_more_than_all_of_it(base: dict[str, bytes], new: bytes) -> None:
    whole = questions(base, dict.fromkeys(base, new), CONTEXT)

    for path in base:
        part = questions(base, {path: new}, CONTEXT)
        assert set(part.paths) <= set(whole.paths)
        assert set(part.lines) <= set(whole.lines)


def test_full_date_that_comes_asks_for_the_first_commit_and_for_lines_that_it_may_have_completed() -> None:
    base = {"a.md": b"Apr 15 appeal\n\nuse pnpm\n"}

    assert questions(base, {"a.md": b"2026-04-15 appeal\n\nuse make\n"}, Context()) == Questions(
        lines=(("a.md", b"Apr 15 appeal"),), is_dated=True
    )
    assert questions(base, {"a.md": b"Apr 16 appeal\n\nuse make\n"}, Context()) == Questions()
