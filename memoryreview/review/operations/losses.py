"""What a person says when so many documents are gone from a folder that capturing is paused."""

from __future__ import annotations

from django.contrib.auth.models import User

from memoryreview.baseline.drift import compare
from memoryreview.baseline.worktree import WorktreeError
from memoryreview.review.models import Decision, Proposal, Store, Verb

from . import ledger
from .capture import capture_within, held_documents, lost_documents
from .errors import CannotApplyError
from .permissions import require_maintainer
from .reconcile import reconcile_within
from .stores import locked


def put_back(store: Store, *, person: User) -> int:
    """Write the approved documents that were lost back into the folder, and go on capturing. Effects in order:

    1. Record the decision, then write each document where none stands by now.
    2. Capture what else differs.

    Returns: how many were written; 0 when none was lost any more.
    Raises: NotPermittedError; BusyError; CannotApplyError when the folder is gone or refuses: what was written stays.
    """
    with locked(store) as shop:
        require_maintainer(person, store)
        reconcile_within(shop)
        tree, worktree = shop.tree(), shop.worktree()
        drift = compare(worktree.folder, tree).documents
        lost = sorted(lost_documents(tree, drift, held_documents(store)))
        written = 0
        if lost:
            note = f"Put {len(lost)} approved documents back into the folder."
            ledger.record_now(Decision(store=store, change=tree.oid, verb=Verb.RESTORE, person=person, note=note))
        try:
            for path in lost:
                written += worktree.replace(path, expected=None, new=tree[path])
        except WorktreeError as error:
            raise CannotApplyError(f"{written} of {len(lost)} documents are back. {error}") from error
        capture_within(shop)
        if store.alarm:
            raise CannotApplyError(store.alarm)
        return written


def accept(store: Store, *, person: User) -> list[Proposal]:
    """Propose the deletion of the documents that are gone, and go on capturing. Nothing is deleted by it.

    Raises: NotPermittedError; CannotApplyError when the folder itself is gone; BusyError.
    """
    with locked(store) as shop:
        require_maintainer(person, store)
        reconcile_within(shop)
        made = capture_within(shop, loss_is_meant=True)
        if store.alarm:
            raise CannotApplyError(store.alarm)
        return made
