from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoryreview.core import frontmatter, markdown
from memoryreview.core.frontmatter import Frontmatter
from memoryreview.core.markdown import MAX_PARSED_BYTES, Link, Place
from memoryreview.core.text import split_lines

CORPORA = Path(__file__).parents[2] / "fixtures" / "corpora"


def places(text: str) -> list[str]:
    return [spot.place.value for spot in markdown.outline(text.encode())]


def targets(text: str) -> list[tuple[str, str, str]]:
    return [(link.kind, link.target, link.anchor) for link in markdown.links(text.encode())]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("---\nname: x\n---\n# T\n", ["frontmatter", "frontmatter", "frontmatter", "heading"]),
        ("# T\n\ntext\nmore\n", ["heading", "blank", "paragraph", "paragraph"]),
        ("Title\n=====\ntext\n", ["heading", "heading", "paragraph"]),
        ("- a\n  b\n- c\n", ["item", "item", "item"]),
        ("- a\nlazy\n", ["item", "item"]),
        ("1. a\n2. b\n", ["ordered", "ordered"]),
        ("1. a\n   - b\n", ["ordered", "item"]),
        ("```\ncode\n\n- x\n```\nafter\n", ["code", "code", "code", "code", "code", "paragraph"]),
        ("~~~\nopen\n", ["code", "code"]),
        ("text\n\n    code\n", ["paragraph", "blank", "code"]),
        ("- a\n\n  ```\n  code\n  ```\n", ["item", "blank", "code", "code", "code"]),
        ("> q\n> - a\nlazy\n", ["quote", "quote", "quote"]),
        ("> ```\n> c\n> ```\n", ["code", "code", "code"]),
        ("| a | b |\n|---|---|\n| 1 | 2 |\n", ["table", "table", "table"]),
        ("<!-- a\n\nb -->\ntext\n", ["html", "html", "html", "paragraph"]),
        ("<div>\nx\n</div>\n\ntext\n", ["html", "html", "html", "blank", "paragraph"]),
        ("[r]: x.md 'T'\n[s]:\n  y.md\ntext [r]\n", ["reference", "reference", "reference", "paragraph"]),
        ("[r]: x.md\n[r]: y.md\n", ["reference", "reference"]),
        ("- [r]: x.md\n- a\n", ["reference", "item"]),
        ("a\n\n---\n\nb\n", ["paragraph", "blank", "rule", "blank", "paragraph"]),
        ("A\n§\nB", ["paragraph", "paragraph", "paragraph"]),
        ("-\n- a\n", ["item", "item"]),
        ("- # h\n", ["heading"]),
        ("\ufeff# T\n", ["heading"]),
        ("\ufeff", ["blank"]),
        (" \t\n\u3000\n", ["blank", "paragraph"]),
        ("", []),
    ],
)
def test_outline_names_the_place_of_each_line(text: str, expected: list[str]) -> None:
    assert places(text) == expected


@pytest.mark.parametrize("stray", ["\r", "\x0b", "\x0c", "\x85", "\u2028", "\x00"])
def test_outline_counts_lines_as_git_does(stray: str) -> None:
    assert places(f"a{stray}# no heading\n# T{stray}\n```\nx{stray}\r\n```\r\n") == [
        "paragraph",
        "heading",
        "code",
        "code",
        "code",
    ]


def test_outline_gives_list_and_item_of_each_line() -> None:
    text = "- a\n  more\n\n  again\n\n- b\n  1. c\n     x\n  2. d\n\n  tail\n\n* e\n\ntext\n"
    spots = markdown.outline(text.encode())

    assert [(spot.list_id, spot.item_start, spot.depth) for spot in spots] == [
        (0, 1, 1),
        (0, 1, 1),
        (0, 1, 1),
        (0, 1, 1),
        (-1, 0, 0),
        (0, 6, 1),
        (1, 7, 2),
        (1, 7, 2),
        (1, 9, 2),
        (0, 6, 1),
        (0, 6, 1),
        (-1, 0, 0),
        (2, 13, 1),
        (-1, 0, 0),
        (-1, 0, 0),
    ]


def test_outline_numbers_sections_and_keeps_the_trail_of_headings() -> None:
    text = "top\n# A\n## B *x*\ntext\n### C\n> # quoted\n- # listed\n## D\n# E\n"
    spots = markdown.outline(text.encode())

    assert [(spot.section, spot.headings) for spot in spots] == [
        (0, ()),
        (1, ("A",)),
        (2, ("A", "B *x*")),
        (2, ("A", "B *x*")),
        (3, ("A", "B *x*", "C")),
        (3, ("A", "B *x*", "C")),
        (3, ("A", "B *x*", "C")),
        (4, ("A", "D")),
        (5, ("E",)),
    ]


