"""An index row with the target and the text of an earlier row of the same list points nowhere new."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass

from memoryreview.core.classify.document import Document, Span
from memoryreview.core.formats.base import IndexRow
from memoryreview.core.markdown import Place
from memoryreview.core.model import Rewrite
from memoryreview.core.text import normalise

from .cut import why_not_cut
from .outcome import Declined, Explained, Outcome

VERSION = 1


@dataclass(frozen=True, slots=True)
class Rows:
    """Where the first row stands with a target; with the same text too; in the same list too; and of those that stay.

    Each removal is then one look-up.
    """

    to_target: Mapping[tuple[str, ...], int]
    with_text: Mapping[tuple[str, ...], int]
    in_list: Mapping[tuple[object, ...], int]
    kept: Mapping[tuple[object, ...], int]


def rows(document: Document, staying: Container[int]) -> Rows:
    """Return the rows of an index. Args: staying: first lines of the rows that stay."""
    to_target: dict[tuple[str, ...], int] = {}
    with_text: dict[tuple[str, ...], int] = {}
    in_list: dict[tuple[object, ...], int] = {}
    kept: dict[tuple[object, ...], int] = {}
    for row in document.rows.values():
        text, listed = _text(document, row), _listed(document, row)
        to_target.setdefault((row.target, row.anchor), row.start)
        with_text.setdefault(text, row.start)
        in_list.setdefault(listed, row.start)
        if row.lines[0] - 1 in staying:
            kept.setdefault(listed, row.start)
    return Rows(to_target, with_text, in_list, kept)


def explain_removal(document: Document, known: Rows, row: IndexRow, removed: Span) -> Outcome:
    """Explain the removal of one index row. Args: known: see `rows`; removed: lines that go."""
    if known.to_target[row.target, row.anchor] >= row.start:
        return None
    if known.with_text[_text(document, row)] >= row.start:
        return Declined("Another row has the same target but another text.")
    listed = _listed(document, row)
    if known.in_list[listed] >= row.start:
        return Declined("The same row stands in another list or section.")
    if known.kept.get(listed, row.start) >= row.start:
        return Declined("The row that it repeats does not stay as it is.")
    if document.spots[row.lines[0] - 1].place is not Place.ITEM or "[" in row.marker:
        return Declined("Steps and check boxes may repeat.")
    refusal = why_not_cut(document, (row.lines[0] - 1, row.lines[1]), removed)
    if refusal:
        return Declined(refusal)
    start, end = document.removal(removed)
    return Explained((Rewrite(document.path, start, end, b""),))


def _listed(document: Document, row: IndexRow) -> tuple[object, ...]:
    return row.list_id, row.section, *_text(document, row)


def _text(document: Document, row: IndexRow) -> tuple[str, ...]:
    """Return what a row says, target included; in code spans every blank counts."""
    parts = (row.marker, row.title, row.separator, row.hook)
    if b"`" in document.data[row.start : row.end]:
        return row.target, row.anchor, document.data[row.start : row.end].decode("utf-8")
    return row.target, row.anchor, *(normalise(part) for part in parts)
