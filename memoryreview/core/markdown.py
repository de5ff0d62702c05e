"""Where things are in a Markdown document, by byte-exact lines. Built on markdown-it-py, read only."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from . import frontmatter, inline
from .inline import Link as Link
from .text import Line, split_lines

MAX_PARSED_BYTES = 512 * 1024
"""Above this size a document is not parsed: every line is CODE, which nothing may touch, and it has no links."""

_BLOCKS = MarkdownIt("commonmark").enable("table")
_BLOCKS.core.ruler.enableOnly(["normalize", "block"])
_RENDERER = MarkdownIt("commonmark", {"html": False}).enable("table")

_BYTE_ORDER_MARK = "\ufeff"
# markdown-it takes a lone CR for a line end; for git, and so for us, it is a character like any other.
_CR_STAND_IN = "\ufffd"
_LINK_IN_HEADING = re.compile(r"!?\[([^\[\]]{0,300})\]\([^()\s]{0,300}\)")
_HTML_ANCHOR = re.compile(r"""<[a-zA-Z][^<>]{0,200}?\b(?:id|name)=["']([^"'<>]{1,100})["']""")
_ANCHOR_WITHOUT_HEADING = re.compile(r"\^.*|L\d+(?:-L?\d+)?|")


class Place(StrEnum):
    """What a line belongs to; the strictest one wins (a list line inside a quote is QUOTE)."""

    FRONTMATTER = "frontmatter"
    BLANK = "blank"
    HEADING = "heading"
    ITEM = "item"  # line of an unordered list item
    ORDERED = "ordered"  # line of an ordered list item
    PARAGRAPH = "paragraph"
    CODE = "code"  # fenced or indented, fences included
    TABLE = "table"
    QUOTE = "quote"
    HTML = "html"  # block, comments included
    REFERENCE = "reference"  # link reference definition
    RULE = "rule"


@dataclass(frozen=True, slots=True)
class Spot:
    """One line of the outline.

    Args:
        lineno: 1-based.
        section: number of the enclosing section, 0 before the first heading; every heading that stands in no list and
            no quote starts a new one, to which it belongs itself.
        headings: texts of the enclosing headings, outermost first; on a heading line its own text is the last.
        list_id: number of the innermost list block that the line belongs to, -1 outside lists.
        item_start: lineno of the first line of its innermost item, 0 outside lists. A blank line belongs to an item
            only when more of that item follows it.
        depth: number of lists around the line, 0 outside lists.
    """

    lineno: int
    place: Place
    section: int
    headings: tuple[str, ...]
    list_id: int
    item_start: int
    depth: int = 0


@dataclass(frozen=True, slots=True)
class _Parsed:
    """Line spans are 0-based half-open."""

    lines: tuple[Line, ...]
    spots: tuple[Spot, ...]
    headings: tuple[str, ...]
    text_spans: tuple[tuple[int, int], ...]
    html_spans: tuple[tuple[int, int], ...]
    is_whole: bool = True


_LEAVES = {
    "paragraph_open": Place.PARAGRAPH,
    "heading_open": Place.HEADING,
    "fence": Place.CODE,
    "code_block": Place.CODE,
    "html_block": Place.HTML,
    "table_open": Place.TABLE,
    "hr": Place.RULE,
}


class _Outline:
    """Collects, line by line, what the block tokens say."""

    def __init__(self, texts: Sequence[str], first: int) -> None:
        self.texts = texts
        self.first = first
        count = len(texts)
        self.leaves: list[Place | None] = [None] * count
        self.is_quote = [False] * count
        self.items: list[tuple[int, int, int, bool] | None] = [None] * count  # list id, first line, depth, is ordered
        self.sections: list[tuple[int, int, str]] = []  # first line, level, text
        self.headings: list[str] = []
        self.text_spans: list[tuple[int, int]] = []
        self.html_spans: list[tuple[int, int]] = []
        self._lists: list[tuple[int, bool]] = []
        self._list_count = 0

    def take_definitions(self, environment: Mapping[str, Any]) -> None:
        """Mark link reference definitions: the one block that leaves no token."""
        definitions = [*environment.get("references", {}).values(), *environment.get("duplicate_refs", [])]
        for start, end in (definition["map"] for definition in definitions):
            for index in range(start + self.first, min(end + self.first, len(self.texts))):
                self.leaves[index] = self.leaves[index] or Place.REFERENCE

    def is_blank(self, index: int) -> bool:
        return not self.texts[index].strip(" \t")

    def _span(self, token: Token) -> tuple[int, int]:
        start, end = token.map or (0, 0)
        return start + self.first, min(end + self.first, len(self.texts))

    def take(self, tokens: Sequence[Token]) -> None:
        for position, token in enumerate(tokens):
            if token.type in ("bullet_list_open", "ordered_list_open"):
                self._lists.append((self._list_count, token.type == "ordered_list_open"))
                self._list_count += 1
            elif token.type in ("bullet_list_close", "ordered_list_close"):
                self._lists.pop()
            elif token.type in ("list_item_open", "blockquote_open"):
                self._take_container(token)
            elif token.type in _LEAVES:
                self._take_leaf(token)
            if token.type == "heading_open":
                self._take_heading(token, tokens[position + 1].content)

    def _take_container(self, token: Token) -> None:
        start, end = self._span(token)
        while end > start + 1 and self.is_blank(end - 1):
            end -= 1
        for index in range(start, end):
            if token.type == "blockquote_open":
                self.is_quote[index] = True
            else:
                list_id, is_ordered = self._lists[-1]
                self.items[index] = (list_id, start + 1, len(self._lists), is_ordered)

    def _take_leaf(self, token: Token) -> None:
        start, end = self._span(token)
        place = _LEAVES[token.type]
        self.leaves[start:end] = [place] * (end - start)
        if place is Place.TABLE:
            self.text_spans.extend((index, index + 1) for index in range(start, end))
        elif place in (Place.PARAGRAPH, Place.HEADING):
            self.text_spans.append((start, end))
        elif place is Place.HTML:
            self.html_spans.append((start, end))

    def _take_heading(self, token: Token, text: str) -> None:
        self.headings.append(text.strip())
        if token.level == 0:
            self.sections.append((self._span(token)[0], int(token.tag[1:]), text.strip()))

    def place(self, index: int) -> Place:
        leaf = self.leaves[index]
        if leaf in (Place.CODE, Place.HTML):
            return leaf
        if self.is_blank(index):
            return Place.BLANK
        if self.is_quote[index]:
            return Place.QUOTE
        item = self.items[index]
        if leaf is not None and leaf is not Place.PARAGRAPH:
            return leaf
        if item is None:
            return Place.PARAGRAPH if leaf else Place.CODE
        if leaf is None and item[1] != index + 1:
            # Nested deeper than the parser follows: nobody knows what this line is, so nobody may touch it.
            return Place.CODE
        return Place.ORDERED if item[3] else Place.ITEM

    def spots(self) -> list[Spot]:
        found: list[Spot] = []
        section, trail = 0, [(0, "")]
        starts = {start: (level, text) for start, level, text in self.sections}
        headings: tuple[str, ...] = ()
        for index in range(self.first, len(self.texts)):
            if index in starts:
                section += 1
                level, text = starts[index]
                trail = [entry for entry in trail if entry[0] < level] + [(level, text)]
                headings = tuple(text for _, text in trail[1:])
            list_id, item_start, depth, _ = self.items[index] or (-1, 0, 0, False)
            found.append(Spot(index + 1, self.place(index), section, headings, list_id, item_start, depth))
        return found


@lru_cache(maxsize=8)
def _parse(data: bytes) -> _Parsed:
    lines = split_lines(data)
    texts = None if len(data) > MAX_PARSED_BYTES else _texts(lines)
    if texts is None:
        spots = tuple(Spot(line.number, Place.CODE, 0, (), -1, 0) for line in lines)
        return _Parsed(lines, spots, (), (), (), is_whole=False)
    head = frontmatter.read(data)
    head_end = head.end if isinstance(head, frontmatter.Frontmatter) else 0
    first = sum(1 for line in lines if line.end <= head_end)
    outline_ = _Outline(texts, first)
    environment: dict[str, Any] = {}
    outline_.take(_BLOCKS.parse("\n".join(texts[first:]), environment))
    outline_.take_definitions(environment)
    top = [Spot(index + 1, Place.FRONTMATTER, 0, (), -1, 0) for index in range(first)]
    return _Parsed(
        lines,
        tuple(top + outline_.spots()),
        tuple(outline_.headings),
        tuple(outline_.text_spans),
        tuple(outline_.html_spans),
    )


def _texts(lines: tuple[Line, ...]) -> list[str] | None:
    """Return each line as markdown-it shall see it, None when the document is not UTF-8."""
    try:
        texts = [line.body.decode("utf-8").replace("\r", _CR_STAND_IN) for line in lines]
    except UnicodeDecodeError:
        return None
    if texts:
        texts[0] = texts[0].removeprefix(_BYTE_ORDER_MARK)
    return texts


def outline(data: bytes) -> tuple[Spot, ...]:
    """Return one Spot per line of `text.split_lines(data)`. Total on any UTF-8.

    On other bytes, and above MAX_PARSED_BYTES, every line is CODE.
    """
    return _parse(data).spots


def links(data: bytes) -> tuple[Link, ...]:
    """Return links in order, none from code, HTML or frontmatter.

    `[[:space:]]` and `[[ -f x ]]` are code, no links; the remark after a wiki link is none either.
    """
    return _inline(data).links


def definitions(data: bytes) -> tuple[Link, ...]:
    """Return the link reference definitions, in order: of those that one line holds up to the target."""
    parsed = _parse(data)
    pairs = zip(parsed.lines, parsed.spots, strict=True)
    lines = (line for line, spot in pairs if spot.place is Place.REFERENCE)
    found = (inline.definition(data, line.start, line.start + len(line.body), line.number) for line in lines)
    return tuple(link for link in found if link)


@lru_cache(maxsize=8)
def targets(data: bytes) -> tuple[Link, ...]:
    """Return links, images and definitions that have a target, in the order in which their targets are written."""
    found = (link for link in (*links(data), *definitions(data)) if link.target_start < link.target_end)
    return tuple(sorted(found, key=lambda link: link.target_start))


def comments(data: bytes) -> tuple[tuple[int, int], ...]:
    """Return the half-open byte spans of HTML comments, in order, none from code."""
    return _inline(data).comments


@lru_cache(maxsize=8)
def _inline(data: bytes) -> inline.Inline:
    parsed = _parse(data)
    starts = [line.start for line in parsed.lines]
    links_: list[Link] = []
    comments_: list[tuple[int, int]] = []
    for start, end in parsed.text_spans:
        run = inline.scan(data, starts[start], parsed.lines[end - 1].end, starts)
        links_ += run.links
        comments_ += run.comments
    for start, end in parsed.html_spans:
        comments_ += inline.comments(data, starts[start], parsed.lines[end - 1].end)
    return inline.Inline(tuple(links_), tuple(sorted(comments_)))


def has_anchor(data: bytes, anchor: str) -> bool:
    """Whether `#anchor` leads somewhere in the document: a heading (loosely, as the sites differ) or an HTML id.

    Block references (`#^id`) and line anchors (`#L12`) always do, and so does every anchor of an unparsed document.
    """
    parsed = _parse(data)
    if not parsed.is_whole or _ANCHOR_WITHOUT_HEADING.fullmatch(anchor):
        return True
    wanted = _slug(anchor)
    counts: dict[str, int] = {}
    for heading in parsed.headings:
        slug = _slug(_LINK_IN_HEADING.sub(r"\1", heading))
        repeat = counts.get(slug, 0)
        counts[slug] = repeat + 1
        if wanted == (f"{slug}-{repeat}" if repeat else slug):
            return True
    return any(wanted == _slug(name) for name in _HTML_ANCHOR.findall(data.decode("utf-8", "replace")))


def _slug(heading: str) -> str:
    folded = unicodedata.normalize("NFC", heading).casefold()
    kept = "".join(char for char in folded if char in "-_ " or unicodedata.category(char)[0] in "LNM")
    return re.sub("[- ]+", "-", kept).strip("-")


def render(text: str) -> str:
    """Render to HTML with raw HTML off. Not sanitised: callers pass the result through nh3. Tables are on."""
    return str(_RENDERER.render(text))
