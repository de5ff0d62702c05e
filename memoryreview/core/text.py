"""Bytes, lines and names: the ground that formats, rules and the verifier stand on."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

from .errors import NotUtf8Error
from .model import Rewrite

BYTE_ORDER_MARK = b"\xef\xbb\xbf"

_BLANKS = re.compile(r"[ \t]+")

# Inclusive code point ranges, sorted: Thai, Lao, Myanmar, Hangul Jamo, Khmer, CJK radicals and Kangxi, letters among
# the CJK marks, Kana with Bopomofo and Hangul letters, Kana extensions, Han A and B…, Yi, Hangul, half-width forms.
_CJK_RANGES = (
    (0x0E01, 0x0E7F),
    (0x0E80, 0x0EFF),
    (0x1000, 0x109F),
    (0x1100, 0x11FF),
    (0x1780, 0x17FF),
    (0x2E80, 0x2FDF),
    (0x3005, 0x3007),
    (0x3021, 0x3029),
    (0x3031, 0x3035),
    (0x3038, 0x303C),
    (0x3041, 0x318F),
    (0x31A0, 0x31FF),
    (0x3400, 0x4DBF),
    (0x4E00, 0xA4CF),
    (0xA960, 0xA97F),
    (0xAC00, 0xD7FF),
    (0xF900, 0xFAFF),
    (0xFF66, 0xFFDC),
    (0x1AFF0, 0x1B16F),
    (0x20000, 0x323AF),
)
_CJK_STARTS = tuple(first for first, _ in _CJK_RANGES)


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a document.

    Args:
        number: 1-based.
        start, end: half-open byte span in the document, line end included.
        body: bytes without the line end.
        eol: b"", b"\\n" or b"\\r\\n".
    """

    number: int
    start: int
    end: int
    body: bytes
    eol: bytes

    @property
    def raw(self) -> bytes:
        """The line as it stands in the document, line end included."""
        return self.body + self.eol


def split_lines(data: bytes) -> tuple[Line, ...]:
    """Split at LF only (CRLF is one end), as git does: never at CR, NEL, U+2028 or form feed. b"" has no line."""
    lines: list[Line] = []
    start = 0
    *ended, tail = data.split(b"\n")
    for number, piece in enumerate(ended, start=1):
        end = start + len(piece) + 1
        if piece.endswith(b"\r"):
            lines.append(Line(number, start, end, piece[:-1], b"\r\n"))
        else:
            lines.append(Line(number, start, end, piece, b"\n"))
        start = end
    if tail:
        lines.append(Line(len(ended) + 1, start, len(data), tail, b""))
    return tuple(lines)


def raw_lines(data: bytes) -> list[bytes]:
    """Return the lines of `split_lines` as they stand in the document, line ends included."""
    *ended, tail = data.split(b"\n")
    return [line + b"\n" for line in ended] + ([tail] if tail else [])


def decode(data: bytes, path: str) -> str:
    """Decode UTF-8 (a byte order mark stays as U+FEFF). Raises NotUtf8Error."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise NotUtf8Error(path, error.start) from error


def undecodable_at(data: bytes) -> int | None:
    """Return the offset of the first byte that is not UTF-8, None when all are."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start
    return None


def line_end(data: bytes) -> bytes:
    """Return the line end that most lines of `data` use, b"\\n" where there is none."""
    crlf = data.count(b"\r\n")
    return b"\r\n" if crlf > data.count(b"\n") - crlf else b"\n"


def normalise(text: str) -> str:
    """NFC, trim, and collapse runs of space and tab to one space. No other character counts as blank."""
    return _BLANKS.sub(" ", unicodedata.normalize("NFC", text)).strip(" ")


def fold_name(path: str) -> str:
    """Return the form under which two document names are the same name: NFC, then full case folding, then NFC."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


def apply_rewrites(data: bytes, rewrites: Iterable[Rewrite]) -> bytes:
    """Replace spans of one document. Raises ValueError when spans overlap, are unsorted or leave the document."""
    pieces: list[bytes] = []
    position = 0
    for rewrite in rewrites:
        if not position <= rewrite.start <= rewrite.end <= len(data):
            raise ValueError(f"span {rewrite.start}-{rewrite.end} is unsorted, overlaps or leaves the document")
        pieces += (data[position : rewrite.start], rewrite.new)
        position = rewrite.end
    pieces.append(data[position:])
    return b"".join(pieces)


def is_cjk(char: str) -> bool:
    """Whether the character belongs to a script written without blanks between words (Han, Kana, Hangul, Thai…)."""
    code = ord(char)
    place = bisect_right(_CJK_STARTS, code) - 1
    return place >= 0 and code <= _CJK_RANGES[place][1]
