"""Search over approved text, in the stores that its reader may see.

Which documents may hold a text the database says; what stands in them is read from the baseline, so nothing is ever
shown that is not approved now. The rows are derived, document by document by blob id: a search brings them up to the
heads first, and whatever it leaves the clock does. SQLite finds parts of words by FTS5 with trigrams, PostgreSQL by
pg_trgm where the server has it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Self

from django.contrib.auth.models import User
from django.db import connection
from django.db.models import QuerySet
from django.db.models.expressions import RawSQL

from memoryreview.baseline.lock import LockBusyError
from memoryreview.baseline.repository import BaselineError, Repository, Snapshot
from memoryreview.core.search import Hits, fold, hits, terms, trigrams
from memoryreview.review.models import SearchedDocument, SearchedStore, Store

from .errors import BusyError, CannotApplyError
from .stores import Workshop, alone, aside_dir, baseline_dir, reading

MAX_FOUND = 50
"""Documents that one search returns."""

MAX_LINES = 3
"""Lines of each of them."""

MAX_READ_DOCUMENTS = 1_500
MAX_READ_BYTES = 6_000_000
"""What one search reads to bring the rows up to the heads; the next ones, and the clock, read the rest."""

_BATCH = 200
_LOCK_WAIT_S = 1.0


@dataclass(frozen=True, slots=True)
class Match:
    """A document that holds all that is looked for, in its text or its name, and the lines that hold most of it."""

    store: Store
    path: str
    hits: Hits


@dataclass(frozen=True, slots=True)
class Found:
    """Args: terms: what was looked for. is_cut: there are more. unread: documents that are not read for searching."""

    terms: tuple[str, ...]
    matches: tuple[Match, ...] = ()
    is_cut: bool = False
    unread: int = 0


def search(person: User, wanted: str, *, slug: str = "") -> Found:
    """Return the approved documents in which every word stands, by store and path; of one store where `slug` names it.

    A store that cannot be read is left out; its own page shows the fault.
    """
    looked_for = terms(wanted)
    stores = Store.objects.visible_to(person)
    if slug:
        stores = stores.filter(slug=slug)
    if not looked_for:
        return Found(looked_for)
    unread = _bring_up(stores.order_by("pk"))
    rows = list(_holding(looked_for).filter(store__in=stores).select_related("store")[: MAX_FOUND + 1])
    with ExitStack() as stack:
        heads: dict[int, Snapshot | None] = {}
        for row in rows:
            if row.store_id not in heads:
                heads[row.store_id] = _head(stack, row.store)
        matches = [match for row in rows[:MAX_FOUND] if (match := _match(row, heads[row.store_id], looked_for))]
    return Found(looked_for, tuple(matches), len(rows) > MAX_FOUND, unread)


def _holding(looked_for: Iterable[str]) -> QuerySet[SearchedDocument]:
    rows = SearchedDocument.objects.order_by("store__slug", "path").defer("text")
    for term in looked_for:
        rows = rows.filter(text__contains=term)
        runs = trigrams(term) if connection.vendor == "sqlite" else ()
        if runs:
            asked = " AND ".join('"{}"'.format(run.replace('"', '""')) for run in runs)
            table = "review_searched_trigrams"
            found = RawSQL(f"SELECT rowid FROM {table} WHERE {table} MATCH %s", [asked])  # noqa: S608, S611  # our own name
            rows = rows.filter(pk__in=found)
    return rows


def _head(stack: ExitStack, store: Store) -> Snapshot | None:
    try:
        repository = stack.enter_context(reading(store))
        return repository.snapshot(repository.head() or "")
    except (CannotApplyError, BaselineError):
        return None


def _match(row: SearchedDocument, head: Snapshot | None, looked_for: tuple[str, ...]) -> Match | None:
    """Look at what is approved now: the row may be a change behind."""
    try:
        data = head.get(row.path) if head is not None else None
    except BaselineError:
        return None
    if data is None:
        return None
    text = searched_text(row.path, data)
    if not all(term in text for term in looked_for):
        return None
    return Match(row.store, row.path, hits(data, looked_for, at_most=MAX_LINES))


def searched_text(path: str, data: bytes) -> str:
    """Return what is searched of a document: its name and its text, folded."""
    return fold(f"{path}\n{data.decode('utf-8', 'replace')}")


@dataclass(slots=True)
class _Room:
    """What one search may still read."""

    documents: int = field(default_factory=lambda: MAX_READ_DOCUMENTS)
    size_bytes: int = field(default_factory=lambda: MAX_READ_BYTES)

    @classmethod
    def endless(cls) -> Self:
        return cls(10**9, 10**12)

    def takes(self, data: bytes) -> bool:
        """Whether there is room for one more document, which is taken then."""
        if self.documents < 1 or self.size_bytes < 1:
            return False
        self.documents, self.size_bytes = self.documents - 1, self.size_bytes - len(data)
        return True


def bring_up(store: Store) -> int:
    """Read what changed of a store since it was last read for searching; return how many documents it was.

    Raises: CannotApplyError, BusyError.
    """
    room = _Room.endless()
    before = room.documents
    _bring_up_one(store, room)
    return before - room.documents


def _bring_up(stores: Iterable[Store]) -> int:
    """Bring stores up to their heads as far as one search may; return how many documents are left."""
    room, unread = _Room(), 0
    read_to = dict(SearchedStore.objects.filter(store__in=stores).values_list("store", "head"))
    for store in stores:
        try:
            with reading(store) as repository:
                head = repository.head()
            if head and read_to.get(store.pk) != head:
                unread += _bring_up_one(store, room)
        except (CannotApplyError, BusyError):
            continue  # what is known of it is a change behind; its own page shows a fault
    return unread


def _bring_up_one(store: Store, room: _Room) -> int:
    """Read on under the store's lock, so that nothing comes back that an erasure takes out meanwhile."""
    try:
        with alone(store, timeout_s=_LOCK_WAIT_S):
            if aside_dir(store).exists():
                return 0  # an erasure is not finished: its next writer carries it on
            with Repository(baseline_dir(store)) as repository:
                return _read_on(store, repository, room)
    except LockBusyError as error:
        raise BusyError(store.slug) from error
    except BaselineError as error:
        raise CannotApplyError(str(error)) from error


