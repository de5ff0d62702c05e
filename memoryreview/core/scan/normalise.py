"""Views: the text as a model would read it, with the way back to the characters as they stand."""

from __future__ import annotations

import html
import re
import unicodedata
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import TypeAlias
from urllib.parse import unquote_to_bytes

Edit: TypeAlias = tuple[int, int, str]
"""Replace the half-open character span [start, end) of a view by a text."""

Places: TypeAlias = "tuple[array[int], array[int]]"
"""Start and end of each character of a view, in the text as it stands."""

MAX_EXPANSION = 4
"""Characters that one character may become. Ligatures that grow further (U+FDFA grows 18-fold) stay as they are."""

FILLERS = frozenset("\u115f\u1160\u3164\uffa0\u2800")
"""Letters and signs that are drawn as nothing, used in place of a blank."""

LINE_BREAKS = frozenset("\u2028\u2029\x85\x0b\x0c")
"""Characters besides LF that some programs draw as a new line."""

_IGNORABLE_BESIDES_CF = frozenset("\u034f\u17b4\u17b5")


class View:
    """A rewritten text. Character i of `text` came from the span [starts[i], ends[i]) of the text as it stands.

    The way back is worked out when it is asked for: most texts hold nothing that anybody asks about.
    """

    __slots__ = ("_places", "_trace", "text")

    def __init__(self, text: str, trace: Callable[[], Places]) -> None:
        self.text = text
        self._trace = trace
        self._places: Places | None = None

    @property
    def starts(self) -> array[int]:
        return self._traced()[0]

    @property
    def ends(self) -> array[int]:
        return self._traced()[1]

    def _traced(self) -> Places:
        if self._places is None:
            self._places = self._trace()
        return self._places

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the half-open span, in the text as it stands, behind a non-empty span of this view."""
        first, last = self.starts[start], self.starts[end - 1]
        return min(first, last), max(self.ends[start], self.ends[end - 1])

    def part(self, start: int, end: int) -> View:
        """Return the view of a half-open span of this view."""
        return View(self.text[start:end], lambda: (self.starts[start:end], self.ends[start:end]))


def view_of(text: str) -> View:
    """Return the view that shows the text as it stands."""
    return View(text, lambda: (array("L", range(len(text))), array("L", range(1, len(text) + 1))))


def spliced(view: View, edits: Iterable[Edit]) -> View:
    """Return `view` with edits made. Edits are sorted and do not overlap."""
    made = list(edits)
    if not made:
        return view
    pieces: list[str] = []
    at = 0
    for start, end, new in made:
        pieces += (view.text[at:start], new)
        at = end
    pieces.append(view.text[at:])
    return View("".join(pieces), lambda: _places_after(view, made))


def _places_after(view: View, edits: Sequence[Edit]) -> Places:
    starts, ends = array("L"), array("L")
    at = 0
    for start, end, new in edits:
        starts.extend(view.starts[at:start])
        ends.extend(view.ends[at:start])
        if new:
            first, last = view.span(start, end)
            starts.extend([first] * len(new))
            ends.extend([last] * len(new))
        at = end
    starts.extend(view.starts[at:])
    ends.extend(view.ends[at:])
    return starts, ends


def replaced(view: View, table: Mapping[str, str]) -> View:
    """Return `view` with single characters replaced by the table."""
    if not table:
        return view
    pattern = re.compile("[" + "".join(map(re.escape, table)) + "]")
    return spliced(view, ((m.start(), m.end(), table[m[0]]) for m in pattern.finditer(view.text)))


def joined(views: Sequence[View], between: str) -> View:
    """Return the views one after the other with a text between them that stands nowhere itself."""
    return View(between.join(view.text for view in views), lambda: _places_joined(views, between))


def _places_joined(views: Sequence[View], between: str) -> Places:
    starts, ends = array("L"), array("L")
    for number, view in enumerate(views):
        if number:
            starts.extend([ends[-1]] * len(between))
            ends.extend([ends[-1]] * len(between))
        starts.extend(view.starts)
        ends.extend(view.ends)
    return starts, ends


def reversed_view(view: View) -> View:
    """Return the text backwards."""
    return View(view.text[::-1], lambda: (view.starts[::-1], view.ends[::-1]))


def translated(view: View, table: Mapping[int, str]) -> View:
    """Return `view` with characters replaced one for one, by a table of `str.maketrans`."""
    return View(view.text.translate(table), lambda: (view.starts, view.ends))


def is_ignorable(char: str) -> bool:
    """Whether a character is drawn as nothing: Unicode default-ignorable, and fillers."""
    return (
        unicodedata.category(char) == "Cf"
        or char in FILLERS
        or char in _IGNORABLE_BESIDES_CF
        or "\ufe00" <= char <= "\ufe0f"
        or "\u180b" <= char <= "\u180f"
        or "\U000e0000" <= char <= "\U000e0fff"
    )


def secret_view(text: str) -> View:
    """Return the view for secrets: compatibility forms folded (NFKC, per character), ignorable characters dropped."""
    table: dict[str, str] = {}
    for char in _beyond_ascii(text):
        folded = "" if is_ignorable(char) else _compatible(char)
        if folded != char:
            table[char] = folded
    return replaced(view_of(text), table)


def reading_view(text: str) -> View:
    """Return view A: what a model reads, with encodings of single characters undone, in lower case.

    Line breaks stay; `flat`, `paragraphs` and `lines` collapse blanks from here.
    """
    view = replaced(view_of(text), _visible_table(text))
    view = _undo_character_codes(view)
    view = _compose(view)
    view = replaced(view, {c: folded for c in _beyond_ascii(view.text) if (folded := _compatible(c)) != c})
    view = _fold_lookalikes(view)
    view = replaced(view, {c: base for c in _beyond_ascii(view.text) if (base := _without_marks(c)) != c})
    return _casefold(view)


def flat(view: View) -> View:
    """Collapse every run of blanks and line breaks to one space."""
    return spliced(view, ((m.start(), m.end(), " ") for m in _BLANKS.finditer(view.text)))


def paragraphs(view: View) -> View:
    """Collapse blanks as `flat` does, but keep one LF between blocks: paragraphs, rows, list entries, headings."""

    def edits() -> Iterable[Edit]:
        for match in _BLANKS.finditer(view.text):
            breaks = match[0].count("\n")
            starts_block = breaks == 1 and _BLOCK_START.match(view.text, match.end()) is not None
            yield match.start(), match.end(), "\n" if breaks > 1 or starts_block else " "

    return spliced(view, edits())


def lines(view: View) -> View:
    """Collapse blanks inside lines; line breaks stay."""
    return spliced(view, ((m.start(), m.end(), " ") for m in _INNER_BLANKS.finditer(view.text)))


def plain(view: View) -> View:
    """Return view B: view A without the marks of emphasis and code."""
    return spliced(view, ((m.start(), m.end(), "") for m in _EMPHASIS.finditer(view.text)))


_BLANKS = re.compile(r"\s{2,}|[^\S ]")
_INNER_BLANKS = re.compile(r"[^\S\n]{2,}|[^\S\n ]")
_EMPHASIS = re.compile(r"[*_~`]+")
_BLOCK_START = re.compile(r"(?:[-+*•|>]|#{1,6} |\d{1,3}[.)] |```|~~~|---)")
_PERCENT = re.compile(r"(?:%[0-9A-Fa-f]{2}){1,2000}")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});?")
_ESCAPE = re.compile(r"\\u\{([0-9A-Fa-f]{1,6})\}|\\u([0-9A-Fa-f]{4})|\\U([0-9A-Fa-f]{8})|\\x([0-9A-Fa-f]{2})")
_WORD = re.compile(r"[^\W\d_]{1,400}")
_LOOKALIKES = {
    "І": "I", "і": "i", "Ι": "I", "ι": "i", "Ӏ": "l", "ɪ": "i", "ɢ": "g", "ɴ": "n", "ʀ": "r", "ᴇ": "e", "ᴀ": "a",
    "ʟ": "l", "ᴘ": "p", "ᴛ": "t", "ʙ": "b", "ᴅ": "d", "ғ": "f", "ꜰ": "f", "ʜ": "h", "ᴊ": "j", "ᴋ": "k", "ᴍ": "m",
    "ǫ": "q", "ᴡ": "w", "ʏ": "y", "ᴢ": "z",
}  # fmt: skip
"""What the table of confusables lacks (small capitals) or folds to the wrong letter (І to l)."""


def _beyond_ascii(text: str) -> list[str]:
    return [] if text.isascii() else sorted(c for c in set(text) if c > "\x7f")


def _compatible(char: str) -> str:
    folded = unicodedata.normalize("NFKC", char)
    return folded if len(folded) <= MAX_EXPANSION else char


def _visible_table(text: str) -> dict[str, str]:
    table = dict.fromkeys((c for c in map(chr, range(0x20)) if c not in "\t\n\x0b\x0c" and c in text), "")
    for char in (*_beyond_ascii(text), "\x0b", "\x0c", "\x7f"):
        if char in LINE_BREAKS:
            table[char] = "\n"
        elif char in FILLERS:
            table[char] = " "
        elif char == "\x7f" or is_ignorable(char):
            table[char] = ""
    return table


def _undo_character_codes(view: View) -> View:
    for _ in range(2):  # "%2520" and "&amp;#73;" are coded twice
        before = view.text
        if "&" in view.text:
            view = spliced(view, ((m.start(), m.end(), html.unescape(m[0])) for m in _ENTITY.finditer(view.text)))
        if "%" in view.text:
            view = spliced(view, ((m.start(), m.end(), _percent_text(m[0])) for m in _PERCENT.finditer(view.text)))
        if "\\" in view.text:
            view = spliced(view, ((m.start(), m.end(), _escaped_text(m)) for m in _ESCAPE.finditer(view.text)))
        if view.text == before:
            break
    return replaced(view, _visible_table(view.text))


def _percent_text(run: str) -> str:
    return unquote_to_bytes(run).decode("utf-8", "replace")


def _escaped_text(match: re.Match[str]) -> str:
    code = int(match[match.lastindex or 0], 16)
    return chr(code) if code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF else match[0]


def _compose(view: View) -> View:
    marks = "".join(c for c in _beyond_ascii(view.text) if unicodedata.combining(c) or "\u1160" <= c <= "\u11ff")
    if not marks:
        return view
    cluster = re.compile(f"[^{marks}]?[{marks}]{{1,64}}")
    return spliced(view, ((m.start(), m.end(), _composed(m[0])) for m in cluster.finditer(view.text)))


def _composed(cluster: str) -> str:
    """Return the composed cluster; marks piled up on an ASCII letter ("zalgo") are dropped."""
    if cluster[0].isascii():
        return cluster[0]
    return unicodedata.normalize("NFC", cluster)


def _fold_lookalikes(view: View) -> View:
    if view.text.isascii():
        return view

    def edits() -> Iterable[Edit]:
        for match in _WORD.finditer(view.text):
            if not match[0].isascii() and (folded := _folded_word(match[0])) is not None:
                yield from (
                    (match.start() + i, match.start() + i + 1, new)
                    for i, (old, new) in enumerate(zip(match[0], folded, strict=True))
                    if old != new
                )

    return spliced(view, edits())


def _folded_word(word: str) -> str | None:
    """Return the word in ASCII letters where it mixes ASCII with look-alikes or consists of look-alikes, else None."""
    folded = "".join(c if c.isascii() else ascii_lookalike(c) for c in word)
    has_ascii = any(c.isascii() for c in word)
    return folded if folded != word and (has_ascii or folded.isascii()) else None


@cache
def ascii_lookalike(char: str) -> str:
    """Return the ASCII letter that a character looks like, the character itself where there is none."""
    # Loaded on first use: the table takes a tenth of a second, and most texts never need it.
    from confusable_homoglyphs.confusables import confusables_data

    if char in _LOOKALIKES:
        return _LOOKALIKES[char]
    if unicodedata.normalize("NFD", char)[0].isascii():
        return char
    alike = (str(entry["c"]) for entry in confusables_data.get(char, ()))
    return next((c for c in alike if len(c) == 1 and c.isascii() and c.isalpha()), char)


def _without_marks(char: str) -> str:
    base = unicodedata.normalize("NFD", char)[0]
    return base if base.isascii() and base.isalpha() else char


def _casefold(view: View) -> View:
    grows = {c: c.casefold() for c in _beyond_ascii(view.text) if len(c.casefold()) != 1}
    view = replaced(view, grows)
    return View(view.text.casefold(), lambda: (view.starts, view.ends))
