"""Links and comments inside one run of Markdown text, found in one bounded pass over the raw bytes.

Offsets stay offsets of the document, so a link can be edited where it stands. Code spans, autolinks, tags and comments
are stepped over, as CommonMark does; only the parts of CommonMark that decide where a link begins and ends are here.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import unquote_to_bytes

_TOKEN = re.compile(rb"\\[^\n]|`+|<|!?\[|\]")
_TICKS = re.compile(rb"`+")
_TAG = re.compile(rb"<(?:[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]{0,2048}|/?[A-Za-z][^<>]{0,1024}|[!?][^<>]{0,1024})>")
_WIKI = re.compile(rb"\[\[([^\[\]\n]{1,300})\]\]")
_PROSE_IN_BRACKETS = re.compile(r"\s.*|.*\s|([:.=]).*\1|[\d\s.]*,[\d\s,.]*", re.DOTALL)
_REMARK_IS_TARGET = re.compile(rb"\((?:[a-z][a-z0-9+.-]{1,31}:|[^()\s]{1,300}\.(?:md|markdown)[#)])", re.IGNORECASE)
_GAP = re.compile(rb"[ \t]*(?:\r?\n[ \t]*)?")
_ANGLE_TARGET = re.compile(rb"<((?:[^<>\\\n]|\\[^\n])*)>")
# Parentheses may nest three deep; possessive, so that an unbalanced one costs one look and no search.
_BARE_PIECE = rb"[^\s()\\\x00-\x20\x7f]++|\\[^\s]"
_BARE_TARGET = re.compile(rb"(?!<)(?:%b|\((?:%b|\((?:%b|\((?:%b)*+\))*+\))*+\))*+" % ((_BARE_PIECE,) * 4))
_TARGET_WITH_BLANKS = re.compile(
    rb"([^()<>\[\]\n]{1,300}\.(?:md|markdown)(?:#[^()\[\]\s]{0,200})?)[ \t]*\)", re.IGNORECASE
)
_TITLE = re.compile(
    rb"""[ \t\r\n]+(?:"(?:[^"\\]|\\.){0,1000}"|'(?:[^'\\]|\\.){0,1000}'|\((?:[^()\\]|\\.){0,1000}\))""", re.DOTALL
)
_CLOSE = re.compile(rb"[ \t\r\n]*\)")
_DEFINITION = re.compile(rb"[ \t]*\[((?:[^\[\]\\\n]|\\[^\n]){1,300})\]:[ \t]*")
_WIKI_TARGET_END = re.compile(rb"\\?\||#")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")


@dataclass(frozen=True, slots=True)
class Link:
    """An inline link, wiki link, image or definition. Offsets are half-open byte spans of the whole construct.

    `kind` is "inline", "wiki", "image" or "definition" (of which `text` is the label). `target` is decoded (percent
    codes, `<>`), without anchor and title; `anchor` without `#`. `raw_target` is the target as it is written, for names
    that hold a percent sign themselves; it stands at `target_start`, blanks around the name of a wiki link left out.
    """

    kind: str
    text: str
    target: str
    anchor: str
    lineno: int
    start: int
    end: int
    raw_target: str = ""
    target_start: int = field(default=0, compare=False)
    target_end: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Inline:
    """What stands in one run of text, in order. Comments are half-open byte spans of the document."""

    links: tuple[Link, ...]
    comments: tuple[tuple[int, int], ...]


class _CodeSpans:
    """Finds the end of a code span: the next run of as many backticks. Each run is looked at once."""

    def __init__(self, data: bytes, start: int, end: int) -> None:
        self._starts: dict[int, list[int]] = {}
        for match in _TICKS.finditer(data, start, end):
            self._starts.setdefault(match.end() - match.start(), []).append(match.start())

    def end_of(self, start: int, length: int) -> int | None:
        starts = self._starts.get(length, [])
        place = bisect_left(starts, start)
        return starts[place] + length if place < len(starts) else None


class _Scanner:
    def __init__(self, data: bytes, start: int, end: int, line_starts: Sequence[int]) -> None:
        self.data, self.start, self.end = data, start, end
        self.line_starts = line_starts
        self.links: list[Link] = []
        self.comments: list[tuple[int, int]] = []
        self._openers: list[int] = []
        self._images: list[bool] = []
        # No link inside a link: openers below this place in the stack are plain text by now, unless they open an image.
        self._spent = 0
        self._code: _CodeSpans | None = None
        self._comments_end = False

    def run(self) -> Inline:
        position = self.start
        while match := _TOKEN.search(self.data, position, self.end):
            position = self._step(match)
        self.links.sort(key=lambda link: link.start)
        return Inline(tuple(self.links), tuple(self.comments))

    def _step(self, match: re.Match[bytes]) -> int:
        """Take one token and return where to go on."""
        token, at = match.group(), match.start()
        if token.startswith(b"\\"):
            return match.end()
        if token.startswith(b"`"):
            if self._code is None:
                self._code = _CodeSpans(self.data, self.start, self.end)
            return self._code.end_of(match.end(), len(token)) or match.end()
        if token == b"<":
            return self._after_angle(at)
        if token == b"]":
            return self._after_close(at)
        return self._wiki(match) or self._open(match)

    def _after_angle(self, at: int) -> int:
        if self.data.startswith(b"<!--", at, self.end) and not self._comments_end:
            close = self.data.find(b"-->", at + 4, self.end)
            if close >= 0:
                self.comments.append((at, close + 3))
                return close + 3
            self._comments_end = True
        tag = _TAG.match(self.data, at, self.end)
        return tag.end() if tag else at + 1

    def _open(self, match: re.Match[bytes]) -> int:
        self._openers.append(match.start())
        self._images.append(match.group() == b"![")
        return match.end()

    def _wiki(self, match: re.Match[bytes]) -> int | None:
        bracket = match.end() - 1
        wiki = _WIKI.match(self.data, bracket, self.end)
        if wiki is None or _REMARK_IS_TARGET.match(self.data, wiki.end(), self.end):
            return None
        inner = wiki.group(1).decode("utf-8", "replace")
        start, end = _wiki_target(self.data, wiki.start(1), wiki.end(1))
        if _PROSE_IN_BRACKETS.fullmatch(inner):
            return wiki.end()
        written, _, label = inner.replace("\\|", "|").partition("|")
        target, _, anchor = written.partition("#")
        self.links.append(
            Link(
                "wiki",
                label or written,
                target.strip(),
                anchor.strip(),
                self._lineno(match.start()),
                match.start(),
                wiki.end(),
                target,
                start,
                end,
            )
        )
        return wiki.end()

    def _lineno(self, at: int) -> int:
        return bisect_right(self.line_starts, at)

    def _after_close(self, at: int) -> int:
        if not self._openers:
            return at + 1
        opener, is_image = self._openers.pop(), self._images.pop()
        is_spent = len(self._openers) < self._spent
        self._spent = min(self._spent, len(self._openers))
        if (is_spent and not is_image) or not self.data.startswith(b"(", at + 1, self.end):
            return at + 1
        found = _destination(self.data, at + 2, self.end)
        if found is None:
            return at + 1
        target, end = found
        text = self.data[opener + (2 if is_image else 1) : at]
        kind = "image" if is_image else "inline"
        self.links.append(_link(self.data, kind, text, target, (self._lineno(opener), opener, end)))
        if not is_image:
            self._spent = len(self._openers)
        return end


