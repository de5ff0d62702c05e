"""What a difference folds or cuts, unchanged lines and very long ones, and the addresses that show it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.utils.translation import gettext as _

from memoryreview.core.diff import DiffLine, DocumentDiff, Mark

from .words import plural

STEP_LINES = 20
_MOST_PARTS = 60
_PART = re.compile(r"(c?[0-9]{1,3})\.(?:([0-9]{1,7})-([0-9]{1,7})|([ras][0-9]{1,7}))", re.ASCII)

Span = tuple[int, int]


class Part(NamedTuple):
    """What is shown beyond the usual: old lines as a 1-based half-open span, or a very long line by its name.

    Args: place: which document of the page: a number from 0 on, after a "c" where it is one of a comparison.
    """

    place: str
    what: Span | str

    def __str__(self) -> str:
        return f"{self.place}.{self.what if isinstance(self.what, str) else f'{self.what[0]}-{self.what[1]}'}"


Opened = Sequence[Part]


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


def requested_parts(query: str) -> tuple[Part, ...]:
    """Read "0.24-44,c1.1-20,0.a7"; what is not of this form is left out."""
    found = filter(None, map(_PART.fullmatch, query.split(",")[:_MOST_PARTS]))
    return tuple(Part(one[1], one[4] or (int(one[2]), int(one[3]))) for one in found)


def spans_at(opened: Opened, place: str) -> list[Span]:
    """Return the unfolded lines of one document."""
    return [part.what for part in opened if part.place == place and not isinstance(part.what, str)]


def lines_at(opened: Opened, place: str) -> frozenset[str]:
    """Return the very long lines of one document that are shown whole."""
    return frozenset(part.what for part in opened if part.place == place and isinstance(part.what, str))


def gap_views(diff: DocumentDiff, place: str, url: str, opened: Opened) -> dict[int, GapView]:
    """Return what is folded in a document, by the first old line of the hunk below, 0 for what is below them all."""
    views: dict[int, GapView] = {}
    reached = 1
    for number, hunk in enumerate(diff.hunks):
        start = hunk.old_span[0]
        if hunk.folded:
            edges = ("after" if number else "", "before")
            views[start] = _view((reached, start), edges, place, number, url, opened)
        reached = hunk.old_span[1]
    if diff.folded:
        views[0] = _view((reached, reached + diff.folded), ("after", ""), place, len(diff.hunks), url, opened)
    return views


def cut_views(diff: DocumentDiff, place: str, url: str, opened: Opened) -> dict[str, Opening]:
    """Return by its name, for each line that is cut, the link that shows it whole, and what became of it."""
    known = lines_at(opened, place)
    cut = [line for hunk in diff.hunks for line in hunk.lines if line.is_shortened and line.name not in known]
    return {
        line.name: Opening(
            _("Show the whole line"),
            _opened_url(url, opened, *(Part(place, name) for name in (line.name, *_partner(line)))),
            f"open-{place}-{line.name}",
        )
        for line in cut
    }


def _partner(line: DiffLine) -> tuple[str, ...]:
    if line.partner is None:
        return ()
    return (f"{'a' if line.mark is Mark.REMOVED else 'r'}{line.partner}",)


def _view(span: Span, edges: tuple[str, str], place: str, number: int, url: str, opened: Opened) -> GapView:
    openings = tuple(
        Opening(words, _opened_url(url, opened, Part(place, part)), f"open-{place}-{number}-{kind}")
        for words, part, kind in _parts(span, edges)
    )
    return GapView(plural(span[1] - span[0], "unchanged line"), openings)


def _parts(span: Span, edges: tuple[str, str]) -> Iterator[tuple[str, Span, str]]:
    start, end = span
    after, before = edges
    if end - start > STEP_LINES:
        if after:
            yield _("Show the next %(lines)s") % {"lines": STEP_LINES}, (start, start + STEP_LINES), after
        if before:
            yield _("Show the %(lines)s before") % {"lines": STEP_LINES}, (end - STEP_LINES, end), before
    yield _("Show all") if end - start > 1 else _("Show it"), span, "all"


def _opened_url(url: str, opened: Opened, *parts: Part) -> str:
    stated = ",".join(map(str, [*opened, *parts][-_MOST_PARTS:]))
    return f"{url}{'&' if '?' in url else '?'}open={stated}#diff-{parts[0].place}"
