"""Two states of a store side by side, and the states there are to choose from."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from memoryreview.review.models import Change, Store
from memoryreview.review.operations.heads import differing
from memoryreview.review.operations.stores import reading

from . import documents, links
from .changes import ChangeRow, change_row, with_names
from .document_pages import DocumentPages, document_pages
from .documents import DocumentView
from .words import short_oid

_HEADS_OFFERED = 100


@dataclass(frozen=True, slots=True)
class HeadChoice:
    """A head by its short id, and what made it."""

    oid: str
    words: str


@dataclass(frozen=True, slots=True)
class ComparePage:
    """`old` and `new` are None before two heads are chosen; `swapped_url` compares the other way round."""

    store: str
    store_url: str
    choices: tuple[HeadChoice, ...]
    old: ChangeRow | None = None
    new: ChangeRow | None = None
    swapped_url: str = ""
    pages: DocumentPages | None = None
    documents: tuple[DocumentView, ...] = ()


def choosing(store: Store, now: datetime) -> ComparePage:
    """Offer the newest heads of a store; any other can be named by its id."""
    newest = with_names(Change.objects.filter(store=store), at_most=_HEADS_OFFERED)
    rows = [change_row(change, now) for change in newest]
    choices = tuple(HeadChoice(row.oid, f"{row.title}, {row.at.exact}") for row in rows)
    return ComparePage(store.slug, links.store_url(store.slug), choices)


def compare_page(old: Change, new: Change, now: datetime, *, start: int) -> ComparePage:
    """Compare two heads of one store, document by document from `start` on, 0-based.

    Raises: CannotApplyError when the baseline cannot be read, or does not hold one of them any more.
    """
    store = old.store
    shown = document_pages(differing(old, new), links.compare_url(store.slug, old.oid, new.oid), start)
    with reading(store) as repository:
        before, after = repository.snapshot(old.oid), repository.snapshot(new.oid)
        views = documents.documents(before, {path: after.get(path) for path in shown.paths}, slug=store.slug)
    return ComparePage(
        store=store.slug,
        store_url=links.store_url(store.slug),
        choices=choosing(store, now).choices,
        old=change_row(old, now),
        new=change_row(new, now),
        swapped_url=links.compare_url(store.slug, new.oid, old.oid),
        pages=shown,
        documents=views,
    )


def zip_name(head: Change) -> str:
    return f"{head.store.slug}-{short_oid(head.oid)}.zip"
