"""Frontmatter, read leniently line by line and never written.

A value is always the text that stands in the file; what a YAML reader would make of it is a problem at most.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from . import yaml_view
from .names import shown
from .text import BYTE_ORDER_MARK, split_lines

MAX_UNCLOSED_BYTES = 64 * 1024
"""How far the text after a fence that nothing closes is looked at, to say whether it was meant as frontmatter."""

_OPENING = re.compile(rb"---[ \t]*(?:\r?\n|\Z)")
_CLOSING = re.compile(rb"^---[ \t]*(?:\r?\n|\Z)", re.MULTILINE)
_BLANK_LINES = re.compile(rb"(?:[ \t]*+\r?\n)*+")
_KEY_LINE = re.compile(
    r"""(?P<indent>[ \t]*)(?P<key>"[^"]{1,80}"|'[^']{1,80}'|\w[^:#]{0,80}):(?:[ \t]+(?P<value>.*)|)""", re.DOTALL
)
_DASH_LINE = re.compile(r"(?P<indent>[ \t]*)-(?:[ \t].*)?", re.DOTALL)
_SUBHEADING = re.compile(r"#{2,6}[ \t]")
_FLOW_PAIR = re.compile(r"[ \t]*([^\s:,{}\[\]\"'][^:,{}\[\]\"']{0,80}):[ \t]+([^,{}\[\]\"']*)")


@dataclass(frozen=True, slots=True)
class Field:
    """One `key: value` line. `value` is the text after the colon, trimmed, with one pair of matching quotes removed.

    `parent` is the key of the enclosing mapping ("metadata") or "". `lineno` is 1-based in the document. Lines that
    continue a value are part of it; deeper mappings have a dotted parent, and a list in between is "-".
    """

    key: str
    value: str
    raw: str
    lineno: int
    parent: str = ""


@dataclass(frozen=True, slots=True)
class Frontmatter:
    """A head between two `---` fences.

    Args:
        end: byte offset just after the closing fence's line end; the head is data[:end] (a byte order mark included).
        fields: in document order, doubled keys kept.
        problems: (kind, lineno, sentence), kind one of "head-colon", "head-comment", "head-quote", "head-tab",
            "head-alias", "head-special", "head-syntax", "head-stacked", "head-doubled-key", "head-type-conflict",
            "head-empty-name".
    """

    end: int
    fields: tuple[Field, ...]
    problems: tuple[tuple[str, int, str], ...]

    def get(self, key: str, parent: str = "") -> str | None:
        """Return the first value under that key, or None."""
        return next((entry.value for entry in self.fields if (entry.key, entry.parent) == (key, parent)), None)

    @property
    def name(self) -> str:
        return self.get("name") or ""

    @property
    def description(self) -> str:
        return self.get("description") or ""

    @property
    def type(self) -> str:
        """Effective type: flat `type`, else `metadata.type`, else ""."""
        return self.get("type") or self.get("type", "metadata") or ""


@dataclass(frozen=True, slots=True)
class NoFrontmatter:
    """There is no head. `problem` says so when there seems to have been one: ("head-unclosed", lineno, sentence) or
    ("head-rule", lineno, sentence) for a horizontal rule that only looks like a fence; else None."""

    problem: tuple[str, int, str] | None = None


_UNCLOSED = (
    "head-unclosed",
    1,
    "The closing fence `---` of the frontmatter is missing, so the whole file is read as body.",
)
_RULE = (
    "head-rule",
    1,
    "The first line is a horizontal rule, no fence: a frontmatter reader may take the text below it for metadata.",
)


