"""What no rule can prove and a person may want: each a concrete edit, found by plain comparison."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memoryreview.core.model import Context
from memoryreview.core.relations import Relation

from . import dates, forms, heads, order, related, rows
from .library import Library
from .model import Suggestion


def suggestions(
    library: Library, context: Context, relations: Sequence[Relation], *, months_first: bool
) -> Iterator[Suggestion]:
    """Yield them, the weightiest kind first. Args: months_first: see `dates.puts_months_first`."""
    if not library.survey.is_incomplete:
        yield from order.never_loaded(library)
    yield from related.suggestions(library, relations)
    yield from rows.renamed(library)
    yield from forms.cited_twice(library)
    yield from forms.shorter(library)
    yield from rows.orphans(library, context, related.doubted(relations))
    yield from dates.ambiguous(library, months_first=months_first)
    yield from heads.unquoted(library)
