from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoryreview.core.formats import index
from memoryreview.core.formats.base import IndexRow

CORPORA = Path(__file__).parents[2] / "fixtures" / "corpora"


def rows(text: str) -> tuple[IndexRow, ...]:
    return index.rows(text.encode())


def appended(text: str, title: str = "N", target: str = "n.md", description: str = "new") -> str:
    return index.append_row(text.encode(), title=title, target=target, description=description).decode()


def test_c031_separators_differ_and_targets_and_hooks_are_right() -> None:
    found = rows(
        "- [Crew game; concept](project_crew.md); pass-and-play\n"
        "- [feedback_x.md](feedback_x.md) — hook\n"
        "- [y](y.md): hook\n"
        "- [z](z.md)\n"
    )

    assert [(row.title, row.target, row.separator, row.hook) for row in found] == [
        ("Crew game; concept", "project_crew.md", "; ", "pass-and-play"),
        ("feedback_x.md", "feedback_x.md", " — ", "hook"),
        ("y", "y.md", ": ", "hook"),
        ("z", "z.md", "", ""),
    ]


@pytest.mark.parametrize(
    ("line", "marker", "title", "separator", "hook"),
    [
        ("- ★ [**T**](t.md) — h", "- ★ ", "**T**", " — ", "h"),
        ("- **[T](t.md)** — h", "- **", "T", "** — ", "h"),
        ("- **[T](t.md)**: h", "- **", "T", "**: ", "h"),
        ("* ⚠️ ✅ [T](t.md) - h", "* ⚠️ ✅ ", "T", " - ", "h"),
        ("12. [T](t.md) – h", "12. ", "T", " – ", "h"),
        ("- [ ] [T](t.md) -> h", "- [ ] ", "T", " -> ", "h"),
        ("- 1️⃣ [T](t.md)：h", "- 1️⃣ ", "T", "：", "h"),
        ("  - [T](t.md) — : rest", "  - ", "T", " — ", ": rest"),
        ("- [T](t.md) (note) more", "- ", "T", " ", "(note) more"),
        ("- [T](t.md) — h  ", "- ", "T", " — ", "h"),
        ("- [T](t.md) — see [x](x.md)", "- ", "T", " — ", "see [x](x.md)"),
        ("- ~~[T](t.md)~~ — gone", "- ~~", "T", "~~ — ", "gone"),
        ("- [T](t.md)\n  — h", "- ", "T", "\n  — ", "h"),
        ("- [T](t.md)\n  : h\n  more", "- ", "T", "\n  : ", "h more"),
        ("- [T](t.md)\n  h", "- ", "T", "", "h"),
        ("- [T](t.md). h", "- ", "T", ". ", "h"),
        ("- [T](t.md) · h", "- ", "T", " · ", "h"),
    ],
)
def test_row_is_taken_apart(line: str, marker: str, title: str, separator: str, hook: str) -> None:
    data = f"# Index\r\n\r\n{line}\r\n".encode()

    [row] = index.rows(data)

    assert (row.marker, row.title, row.separator, row.hook) == (marker, title, separator, hook)
    assert (row.target, row.lines) == ("t.md", (3, 3 + line.count("\n")))
    assert data[row.start : row.end].decode() == line
    assert " ".join(data[row.hook_start : row.end].decode().split()) == hook


def test_wiki_rows_have_the_name_as_target() -> None:
    found = rows("- [[project_x]] — h\n- [[project_y|Y note]]: h\n")

    assert [(row.kind, row.title, row.target, row.hook) for row in found] == [
        ("wiki", "project_x", "project_x", "h"),
        ("wiki", "Y note", "project_y", "h"),
    ]


def test_wrapped_row_is_one_row() -> None:
    data = b"- [T](t.md) \xe2\x80\x94 decided after the\n  review;\n  kept\n- [U](u.md)\n  goes on below\n"

    wrapped, below = index.rows(data)

    assert (wrapped.lines, wrapped.hook) == ((1, 3), "decided after the review; kept")
    assert data[wrapped.hook_start : wrapped.end] == b"decided after the\n  review;\n  kept"
    assert (below.lines, below.separator, below.hook) == ((4, 5), "", "goes on below")


def test_row_holds_all_that_is_its_own_but_no_list_below() -> None:
    text = "- [T](t.md) — h\n\n  more\n\n  ```\n  x\n  ```\n- [U](u.md)\n  - [V](v.md)\n\n- [W](w.md)\n"

    assert [(row.target, row.lines, row.hook, row.depth) for row in rows(text)] == [
        ("t.md", (1, 7), "h", 1),
        ("u.md", (8, 8), "", 1),
        ("v.md", (9, 9), "", 2),
        ("w.md", (11, 11), "", 1),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "- see [T](t.md)\n",
        "- 注 [T](t.md)\n",
        "- fact without a link\n",
        "[T](t.md) — no list\n",
        "- [T](https://h.example/t.md)\n",
        "- [T](#part)\n",
        "- ![T](t.md)\n",
        "> - [T](t.md)\n",
        "```\n- [T](t.md)\n```\n",
        "<!--\n- [T](t.md)\n-->\n",
        "| [T](t.md) | h |\n|---|---|\n",
        "- [ ] open\n",
        "- [[ -f x ]]\n",
    ],
)
def test_what_is_no_row(text: str) -> None:
    assert rows(text) == ()


def test_c034_index_with_only_a_comment_has_no_rows() -> None:
    assert rows("<!-- Memory index: one line per entry -->\n") == ()
    assert rows("> Keep one line per note.\n") == ()