@lru_cache(maxsize=8)
def read(data: bytes) -> Frontmatter | NoFrontmatter:
    """Read the head of a document. Total on arbitrary bytes, linear time, never expands aliases."""
    start = len(BYTE_ORDER_MARK) if data.startswith(BYTE_ORDER_MARK) else 0
    found = _locate(data, start)
    if isinstance(found, NoFrontmatter):
        return found
    reader = _Reader(found.texts)
    reader.run()
    problems = [*reader.problems, *_yaml_problems(found.texts, reader), *_field_problems(reader)]
    stacked = _stacked_lineno(data, found.end)
    if stacked is not None:
        sentence = (
            "A second block of frontmatter follows the first; readers see only the first, the rest is body to them."
        )
        problems.append(("head-stacked", stacked, sentence))
    return Frontmatter(found.end, tuple(reader.fields), tuple(sorted(problems, key=lambda problem: problem[1])))


def name_of(data: bytes) -> str:
    """Return what `read` finds as `name`, "" without one; for many documents, because no YAML reader is asked."""
    found = _locate(data, len(BYTE_ORDER_MARK) if data.startswith(BYTE_ORDER_MARK) else 0)
    if isinstance(found, NoFrontmatter):
        return ""
    reader = _Reader(found.texts)
    reader.run()
    return Frontmatter(found.end, tuple(reader.fields), ()).name


@dataclass(frozen=True, slots=True)
class _Block:
    """The lines between two fences. `end` is the byte offset after the closing one."""

    texts: tuple[str, ...]
    end: int


def _locate(data: bytes, start: int) -> _Block | NoFrontmatter:
    """Find the block that a fence at `start` opens, or say why there is none."""
    opening = _OPENING.match(data, start)
    if opening is None:
        return NoFrontmatter()
    closing = _CLOSING.search(data, opening.end())
    stop = closing.start() if closing else min(len(data), opening.end() + MAX_UNCLOSED_BYTES)
    texts = tuple(line.body.decode("utf-8", "replace") for line in split_lines(data[opening.end() : stop]))
    filled = [text for text in texts if text.strip(" \t") and not _is_comment(text)]
    starts_with_key = bool(filled) and _KEY_LINE.fullmatch(filled[0]) is not None
    if closing is None:
        return NoFrontmatter(_UNCLOSED if starts_with_key and not _body_starts_first(texts) else None)
    if not texts:
        return _Block((), closing.end())
    if not filled:
        return NoFrontmatter(_RULE if any(text.strip() for text in texts) else None)
    if not starts_with_key or _body_starts_first(texts):
        return NoFrontmatter(_RULE)
    return NoFrontmatter(_UNCLOSED) if _has_body(texts) else _Block(texts, closing.end())


def _is_comment(text: str) -> bool:
    return text.lstrip(" \t").startswith("#")


def _is_heading(texts: Sequence[str], index: int) -> bool:
    """Whether a line that YAML takes for a comment is a Markdown heading: two marks or more, or a blank line below."""
    text = texts[index]
    if _SUBHEADING.match(text):
        return True
    below = texts[index + 1] if index + 1 < len(texts) else ""
    return text.startswith("# ") and not below.strip(" \t")


def _body_starts_first(texts: Sequence[str]) -> bool:
    """Whether a heading comes before the first key."""
    for index, text in enumerate(texts):
        if text.strip(" \t") and not _is_comment(text):
            return False
        if _is_heading(texts, index):
            return True
    return False


def _has_body(texts: Sequence[str]) -> bool:
    """Whether what follows an opening fence goes over into body text: a heading, or prose after a blank line."""
    is_after_blank = False
    for index, text in enumerate(texts):
        if not text.strip(" \t"):
            is_after_blank = True
            continue
        is_spaced = is_after_blank or index + 1 == len(texts) or not texts[index + 1].strip(" \t")
        if is_spaced and _is_heading(texts, index):
            return True
        is_prose = text[0] not in " \t#" and not _KEY_LINE.fullmatch(text) and not _DASH_LINE.fullmatch(text)
        if is_after_blank and is_prose:
            return True
        is_after_blank = False
    return False


def _stacked_lineno(data: bytes, end: int) -> int | None:
    """Return the line of a second opening fence right below the head, if a second head begins there."""
    gap = _BLANK_LINES.match(data, end)
    opening = gap.end() if gap else end
    second = _locate(data, opening)
    return data.count(b"\n", 0, opening) + 1 if isinstance(second, _Block) and second.texts else None


