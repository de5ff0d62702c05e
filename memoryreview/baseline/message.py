"""Commit messages: what comes from outside can neither add a trailer nor break a line."""

from __future__ import annotations

import re
from collections.abc import Mapping

MAX_SUBJECT_CHARS = 200

_TOKEN = re.compile("[A-Za-z0-9][A-Za-z0-9-]*")
# What git takes for a trailer or for the end of a message, after any indent; also in letters that only look like it.
_READS_AS_TRAILER = re.compile(r"\s*(?:[^\s:]+[ \t]*:|\(cherry picked from commit |---)")
_LINE_END = re.compile("\r\n?")
_UNICODE_LINE_END = re.compile("[\u2028\u2029]")
# Controls but for line feed and tab, and marks that reorder the text around them: a title must read as it is stored.
_REMOVED = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def compose(subject: str, body: str, trailers: Mapping[str, str]) -> str:
    """Return subject, quoted body and trailers (always last), each after an empty line.

    Raises:
        ValueError: a trailer's token is not of the form `Proposal-Id`. Tokens come from our own code.
    """
    for token in trailers:
        if _TOKEN.fullmatch(token) is None:
            raise ValueError(f"{token!r} is no trailer token")
    parts = [_shortened(_one_line(subject)) or "(no title)", _quoted(body)]
    parts.append("\n".join(f"{token}: {_one_line(value)}".rstrip() for token, value in trailers.items()))
    return "\n\n".join(part for part in parts if part) + "\n"


def trailers(message: str) -> dict[str, str]:
    """Return the trailers of a message that `compose` made."""
    above, _, last = message.rstrip("\n").rpartition("\n\n")
    found = (line.partition(": ") for line in (last.split("\n") if above else ()))
    return {token: value for token, colon, value in found if colon and _TOKEN.fullmatch(token)}


def _clean(text: str) -> str:
    return _REMOVED.sub("", _UNICODE_LINE_END.sub(" ", _LINE_END.sub("\n", text)))


def _one_line(text: str) -> str:
    return " ".join(_clean(text).split())


def _shortened(line: str) -> str:
    return line if len(line) <= MAX_SUBJECT_CHARS else line[: MAX_SUBJECT_CHARS - 1] + "…"


def _quoted(body: str) -> str:
    lines = (line.rstrip() for line in _clean(body).strip("\n").split("\n"))
    return "\n".join(f"> {line}" if _READS_AS_TRAILER.match(line) else line for line in lines).strip("\n")
