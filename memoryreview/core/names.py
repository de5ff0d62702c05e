"""Names of documents: which may be made, and which are the same name on some system."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache

from .errors import PathNotAllowedError
from .model import Limits
from .text import fold_name

_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_PERCENT_CODE = re.compile(r"%[0-9A-Fa-f]{2}")
_DEVICE = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[1-9¹²³]) *(?:\.|$)", re.IGNORECASE)
_PUNCTUATION = frozenset(" ._@()+-")
_UNSEEN_LETTERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0")
_folded = lru_cache(maxsize=20_000)(fold_name)
_SHOWN_CHARS = 200
MAX_SEGMENT_BYTES = 255
"""What file systems take; 120 characters of Chinese are more."""


def shown(path: str) -> str:
    """Return a path for a message: without control, bidi, invisible or undecodable characters, cut to length."""
    safe = "".join("\ufffd" if _is_unsafe(char) else char for char in path[: _SHOWN_CHARS + 1])
    return safe if len(safe) <= _SHOWN_CHARS else safe[:_SHOWN_CHARS] + "…"


def refuse_escape(path: str) -> None:
    """Raise PathNotAllowedError for what could lead out of a store, even where such a document is said to exist."""
    if not path:
        raise PathNotAllowedError("", "it is empty")
    if path[0] in "/\\" or _DRIVE.match(path):
        raise PathNotAllowedError(shown(path), "it must be relative to the store")
    if {"", ".", ".."} & set(path.split("/")) or ".." in path.replace("\\", "/").split("/"):
        raise PathNotAllowedError(shown(path), "it may not have empty, “.” or “..” segments")
    if "\x00" in path:
        raise PathNotAllowedError(shown(path), "it holds a NUL character")


def refuse_disguise(path: str) -> None:
    """Raise PathNotAllowedError for a name that is not what it seems. Ordinary names that are only new pass."""
    refuse_escape(path)
    if "\\" in path:
        raise PathNotAllowedError(shown(path), "a backslash is not allowed; separate folders by “/”")
    if _PERCENT_CODE.search(path):
        raise PathNotAllowedError(shown(path), "percent codes are not allowed; write the character itself")
    if any(_is_unsafe(char) for char in path):
        raise PathNotAllowedError(shown(path), "it holds a control, bidi or invisible character or an unusual blank")
    if any(segment.strip(" .").casefold() == "git" and "." in segment for segment in path.split("/")):
        raise PathNotAllowedError(shown(path), "names like “.git” are not allowed")


def check_path(path: str, limits: Limits) -> str:
    """Return the path of a NEW document in its stored form (NFC). Raises PathNotAllowedError.

    The error's shown path has control characters replaced, never the raw ones.
    """
    if len(path) > limits.path_segments * (limits.segment_chars + 1) * 4:
        raise PathNotAllowedError(shown(path), "it is too long")
    refuse_disguise(path)
    stored = unicodedata.normalize("NFC", path)
    segments = stored.split("/")
    if len(segments) > limits.path_segments:
        raise PathNotAllowedError(shown(path), f"it has more than {limits.path_segments} segments")
    for segment in segments:
        reason = _segment_fault(segment, limits)
        if reason:
            raise PathNotAllowedError(shown(path), reason)
    if not stored.endswith(".md"):
        raise PathNotAllowedError(shown(path), "it must end in “.md”")
    return stored


def _segment_fault(segment: str, limits: Limits) -> str:
    """Return why a segment may not be used, "" when it may."""
    if len(segment) > limits.segment_chars:
        return f"a segment has more than {limits.segment_chars} characters"
    if len(segment.encode()) > MAX_SEGMENT_BYTES:
        return f"a segment has more than {MAX_SEGMENT_BYTES} bytes"
    for char in segment:
        if char not in _PUNCTUATION and unicodedata.category(char)[0] not in "LNM":
            return f"the character “{char}” is not allowed; use letters, digits, space and “._@()+-”"
    if segment[0] in "-.":
        return "a segment may not start with “-” or “.”"
    if segment[-1] in " .":
        return "a segment may not end in a space or dot"
    if _DEVICE.match(segment):
        return "Windows keeps this name for a device"
    return ""


def _is_unsafe(char: str) -> bool:
    category = unicodedata.category(char)
    if category in ("Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp") or (category == "Zs" and char != " "):
        return True
    return char in _UNSEEN_LETTERS or _is_variation_selector(ord(char))


def _is_variation_selector(code: int) -> bool:
    return 0xFE00 <= code <= 0xFE0F or 0x180B <= code <= 0x180F or 0xE0100 <= code <= 0xE01EF


def clash(path: str, existing: Iterable[str]) -> tuple[str, str] | None:
    """Return the first pair of (new, existing) names that some system takes for the same, None where there is none.

    Names of folders count too, and a document may not stand where a folder does.
    """
    own = {_folded(name): name for name in prefixes(path)}
    for other in existing:
        for name in prefixes(other):
            mine = own.get(_folded(name))
            if mine is None:
                continue
            is_shared_folder = mine == name and name not in (path, other)
            if not is_shared_folder:
                return mine, name
    return None


def prefixes(path: str) -> Iterator[str]:
    """Yield the names of the folders above a document, outermost first, then its own."""
    at = path.find("/")
    while at >= 0:
        yield path[:at]
        at = path.find("/", at + 1)
    yield path