@dataclass(slots=True)
class _Reader:
    """Reads the lines between the fences; a line number is the index in `texts` plus 2."""

    texts: Sequence[str]
    fields: list[Field] = field(default_factory=list)
    problems: list[tuple[str, int, str]] = field(default_factory=list)
    suspects: list[tuple[str, int, str]] = field(default_factory=list)
    is_odd: bool = False
    _stack: list[tuple[int, str]] = field(default_factory=list)
    _has_text: bool = False

    def run(self) -> None:
        index = 0
        while index < len(self.texts):
            index = self._take(index)

    def _take(self, index: int) -> int:
        """Read the entry that begins at a line and return the index of the line after it."""
        text = self.texts[index]
        self.is_odd = self.is_odd or not text.isprintable()
        if not text.strip(" \t") or _is_comment(text):
            return index + 1
        key_line = _KEY_LINE.fullmatch(text)
        if key_line:
            return self._take_key(index, key_line)
        self.is_odd = True
        dash = _DASH_LINE.fullmatch(text)
        if dash:
            indent = len(dash["indent"])
            self._leave(indent, keep_equal=True)
            self._stack.append((indent, "-"))
        return index + 1

    def _leave(self, indent: int, *, keep_equal: bool) -> None:
        """Leave the mappings that a line with this indent is no part of. A list may stand right below its key."""
        left: list[int] = []
        while self._stack and (
            self._stack[-1][0] > indent
            or (self._stack[-1][0] == indent and not (keep_equal and self._stack[-1][1] != "-"))
        ):
            left.append(self._stack.pop()[0])
        is_uneven = bool(left) and indent not in left and not keep_equal
        self.is_odd = self.is_odd or is_uneven

    def _take_key(self, index: int, match: re.Match[str]) -> int:
        indent, raw = len(match["indent"]), (match["value"] or "").strip(" \t")
        self._leave(indent, keep_equal=False)
        if "\t" in match["indent"]:
            sentence = "A YAML reader fails here: the line is indented with a tab."
            self.suspects.append(("head-tab", index + 2, sentence))
        key = match["key"].strip(" \t").strip("\"'")
        parent = ".".join(name for _, name in self._stack)
        is_below_text = bool(self._stack) and self._stack[-1][1] != "-" and self._has_text
        self._has_text = bool(raw) and not raw.startswith("#")
        self.is_odd = self.is_odd or is_below_text
        self._stack.append((indent, key))
        after = self._continuation_end(index, indent, raw)
        rest = [text.strip(" \t") for text in self.texts[index + 1 : after]]
        self.is_odd = self.is_odd or after > index + 1
        self.fields.append(Field(key, _value(raw, rest), raw, index + 2, parent))
        if raw.startswith("{"):
            self._take_flow(raw, f"{parent}.{key}" if parent else key, index + 2)
        self._judge(key, raw, index)
        return after

    def _take_flow(self, raw: str, parent: str, lineno: int) -> None:
        for pair in raw.strip("{} \t").split(","):
            match = _FLOW_PAIR.fullmatch(pair)
            if match:
                self.fields.append(Field(match[1].strip(), match[2].strip(), match[2], lineno, parent))

    def _continuation_end(self, index: int, indent: int, raw: str) -> int:
        """Return the index after the last line that continues the value begun on a line."""
        if not raw or raw.startswith("#"):
            return index + 1
        is_block = yaml_view.BLOCK_SCALAR.fullmatch(raw) is not None
        is_open = raw[0] in "\"'" and (len(raw) == 1 or not raw.endswith(raw[0]))
        after = index + 1
        for following in range(index + 1, len(self.texts)):
            text = self.texts[following]
            if text.strip(" \t"):
                is_deeper = _indent(text) > indent
                if not is_deeper or (not is_block and _KEY_LINE.fullmatch(text)):
                    break
                after = following + 1
                if is_open and text.rstrip(" \t").endswith(raw[0]):
                    break
        return after

    def _judge(self, key: str, raw: str, index: int) -> None:
        """Note what a YAML reader makes of the value."""
        lineno = index + 2
        kind = yaml_view.fault(raw)
        if kind:
            self.suspects.append((kind, lineno, yaml_view.sentence(kind, key)))
        self.is_odd = self.is_odd or kind is not None or raw[:1] in ("[", "{", '"', "'")
        if raw[:1] in ("", '"', "'", "[", "{", "|", ">"):
            return
        comment = yaml_view.COMMENT.search(raw)
        if comment is None or (comment.start() == 0 and self._has_children(index)):
            return
        seen = raw[: comment.start()].rstrip(" \t")
        what = f"only “{shown(seen)}”" if seen else "nothing"
        sentence = f"A YAML reader sees {what} of “{shown(key)}”: a `#` after a blank starts a comment there."
        self.problems.append(("head-comment", lineno, sentence))

    def _has_children(self, index: int) -> bool:
        following = range(index + 1, len(self.texts))
        below = next((self.texts[line] for line in following if self.texts[line].strip(" \t")), "")
        return _indent(below) > _indent(self.texts[index])


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip(" \t"))