def test_outline_of_lists_nested_beyond_the_parser_touches_nothing_inside() -> None:
    deep = "".join("  " * level + "- x\n" for level in range(14))

    assert places(deep)[-1] == "code"


def test_outline_of_other_bytes_and_huge_documents_is_code() -> None:
    assert [spot.place for spot in markdown.outline(b"# a\n\xff\n")] == [Place.CODE, Place.CODE]
    assert [spot.place for spot in markdown.outline(b"# a\n" + b"x" * MAX_PARSED_BYTES)] == [Place.CODE, Place.CODE]
    assert markdown.links(b"[a](b.md)\xff") == ()


def test_c043_valid_targets_are_read() -> None:
    text = (
        '[a](<palette (v2).md>) [b](palette%20(v2).md) [c](x.md "title") [d](x.md#a-b) '
        "[e](https://h.example/f_(g).md) [f](./x.md) [g](sub/../x.md)"
    )

    assert targets(text) == [
        ("inline", "palette (v2).md", ""),
        ("inline", "palette (v2).md", ""),
        ("inline", "x.md", ""),
        ("inline", "x.md", "a-b"),
        ("inline", "https://h.example/f_(g).md", ""),
        ("inline", "./x.md", ""),
        ("inline", "sub/../x.md", ""),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[a]( x.md 'it\\'s' )", [("inline", "x.md", "")]),
        ("[a](x.md (t))", [("inline", "x.md", "")]),
        ("[a](my file.md)", [("inline", "my file.md", "")]),
        ("[a](my file.md#part)", [("inline", "my file.md", "part")]),
        ("[a](q&amp;a.md) [b](q&a.md)", [("inline", "q&a.md", ""), ("inline", "q&a.md", "")]),
        ("[a](a\\(b.md)", [("inline", "a(b.md", "")]),
        ("[a](%E4%BC%9A.md) [b](50%25.md)", [("inline", "会.md", ""), ("inline", "50%.md", "")]),
        ("[a](x%FF.md)", [("inline", "x%FF.md", "")]),
        ("[a\nb](x.md)", [("inline", "x.md", "")]),
        ("[a [b] c](x.md)", [("inline", "x.md", "")]),
        ("[a [b](x.md) c](y.md)", [("inline", "x.md", "")]),
        ("[![i](p.png)](x.md)", [("inline", "x.md", ""), ("image", "p.png", "")]),
        ("![i](p.png) ![[note]]", [("image", "p.png", ""), ("wiki", "note", "")]),
        ("[a](x(1).md) [b](x(1.md) [c](y.md)", [("inline", "x(1).md", ""), ("inline", "y.md", "")]),
        ("- [x](done.md)\n- [x] (no.md)", [("inline", "done.md", "")]),
        ("> [a](x.md)\n> [b\n> c](y.md)", [("inline", "x.md", ""), ("inline", "y.md", "")]),
        ("| [a](x.md) | b |\n|---|---|\n| [[c\\|d]] | e |\n", [("inline", "x.md", ""), ("wiki", "c", "")]),
        ("# [a](x.md)\n", [("inline", "x.md", "")]),
        ("[a](#part) [b]()", [("inline", "", "part"), ("inline", "", "")]),
        ("[a]: x.md\n[a] [a][a]", []),
    ],
)  # fmt: skip
def test_links_read_as_a_markdown_reader_would(text: str, expected: list[tuple[str, str, str]]) -> None:
    assert targets(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "`[a](x.md)`",
        "``[a](x.md) ` [[b]]``",
        "`open\n[a](x.md)` x",
        "```\n[a](x.md)\n```",
        "    [a](x.md)",
        "<!-- [a](x.md)\n\n[b](y.md) -->",
        "text <!-- [a](x.md) --> more",
        "<div>\n[a](x.md)\n</div>",
        '<a href="[a](x.md)">b</a>',
        "<https://h.example/[a](x.md)>",
        "---\nname: '[a](x.md)'\n---",
        "\\[a](x.md)",
        "[a] (x.md)",
        "[a](x y)",
        "[a](<x\ny>)",
    ],
)
def test_links_are_not_read_from_code_html_and_escapes(text: str) -> None:
    assert targets(text) == []


def test_backslash_and_unmatched_backticks_hide_no_link() -> None:
    assert targets("`a [b](x.md) ``c\n\n\\`[d](y.md)\\`") == [("inline", "x.md", ""), ("inline", "y.md", "")]


@pytest.mark.parametrize(
    "text",
    [
        "use [[:space:]] in sed",
        "sed 's/[^[:alnum:]]//'",
        "[[:alpha:][:digit:]]",
        "if [[ -f x ]]; then",
        "if [[ $a == b ]] || [[ -n $c ]]; then",
        "[[.hyphen.]] and [[=e=]]",
        "the matrix [[1, 2], [3, 4]] or [[1,2]]",
        "[[]]",
        "[[a\nb]]",
    ],
)
def test_c046_prose_in_double_brackets_is_no_link(text: str) -> None:
    assert targets(text) == []


