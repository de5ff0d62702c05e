"""One approved document: as it is, as it was, and where it comes from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.contrib.auth.models import User

from memoryreview.baseline.repository import Snapshot
from memoryreview.core.formats.base import Entry
from memoryreview.core.loaded import loaded
from memoryreview.core.model import FormatName, Scope
from memoryreview.review.models import Change, ChangedPath, Store
from memoryreview.review.operations.blame import entries_of
from memoryreview.review.operations.errors import CannotApplyError
from memoryreview.review.operations.horizon import out_of_reach
from memoryreview.review.operations.stores import reading

from . import documents, links
from .blame import BlamePage, Place, blame_page, history_url
from .documents import Prose, Raw, Tab
from .editing import fits_a_form
from .evidence import MeterView, budgets
from .loaded import LoadedView, loaded_view
from .recorded import title_in_language
from .words import Moment, Words, moment, plural, short_oid, size_words, span_words

_TABS = Words(
    {
        "raw": "Raw text",
        "rendered": "Rendered",
        "entries": "Entries",
        "agent": "As the agent sees it",
        "blame": "Blame",
        "history": "History",
    }
)
_ENTRIES_SHOWN = 1_000
_ENTRY_WORDS = Words(
    {
        "document": "frontmatter",
        "row": "index row",
        "task-group": "task group",
        "section": "heading",
    }
)


@dataclass(frozen=True, slots=True)
class EntryRow:
    """One entry: what it is, what it says, its lines in words, and the address of its history."""

    kind: str
    text: str
    lines: str
    url: str


@dataclass(frozen=True, slots=True)
class EntryList:
    """The entries of a document; `left_out` counts those that are not shown."""

    rows: tuple[EntryRow, ...]
    left_out: int


@dataclass(frozen=True, slots=True)
class Ask:
    """How somebody wants to see a document.

    Args:
        readings: its possible names, the likeliest first.
        at: the commit as of which it is shown, "" for what is approved now.
        start, lineno: first line shown and line explained in the blame, 1-based, 0 for none.
    """

    readings: Sequence[str]
    view: str = ""
    at: str = ""
    start: int = 0
    lineno: int = 0


@dataclass(frozen=True, slots=True)
class OlderVersion:
    """That a document is shown as of a change. `is_same`: the same text is approved now; `now_url` leads there."""

    title: str
    url: str
    oid: str
    at: Moment
    is_same: bool
    now_url: str


@dataclass(frozen=True, slots=True)
class DocumentPage:
    """`targets` are the team stores that this document may be promoted to, `edit_url` is "" where no form can carry it.
    `content` is for the raw file."""

    store: str
    store_url: str
    path: str
    head: str
    size: str
    entries: str
    tabs: tuple[Tab, ...]
    view: str
    raw: Raw | None
    prose: Prose | None
    entry_list: EntryList | None
    loaded: LoadedView | None
    blame: BlamePage | None
    meters: tuple[MeterView, ...]
    differs: bool
    targets: tuple[str, ...]
    is_gone: bool
    older: OlderVersion | None
    download_url: str
    edit_url: str
    content: bytes = field(repr=False, default=b"")


def document_page(store: Store, ask: Ask, person: User, now: datetime) -> DocumentPage | None:
    """Read one approved document by the first of its possible names; None when it never was one, or not then.

    Raises: CannotApplyError when the baseline cannot be read, or does not reach back to that change.
    """
    change = Change.objects.filter(store=store, oid=ask.at).first() if ask.at else None
    if ask.at and change is None:
        return None
    with reading(store) as repository:
        head = repository.head() or ""
        present = repository.snapshot(head)
        gone = out_of_reach(change, repository) if change is not None else ""
        if gone:
            raise CannotApplyError(gone)
        tree = present if change is None else repository.snapshot(change.oid)
        path = next((name for name in ask.readings if name in tree), ask.readings[0])
        data = tree.get(path)
        if data is None and (change is not None or not _was_ever(store, path)):
            return None
        in_context = loaded(path, data or b"", FormatName(store.format))
        views = _views(is_gone=data is None, is_loaded=in_context is not None)
        view = ask.view if ask.view in views else views[0]
        place = Place(store, tree, path, {"at": change.oid} if change is not None else {})
        shown = blame_page(place, start=ask.start, lineno=ask.lineno, now=now) if view == "blame" else None
        older = _older(change, present, path, data, now) if change is not None else None
    content, entries = data or b"", entries_of(store, path, data or b"")
    is_now = data is not None and change is None
    return DocumentPage(
        store=store.slug,
        store_url=links.store_url(store.slug),
        path=path,
        head=short_oid(head),
        size=size_words(len(content)),
        entries=plural(len(entries), "entry", "entries"),
        tabs=_tabs(place, view, views),
        view=view,
        raw=documents.raw(content) if view == "raw" else None,
        prose=documents.prose(content) if view == "rendered" else None,
        entry_list=_entry_list(place, entries) if view == "entries" else None,
        loaded=loaded_view(in_context) if in_context is not None and view == "agent" else None,
        blame=shown,
        meters=budgets(FormatName(store.format), path, content) if is_now else (),
        differs=change is None and path in store.differing,
        targets=_targets(store, person) if is_now and fits_a_form(path) else (),
        is_gone=data is None,
        older=older,
        download_url=links.document_url(store.slug, path, **place.kept, view="file") if data is not None else "",
        edit_url=links.write_url(store.slug, path) if is_now and fits_a_form(path) else "",
        content=content,
    )


def _views(*, is_gone: bool, is_loaded: bool) -> list[str]:
    """Return the views there are of a document, the usual one first."""
    if is_gone:
        return ["history"]
    return [name for name in _TABS if name != "agent" or is_loaded]


def _was_ever(store: Store, path: str) -> bool:
    return ChangedPath.objects.filter(store=store, path=path).exists()


def _older(change: Change, present: Snapshot, path: str, data: bytes | None, now: datetime) -> OlderVersion:
    return OlderVersion(
        title=title_in_language(change.title),
        url=links.change_url(change),
        oid=short_oid(change.oid),
        at=moment(change.at, now),
        is_same=present.get(path) == data,
        now_url=links.document_url(change.store.slug, path),
    )


def _tabs(place: Place, view: str, views: Iterable[str]) -> tuple[Tab, ...]:
    """Return the views there are. The history is that of the document, whatever version of it is shown."""
    return tuple(
        Tab(
            _TABS[name],
            links.document_url(
                place.store.slug,
                place.path,
                **({} if name == "history" else place.kept),
                **({} if name == "raw" else {"view": name}),
            ),
            name == view,
        )
        for name in views
    )


def _entry_list(place: Place, entries: Sequence[Entry]) -> EntryList:
    rows = tuple(
        EntryRow(
            kind=_ENTRY_WORDS.get(entry.kind, entry.kind),
            text=entry.text,
            lines=span_words(*entry.lines),
            url=history_url(place, entry),
        )
        for entry in entries[:_ENTRIES_SHOWN]
    )
    return EntryList(rows, max(0, len(entries) - len(rows)))


def _targets(store: Store, person: User) -> tuple[str, ...]:
    if store.scope != Scope.PRIVATE:
        return ()
    teams = Store.objects.visible_to(person).filter(scope=str(Scope.TEAM)).order_by("slug")
    return tuple(teams.values_list("slug", flat=True))
