"""One document through its changes and its names. Cost follows what is read, not the length of the history."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from django.db.models import Q

from memoryreview.review.models import ChangedPath, RenamedPath, Store

MAX_NAMES = 16
"""Names of one document that are followed."""

_BATCH = 64


@dataclass(frozen=True, slots=True)
class Passage:
    """One change of a document. `path` is its name after the change, `was` the one before where the change renamed it.

    Args: pk, oid: of the change.
    """

    pk: int
    oid: str
    path: str
    was: str = ""


@dataclass(frozen=True, slots=True)
class _Stretch:
    """The changes, `since` included and `until` not, in which a document bore one name."""

    path: str
    since: int
    until: int | None
    was: str


def passages(
    store: Store,
    path: str,
    *,
    as_of: int | None = None,
    before: int | None = None,
    keep: Q | None = None,
    batch: int = _BATCH,
) -> Iterator[Passage]:
    """Yield the changes of a document, newest first, under its earlier names as well. Rows are read in batches.

    Args:
        as_of: the change as of which the document is called `path`, by its id; None for now.
        before: only changes with a smaller id; names are followed from `as_of` on all the same.
        keep: what a change must be, as a condition on `ChangedPath` ("change__kind").
    """
    for stretch in _stretches(store, path, None if as_of is None else as_of + 1):
        until = min((bound for bound in (before, stretch.until) if bound is not None), default=None)
        if until is not None and until <= stretch.since:
            continue
        yield from _within(store, stretch, until, keep or Q(), batch)


def passages_since(store: Store, path: str, change: int) -> Iterator[Passage]:
    """Yield the changes of a document after one of them (by its id), oldest first, under its later names as well."""
    for _ in range(MAX_NAMES):
        renames = RenamedPath.objects.filter(store=store, was=path, change_id__gt=change).select_related("change")
        given = renames.order_by("change_id").first()
        rows = ChangedPath.objects.filter(store=store, path=path, change_id__gt=change).order_by("change_id")
        until = rows if given is None else rows.filter(change_id__lt=given.change_id)
        for pk, oid in until.values_list("change_id", "change__oid").iterator(chunk_size=_BATCH):
            yield Passage(pk, oid, path)
        if given is None:
            return
        yield Passage(given.change_id, given.change.oid, given.path, path)
        path, change = given.path, given.change_id


def renamed_to(store: Store, path: str) -> str:
    """Return the name that the document last called `path` was given, "" when it never was renamed."""
    newest = RenamedPath.objects.filter(store=store, was=path).order_by("-change_id").first()
    return newest.path if newest is not None else ""


def names_since(store: Store, paths: Collection[str], change: int) -> dict[str, str]:
    """Return the name that each document, called so after that change (by its id), was given by the renames since."""
    later = RenamedPath.objects.filter(store=store, change_id__gt=change).order_by("change_id", "pk")
    came_from = {path: path for path in paths}  # present name to the one after the change
    moves: dict[int, list[tuple[str, str]]] = {}
    for number, was, path in later.values_list("change_id", "was", "path"):
        moves.setdefault(number, []).append((was, path))
    for renames in moves.values():
        came_from |= {path: first for path, first in [(path, came_from.pop(was, "")) for was, path in renames] if first}
    return {first: name for name, first in came_from.items()}


def _stretches(store: Store, path: str, until: int | None) -> Iterator[_Stretch]:
    for _ in range(MAX_NAMES):
        renames = RenamedPath.objects.filter(store=store, path=path)
        if until is not None:
            renames = renames.filter(change_id__lt=until)
        given = renames.order_by("-change_id").first()
        if given is None:
            yield _Stretch(path, 0, until, "")
            return
        yield _Stretch(path, given.change_id, until, given.was)
        path, until = given.was, given.change_id


def _within(store: Store, stretch: _Stretch, until: int | None, keep: Q, batch: int) -> Iterator[Passage]:
    rows = ChangedPath.objects.filter(keep, store=store, path=stretch.path, change_id__gte=stretch.since)
    while True:
        older = rows if until is None else rows.filter(change_id__lt=until)
        found = list(older.order_by("-change_id").values_list("change_id", "change__oid")[:batch])
        for pk, oid in found:
            yield Passage(pk, oid, stretch.path, stretch.was if pk == stretch.since else "")
        if len(found) < batch:
            return
        until = found[-1][0]
