"""Whether an entry can be cut out so that nothing of it, and nothing of what stands around it, changes place."""

from __future__ import annotations

from memoryreview.core.classify.document import Document, Span, is_blank
from memoryreview.core.markdown import Place


def why_not_cut(document: Document, entry: Span, removed: Span) -> str:
    """Return why lines cannot be cut, "" when they can. Args: entry: its lines; removed: the lines that would go."""
    (first, stop), (cut_first, cut_stop) = entry, removed
    if document.keeps_line_count:
        return "Other documents cite lines of this one by number, so its line count must not change."
    if cut_first > first or cut_stop < stop:
        return "A part of the entry stays."
    around = [*range(cut_first, first), *range(stop, cut_stop)]
    if document.is_delimited:
        return "" if len(around) == 1 else "More than the entry and its “§” rule goes."
    if not all(is_blank(document.bodies[index]) for index in around):
        return "More than the entry goes."
    if has_children(document, entry):
        return "Text that belongs to the entry would stay behind."
    beyond = [cut_stop] * (cut_first < first) + [cut_first - 1] * (cut_stop > stop)
    stays_apart = len(beyond) < 2 and all(_is_blank_or_edge(document, index) for index in beyond)
    return "" if stays_apart else "The blank lines around the entry go with it."


def has_children(document: Document, entry: Span) -> bool:
    """Whether what follows a list entry is nested in it."""
    spot = document.spots[entry[0]]
    for index in range(entry[1], len(document.spots)):
        following = document.spots[index]
        if following.place is not Place.BLANK:
            return following.depth > spot.depth or following.item_start == spot.item_start
    return False


def _is_blank_or_edge(document: Document, index: int) -> bool:
    return not 0 <= index < len(document.bodies) or is_blank(document.bodies[index])
