"""Trailing blanks and surplus blank lines carry no meaning outside code, hard breaks and `§` rules."""

from __future__ import annotations

import re

from memoryreview.core.classify.document import BLANKS, DELIMITER, Document, Span, is_blank
from memoryreview.core.markdown import Place
from memoryreview.core.model import Rewrite

from .outcome import Declined, Explained, Outcome

VERSION = 1

MAX_LEAD_BYTES = 16 * 1024
"""Text of its block above a line that is searched for what is open; below more of it no line is proved."""

_TICKS = re.compile(rb"(\\*)(`+)")
_TEXT = frozenset({Place.PARAGRAPH, Place.ITEM, Place.ORDERED, Place.QUOTE})
_OPEN = _TEXT | {Place.HEADING, Place.BLANK, Place.RULE}


def explain_line(document: Document, index: int, new_body: bytes) -> Outcome:
    """Explain the loss of all trailing blanks of one line, whose words stay.

    Args: index: 0-based; new_body: what becomes of the line.
    """
    body = document.bodies[index]
    stripped = body.rstrip(BLANKS)
    if new_body != stripped:
        return Declined("Trailing blanks change without all of them going, so nothing proves that they mean nothing.")
    refusal = _why_blanks_stay(document, index, stripped)
    if refusal:
        return Declined(refusal)
    start = document.body_start(index)
    return Explained((Rewrite(document.path, start + len(stripped), start + len(body), b""),))


def explain_gap(old: Document, old_span: Span, new: Document, new_span: Span) -> Outcome:
    """Explain a run of blank lines that becomes one blank line, or blanks that go from a blank line."""
    first, stop = _whole_run(old, old_span)
    new_first, new_stop = _whole_run(new, new_span)
    if first == stop or new_first == new_stop:
        return None
    if stop - first == 1 and new_stop - new_first == 1:
        return explain_line(old, first, new.bodies[new_first])
    if new_stop - new_first != 1 or new.bodies[new_first] != b"":
        return Declined("Only a run of blank lines that becomes a single empty line is surplus.")
    if old.keeps_line_count:
        return Declined("Other documents cite lines of this one by number, so its line count must not change.")
    if old.is_delimited and _touches_delimiter(old, first, stop):
        return Declined("Blank lines next to a “§” rule belong to the format.")
    if not old.lines[stop - 1].eol:
        return Declined("The blank lines end the document, whose final newline is never touched.")
    if any(old.spots[index].place is not Place.BLANK for index in range(first, stop)):
        return Declined("These blank lines stand in code, HTML or frontmatter, where they count.")
    start, end = old.body_start(first), old.lines[stop - 1].end
    return Explained((Rewrite(old.path, start, end, old.lines[stop - 1].eol),))


def _whole_run(document: Document, span: Span) -> Span:
    """Return the run of blank lines around a span; the span itself where it holds anything else."""
    first, stop = span
    if not all(is_blank(body) for body in document.bodies[first:stop]):
        return first, first
    while first and is_blank(document.bodies[first - 1]):
        first -= 1
    while stop < len(document.bodies) and is_blank(document.bodies[stop]):
        stop += 1
    return first, stop


def _touches_delimiter(document: Document, first: int, stop: int) -> bool:
    return DELIMITER in document.bodies[max(first - 1, 0) : first] + document.bodies[stop : stop + 1]


def _why_blanks_stay(document: Document, index: int, stripped: bytes) -> str:
    """Return why the trailing blanks of a line carry meaning, "" when they do not."""
    spot = document.spots[index]
    if spot.place not in _OPEN:
        return f"The blanks stand in {spot.place}, where every byte counts."
    if stripped == DELIMITER:
        return "A line of “§” with blanks is text; without them it would split the entry."
    if stripped.endswith(b"\\"):
        return "A backslash at the end of a line is a hard break; the blanks keep it from being one."
    if stripped and not any(chr(byte).isalnum() or byte > 0x7F for byte in stripped) and spot.place is not Place.RULE:
        return "The line is a bare mark, and its blank decides what the mark means."
    if spot.place is Place.HEADING and not stripped.lstrip(BLANKS).startswith(b"#"):
        return "The heading is underlined text, in which blanks can be a hard break."
    if index == 0 and document.has_format_mark:
        return "Line 1 is a format mark and is never touched by itself."
    if not stripped and document.is_delimited and _touches_delimiter(document, index, index + 1):
        return "Blank lines next to a “§” rule belong to the format."
    open_reason = _why_open(document, index) if stripped else ""
    if open_reason:
        return open_reason
    is_hard_break = len(document.bodies[index]) - len(stripped) >= 2 and _text_follows(document, index)
    return "Two blanks before a following line of text are a hard break." if is_hard_break else ""


def _text_follows(document: Document, index: int) -> bool:
    if index + 1 >= len(document.spots) or document.spots[index].place not in _TEXT:
        return False
    spot, following = document.spots[index], document.spots[index + 1]
    if following.place not in _TEXT:
        # A table or a definition may begin inside what was a paragraph up to here.
        return following.place in (Place.TABLE, Place.REFERENCE, Place.HTML)
    return following.place is Place.QUOTE or following.item_start in (spot.item_start, 0)


def _why_open(document: Document, index: int) -> str:
    """Return that a code span or a tag that began in the block may not be closed at the end of the line, else ""."""
    block = document.block_at(index)
    if block is None or index + 1 == block.span[1]:
        return ""
    if document.lines[index].start - document.lines[block.span[0]].start > MAX_LEAD_BYTES:
        return "The line stands too far down in a long block to prove that nothing is open there."
    text = b"\n".join(document.bodies[block.span[0] : index + 1])
    is_comment = text.rfind(b"<!--") > text.rfind(b"-->")
    if is_comment or text.rfind(b"<") > text.rfind(b">") or _is_code_open(text):
        return "A code span or comment goes on in the next line, and every byte of it counts."
    return ""


def _is_code_open(text: bytes) -> bool:
    """Whether a code span begins in a text that does not end there."""
    at, fence = 0, b""
    while match := _TICKS.search(text, at):
        ticks, at = match[2], match.end()
        if not fence:
            # Behind a backslash the first one is a character like any other.
            fence = ticks[len(match[1]) % 2 :]
        elif ticks == fence:
            fence = b""
    return bool(fence)