def test_rows_of_the_big_index() -> None:
    found = index.rows((CORPORA / "claude-index-300" / "memory" / "MEMORY.md").read_bytes())

    assert len(found) == 236
    assert [row.lines[1] - row.lines[0] + 1 for row in found if row.lines[0] != row.lines[1]] == [3] * 30
    assert sum("How to apply:" in row.hook for row in found) == 20
    assert found[-1].title == "Correction 6"


def test_c034_first_row_goes_below_the_comment() -> None:
    comment = "<!-- Memory index: one line per entry -->\n"

    assert appended(comment) == comment + "- [N](n.md) — new\n"
    assert appended("> hint\n") == "> hint\n- [N](n.md) — new\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "- [N](n.md) — new\n"),
        ("# Index\n\n", "# Index\n\n- [N](n.md) — new\n"),
        ("# Index", "# Index\n- [N](n.md) — new"),
        ("# Index\r\n", "# Index\r\n- [N](n.md) — new\r\n"),
        ("* [A](a.md): x\n* [B](b.md): y\n\ntail\n", "* [A](a.md): x\n* [B](b.md): y\n* [N](n.md): new\n\ntail\n"),
        ("- [A](a.md) — x\r\n- [B](b.md) — y", "- [A](a.md) — x\r\n- [B](b.md) — y\r\n- [N](n.md) — new"),
        ("1. [A](a.md) - x\n2. [B](b.md) - y\n", "1. [A](a.md) - x\n2. [B](b.md) - y\n3. [N](n.md) - new\n"),
        ("- [[a]] — x\n", "- [[a]] — x\n- [[n]] — new\n"),
        ("- [[a|A]] — x\n", "- [[a|A]] — x\n- [[n|N]] — new\n"),
        ("- **[A](a.md)**: x\n", "- **[A](a.md)**: x\n- [N](n.md): new\n"),
        ("- [A](a.md)\n  - [B](b.md)\n- c\n", "- [A](a.md)\n  - [B](b.md)\n- [N](n.md) — new\n- c\n"),
        ("- [A](a.md)\n  - sub\n\n    deep\ntail", "- [A](a.md)\n  - sub\n\n    deep\ntail\n- [N](n.md) — new"),
        ("- [A](a.md) — x\n  wrapped\n# Next\n", "- [A](a.md) — x\n  wrapped\n- [N](n.md) — new\n# Next\n"),
        ("<div>\nopen\n", "<div>\nopen\n\n- [N](n.md) — new\n"),
        ("\ufeff# Index\n", "\ufeff# Index\n- [N](n.md) — new\n"),
    ],
)
def test_append_row_follows_the_index(text: str, expected: str) -> None:
    assert appended(text) == expected


def test_append_row_without_description_has_no_separator() -> None:
    assert appended("", description="") == "- [N](n.md)\n"


def test_append_row_below_an_open_fence_adds_the_bytes_but_no_row() -> None:
    assert appended("```\nopen\n") == "```\nopen\n\n- [N](n.md) — new\n"
    assert rows(appended("```\nopen\n")) == ()


def test_append_row_after_a_row_of_an_inner_list_stays_behind_its_own_lines() -> None:
    text = "- a\n  - [B](b.md)\n    - c\n\n      deep\n  - d\n- e\n"

    assert appended(text) == text.replace("  - d\n", "  - [N](n.md) — new\n  - d\n")


@pytest.mark.parametrize(
    ("title", "target", "row"),
    [
        ("A", "my note.md", "- [A](<my note.md>) — new\n"),
        ("A", "a(1).md", "- [A](<a(1).md>) — new\n"),
        ("A", "50%25.md", "- [A](50%2525.md) — new\n"),
        ("A", "q&a.md", "- [A](q%26a.md) — new\n"),
        ("a]b", "a.md", "- [a\\]b](a.md) — new\n"),
        ("`a", "a.md", "- [`a](a.md) — new\n"),
        ("two\nlines", "a.md", "- [two lines](a.md) — new\n"),
        ("会議", "会議.md", "- [会議](会議.md) — new\n"),
    ],
)
def test_append_row_writes_names_that_read_back(title: str, target: str, row: str) -> None:
    written = appended("", title, target, "new")

    assert written == row
    assert [found.target for found in rows(written)] == [target]


indexes = st.lists(
    st.sampled_from(["# h", "", "- [A](a.md) — x", "* [B](b.md): y", "  - [C](c.md)", "text", "> q", "1. [D](d.md)"]),
    max_size=6,
).flatmap(lambda lines: st.sampled_from(["\n", "\r\n"]).map(lambda eol: eol.join(lines)))
names = st.text(alphabet="ab ()<>%#&[]é-_.", min_size=1, max_size=8).map(lambda stem: f"x{stem}.md")


@given(indexes, st.text(alphabet="ab[]`*<(é", max_size=6), names, st.text(alphabet="ab —`[<\n", max_size=6))
@settings(max_examples=200)
def test_append_row_adds_one_row_and_keeps_every_byte(text: str, title: str, target: str, description: str) -> None:
    data = text.encode()
    before = index.rows(data)

    result = index.append_row(data, title=title, target=target, description=description)

    added = len(result) - len(data)
    assert any(result[:at] + result[at + added :] == data for at in range(len(data) + 1))
    assert [row.target for row in index.rows(result)].count(target) == [row.target for row in before].count(target) + 1
    assert result.endswith(b"\n") or not data.endswith(b"\n")


@given(st.binary(max_size=60))
def test_rows_is_total_on_arbitrary_bytes(data: bytes) -> None:
    for row in index.rows(data):
        assert 0 <= row.start <= row.hook_start <= row.end <= len(data)
