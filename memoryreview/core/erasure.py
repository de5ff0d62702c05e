"""What to take out of a history for good: one text wherever it stands, or one whole document."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from datetime import date
from typing import Any

from .errors import MemoryReviewError

MIN_BYTES = 6
"""A shorter text stands in too many places that do not mean it. Two letters of Chinese are long enough."""

MAX_BYTES = 64 * 1024
_TRACE_CHARS = 6
_LINE_END = re.compile("\r\n|\r|\n")
_FIXED_KEYS = frozenset({"kind", "kinds", "verdict", "rule", "scanner", "severity", "commit", "format", "digest"})
_PATH_KEYS = frozenset({"path", "paths", "differing", "promoted_path"})


class EraserError(MemoryReviewError):
    """What was asked for cannot be searched for. The sentence does not hold it."""

    status = 409


class Eraser:
    """Finds and replaces what is to go. It lives in memory only and prints nothing of what it looks for.

    In documents the text is found byte for byte, in UTF-8, with either kind of line end, composed (NFC) or decomposed
    (NFD). In messages and rows it is found also with its blanks collapsed and its lines quoted or apart, which is how
    titles, bodies and lists of actions hold it. `path` names a document that goes whole.
    """

    def __init__(self, day: date, *, text: str = "", path: str = "") -> None:
        """Args: day: what the mark in place of the text says. Raises EraserError."""
        self.mark = f"[erased {day.isoformat()}]"
        self.path = path
        self._name_mark = f"erased-{day.isoformat()}"
        self._names: dict[bytes, bytes] = {}
        self._exact: re.Pattern[bytes] | None = None
        self._loose: re.Pattern[str] | None = None
        self._sought: re.Pattern[str] | None = None
        self._forms: tuple[str, ...] = ()
        self._traces: frozenset[str] = frozenset()
        stripped = text.strip()
        if not stripped:
            if not path:
                raise EraserError("There is no text to erase. Nothing was changed; give a text or a document.")
            return
        try:
            length = len(stripped.encode("utf-8"))
        except UnicodeEncodeError as error:
            raise EraserError("That text is no UTF-8. Nothing was changed.") from error
        if not MIN_BYTES <= length <= MAX_BYTES:
            raise EraserError(
                f"A text to erase has {MIN_BYTES} to {MAX_BYTES:,} bytes: a shorter one stands in places that do not "
                "mean it. Nothing was changed; take more of the line."
            )
        composed, apart = unicodedata.normalize("NFC", stripped), unicodedata.normalize("NFD", stripped)
        self._forms = tuple(sorted({stripped, composed, apart}))
        self._exact = re.compile(b"|".join(map(_exact, self._forms)))
        lines = (re.escape(line) for line in _lines(self._forms))
        self._loose = re.compile("|".join([*map(_blank, self._forms), *lines]))
        self._sought = re.compile(self._loose.pattern, re.IGNORECASE)
        if self._loose.search(self.mark) or self._loose.search(self._name_mark):
            raise EraserError("That text is a part of the mark that would stand in its place. Nothing was changed.")
        letters = _letters(stripped)
        starts = range(max(1, len(letters) - _TRACE_CHARS + 1)) if letters else range(0)
        self._traces = frozenset(letters[start : start + _TRACE_CHARS] for start in starts)

    def __repr__(self) -> str:
        return f"Eraser({self.mark!r})"

    def holds(self, content: bytes) -> bool:
        """Whether the text stands in these bytes."""
        return self._exact is not None and self._exact.search(content) is not None

    def document(self, content: bytes) -> bytes:
        """Return a document with the mark in place of the text."""
        if self._exact is None:
            return content
        mark = self.mark.encode()
        while (cleaned := self._exact.sub(mark, content)) != content:
            content = cleaned
        return content

    def name(self, name: bytes) -> bytes:
        """Return a file's or folder's name without the text. Two names never become one."""
        if not self.holds(name) or self._exact is None:
            return name
        if name not in self._names:
            bare = self._exact.sub(self._name_mark.encode(), name)
            stem, dot, suffix = bare.rpartition(b".")
            taken, number, wanted = set(self._names.values()), 2, bare
            while wanted in taken:
                wanted = b"%s-%d.%s" % (stem, number, suffix) if dot else b"%s-%d" % (bare, number)
                number += 1
            self._names[name] = wanted
        return self._names[name]

    def place(self, path: str) -> str:
        """Return a path, each of its names without the text."""
        segments = (self.name(part.encode("utf-8", "surrogateescape")) for part in path.split("/"))
        return "/".join(part.decode("utf-8", "surrogateescape") for part in segments)

    def prose(self, text: str) -> str:
        """Return a message, a note or a row's text with the mark in place of the text."""
        return text if self._loose is None else self._loose.sub(self.mark, text)

    def is_sought(self, wanted: str) -> bool:
        """Whether words that somebody looks for hold the text: in any case of letters, as a search takes them."""
        return self._sought is not None and self._sought.search(wanted) is not None

    def title(self, text: str) -> str:
        """Return a line that quotes what is to go, perhaps cut short: the mark alone where a trace of it is left."""
        cleaned = self.prose(text)
        letters = _letters(cleaned.replace(self.mark, "\n"))
        windows = (letters[start : start + _TRACE_CHARS] for start in range(len(letters)))
        if any(window in self._traces for window in windows):
            return self.mark
        return cleaned

    def value(self, value: Any, key: str = "", *, foreign: bool = False) -> Any:
        """Return a JSON value with every text in it cleaned. Args: foreign: no word in it, as a verdict, is ours."""
        match value:
            case str() if key in _FIXED_KEYS and not foreign:
                return value
            case str():
                return self.place(value) if key in _PATH_KEYS and not foreign else self.prose(value)
            case list():
                return [self.value(one, key, foreign=foreign) for one in value]
            case dict():
                return {
                    self.prose(self.place(name)): self.value(one, name, foreign=foreign) for name, one in value.items()
                }
            case _:
                return value

    def spots(self, content: bytes) -> list[tuple[int, str]]:
        """Return (number, text) of each line of a document that holds it, the text masked."""
        if self._exact is None:
            return []
        hidden = self._exact.sub(lambda found: b"\0" + b"\1" * found[0].count(b"\n"), content)
        found, number = [], 1
        for line in hidden.decode("utf-8", "replace").split("\n"):
            if "\0" in line:
                found.append((number, line.replace("\1", "").replace("\0", "••••••")))
            number += 1 + line.count("\1")
        return found

    def logged(self) -> re.Pattern[bytes] | None:
        """Return what finds the text in log files as well, where unprintable characters stand escaped."""
        if self._exact is None:
            return None
        escaped = (re.escape(_escaped(form).encode()) for form in self._forms)
        return re.compile(b"|".join([self._exact.pattern, *escaped]))


def _exact(text: str) -> bytes:
    return rb"(?:\r\n|\r|\n)".join(re.escape(line.encode("utf-8")) for line in _LINE_END.split(text))


def _blank(text: str) -> str:
    return r"\s+(?:> ?)?".join(re.escape(word) for word in text.split())


def _lines(forms: Iterable[str]) -> list[str]:
    """Lines of a text that has several, each by itself where it is long enough to mean the text."""
    found = {line.strip() for text in forms for line in _LINE_END.split(text) if _LINE_END.search(text)}
    return sorted((line for line in found if len(line.encode("utf-8")) >= MIN_BYTES and _letters(line)), key=len)[::-1]


def _escaped(text: str) -> str:
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)


def _letters(text: str) -> str:
    return "".join(char for char in unicodedata.normalize("NFKC", text).casefold() if char.isalnum())
