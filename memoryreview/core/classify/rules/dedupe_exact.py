"""A list entry that repeats an earlier one of the same list, word for word, adds nothing."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from memoryreview.core.classify.document import BLANKS, Block, Document, Span
from memoryreview.core.markdown import Place
from memoryreview.core.model import Rewrite
from memoryreview.core.text import normalise

from .cut import has_children, why_not_cut
from .dedupe_place import Places, places, why_placed
from .outcome import Declined, Explained, Outcome

VERSION = 1

Words: TypeAlias = tuple[str, ...]
ListKey: TypeAlias = tuple[Words, int, int]
"""Words of an entry, its list and its section."""

_MARK = re.compile(rb"[ \t]*[-*+](?:[ \t]+|$)")
_CHECK_BOX = re.compile(r"\[.?\](?:\s|$)")
_BOLD_LINE = re.compile(r"(\*\*|__).+\1:?")
_RELATED = re.compile(
    r"[*_#\s]*(?:related|see also|siehe auch|verwandt|voir aussi|connexe|véase también|ver también|relacionad"
    r"|相关|相關|参见|參見|関連|参照|관련|참고)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Entries:
    """The blocks of a document by what two repeats have in common: each removal is then one look-up.

    Args:
        first: first line of the first block with these words, anywhere.
        in_list: the same among the entries of one list that a later one may repeat.
        kept: the first of those that stays.
        outside: the block above and outside the list of each block, by first line.
        lead_ins: lines that introduce what follows them, in order.
        places: what entries say by their place.
    """

    first: Mapping[Words, int]
    in_list: Mapping[ListKey, int]
    kept: Mapping[ListKey, Block]
    outside: Mapping[int, Block]
    lead_ins: Sequence[int]
    places: Places


def entries(document: Document, staying: Container[int]) -> Entries:
    """Return the entries of a document. Args: staying: first lines of the blocks that stay."""
    first: dict[Words, int] = {}
    in_list: dict[ListKey, int] = {}
    kept: dict[ListKey, Block] = {}
    for block in document.blocks:
        words = _comparable(document, block)
        first.setdefault(words, block.span[0])
        if not document.is_delimited and not _may_be_repeated(document, block):
            continue
        key = _list_key(document, block, words)
        in_list.setdefault(key, block.span[0])
        if block.span[0] in staying:
            kept.setdefault(key, block)
    if document.is_delimited:
        return Entries(first, in_list, kept, {}, (), places(document))
    return Entries(first, in_list, kept, dict(_outside(document)), tuple(_lead_ins(document)), places(document))


def explain_removal(document: Document, known: Entries, block: Block, removed: Span) -> Outcome:
    """Explain the removal of one entry.

    Args:
        known: see `entries`.
        block: the entry, as it stands in the base document.
        removed: lines that go: the entry and the gap on one side of it.
    """
    own = block.span[0]
    words = _comparable(document, block)
    if known.first.get(words, own) >= own:
        return None
    refusal = _why_no_entry(document, known, block, words[0]) or why_not_cut(document, block.span, removed)
    if refusal:
        return Declined(refusal)
    key = _list_key(document, block, words)
    if known.in_list.get(key, own) >= own:
        return Declined("The same words stand elsewhere in the document, but not in the same list.")
    kept = known.kept.get(key)
    if kept is None or kept.span[0] >= own:
        return Declined("The copy that it repeats does not stay as it is.")
    if bisect_left(known.lead_ins, kept.span[1]) < bisect_left(known.lead_ins, own):
        return Declined("A lead-in line stands between the two, so they may belong to different things.")
    refusal = why_placed(document, known.places, kept, block)
    if refusal:
        return Declined(refusal)
    start, end = document.removal(removed)
    return Explained((Rewrite(document.path, start, end, b""),))


def _list_key(document: Document, block: Block, words: Words) -> ListKey:
    if document.is_delimited:
        return words, 0, 0
    spot = document.spots[block.span[0]]
    return words, spot.list_id, spot.section


def _may_be_repeated(document: Document, block: Block) -> bool:
    is_entry = block.place is Place.ITEM and block.entry == block.span[0]
    return is_entry and not has_children(document, block.span)


def _comparable(document: Document, block: Block) -> Words:
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


def _why_no_entry(document: Document, known: Entries, block: Block, text: str) -> str:
    if not document.is_delimited and (block.place is not Place.ITEM or block.entry != block.span[0]):
        return f"Repeats in {block.place} are kept: only entries of an unordered list are compared."
    if not any(char.isalnum() for char in text):
        return "A separator may repeat."
    if _CHECK_BOX.match(text):
        return "Check boxes may repeat."
    return "Lists of related notes may repeat." if _is_related(document, known, block, text) else ""


def _is_related(document: Document, known: Entries, block: Block, text: str) -> bool:
    if _RELATED.match(text):
        return True
    if document.is_delimited:
        return False
    spot = document.spots[block.span[0]]
    if any(_RELATED.match(heading) for heading in spot.headings[-1:]):
        return True
    lead = known.outside.get(block.span[0])
    return lead is not None and bool(_RELATED.match(lead.text.decode("utf-8").lstrip("-*+ \t")))


def _outside(document: Document) -> Iterator[tuple[int, Block]]:
    """Yield the first line of each block with the last block above that is less deep: its parent entry or the text
    before its list."""
    above: list[tuple[int, Block]] = []
    for block in document.blocks:
        depth = document.spots[block.span[0]].depth
        while above and above[-1][0] >= depth:
            above.pop()
        if above:
            yield block.span[0], above[-1][1]
        above.append((depth, block))


def _lead_ins(document: Document) -> Iterator[int]:
    for index, body in enumerate(document.bodies):
        text = _MARK.sub(b"", body, count=1).decode("utf-8").strip()
        if text.rstrip("*_ \t").endswith((":", "：")) or _BOLD_LINE.fullmatch(text):
            yield index
