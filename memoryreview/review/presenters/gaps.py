"""Unchanged lines that a difference folds, and the addresses that show them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from memoryreview.core.diff import DocumentDiff

from .words import plural

STEP_LINES = 20
_MOST_SPANS = 60
_SPAN = re.compile(r"([0-9]{1,3})\.([0-9]{1,7})-([0-9]{1,7})", re.ASCII)

Span = tuple[int, int]
Opened = Mapping[int, tuple[Span, ...]]
"""By the place of a document on its page: old lines, 1-based half-open."""


@dataclass(frozen=True, slots=True)
class Opening:
    """A link that shows some of the folded lines; `name` stays the same while lines of its gap stay folded."""

    words: str
    url: str
    name: str


@dataclass(frozen=True, slots=True)
class GapView:
    words: str
    openings: tuple[Opening, ...]


def requested_spans(query: str) -> Opened:
    """Read "0.24-44,1.1-20"; what is not of this form is left out."""
    opened: dict[int, tuple[Span, ...]] = {}
    for part in query.split(",")[:_MOST_SPANS]:
        if found := _SPAN.fullmatch(part):
            number, start, end = map(int, found.groups())
            opened[number] = (*opened.get(number, ()), (start, end))
    return opened


def gap_views(diff: DocumentDiff, number: int, url: str, opened: Opened) -> dict[int, GapView]:
    """Return what is folded in a document, by the first old line of the hunk below, 0 for what is below them all."""
    views: dict[int, GapView] = {}
    reached = 1
    for place, hunk in enumerate(diff.hunks):
        start = hunk.old_span[0]
        if hunk.folded:
            edges = ("after" if place else "", "before")
            views[start] = _view((reached, start), edges, f"{number}-{place}", url, number, opened)
        reached = hunk.old_span[1]
    if diff.folded:
        name = f"{number}-{len(diff.hunks)}"
        views[0] = _view((reached, reached + diff.folded), ("after", ""), name, url, number, opened)
    return views


def _view(span: Span, edges: tuple[str, str], name: str, url: str, number: int, opened: Opened) -> GapView:
    openings = tuple(
        Opening(words, _opened_url(url, number, part, opened), f"open-{name}-{kind}")
        for words, part, kind in _parts(span, edges)
    )
    return GapView(plural(span[1] - span[0], "unchanged line"), openings)


def _parts(span: Span, edges: tuple[str, str]) -> Iterator[tuple[str, Span, str]]:
    start, end = span
    after, before = edges
    if end - start > STEP_LINES:
        if after:
            yield f"Show the next {STEP_LINES}", (start, start + STEP_LINES), after
        if before:
            yield f"Show the {STEP_LINES} before", (end - STEP_LINES, end), before
    yield "Show all" if end - start > 1 else "Show it", span, "all"


def _opened_url(url: str, number: int, part: Span, opened: Opened) -> str:
    spans = [(at, span) for at, ones in opened.items() for span in ones] + [(number, part)]
    stated = ",".join(f"{at}.{start}-{end}" for at, (start, end) in spans[-_MOST_SPANS:])
    return f"{url}{'&' if '?' in url else '?'}open={stated}#diff-{number}"
