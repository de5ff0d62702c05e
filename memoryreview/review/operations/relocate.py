"""A memory folder that moved: the store goes on at its new place. Not a byte of a folder that holds memory changes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from django.contrib.auth.models import User
from django.db import transaction

from memoryreview.baseline.errors import remedy
from memoryreview.baseline.repository import Snapshot
from memoryreview.baseline.worktree import Listing, Worktree, WorktreeError
from memoryreview.core.errors import MemoryReviewError
from memoryreview.core.model import Guard
from memoryreview.core.names import shown
from memoryreview.review.models import Decision, Proposal, Store, Verb

from . import ledger
from .adopt import checked_folder
from .configure import may_name_folder
from .errors import CannotApplyError, NotPermittedError
from .permissions import require_maintainer
from .stores import locked

MIN_SHARE = 0.5
"""A folder that holds less than this share of the approved documents is taken for another one."""


class RelocateError(MemoryReviewError):
    """The folder cannot be the store's."""


def relocate(store: Store, folder: Path, *, person: User | None = None) -> str:
    """Say where a store's folder is now; return a sentence of what was done. Effects in order, under its lock:

    1. Check the folder: it must hold at least half of the approved documents, or nothing at all.
    2. Write the approved documents into an empty one, and under `observe` the direct writes that wait.
    3. Save the place, and record who said so. What differs there is captured like any direct write.

    Args: person: None for the owner of the machine, while a backup is restored.
    Raises: NotPermittedError; AdoptError and RelocateError with what is wrong with the folder; CannotApplyError.
    """
    if person is not None:
        require_maintainer(person, store)
        if not may_name_folder(person):
            raise NotPermittedError(
                "Only the owner of this installation names a folder of its disk. Nothing was saved."
            )
    if not folder.is_absolute():
        raise RelocateError("Name the folder by its full path. Nothing was changed.")
    root = checked_folder(folder, moving=store)
    with locked(store) as shop:
        tree = shop.tree()
        try:
            worktree = Worktree(root)
            is_empty = not any(root.iterdir())
            if is_empty:
                _write_out(worktree, _standing(store, tree))
            else:
                _compare(root, worktree.scan(), tree)
        except WorktreeError as error:
            raise CannotApplyError(str(error)) from error
        except OSError as error:
            raise RelocateError(
                f"“{root}” cannot be read: {error.strerror}. Nothing was changed; {remedy(error)}."
            ) from error
        done = f"The folder of “{store.slug}” is {shown(str(root))} now"
        note = f"{done}; it was {shown(store.root)}."
        with transaction.atomic():
            Store.objects.filter(pk=store.pk).update(root=str(root), alarm="", differing=[])
            ledger.record(Decision(store=store, verb=Verb.CONFIGURE, person=person, note=note))
        store.refresh_from_db()
    if is_empty:
        return f"{done}. Its approved documents, and the direct writes that wait, were written there."
    return f"{done}. No file was changed; what differs from the approved text is captured within a minute."


def _standing(store: Store, tree: Snapshot) -> dict[str, bytes]:
    """Return what stands on disk while nobody wrote: a waiting write that is not there counts as taken back."""
    documents: dict[str, bytes | None] = dict(tree)
    if store.guard == Guard.OBSERVE:
        for proposal in Proposal.objects.filter(store=store, masked=False).direct().undecided().order_by("pk"):
            documents |= proposal.written.delta()
    return {path: content for path, content in documents.items() if content is not None}


def _write_out(worktree: Worktree, documents: Mapping[str, bytes]) -> None:
    for path, content in documents.items():
        if not worktree.replace(path, expected=None, new=content):
            raise CannotApplyError(f"“{shown(path)}” appeared while it was written. The store was not changed.")


def _compare(root: Path, listing: Listing, tree: Snapshot) -> None:
    there = sum(path in listing.documents for path in tree)
    if there < len(tree) * MIN_SHARE:
        raise RelocateError(
            f"“{root}” holds {there} of the {len(tree)} approved documents, so it is not taken for the same folder. "
            "Nothing was changed; name the folder that was moved, or an empty one to write the approved documents into."
        )
