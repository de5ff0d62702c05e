"""What a search found, as its page shows it."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext as _

from memoryreview.core.search import Part, marked
from memoryreview.review.operations.search import MAX_FOUND, Found, Match

from . import links
from .documents import RAW_MAX_LINES
from .words import plural


@dataclass(frozen=True, slots=True)
class LineView:
    lineno: int
    url: str
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class MatchView:
    """`more` says how many lines of the document are not shown, "" for none."""

    store: str
    store_url: str
    path: tuple[Part, ...]
    url: str
    lines: tuple[LineView, ...]
    more: str


@dataclass(frozen=True, slots=True)
class ResultsView:
    """`summary` says what came of it, "" where nothing was looked for; `notes` what was left out."""

    matches: tuple[MatchView, ...]
    summary: str
    notes: tuple[str, ...]


def results_view(found: Found) -> ResultsView:
    return ResultsView(
        matches=tuple(_match(match, found.terms) for match in found.matches),
        summary=_summary(found),
        notes=tuple(_notes(found)),
    )


def _match(match: Match, terms: tuple[str, ...]) -> MatchView:
    slug, more = match.store.slug, match.hits.count - len(match.hits.lines)
    return MatchView(
        store=slug,
        store_url=links.store_url(slug),
        path=marked(match.path, terms),
        url=links.document_url(slug, match.path),
        lines=tuple(
            LineView(hit.lineno, line_url(slug, match.path, hit.lineno), hit.parts) for hit in match.hits.lines
        ),
        more=_("and %(lines)s") % {"lines": plural(more, "more line")} if more else "",
    )


def line_url(slug: str, path: str, lineno: int) -> str:
    """Return the address of a line: in the raw text, in the blame where that is too long for it."""
    if lineno > RAW_MAX_LINES:
        return links.document_url(slug, path, **{"view": "blame", "from": str(lineno)}) + f"#line-{lineno}"
    return f"{links.document_url(slug, path)}#line-{lineno}"


def _summary(found: Found) -> str:
    if not found.terms:
        return ""
    if not found.matches:
        return _("No approved document holds all of that.")
    if found.is_cut:
        return _("The first %(count)s documents hold it.") % {"count": MAX_FOUND}
    return _("%(documents)s it.") % {"documents": plural(len(found.matches), "document holds", "documents hold")}


def _notes(found: Found) -> list[str]:
    notes = []
    if found.is_cut:
        notes.append(_("There are more; add a word, or look in one store."))
    if found.unread:
        unread = plural(found.unread, "document is", "documents are")
        notes.append(
            _("%(unread)s not read for searching yet. Search again in a minute to find what they hold.")
            % {"unread": unread}
        )
    return notes
