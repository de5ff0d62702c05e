"""After a kill: finish what reached the baseline, take back what did not. Runs at start and before each decision."""

from __future__ import annotations

import logging
from contextlib import suppress
from operator import attrgetter

from memoryreview.baseline import commits, packing
from memoryreview.baseline.worktree import WorktreeError
from memoryreview.core.errors import MemoryReviewError
from memoryreview.review.models import ChangeKind, Intent, Proposal, State, Store, Verb

from . import anew, erasures, proposals
from .adopt import clear_unfinished
from .apply import finish
from .hostlock import Space, host_lock
from .late import named_differing, write_late
from .proposals import last_decision
from .settle import settle
from .stores import Workshop, baseline_dir, locked

log = logging.getLogger(__name__)


def reconcile_all() -> list[str]:
    """Reconcile every store; return one sentence for each that could not be."""
    faults: list[str] = []
    clear_unfinished()
    for store in Store.objects.order_by("pk"):
        try:
            reconcile(store)
        except MemoryReviewError as error:
            log.warning("reconcile %s: %s", store.slug, error)
            faults.append(str(error))
    return faults


def reconcile(store: Store) -> None:
    """Reconcile one store and remove the temp files that a killed writer left. Raises CannotApplyError, BusyError."""
    with locked(store) as shop:
        commits.sweep(baseline_dir(store))
        with host_lock(Space.PACKING, store.pk) as is_free:
            if is_free:
                packing.sweep(baseline_dir(store))
        erasures.tidy_up(store)
        shop.worktree().sweep()
        reconcile_within(shop)


def reconcile_within(shop: Workshop) -> None:
    """Bring journal, proposals, baseline and disk of one store to one truth. Harmless to repeat. Effects in order:

    1. Replay the journal.
    2. A proposal left `applying`: back to waiting when a person had decided it, carried on when proof had.
    """
    replay_journal(shop)
    applying = Proposal.objects.filter(store=shop.store, state=State.APPLYING).select_related("store")
    for proposal in sorted(applying, key=attrgetter("pk")):
        try:
            _resume(shop, proposal)
        except MemoryReviewError as error:  # one proposal that cannot go on must not stop the store
            log.warning("resume proposal %s: %s", proposal.pk, error)
            proposal.refresh_from_db()
            if proposal.state == State.APPLYING:
                proposals.move(proposal, to=State.PENDING, verb=Verb.FAIL, note=str(error), failure=str(error))


def replay_journal(shop: Workshop) -> None:
    """Finish or forget what was begun. Effects in order:

    1. What somebody wrote and a killed writer of ours had moved aside: it comes back first. One that was not landing
       anything had named its documents as differing.
    2. An intent whose commit is part of the head: write what is missing on disk and record the change.
    3. Any other intent: forget it; its objects are unreachable and harmless.
    4. A document that the system refused to write then: write it, if the old text still stands.
    """
    head = shop.head()
    intents = sorted(Intent.objects.filter(store=shop.store), key=attrgetter("pk"))
    is_half_written = bool(intents) or bool(named_differing(shop.store))
    if is_half_written:
        with suppress(WorktreeError):
            shop.worktree().sweep()
    for intent in intents:
        if not shop.repository.is_ancestor(intent.oid, head):
            intent.delete()
        elif intent.kind == ChangeKind.ADOPT:
            anew.finish(shop, intent)
        else:
            finish(shop, intent)
    if is_half_written:
        write_late(shop)


def _resume(shop: Workshop, proposal: Proposal) -> None:
    last = last_decision(proposal)
    if last is not None and last.verb in (Verb.AUTO_APPLY, Verb.PASSIVE):
        settle(shop, proposal)
        return
    note = "The server stopped before this was written. Nothing was changed; decide again."
    proposals.move(proposal, to=State.PENDING, verb=Verb.INTERRUPT, note=note)
