"""Undo one change, or several that build on each other, by an inverse three-way merge at the head. Never a reset."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from django.contrib.auth.models import User

from memoryreview.baseline.repository import Repository, Snapshot, TreeEntry
from memoryreview.core.merge import Conflicted, Merged, merge3
from memoryreview.core.model import Delta, Scope, Tree
from memoryreview.core.text import split_lines
from memoryreview.core.typed import restore_line_ends
from memoryreview.review.models import Change, ChangedPath, ChangeKind, Decision, Proposal, Verb, is_sole_person

from . import ledger
from .apply import Landing, land
from .capture import capture_within
from .errors import CannotApplyError, RollbackConflictError, StaleViewError
from .judge import judge
from .permissions import require_maintainer
from .proposals import Draft, Submission, refuse_wording, store_waiting
from .reconcile import reconcile_within
from .stores import Workshop, locked, reading
from .undone import undoers

MAX_LATER = 100
"""Later changes of a document that are looked at, and changes that are rolled back together."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What rolling back a change would do now.

    Args:
        delta: against the head, when nothing conflicts.
        conflicts: documents in which a later change touched the same lines.
        later: those later changes, oldest first.
        together: what can be rolled back with it in one commit, newest first; None when only an edit by hand helps.
        already: the rollback or restore that takes it back, if one does.
        refused: why it can never be rolled back, or "".
    """

    change: Change
    tree: Snapshot
    delta: Delta
    conflicts: tuple[str, ...] = ()
    later: tuple[Change, ...] = ()
    together: tuple[Change, ...] | None = None
    already: Change | None = None
    refused: str = ""


def plan(change: Change) -> Plan:
    """Say what rolling back would do. Reads only."""
    with reading(change.store) as repository:
        return _plan(change, repository)


def _plan(change: Change, repository: Repository) -> Plan:
    tree = repository.snapshot(repository.head() or "")
    if change.kind == ChangeKind.ADOPT:
        return Plan(change, tree, {}, refused="This is the first baseline of the store; there is nothing before it.")
    if change.kind == ChangeKind.ERASE:
        return Plan(change, tree, {}, refused="What was erased is kept nowhere, so nothing can bring it back.")
    already = next(iter(undoers(change)), None)
    if already is not None:
        return Plan(change, tree, {}, already=already)
    state, conflicts = _undone([change], tree, repository)
    if not conflicts:
        return Plan(change, tree, {path: new for path, new in state.items() if new != tree.get(path)})
    later = _later_on_same_lines(change, conflicts, repository)
    return Plan(change, tree, {}, tuple(sorted(conflicts)), later, _together(change, later, tree, repository))


def _undone(
    undo: Sequence[Change], tree: Tree, repository: Repository
) -> tuple[dict[str, bytes | None], dict[str, Conflicted]]:
    """Take changes back one after the other, the newest first; return the touched documents and what conflicts."""
    state: dict[str, bytes | None] = {}
    conflicts: dict[str, Conflicted] = {}
    for change in undo:
        before, after = repository.snapshot(change.parent), repository.snapshot(change.oid)
        for path in change.paths:
            present = state.get(path, tree.get(path))
            merged = merge3(after.get(path), present, before.get(path))
            if isinstance(merged, Merged):
                state[path] = merged.data
            else:
                conflicts[path] = merged
    return state, conflicts


def _later_on_same_lines(change: Change, paths: Iterable[str], repository: Repository) -> tuple[Change, ...]:
    """Return the later changes that made the conflict: those across which the conflicting text on our side changed."""
    found = {later.pk: later for path in paths for later in _quarrelling(change, path, repository)}
    return tuple(found[pk] for pk in sorted(found))


def _quarrelling(change: Change, path: str, repository: Repository) -> Iterator[Change]:
    wanted, written = (repository.snapshot(oid).get(path) for oid in (change.parent, change.oid))

    @cache  # what one change leaves is what the next one finds
    def quarrel(entry: TreeEntry | None) -> tuple[bytes, ...]:
        ours = repository.blob(entry.oid) if entry is not None else None
        return _quarrel(merge3(written, ours, wanted), ours)

    rows = ChangedPath.objects.filter(store=change.store, path=path, change_id__gt=change.pk)
    touching = rows.order_by("change_id").values_list("change_id", flat=True)[:MAX_LATER]
    for later in Change.objects.filter(pk__in=list(touching)).select_related("store").order_by("pk"):
        was, now = (quarrel(repository.snapshot(oid).entry(path)) for oid in (later.parent, later.oid))
        if was != now:
            yield later


def _quarrel(merged: Merged | Conflicted, ours: bytes | None) -> tuple[bytes, ...]:
    if isinstance(merged, Merged):
        return ()
    content = ours or b""
    lines = split_lines(content)
    spans = [lines[conflict.ours[0] - 1 : conflict.ours[1] - 1] for conflict in merged.conflicts]
    return tuple(b"".join(content[line.start : line.end] for line in span) for span in spans) or (b"",)


def _together(change: Change, later: Sequence[Change], tree: Tree, repository: Repository) -> tuple[Change, ...] | None:
    group = tuple(sorted({change, *later}, key=lambda one: -one.pk))
    if len(group) > 1 and not _undone(group, tree, repository)[1]:
        return group
    touched = {"changed_paths__store": change.store, "changed_paths__path__in": change.paths}
    everything = Change.objects.filter(store=change.store, changed_paths__change_id__gte=change.pk, **touched)
    group = tuple(everything.exclude(kind=ChangeKind.ADOPT).distinct().order_by("-pk")[: MAX_LATER + 1])
    is_whole = 1 < len(group) <= MAX_LATER
    return group if is_whole and not _undone(group, tree, repository)[1] else None


def roll_back(change: Change, *, person: User, note: str = "") -> Change:
    """Undo one change by a new commit; later edits elsewhere survive. A second press returns the same rollback.

    Raises: RollbackConflictError naming the later changes; NotPermittedError; CannotApplyError; SecretDetectedError.
    """
    return _roll_back(change, person=person, note=note, together=False)


def roll_back_together(change: Change, *, person: User, note: str = "") -> Change:
    """Undo a change and the later ones that build on it in one commit. Raises as `roll_back` does."""
    return _roll_back(change, person=person, note=note, together=True)


def _roll_back(change: Change, *, person: User, note: str, together: bool) -> Change:
    with locked(change.store) as shop:
        prepared = _prepare(shop, change, person)
        if prepared.already is not None:
            return prepared.already
        if not prepared.conflicts:
            return _land(shop, prepared.delta, (change,), person, note)
        if together and prepared.together is not None:
            state, _ = _undone(prepared.together, prepared.tree, shop.repository)
            delta = {path: new for path, new in state.items() if new != prepared.tree.get(path)}
            return _land(shop, delta, prepared.together, person, note)
        later = prepared.later
        raise RollbackConflictError(prepared.conflicts, [one.pk for one in later], [one.title for one in later])


def roll_back_by_hand(change: Change, *, person: User, head: str, texts: Mapping[str, str]) -> Change | Proposal:
    """Write a person's own wording for the documents of a change, recorded as its rollback.

    In team memory the wording is a proposal of theirs that another maintainer approves, unless they are alone.
    Args: head: the commit that they saw the documents of. Raises: StaleViewError when it moved; the caller keeps texts.
    """
    with locked(change.store) as shop:
        prepared = _prepare(shop, change, person)
        if prepared.already is not None:
            return prepared.already
        if shop.head() != head:
            raise StaleViewError("The store changed while you typed. Nothing was written; your text is kept below.")
        typed = {
            path: restore_line_ends(text, prepared.tree.get(path) or b"")
            for path, text in texts.items()
            if path in change.paths
        }
        delta = {path: new for path, new in typed.items() if new != prepared.tree.get(path)}
        draft = Draft(
            store=shop.store,
            base=head,
            tree=prepared.tree,
            delta=delta,
            classification=judge(shop.store, prepared.tree, delta),
            submission=Submission(title=f"Roll back {change.title} by hand"),
            person=person,
        )
        refuse_wording(draft)
        if delta and shop.store.scope == Scope.TEAM and not is_sole_person():
            return store_waiting(draft)
        return _land(shop, delta, (change,), person, "edited by hand")


def _prepare(shop: Workshop, change: Change, person: User) -> Plan:
    require_maintainer(person, change.store)
    reconcile_within(shop)
    capture_within(shop, only=change.paths)
    prepared = _plan(change, shop.repository)
    if prepared.refused:
        raise CannotApplyError(f"{prepared.refused} Nothing was changed.")
    return prepared


def _land(shop: Workshop, delta: Delta, undone: Sequence[Change], person: User, note: str) -> Change:
    if not delta:
        raise CannotApplyError(
            "What this change wrote is gone already; there is nothing left to roll back. Nothing was changed."
        )
    first = undone[-1]
    decision = ledger.record_now(
        Decision(
            proposal=first.proposal,
            store=shop.store,
            change=first.oid,
            verb=Verb.ROLLBACK,
            person=person,
            note=note,
        )
    )
    title = f"Roll back “{first.title[:240]}”" + (f" and {len(undone) - 1} later" if len(undone) > 1 else "")
    landing = Landing(
        kind=ChangeKind.ROLLBACK,
        delta=delta,
        title=title,
        body="\n".join(f"Undoes {one.oid}" for one in undone),
        decision=decision,
        person=person,
        rolls_back=tuple(one.pk for one in undone),
    )
    return land(shop, landing)
