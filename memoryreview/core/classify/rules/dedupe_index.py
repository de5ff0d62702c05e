"""An index row with the target and the text of an earlier row of the same list points nowhere new."""

from __future__ import annotations

from collections.abc import Container

from memoryreview.core.classify.document import Document, Span
from memoryreview.core.formats.base import IndexRow
from memoryreview.core.markdown import Place
from memoryreview.core.model import Rewrite
from memoryreview.core.text import normalise

from .cut import why_not_cut
from .outcome import Declined, Explained, Outcome

VERSION = 1


def explain_removal(document: Document, row: IndexRow, removed: Span, staying: Container[int]) -> Outcome:
    """Explain the removal of one index row. Args: removed: lines that go; staying: first lines of the kept rows."""
    earlier = [other for other in document.rows.values() if other.start < row.start]
    same_target = [other for other in earlier if (other.target, other.anchor) == (row.target, row.anchor)]
    if not same_target:
        return None
    twins = [other for other in same_target if _text(document, other) == _text(document, row)]
    if not twins:
        return Declined("Another row has the same target but another text.")
    twins = [other for other in twins if (other.list_id, other.section) == (row.list_id, row.section)]
    if not twins:
        return Declined("The same row stands in another list or section.")
    if not any(other.lines[0] - 1 in staying for other in twins):
        return Declined("The row that it repeats does not stay as it is.")
    if document.spots[row.lines[0] - 1].place is not Place.ITEM or "[" in row.marker:
        return Declined("Steps and check boxes may repeat.")
    refusal = why_not_cut(document, (row.lines[0] - 1, row.lines[1]), removed)
    if refusal:
        return Declined(refusal)
    start, end = document.removal(removed)
    return Explained((Rewrite(document.path, start, end, b""),))


def _text(document: Document, row: IndexRow) -> tuple[str, ...]:
    """Return what a row says besides its target; in code spans every blank counts."""
    parts = (row.marker, row.title, row.separator, row.hook)
    if b"`" in document.data[row.start : row.end]:
        return (document.data[row.start : row.end].decode("utf-8"),)
    return tuple(normalise(part) for part in parts)