def _link(data: bytes, kind: str, text: bytes, target: tuple[int, int], place: tuple[int, int, int]) -> Link:
    """Return a link. Args: target: byte span of the target with its anchor; place: lineno, start and end."""
    raw = data[slice(*target)]
    written, _, anchor = (part.decode("utf-8", "replace") for part in raw.partition(b"#"))
    spans = (target[0], target[0] + len(raw.partition(b"#")[0]))
    return Link(kind, text.decode("utf-8", "replace"), _decoded(written), _decoded(anchor), *place, written, *spans)


def _wiki_target(data: bytes, start: int, end: int) -> tuple[int, int]:
    """Return the byte span of the name in a wiki link. Args: start, end: of what stands between the brackets."""
    stop = _WIKI_TARGET_END.search(data, start, end)
    written = data[start : stop.start() if stop else end].decode("utf-8", "replace")
    first = start + len(written[: len(written) - len(written.lstrip())].encode())
    return first, first + len(written.strip().encode())


def definition(data: bytes, start: int, end: int, lineno: int) -> Link | None:
    """Return the definition that one line holds from its label to its target, else None. Its title may follow below.

    Args: start, end: half-open byte span of the line, without line end.
    """
    label = _DEFINITION.match(data, start, end)
    if label is None:
        return None
    angle = _ANGLE_TARGET.match(data, label.end(), end)
    target = angle or _BARE_TARGET.match(data, label.end(), end)
    if target is None or target.end() == label.end():
        return None
    title = _TITLE.match(data, target.end(), end)
    if data[title.end() if title else target.end() : end].strip(b" \t\r"):
        return None
    span = target.span(1 if angle else 0)
    return _link(data, "definition", label[1], span, (lineno, label.start(1) - 1, target.end()))


def _destination(data: bytes, start: int, end: int) -> tuple[tuple[int, int], int] | None:
    """Read `target "title")` and return the span of the target and the offset after the closing parenthesis."""
    gap = _GAP.match(data, start, end)
    at = gap.end() if gap else start
    angle = _ANGLE_TARGET.match(data, at, end)
    target = angle or _BARE_TARGET.match(data, at, end)
    if target:
        title = _TITLE.match(data, target.end(), end)
        for position in (title.end() if title else target.end(), target.end()):
            close = _CLOSE.match(data, position, end)
            if close:
                return target.span(1 if angle else 0), close.end()
    # CommonMark wants <> or %20 around blanks; writers of notes do not know, and mean a link all the same.
    loose = _TARGET_WITH_BLANKS.match(data, at, end)
    return (loose.span(1), loose.end()) if loose else None


def _decoded(written: str) -> str:
    """Undo backslashes, entities and percent codes; a percent code that is no UTF-8 stays as it is written."""
    plain = _ENTITY.sub(lambda match: html.unescape(match.group()), _ESCAPE.sub(r"\1", written))
    try:
        return unquote_to_bytes(plain).decode("utf-8")
    except UnicodeError:
        return plain


def scan(data: bytes, start: int, end: int, line_starts: Sequence[int]) -> Inline:
    """Return the links and comments of one run of text (a paragraph, a heading, a table row).

    Args:
        start, end: half-open byte span of the run; list and quote marks may stand in it.
        line_starts: byte offset of the start of each line of the document.
    """
    if all(data.find(sign, start, end) < 0 for sign in (b"](", b"]]", b"<!--")):
        return Inline((), ())
    return _Scanner(data, start, end, line_starts).run()


def comments(data: bytes, start: int, end: int) -> tuple[tuple[int, int], ...]:
    """Return the byte spans of the comments in a block of HTML. One that is not closed is none."""
    found: list[tuple[int, int]] = []
    position = data.find(b"<!--", start, end)
    while position >= 0:
        close = data.find(b"-->", position + 4, end)
        if close < 0:
            break
        found.append((position, close + 3))
        position = data.find(b"<!--", close + 3, end)
    return tuple(found)