def test_c046_word_in_double_brackets_is_a_wiki_link() -> None:
    assert targets("write [[link]] in Obsidian") == [("wiki", "link", "")]


def test_c047_word_after_a_wiki_link_is_a_remark() -> None:
    assert targets("[[project_plan]](subscription), [[project_roster]](main)") == [
        ("wiki", "project_plan", ""),
        ("wiki", "project_roster", ""),
    ]


def test_double_brackets_around_the_text_of_an_inline_link() -> None:
    assert targets("[[1]](https://h.example/a) [[2]](notes/b.md#c)") == [
        ("inline", "https://h.example/a", ""),
        ("inline", "notes/b.md", "c"),
    ]


def test_wiki_links_have_label_and_anchor() -> None:
    [plain, full] = markdown.links(b"[[a b.md]] ![[a#Part one|the label]]")

    assert plain == Link("wiki", "a b.md", "a b.md", "", 1, 0, 10, "a b.md")
    assert full == Link("wiki", "the label", "a", "Part one", 1, 11, 36, "a")


def test_link_offsets_count_bytes_and_lines_of_the_document() -> None:
    data = "\ufeff---\r\nname: é\r\n---\r\n\r\nü [é](x.md) and\r\n- ★ [**b**](y.md) — z".encode()
    found = markdown.links(data)

    assert [data[link.start : link.end].decode() for link in found] == ["[é](x.md)", "[**b**](y.md)"]
    assert [(link.lineno, link.text) for link in found] == [(5, "é"), (6, "**b**")]


def test_links_keep_the_target_as_written() -> None:
    assert [link.raw_target for link in markdown.links(b"[a](50%25.md#x) [b](<a b.md>)")] == ["50%25.md", "a b.md"]


def test_comments_are_found_outside_code() -> None:
    data = b"<!-- one\n\ntwo -->\n\ntext <!-- three --> `<!-- no -->`\n\n```\n<!-- no -->\n```\n\n<!-- open\n"

    assert [data[start:end] for start, end in markdown.comments(data)] == [b"<!-- one\n\ntwo -->", b"<!-- three -->"]


@pytest.mark.parametrize(
    ("anchor", "expected"),
    [
        ("identity", True),
        ("-identity", True),
        ("a-b", True),
        ("A B", True),
        ("a-b-1", True),
        ("a-b-2", False),
        ("see-the-plan", True),
        ("会議-メモ", True),
        ("fixed", True),
        ("^block", True),
        ("L12", True),
        ("c", False),
    ],
)
def test_c043_anchor_leads_to_a_heading(anchor: str, expected: bool) -> None:
    data = "## 🧠 Identity\n# A *b*\n# A b\n# See [the plan](p.md)\n# 会議 メモ\n".encode()
    data += b"<a id='fixed'></a>\n```\n# c\n```\n"

    assert markdown.has_anchor(data, anchor) is expected


def test_anchor_of_a_document_that_is_not_parsed_is_not_called_missing() -> None:
    assert markdown.has_anchor(b"# a\n" + b"x" * MAX_PARSED_BYTES, "gone")
    assert markdown.has_anchor(b"\xff", "gone")


def test_render_shows_raw_html_as_text_and_knows_tables() -> None:
    rendered = markdown.render("<b>x</b>\n\n| a |\n|---|\n| [r](javascript:x) |\n")

    assert "<b>" not in rendered
    assert "&lt;b&gt;" in rendered
    assert "<table>" in rendered
    assert "href" not in rendered


def fastest(data: bytes) -> float:
    """Return the seconds that reading takes when nothing else is in the way: the best of three, none from the cache."""
    seconds = []
    for attempt in range(3):
        document = data + b"\n" * attempt
        started = time.process_time()
        markdown.outline(document)
        markdown.links(document)
        seconds.append(time.process_time() - started)
    return min(seconds)


@pytest.mark.parametrize(
    "line",
    [
        b"[" * 100_000,
        b"![" * 50_000,
        b"![" * 25_000 + b"[a](b)" * 8_000,
        b"[" * 50_000 + b"]" * 50_000,
        b"[a](" * 25_000,
        b"[a](<b " * 14_000,
        b'[a](b "' * 14_000,
        b"[[x" * 33_000,
        b"`" * 100_000,
        b"` `` " * 20_000,
        b"".join(b"`" * (number % 300) + b" " for number in range(600)),
        b"<!--" * 25_000,
        b"<a " * 33_000,
        b"\\" * 100_000,
        b"](" + b" " * 100_000,
        b"[](a.md" * 14_000,
        b"](a b" * 20_000,
        b"|" * 100_000,
        b"> " * 50_000,
        b"- " * 50_000,
        b"*" * 100_000,
        b"[x]: <" * 16_000,
    ],
    ids=lambda line: line[:8].decode(),
)
def test_hostile_line_of_100_kb_takes_linear_time(line: bytes) -> None:
    assert fastest(line) < 2.0


