"""What no rule can prove and a person may want: each a concrete edit, found by plain comparison."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memoryreview.core.relations import Relation

from . import forms, heads, order, related, rows
from .library import Library
from .model import Suggestion, Survey


def suggestions(library: Library, survey: Survey, relations: Sequence[Relation]) -> Iterator[Suggestion]:
    """Yield them, the weightiest kind first."""
    if not survey.is_incomplete:
        yield from order.never_loaded(library)
    yield from related.suggestions(library, relations)
    yield from rows.renamed(library)
    yield from forms.cited_twice(library)
    yield from forms.shorter(library)
    yield from heads.unquoted(library)
