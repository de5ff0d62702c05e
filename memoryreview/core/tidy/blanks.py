"""Gather: trailing blanks and surplus blank lines, in documents that a run changes anyway.

Alone they are not worth a commit: whoever reads the history would see noise.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from memoryreview.core.classify.document import BLANKS, Document, is_blank
from memoryreview.core.markdown import Place
from memoryreview.core.model import Kind, Rewrite

from .library import Library
from .model import Candidate


def gather(library: Library, touched: Collection[str]) -> Iterator[Candidate]:
    """Yield one candidate per line end or run of blank lines. Args: touched: documents that a step changed."""
    for path in library.texts:
        if path in touched:
            document = library.document(path)
            yield from _line_ends(document)
            if not document.keeps_line_count:
                yield from _gaps(document)


def _line_ends(document: Document) -> Iterator[Candidate]:
    for index, body in enumerate(document.bodies):
        stripped = body.rstrip(BLANKS)
        if stripped and stripped != body:
            start = document.body_start(index) + len(stripped)
            rewrite = Rewrite(document.path, start, start + len(body) - len(stripped), b"")
            yield Candidate(Kind.FORMAT_BLANK, (rewrite,))


def _gaps(document: Document) -> Iterator[Candidate]:
    first = 0
    for index in range(len(document.bodies) + 1):
        if index < len(document.bodies) and is_blank(document.bodies[index]):
            continue
        is_gap = index - first > 1 and first > 0 and index < len(document.bodies)
        if is_gap and all(document.spots[line].place is Place.BLANK for line in range(first, index)):
            start, end = document.lines[first].start, document.lines[index - 1].end
            yield Candidate(Kind.FORMAT_BLANK, (Rewrite(document.path, start, end, document.lines[index - 1].eol),))
        first = index + 1
