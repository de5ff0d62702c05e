"""Bring a whole store back to the state after an earlier change, as one new commit. Never a reset."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from django.contrib.auth.models import User

from memoryreview.baseline import steps
from memoryreview.baseline.repository import Repository, Snapshot
from memoryreview.baseline.worktree import WorktreeError
from memoryreview.core.merge import Conflicted
from memoryreview.core.model import Delta, Finding, Guard, Tree
from memoryreview.review.models import Change, ChangeKind, Decision, Proposal, Store, Verb
from memoryreview.review.querysets import ChangeQuerySet

from . import ledger
from .apply import Landing, land, stands
from .capture import capture_within, refuse_secret_note
from .errors import CannotApplyError, NotFoundError, SecretDetectedError, StaleViewError
from .inverse import findings
from .permissions import require_maintainer
from .reconcile import reconcile_within
from .standing import base_of, merge_onto
from .stores import Workshop, locked, reading, worktree_of

MAX_COMPARED = 200
"""Waiting proposals of which is told what becomes of them."""

SAME_ALREADY = "The store holds exactly this state already. There is nothing to restore."


class Fate(StrEnum):
    """What restoring does to a proposal that waits, or to a write on disk."""

    CONFLICT = "conflict"  # it changes lines that come back otherwise
    MOVED = "moved"  # it is merged onto what comes back
    CONTAINED = "contained"  # what comes back says the same already


@dataclass(frozen=True, slots=True)
class Affected:
    proposal: Proposal
    fate: Fate


@dataclass(frozen=True, slots=True)
class Preview:
    """What restoring would do now.

    Args:
        to: the change after which the store was as it shall be again.
        head: the commit that `tree` shows.
        delta: against the head, sorted by path; {} when the store holds that state already.
        undoes: the changes since, newest first; restoring takes them back. What was erased stays so.
        findings: what the scanners see in what comes back and does not stand there now.
        affected: proposals that wait and touch the same documents, MAX_COMPARED at most.
        uncompared: waiting proposals beyond that.
        writes: documents that restoring changes and whose text on disk is not the approved one. Such a write is
            captured first, then merged with what comes back, or left as it is (`Fate.CONFLICT`).
        unreadable: why the memory folder cannot be written, or "".
        shown: hash that the form carries.
    """

    to: Change
    head: str
    tree: Snapshot
    delta: Delta
    undoes: ChangeQuerySet
    findings: tuple[Finding, ...]
    affected: tuple[Affected, ...]
    uncompared: int
    writes: Mapping[str, Fate]
    unreadable: str
    shown: str

    @property
    def is_stopped(self) -> bool:
        """Whether a secret would come back."""
        return any(finding.is_blocked_secret for finding in self.findings)


@dataclass(frozen=True, slots=True)
class _Step:
    """The difference between head and target, without what it means to anybody."""

    to: Change
    head: str
    tree: Snapshot
    delta: Delta

    @property
    def shown(self) -> str:
        return hashlib.sha256(f"{self.to.store_id} {self.head} {self.to.oid}".encode()).hexdigest()


def plan(store: Store, oid: str) -> Preview:
    """Say what bringing a store back to the state after a change would do. Reads only.

    Raises: NotFoundError for what is no change of this store; CannotApplyError when the baseline cannot be read.
    """
    with reading(store) as repository:
        step = _step(store, repository, oid)
        affected, uncompared = _affected(step, repository)
    writes, unreadable = _writes(store, step)
    return Preview(
        to=step.to,
        head=step.head,
        tree=step.tree,
        delta=step.delta,
        undoes=_since(step.to),
        findings=findings(store, step.tree, step.delta),
        affected=affected,
        uncompared=uncompared,
        writes=writes,
        unreadable=unreadable,
        shown=step.shown,
    )


def restore(store: Store, *, to: str, person: User, shown: str, note: str = "") -> Change:
    """Bring a store back to the state after a change. Effects in order, under the store's lock, so that others wait:

    1. Finish what a kill left; capture direct writes as proposals of their own.
    2. Compare with what the person saw; record the decision.
    3. Land one commit. A document with a write on disk that waits is merged, or left and listed as differing.

    Args: to: the commit id of the change. shown: `Preview.shown` of what the person saw.
    A second press returns the same change.

    Raises: StaleViewError when the head moved since; NotPermittedError; NotFoundError; BusyError; CannotApplyError when
        nothing differs, a secret would come back, or folder or baseline cannot be used. Nothing is changed then.
    """
    refuse_secret_note(note)
    with locked(store) as shop:
        require_maintainer(person, store)
        reconcile_within(shop)
        done = Change.objects.filter(store=store, kind=ChangeKind.RESTORE, decision__shown=shown, person=person).first()
        if done is not None:
            return done
        capture_within(shop)
        if shop.store.alarm:
            raise CannotApplyError(shop.store.alarm)
        step = _step(store, shop.repository, to)
        if step.shown != shown:
            raise StaleViewError("The store changed since this page was made. Nothing was changed; look again.")
        if not step.delta:
            raise CannotApplyError(f"{SAME_ALREADY} Nothing was changed.")
        return _land(shop, step, person, note)


def _land(shop: Workshop, step: _Step, person: User, note: str) -> Change:
    stated = {"store": shop.store, "change": step.to.oid, "person": person}
    decision = ledger.record_now(Decision(**stated, verb=Verb.RESTORE, note=note, shown=step.shown))
    steps.on_step("decision.recorded")
    landing = Landing(
        kind=ChangeKind.RESTORE,
        delta=step.delta,
        title=f"Restore {shop.store.slug} to {step.to.oid[:7]}: {step.to.title[:200]}",
        body=f"Brings every document back to what it was after {step.to.oid}.",
        decision=decision,
        person=person,
        rolls_back=tuple(_since(step.to).values_list("pk", flat=True)),
        overridden=True,  # the person saw what the scanners say of it; a secret stops it all the same
    )
    try:
        return land(shop, landing)
    except SecretDetectedError as error:
        first = error.findings[0]
        refusal = f"A secret would come back in “{first.path}”, line {first.line} ({first.rule}). Nothing was changed."
        failure = CannotApplyError(refusal)
    except CannotApplyError as error:
        if stands(shop):
            raise
        failure = error
    ledger.record_now(Decision(**stated, verb=Verb.FAIL, note=str(failure)))
    raise failure


def _step(store: Store, repository: Repository, oid: str) -> _Step:
    head = repository.head() or ""
    to = Change.objects.filter(store=store, oid=oid).select_related("store").first()
    if to is None or not repository.is_ancestor(oid, head):
        raise NotFoundError("change", oid[:40])
    tree, target = repository.snapshot(head), repository.snapshot(oid)
    return _Step(to, head, tree, {path: target.get(path) for path in tree.differing(target)})


def _since(to: Change) -> ChangeQuerySet:
    later = Change.objects.filter(store=to.store_id, pk__gt=to.pk).exclude(kind=ChangeKind.ERASE)
    return later.newest_first()


def _affected(step: _Step, repository: Repository) -> tuple[tuple[Affected, ...], int]:
    waiting = Proposal.objects.filter(store=step.to.store_id).undecided().select_related("agent", "person", "store")
    touching = [one for one in waiting.in_queue_order() if not step.delta.keys().isdisjoint(one.paths)]
    compared = touching[:MAX_COMPARED]
    return tuple(Affected(one, _fate_of(one, step, repository)) for one in compared), len(touching) - len(compared)


def _fate_of(proposal: Proposal, step: _Step, repository: Repository) -> Fate:
    revision = proposal.revision
    base = base_of(revision, repository)
    fates = {
        _fate(base, path, step.delta[path] if path in step.delta else step.tree.get(path), new)
        for path, new in revision.delta().items()
    }
    return next(fate for fate in Fate if fate in fates)


def _fate(base: Tree | None, path: str, coming: bytes | None, wanted: bytes | None) -> Fate:
    merged = merge_onto(base, path, coming, wanted)
    if isinstance(merged, Conflicted):
        return Fate.CONFLICT
    return Fate.CONTAINED if merged.data == coming else Fate.MOVED


def _writes(store: Store, step: _Step) -> tuple[dict[str, Fate], str]:
    """Return the documents with a write on disk, of those that restoring changes, and why the folder cannot be used."""
    found: dict[str, Fate] = {}
    try:
        worktree = worktree_of(store)
        for path, new in step.delta.items():
            disk = worktree.read(path)
            if disk != step.tree.get(path):
                fate = _fate(step.tree, path, new, disk)
                # Under `enforce` the approved text is put back at once, and the write is held.
                found[path] = Fate.MOVED if store.guard == Guard.ENFORCE else fate
    except WorktreeError as error:
        return found, str(error)
    return found, ""
