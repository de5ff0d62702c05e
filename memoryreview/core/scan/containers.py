"""Places of a text that a reader of the rendered page does not see, or sees only when pointing at them.

Front matter is no such place: reviewers and agents both read it as it stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

FAR_RIGHT_BLANKS = 60
"""Blanks on one line after which text is out of sight in most editors."""

MAX_ELEMENT_CHARS = 8_000


@dataclass(frozen=True, slots=True)
class Container:
    """Hidden content at the half-open character span [start, end). `is_unseen`: nothing of it shows on a page."""

    start: int
    end: int
    is_unseen: bool


_OPENING_TAG = re.compile(r"<([A-Za-z][A-Za-z0-9-]{0,20})([^<>]{0,400})>")
_HIDING = re.compile(
    r"(?i)display\s{0,3}:\s{0,3}none|visibility\s{0,3}:\s{0,3}(?:hidden|collapse)"
    r"|font-size\s{0,3}:\s{0,3}0?(?:\.\d)?(?:0|1px)?(?:px|pt|em|rem|%)?\s{0,3}(?:[;\"'!]|$)|opacity\s{0,3}:\s{0,3}0?\.?0(?![.\d])"
    r"|(?<![\w-])color\s{0,3}:\s{0,3}(?:#f{3,8}\b|white\b|transparent|rgba?\([^)]{0,30},\s{0,3}0\))"
    r"|(?:left|top|text-indent|margin-left)\s{0,3}:\s{0,3}-\d{3,6}|(?<![\w-])(?:max-)?(?:height|width)\s{0,3}:\s{0,3}0(?![.\d])"
    r"|(?:^|\s)hidden(?:\s|=|/|$)|(?:^|\s)type\s{0,3}=\s{0,3}[\"']?hidden|clip-path|(?:^|\s)aria-hidden"
)
_HIDING_TAGS = frozenset({"template", "noscript", "details", "script", "style", "meta", "noembed", "object"})
_ATTRIBUTE = re.compile(
    r"(?i)[\s\"'](?:title|alt|aria-label|content|value|placeholder|data-[\w-]{1,30})\s{0,3}=\s{0,3}"
    r"(?:\"([^\"]{1,400})\"|'([^']{1,400})')"
)
_LINK_TITLE = re.compile(r"\]\([^()\s]{1,500}\s{1,5}(?:\"([^\"]{1,400})\"|'([^']{1,400})'|\(([^()]{1,400})\))\s{0,3}\)")
_IMAGE_ALT = re.compile(r"!\[([^\]]{1,400})\]")
_REFERENCE = re.compile(
    r"(?m)^[ \t>]{0,8}\[([^\]\n]{1,100})\]:[ \t]{0,8}\S{1,500}(?:[ \t]{1,8}|[ \t]{0,8}\n[ \t]{0,8})[\"'(]([^\n]{1,400})"
)


def containers(text: str) -> list[Container]:
    """Return the hidden places of a text. Those of one kind do not overlap: nested elements become one place."""
    found = [*_comments(text), *_elements(text), *_titles(text), *_references(text), *_far_right(text)]
    return [*_merged(found, is_unseen=True), *_merged(found, is_unseen=False)]


def _merged(found: list[Container], *, is_unseen: bool) -> Iterator[Container]:
    spans = sorted((container.start, container.end) for container in found if container.is_unseen is is_unseen)
    at = 0
    while at < len(spans):
        start, end = spans[at]
        at += 1
        while at < len(spans) and spans[at][0] < end:
            end = max(end, spans[at][1])
            at += 1
        yield Container(start, end, is_unseen)


def _comments(text: str) -> Iterator[Container]:
    at = text.find("<!--")
    while at >= 0:
        end = text.find("-->", at + 4)
        end = len(text) if end < 0 else end
        if end > at + 4:
            yield Container(at + 4, end, is_unseen=True)
        at = text.find("<!--", end)


def _elements(text: str) -> Iterator[Container]:
    if "<" not in text:
        return
    lowered = text.lower() if text.isascii() else "".join(c.lower() if c.isascii() else c for c in text)
    for match in _OPENING_TAG.finditer(text):
        tag, attributes = match[1].lower(), match[2]
        for value in _ATTRIBUTE.finditer(text, match.start(2), match.end(2)):
            group = 1 if value[1] is not None else 2
            yield Container(value.start(group), value.end(group), is_unseen=tag in _HIDING_TAGS)
        if tag not in _HIDING_TAGS and not _HIDING.search(attributes):
            continue
        limit = min(len(text), match.end() + MAX_ELEMENT_CHARS)
        closing = lowered.find(f"</{tag}", match.end(), limit)
        end = closing if closing >= 0 else _end_of_block(text, match.end(), limit)
        if end > match.end():
            yield Container(match.end(), end, is_unseen=tag != "details")


def _end_of_block(text: str, start: int, limit: int) -> int:
    blank = text.find("\n\n", start, limit)
    return blank if blank >= 0 else limit


def _titles(text: str) -> Iterator[Container]:
    if "](" in text:
        for match in _LINK_TITLE.finditer(text):
            group = match.lastindex or 1
            yield Container(match.start(group), match.end(group), is_unseen=False)
    if "![" in text:
        for match in _IMAGE_ALT.finditer(text):
            yield Container(match.start(1), match.end(1), is_unseen=False)


def _references(text: str) -> Iterator[Container]:
    if "]:" not in text:
        return
    for match in _REFERENCE.finditer(text):
        yield Container(match.start(2), match.end(2), is_unseen=True)


def _far_right(text: str) -> Iterator[Container]:
    gap = " " * FAR_RIGHT_BLANKS
    plain = text.replace("\t", " ").replace("\xa0", " ").replace("\u3000", " ")
    at = plain.find(gap)
    while at >= 0:
        end = plain.find("\n", at)
        end = len(plain) if end < 0 else end
        rest = plain[at:end].lstrip(" ")
        if rest:
            yield Container(end - len(rest), end, is_unseen=False)
        at = plain.find(gap, end)
