"""Dates that say the same in ISO form."""

from __future__ import annotations

from collections.abc import Iterator

from memoryreview.core.classify.rules.date_normalize import provable
from memoryreview.core.model import Kind

from .library import Library
from .model import Candidate


def gather(library: Library) -> Iterator[Candidate]:
    """Yield one candidate per line, so that two dates of one sentence are taken together."""
    for path in sorted(library.texts):
        document = library.document(path)
        for index in range(len(document.spots)):
            rewrites = provable(document, index)
            if rewrites:
                yield Candidate(Kind.DATE_NORMALIZE, rewrites)
