"""What memory says already about a proposal, in the stores that its reader may see.

Each web process keeps an index of the stores it was asked about and reads again only what changed since. The index is
derived from the baseline, document by document by blob id, so it can never be out of step, and nothing stores it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cache
from threading import Lock
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef

from memoryreview.baseline.repository import BaselineError, Repository
from memoryreview.core.model import Delta, FormatName
from memoryreview.core.relations import Known, Links, Place, Relation, Statement, StoreIndex, beside, statements
from memoryreview.review.models import Proposal, Revision, State, Store
from memoryreview.review.models.latest import Rejection
from memoryreview.review.prepared import Prepared, number

from .errors import CannotApplyError
from .rejected import of_rejection, rejection_of_row
from .stores import reading

MAX_STORES = 12
"""Stores that one proposal is compared with, its own included."""

MAX_READ_DOCUMENTS = 1_500
MAX_READ_BYTES = 6_000_000
"""What is read for one page, documents and bytes; of a larger store the next pages read the rest."""

MAX_REJECTED = 40
_KEPT_STORES = 32


@dataclass(slots=True)
class _Kept:
    index: StoreIndex
    links: Links = field(default_factory=lambda: Links({}))
    head: str = ""
    unread: int = 0
    lock: Lock = field(default_factory=Lock)


@dataclass(frozen=True, slots=True)
class Remembered:
    """Args: rejected: each earlier rejection, by the place that a relation names.
    left_out: changed statements that were too many to compare. unread: documents that are not read yet."""

    relations: tuple[Relation, ...] = ()
    rejected: Mapping[Place, Rejection] = field(default_factory=dict)
    left_out: int = 0
    unread: int = 0


_kept: OrderedDict[tuple[str, str, str], _Kept] = OrderedDict()
_kept_lock = Lock()


def remembered(proposal: Proposal, delta: Delta, repository: Repository, stores: Sequence[Store]) -> Remembered:
    """Compare what approving would change with what is approved, here and in a person's other stores. Reads only.

    Args: stores: those of the person, as `near` returns them.
    """
    rejections = _rejections(proposal)
    with ExitStack() as stack:
        own, *others = _opened(stack, proposal.store, repository, stores)
        found = beside(
            delta,
            own.index,
            own.links,
            others=[kept.index for kept in others],
            rejected=[statement for statement, _ in rejections],
            apart=_sources(proposal),
        )
        unread = sum(kept.unread for kept in (own, *others))
    by_place = {Place(s.path, s.line, s.text, s.store): earlier for s, earlier in reversed(rejections)}
    return Remembered(found.relations, by_place, found.left_out, unread)


def known_documents(store: Store) -> tuple[dict[str, Known], int]:
    """Return what is known of the documents of a store, and how many are not read yet. Raises CannotApplyError."""
    with reading(store) as repository, _brought_up(store, repository, _Room()) as kept:
        return dict(kept.index.documents), kept.unread


def _sources(proposal: Proposal) -> list[tuple[str, str]]:
    """Return the document that a promotion carries over: that it says the same is what a promotion is."""
    return [(proposal.promoted_from.slug, proposal.promoted_path)] if proposal.promoted_from else []


def near(person: User) -> tuple[Store, ...]:
    """Return the stores of a person that a proposal may be compared with, the newest first."""
    return tuple(Store.objects.visible_to(person).order_by("-pk")[:MAX_STORES])


def _opened(stack: ExitStack, store: Store, repository: Repository, stores: Sequence[Store]) -> list[_Kept]:
    """Return the indexes of the proposal's store and of the others, brought up to date and locked in one order."""
    others = [each for each in stores if each.pk != store.pk][: MAX_STORES - 1]
    room = _Room()
    kept: dict[int, _Kept] = {}
    for each in sorted([store, *others], key=lambda one: one.pk):
        try:
            opened = repository if each.pk == store.pk else stack.enter_context(reading(each))
            kept[each.pk] = stack.enter_context(_brought_up(each, opened, room))
        except (CannotApplyError, BaselineError):
            if each.pk == store.pk:
                raise
            # A store that cannot be read says nothing here; its own page shows the fault.
    return [kept.pop(store.pk), *kept.values()]


@dataclass(slots=True)
class _Room:
    """What one page may still read."""

    documents: int = field(default_factory=lambda: MAX_READ_DOCUMENTS)
    size_bytes: int = field(default_factory=lambda: MAX_READ_BYTES)

    def takes(self, data: bytes) -> None:
        self.documents -= 1
        self.size_bytes -= len(data)

    @property
    def is_left(self) -> bool:
        return self.documents > 0 and self.size_bytes > 0


@contextmanager
def _brought_up(store: Store, repository: Repository, room: _Room) -> Iterator[_Kept]:
    key = (str(store.baseline), store.slug, store.format)
    with _kept_lock:
        kept = _kept.get(key)
        if kept is None:
            index = StoreIndex(FormatName(store.format), store.slug)
            kept = _kept[key] = _Kept(index)
        _kept.move_to_end(key)
        while len(_kept) > _KEPT_STORES:
            _kept.popitem(last=False)
    with kept.lock:
        _bring_up(kept, repository, room)
        yield kept


def _bring_up(kept: _Kept, repository: Repository, room: _Room) -> None:
    head = repository.head() or ""
    if kept.head == head and not kept.unread:
        return
    entries = repository.snapshot(head).entries if head else {}
    known = kept.index.documents
    for path in [path for path in known if path not in entries]:
        kept.index.drop(path)
    stale = [path for path, entry in entries.items() if path not in known or known[path].version != entry.oid]
    kept.unread = len(stale)
    for path in stale:
        if not room.is_left:
            break
        data = repository.blob(entries[path].oid)
        room.takes(data)
        kept.index.put(path, data, entries[path].oid)
        kept.unread -= 1
    kept.head = head
    kept.links = Links(kept.index.documents)


def _rejections(proposal: Proposal) -> Sequence[tuple[Statement, Rejection]]:
    """Return what the last rejected changes of the store wanted to say, the newest first."""
    store, twin = proposal.store, proposal.rejected_before_id or 0
    found: list[tuple[Statement, Rejection]] = []
    for actions, pk, *why in _rejected().ask(store=store.pk, beside=proposal.pk, twin=twin):
        each = rejection_of_row(pk, *why)
        for action in actions:
            text = str(action.get("new") or "")
            if text and "commit" not in action:
                said = statements(action["path"], text.encode("utf-8", "replace"), FormatName(store.format))
                found += ((statement, each) for statement in said)
    return found


@cache
def _rejected() -> Prepared[tuple[Any, ...]]:
    store, beside, twin = (number(name) for name in ("store", "beside", "twin"))
    earlier = (
        Proposal.objects.filter(store=store, state=State.REJECTED, masked=False)
        .exclude(pk__in=[beside, twin])
        .order_by("-updated_at", "-pk")
        .values("pk")[:MAX_REJECTED]
    )
    newer = Revision.objects.filter(proposal=OuterRef("proposal"), number__gt=OuterRef("number"))
    latest = Revision.objects.filter(~Exists(newer), proposal__in=earlier).annotate(
        reason=of_rejection("proposal", "reason"),
        note=of_rejection("proposal", "note"),
        at=of_rejection("proposal", "at"),
    )
    ordered = latest.order_by("-proposal__updated_at", "-proposal")
    return Prepared(ordered.values_list("actions", "proposal", "reason", "note", "at"))
