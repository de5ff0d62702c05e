"""Commits that have another id since an erasure. Old ids are kept as keyed digests only: they could confirm a guess."""

from __future__ import annotations

from collections.abc import Mapping

from memoryreview.review.models import MovedCommit, Store

from .keyed import keyed_digest


def current(store: Store, oid: str) -> str:
    """Return the id under which a commit stands now: the same one where nothing moved it."""
    found = MovedCommit.objects.filter(store=store, digest=_digest(oid)).values_list("oid", flat=True).first()
    return found or oid


def everywhere(oid: str) -> list[tuple[int, str]]:
    """Return (store id, present id) of every store in which a commit of that id was moved."""
    return list(MovedCommit.objects.filter(digest=_digest(oid)).values_list("store_id", "oid"))


def note(store: Store, moved: Mapping[str, str]) -> None:
    """Remember where commits went, and follow those that were moved before. Call inside a transaction."""
    gone = {old: new for old, new in moved.items() if old != new}
    earlier = [row for row in MovedCommit.objects.filter(store=store) if row.oid in gone]
    for row in earlier:
        row.oid = gone[row.oid]
    MovedCommit.objects.bulk_update(earlier, ["oid"], batch_size=200)
    MovedCommit.objects.bulk_create(
        (MovedCommit(store=store, digest=_digest(old), oid=new) for old, new in gone.items()), batch_size=200
    )


def _digest(oid: str) -> str:
    return keyed_digest(oid.encode())