def _value(raw: str, rest: Sequence[str]) -> str:
    """Return the text of a value and the lines that continue it, without one pair of quotes."""
    if yaml_view.BLOCK_SCALAR.fullmatch(raw):
        return ("\n" if raw.startswith("|") else " ").join(rest).strip()
    joined = " ".join([raw, *(text for text in rest if text)])
    quoted = yaml_view.QUOTED.fullmatch(joined)
    if quoted is None:
        return joined
    if quoted[1] is not None:
        return re.sub(r'\\(["\\])', r"\1", quoted[1])
    return quoted[2].replace("''", "'")


def _yaml_problems(texts: Sequence[str], reader: _Reader) -> list[tuple[str, int, str]]:
    """Return for which lines a YAML reader fails: the suspects, if it does, else whatever it stumbles over."""
    suspects = _first_of_some(reader.suspects)
    text = "\n".join(texts)
    is_reference = any(kind == "head-alias" for kind, _, _ in suspects)
    if not reader.is_odd or is_reference or not yaml_view.is_readable(text):
        return suspects
    stumble = yaml_view.stumble(text)
    if stumble is None:
        return []
    return suspects or [stumble]


def _first_of_some(suspects: Sequence[tuple[str, int, str]]) -> list[tuple[str, int, str]]:
    """Keep one tab and one alias per head: more of them say nothing new."""
    kept: list[tuple[str, int, str]] = []
    for suspect in suspects:
        if suspect[0] not in ("head-tab", "head-alias") or all(suspect[0] != other[0] for other in kept):
            kept.append(suspect)
    return kept


def _field_problems(reader: _Reader) -> list[tuple[str, int, str]]:
    """Return doubled keys, types that disagree and an emptied name."""
    problems: list[tuple[str, int, str]] = []
    first: dict[tuple[str, str], Field] = {}
    for entry in reader.fields:
        earlier = first.setdefault((entry.parent, entry.key), entry)
        if earlier is not entry and "-" not in entry.parent.split("."):
            sentence = (
                f"“{shown(entry.key)}” stands in line {earlier.lineno} already; a YAML reader takes the last one."
            )
            problems.append(("head-doubled-key", entry.lineno, sentence))
    flat, nested = first.get(("", "type")), first.get(("metadata", "type"))
    if flat and nested and flat.value and nested.value and flat.value != nested.value:
        types = f"`type` is “{shown(flat.value)}” but `metadata.type` is “{shown(nested.value)}”"
        sentence = f"{types}; tools read one or the other."
        problems.append(("head-type-conflict", nested.lineno, sentence))
    name = first.get(("", "name"))
    if name and not name.value and all(parent.split(".")[0] != "name" for parent, _ in first):
        problems.append(("head-empty-name", name.lineno, "`name` is empty, so links by name do not find this note."))
    return problems
