"""The approved documents of a store, page by page: how large they are, what they hold, and who changed them last."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Max
from django.utils.translation import gettext as _

from memoryreview.baseline.repository import Snapshot
from memoryreview.core.formats import of_document
from memoryreview.core.model import FormatName
from memoryreview.review.models import Change, ChangedPath, Store

from . import links
from .changes import ChangeRow, change_row, with_names
from .words import plural, size_words

ROWS = 100
_KEPT_COUNTS = 8_192


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """`change` is the last one that wrote the document, None where no record names it."""

    path: str
    url: str
    size: str
    entries: str
    change: ChangeRow | None


@dataclass(frozen=True, slots=True)
class Listing:
    """One page. `shown` says which of how many where there are more; `earlier` and `later` are addresses or ""."""

    rows: tuple[DocumentRow, ...] = ()
    count: int = 0
    shown: str = ""
    earlier: str = ""
    later: str = ""


def listing(store: Store, at: Snapshot, now: datetime, *, wanted: str = "", start: int = 0) -> Listing:
    """List documents by path. Only those of the page are read.

    Args: wanted: keeps those whose path holds it, whatever its case. start: the first shown, 0-based.
    """
    folded = wanted.casefold()
    paths = sorted(path for path in at.entries if folded in path.casefold())
    first = start if start < len(paths) else 0
    page = paths[first : first + ROWS]
    changes = last_changes(store, page, now)
    return Listing(
        rows=tuple(_row(store, at, path, changes.get(path)) for path in page),
        count=len(at.entries),
        shown=_("Documents %(first)s–%(last)s of %(all)s")
        % {"first": first + 1, "last": first + len(page), "all": f"{len(paths):,}"}
        if len(page) < len(paths)
        else "",
        earlier=_page_url(store, wanted, max(0, first - ROWS)) if first else "",
        later=_page_url(store, wanted, first + ROWS) if first + ROWS < len(paths) else "",
    )


def _page_url(store: Store, wanted: str, start: int) -> str:
    query = {"q": wanted, "from": str(start) if start else ""}
    return f"{links.with_query(links.store_url(store.slug), **query)}#documents"


def last_changes(store: Store, paths: Collection[str], now: datetime) -> Mapping[str, ChangeRow]:
    """Return the newest change of each document, in three questions for all of them."""
    named = ChangedPath.objects.filter(store=store, path__in=paths).order_by()
    newest = dict(named.values_list("path").annotate(Max("change")))
    rows = {change.pk: change_row(change, now) for change in with_names(Change.objects.filter(pk__in=newest.values()))}
    return {path: rows[pk] for path, pk in newest.items()}


def _row(store: Store, at: Snapshot, path: str, change: ChangeRow | None) -> DocumentRow:
    data = at[path]
    return DocumentRow(
        path=path,
        url=links.document_url(store.slug, path),
        size=size_words(len(data)),
        entries=plural(_entry_count(store, path, at.entries[path].oid, data), "entry", "entries"),
        change=change,
    )


_counts: dict[tuple[str, str, str], int] = {}


def _entry_count(store: Store, path: str, oid: str, data: bytes) -> int:
    """Count the entries of a document, once for each of its texts: finding them means to parse it."""
    key = (store.format, path, oid)
    if key not in _counts:
        while len(_counts) >= _KEPT_COUNTS:
            _counts.pop(next(iter(_counts)), None)
        _counts[key] = len(of_document(FormatName(store.format), path, data).entries(path, data))
    return _counts[key]
