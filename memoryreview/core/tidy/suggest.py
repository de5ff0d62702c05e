"""What no rule can prove and a person may want: each a concrete edit, found by plain comparison."""

from __future__ import annotations

from collections.abc import Iterator

from . import forms, heads, order
from .library import Library
from .model import Suggestion, Survey


def suggestions(library: Library, survey: Survey) -> Iterator[Suggestion]:
    """Yield them, the weightiest kind first."""
    if not survey.is_incomplete:
        yield from order.never_loaded(library)
    yield from forms.cited_twice(library)
    yield from forms.shorter(library)
    yield from heads.unquoted(library)
