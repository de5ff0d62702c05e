"""A list entry that repeats an earlier one of the same list, word for word, adds nothing."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container, Mapping, Sequence
from typing import TypeAlias

from memoryreview.core.classify.document import BLANKS, Block, Document, Span
from memoryreview.core.markdown import Place
from memoryreview.core.model import Rewrite
from memoryreview.core.text import normalise

from .cut import has_children, why_not_cut
from .outcome import Declined, Explained, Outcome

VERSION = 1

EntriesByText: TypeAlias = Mapping[tuple[str, ...], Sequence[Block]]

_MARK = re.compile(rb"[ \t]*[-*+](?:[ \t]+|$)")
_CHECK_BOX = re.compile(r"\[.?\](?:\s|$)")
_BOLD_LINE = re.compile(r"(\*\*|__).+\1:?")
_RELATED = re.compile(
    r"[*_#\s]*(?:related|see also|siehe auch|verwandt|voir aussi|connexe|véase también|ver también|relacionad"
    r"|相关|相關|参见|參見|関連|参照|관련|참고)",
    re.IGNORECASE,
)


def entries_by_text(document: Document) -> EntriesByText:
    """Return the blocks of a document by what two repeats of an entry have in common, in order."""
    found: dict[tuple[str, ...], list[Block]] = {}
    for block in document.blocks:
        found.setdefault(_comparable(document, block), []).append(block)
    return found


def explain_removal(
    document: Document, entries: EntriesByText, block: Block, removed: Span, staying: Container[int]
) -> Outcome:
    """Explain the removal of one entry.

    Args:
        entries: see `entries_by_text`.
        block: the entry, as it stands in the base document.
        removed: lines that go: the entry and the gap on one side of it.
        staying: first lines of the blocks that stay.
    """
    twins = [other for other in entries.get(_comparable(document, block), ()) if other.span[0] < block.span[0]]
    if not twins:
        return None
    refusal = _why_no_entry(document, block) or why_not_cut(document, block.span, removed)
    if refusal:
        return Declined(refusal)
    twins = [other for other in twins if document.is_delimited or _same_list(document, other, block)]
    if not twins:
        return Declined("The same words stand elsewhere in the document, but not in the same list.")
    kept = next((other for other in twins if other.span[0] in staying), None)
    if kept is None:
        return Declined("The copy that it repeats does not stay as it is.")
    if not document.is_delimited and _has_lead_in(document, kept.span[1], block.span[0]):
        return Declined("A lead-in line stands between the two, so they may belong to different things.")
    start, end = document.removal(removed)
    return Explained((Rewrite(document.path, start, end, b""),))


def _comparable(document: Document, block: Block) -> tuple[str, ...]:
    """Return the text that two repeats have in common; inside code spans every blank counts."""
    first, *rest = block.text.split(b"\n")
    mark = None if document.is_delimited else _MARK.match(first)
    head = first[mark.end() :] if mark else first
    return (_same(head.strip(BLANKS)), *(_indent(line) + _same(line.strip(BLANKS)) for line in rest))


def _same(text: bytes) -> str:
    decoded = text.decode("utf-8")
    return unicodedata.normalize("NFC", decoded) if "`" in decoded else normalise(decoded)


def _indent(line: bytes) -> str:
    return line[: len(line) - len(line.lstrip(BLANKS))].decode()


def _why_no_entry(document: Document, block: Block) -> str:
    text = _comparable(document, block)[0]
    if not document.is_delimited and (block.place is not Place.ITEM or block.entry != block.span[0]):
        return f"Repeats in {block.place} are kept: only entries of an unordered list are compared."
    if not any(char.isalnum() for char in text):
        return "A separator may repeat."
    if _CHECK_BOX.match(text):
        return "Check boxes may repeat."
    return "Lists of related notes may repeat." if _is_related(document, block, text) else ""


def _is_related(document: Document, block: Block, text: str) -> bool:
    if _RELATED.match(text):
        return True
    if document.is_delimited:
        return False
    spot = document.spots[block.span[0]]
    if any(_RELATED.match(heading) for heading in spot.headings[-1:]):
        return True
    lead = next((other for other in reversed(document.blocks) if _leads(document, other, block)), None)
    return lead is not None and bool(_RELATED.match(lead.text.decode("utf-8").lstrip("-*+ \t")))


def _leads(document: Document, other: Block, block: Block) -> bool:
    """Whether `other` stands above and outside the list of `block`: its parent entry or the text before the list."""
    return other.span[0] < block.span[0] and document.spots[other.span[0]].depth < document.spots[block.span[0]].depth


def _same_list(document: Document, other: Block, block: Block) -> bool:
    if other.place is not Place.ITEM or other.entry != other.span[0] or has_children(document, other.span):
        return False
    one, two = document.spots[other.span[0]], document.spots[block.span[0]]
    return (one.list_id, one.section) == (two.list_id, two.section)


def _has_lead_in(document: Document, first: int, stop: int) -> bool:
    for body in document.bodies[first:stop]:
        text = _MARK.sub(b"", body, count=1).decode("utf-8").strip()
        if text.rstrip("*_ \t").endswith((":", "：")) or _BOLD_LINE.fullmatch(text):
            return True
    return False