def _read_on(store: Store, repository: Repository, room: _Room) -> int:
    head = repository.head()
    if not head or SearchedStore.objects.filter(store=store, head=head).exists():
        return 0
    tree = repository.snapshot(head)
    rows = SearchedDocument.objects.filter(store=store)
    known = dict(rows.values_list("path", "blob"))
    gone = [path for path in known if path not in tree.entries]
    stale = [path for path, entry in tree.entries.items() if known.get(path) != entry.oid and _is_text(path)]
    for first in range(0, len(gone), _BATCH):
        rows.filter(path__in=gone[first : first + _BATCH]).delete()
    read = 0
    for first in range(0, len(stale), _BATCH):
        made = list(_read(store, tree, stale[first : first + _BATCH], room))
        _keep(made)
        read += len(made)
    if read == len(stale):
        SearchedStore.objects.update_or_create(store=store, defaults={"head": head})
    return len(stale) - read


def _is_text(path: str) -> bool:
    """Whether a database can hold the name: one that is not UTF-8 is found by nobody who types."""
    return path.isascii() or not any("\ud800" <= char <= "\udfff" for char in path)


def _read(store: Store, tree: Snapshot, paths: Iterable[str], room: _Room) -> Iterator[SearchedDocument]:
    for path in paths:
        data = tree[path]
        if not room.takes(data):
            return
        yield SearchedDocument(store=store, path=path, blob=tree.entries[path].oid, text=searched_text(path, data))


def _keep(rows: list[SearchedDocument]) -> None:
    SearchedDocument.objects.bulk_create(
        rows, update_conflicts=True, unique_fields=["store", "path"], update_fields=["blob", "text"]
    )


def forget(store: Store) -> None:
    """Drop what is known of a store; the next search reads it anew."""
    SearchedDocument.objects.filter(store=store).delete()
    SearchedStore.objects.filter(store=store).delete()


def forget_trigrams() -> None:
    """Make the trigrams of SQLite anew: those of texts that are gone stay until their pages happen to be merged."""
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO review_searched_trigrams(review_searched_trigrams) VALUES ('rebuild')")


def rebuild(shop: Workshop) -> Iterator[str]:
    """Compare what is searched with the baseline, text by text; read the store anew where it differs, and say so."""
    tree = shop.tree()
    rows = {row.path: row for row in SearchedDocument.objects.filter(store=shop.store)}
    if connection.vendor == "sqlite":
        forget_trigrams()
    is_read = SearchedStore.objects.filter(store=shop.store, head=tree.oid).exists()
    is_whole = not is_read or rows.keys() == {path for path in tree if _is_text(path)}
    if is_whole and all(_is_true(row, tree) for row in rows.values()):
        return
    forget(shop.store)
    _read_on(shop.store, shop.repository, _Room.endless())
    yield f"Read the documents of {shop.store.slug} for searching again."


def _is_true(row: SearchedDocument, tree: Snapshot) -> bool:
    """Whether a row says what its blob does. One of an older blob is read anew by the next search."""
    entry = tree.entries.get(row.path)
    return entry is None or entry.oid != row.blob or row.text == searched_text(row.path, tree[row.path])