@pytest.mark.parametrize("line", [b"[[" * 50_000, b"{{x" * 34_000, b"---\n" + b"\n" * 20_000])
def test_c017_openers_without_an_end_take_no_time(line: bytes) -> None:
    assert fastest(line) < 5.0  # CPU seconds; what it guards against took minutes


BLOCKS = """# h
text
- a
  - b
1. c
> q
```
    code

| a | b |
|---|---|
<!-- x
-->
[r]: x.md
---
===
[l](x.md)
[[w]]
`
\t
§
\r
é\u2028
* * *
<div>
+"""
blocks = st.sampled_from(BLOCKS.split("\n"))
documents = st.lists(st.tuples(blocks, st.sampled_from(["\n", "\r\n", "\r", ""])), max_size=14).map(
    lambda pieces: "".join(body + end for body, end in pieces).encode()
)


@given(documents | st.binary(max_size=40))
@settings(max_examples=250)
def test_outline_has_one_spot_per_line(data: bytes) -> None:
    spots = markdown.outline(data)
    lines = split_lines(data)

    assert [spot.lineno for spot in spots] == [line.number for line in lines]
    for spot in spots:
        assert (spot.list_id >= 0) == (spot.item_start > 0) == (spot.depth > 0)
        assert spot.item_start <= spot.lineno
        assert (spot.section == 0) == (spot.headings == ()) or spot.place is Place.FRONTMATTER


@given(documents | st.binary(max_size=40))
@settings(max_examples=250)
def test_links_are_spans_in_order_that_hold_their_target(data: bytes) -> None:
    found = markdown.links(data)
    head = frontmatter.read(data)
    first = head.end if isinstance(head, Frontmatter) else 0

    assert [link.start for link in found] == sorted(link.start for link in found)
    for link in found:
        assert first <= link.start < link.end <= len(data)
        assert data[: link.start].count(b"\n") + 1 == link.lineno
        assert link.raw_target in data[link.start : link.end].decode()


def test_only_fenced_lines_of_the_corpora_are_code() -> None:
    for path in CORPORA.rglob("*.md"):
        data = path.read_bytes()
        places = [spot.place for spot in markdown.outline(data)]

        assert (Place.CODE in places) == (b"```" in data), path


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("see [a](b.md) now", "b.md"),
        ("see [a]( b.md#c 't' ) now", "b.md"),
        ("see [a](<b c.md#d>) now", "b c.md"),
        ("see [a](b%20c.md) now", "b%20c.md"),
        ("see [a](b_(v2).md) now", "b_(v2).md"),
        ("see [a](b c.md#d) now", "b c.md"),
        ("see ![a](b.png) now", "b.png"),
        ("see [[b]] now", "b"),
        ("see [[b #c|d]] now", "b"),
        ("see [[ü b|d]] now", "ü b"),
        ("| see | [[b\\|d]] |\n|---|---|\n", "b"),
        ("see [a](#b) now", ""),
    ],
)
def test_target_of_a_link_is_found_where_it_is_written(text: str, written: str) -> None:
    data = f"ü\n\n{text}\n".encode()
    (link,) = markdown.links(data)

    assert data[link.target_start : link.target_end].decode() == written


def test_definitions_are_read_with_label_target_and_anchor() -> None:
    text = '[a]: b.md\n[c d]: <e f.md#g> "title"\n[h]:\n  i.md\n[j]: k%20l.md\n  "title below"\n\n- x\n\n  [m]: n.md\n'
    found = markdown.definitions(text.encode())

    assert [(link.kind, link.text, link.target, link.anchor, link.lineno) for link in found] == [
        ("definition", "a", "b.md", "", 1),
        ("definition", "c d", "e f.md", "g", 2),
        ("definition", "j", "k l.md", "", 5),
        ("definition", "m", "n.md", "", 10),
    ]
    assert [text[link.target_start : link.target_end] for link in found] == ["b.md", "e f.md", "k%20l.md", "n.md"]
    assert [text[link.start : link.end] for link in found][1] == "[c d]: <e f.md#g>"


@pytest.mark.parametrize("text", ["```\n[a]: b.md\n```", "> [a]: b.md", "Text\n[a]: b.md", "    [a]: b.md", "[a]: b c"])
def test_what_only_looks_like_a_definition_is_none(text: str) -> None:
    assert markdown.definitions(text.encode()) == ()
