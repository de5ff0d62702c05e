"""Gather: entries and index rows that say word for word what one before them says."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from memoryreview.core.classify.document import Block, Document
from memoryreview.core.markdown import Place
from memoryreview.core.model import Kind, Rewrite
from memoryreview.core.text import normalise

from .library import Library, cut_lines
from .model import Candidate

_LIST_MARK = re.compile(r"[ \t]*[-*+][ \t]+")
_CHECK_BOX = re.compile(r"\[.?\](?:\s|$)")
CITED = "It repeats an entry above word for word, but other documents cite lines of this one by number."


def gather(library: Library) -> Iterator[Candidate]:
    """Yield one candidate per later copy."""
    for path, data in library.texts.items():
        if not _may_repeat(data):
            continue
        document = library.document(path)
        yield from _rows(document)
        yield from _entries(document)


def _may_repeat(data: bytes) -> bool:
    """Whether any line of text stands there twice: only then is it worth parsing."""
    text = data.decode("utf-8")
    counted = Counter(_LIST_MARK.sub("", normalise(line), count=1) for line in text.split("\n"))
    return any(count > 1 and any(map(str.isalnum, line)) for line, count in counted.items())


def _rows(document: Document) -> Iterator[Candidate]:
    seen: set[tuple[object, ...]] = set()
    for row in document.rows.values():
        parts = (normalise(part) for part in (row.marker, row.title, row.separator, row.hook))
        words = (row.list_id, row.section, row.target, row.anchor, *parts)
        if words in seen:
            lines = (row.lines[0] - 1, row.lines[1])
            yield Candidate(Kind.DEDUPE_INDEX, (removal(document, lines),))
        seen.add(words)


def _entries(document: Document) -> Iterator[Candidate]:
    seen: set[tuple[str, int, int]] = set()
    for block in document.blocks:
        words = entry_words(document, block)
        if not words or block.span[0] in document.rows:
            continue
        if (words, *list_of(document, block)) in seen:
            why = CITED if document.keeps_line_count else ""
            yield Candidate(Kind.DEDUPE_EXACT, (removal(document, block.span),), why)
        seen.add((words, *list_of(document, block)))


def entry_words(document: Document, block: Block) -> str:
    """Return the words of an entry of an unordered list, or between `§` rules; "" for anything else."""
    text = block.text.decode("utf-8")
    if document.is_delimited:
        return _told(text)
    is_entry = block.place is Place.ITEM and block.entry == block.span[0]
    mark = _LIST_MARK.match(text) if is_entry else None
    return _told(text[mark.end() :]) if mark and not _CHECK_BOX.match(text[mark.end() :]) else ""


def _told(text: str) -> str:
    words = normalise(text.replace("\n", " "))
    return words if any(map(str.isalnum, words)) else ""


def list_of(document: Document, block: Block) -> tuple[int, int]:
    """Return what two entries must share to be of one list: the list and its section."""
    if document.is_delimited:
        return 0, 0
    spot = document.spots[block.span[0]]
    return spot.list_id, spot.section


def removal(document: Document, entry: tuple[int, int]) -> Rewrite:
    """Return the rewrite that takes out an entry. Args: entry: its lines, 0-based and half-open."""
    start, end = document.removal(cut_lines(document, entry))
    return Rewrite(document.path, start, end, b"")
