"""Undo one change, or several that build on each other, by an inverse three-way merge at the head. Never a reset."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from django.contrib.auth.models import User

from memoryreview.baseline import steps
from memoryreview.baseline.repository import Repository, Snapshot
from memoryreview.core.model import Delta, Finding, Scope
from memoryreview.core.typed import restore_line_ends
from memoryreview.review.models import (
    Agent,
    Change,
    ChangeKind,
    Decision,
    Proposal,
    Store,
    Verb,
    is_sole_person,
)

from . import ledger
from .apply import Landing, land, stands
from .capture import capture_within, refuse_secret_note
from .errors import CannotApplyError, RollbackConflictError, SecretDetectedError, StaleViewError
from .horizon import out_of_reach
from .inverse import MAX_LATER, Inverse, findings, inverse, later_on_same_lines
from .judge import judge
from .lineage import names_since, passages_since
from .permissions import require_maintainer
from .proposals import Draft, Submission, store_waiting
from .reconcile import reconcile_within
from .refusals import refuse_wording
from .stores import Workshop, locked, reading
from .undone import undoers, undone


@dataclass(frozen=True, slots=True)
class Plan:
    """What rolling back a change would do now.

    Args:
        delta: against the head, when nothing conflicts.
        conflicts: documents in which a later change touched the same lines: their names after the change, by those
            that they have now.
        later: those later changes, oldest first.
        together: what can be rolled back with it in one commit, newest first; None when only an edit by hand helps.
        already: the rollback or restore that takes it back, if one does.
        refused: why it can never be rolled back, or "".
        findings: what the scanners see in what comes back.
    """

    change: Change
    tree: Snapshot
    delta: Delta
    conflicts: Mapping[str, str] = field(default_factory=dict)
    later: tuple[Change, ...] = ()
    together: tuple[Change, ...] | None = None
    already: Change | None = None
    refused: str = ""
    findings: tuple[Finding, ...] = ()


def plan(change: Change) -> Plan:
    """Say what rolling back would do. Reads only."""
    with reading(change.store) as repository:
        return _plan(change, repository)


def _plan(change: Change, repository: Repository) -> Plan:
    tree = repository.snapshot(repository.head() or "")
    refused = _never(change, repository)
    if refused:
        return Plan(change, tree, {}, refused=refused)
    already = next(iter(undoers(change)), None)
    if already is not None:
        return Plan(change, tree, {}, already=already)
    back = inverse(change.store, [change], tree, repository)
    if not back.conflicts:
        return Plan(change, tree, back.delta, findings=findings(change.store, tree, back.delta))
    conflicts = dict(sorted(back.given[change.pk].items()))
    later = later_on_same_lines(change, conflicts.values(), repository)
    return Plan(change, tree, {}, conflicts, later, _together(change, later, tree, repository))


def _together(
    change: Change, later: Sequence[Change], tree: Snapshot, repository: Repository
) -> tuple[Change, ...] | None:
    group = tuple(sorted({change, *later}, key=lambda one: -one.pk))
    if len(group) > 1 and not inverse(change.store, group, tree, repository).conflicts:
        return group
    touching = {change.pk}
    for path in change.paths:
        touching.update(one.pk for one in islice(passages_since(change.store, path, change.pk), MAX_LATER))
        if len(touching) > MAX_LATER:
            return None
    everything = Change.objects.filter(pk__in=touching).exclude(kind__in=[ChangeKind.ADOPT, ChangeKind.ERASE])
    group = tuple(everything.order_by("-pk"))
    return group if len(group) > 1 and not inverse(change.store, group, tree, repository).conflicts else None


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
            back = inverse(shop.store, prepared.together, prepared.tree, shop.repository)
            return _land(shop, back.delta, prepared.together, person, note)
        later = prepared.later
        raise RollbackConflictError(tuple(prepared.conflicts), [one.pk for one in later], [one.title for one in later])


@dataclass(frozen=True, slots=True)
class Selection:
    """What rolling back several changes of one store together would do now.

    Args:
        changes: those that would be taken back, newest first.
        already: those that are taken back as things stand; they are left alone.
        delta, findings: as in `Plan`.
        conflicts: documents in which later changes, that are not selected, touched the same lines; `later` names them.
        refused: why they cannot be rolled back together, or "".
        shown: hash that the form carries.
    """

    store: Store
    changes: tuple[Change, ...]
    already: tuple[Change, ...]
    tree: Snapshot
    delta: Delta
    conflicts: tuple[str, ...]
    later: tuple[Change, ...]
    findings: tuple[Finding, ...]
    refused: str
    shown: str


def plan_selected(changes: Sequence[Change]) -> Selection:
    """Say what rolling back these changes together would do. Reads only.

    Raises: CannotApplyError when there are none, they are of several stores, or the baseline cannot be read.
    """
    with reading(_one_store(changes)) as repository:
        return _plan_selected(changes, repository)


def _one_store(changes: Sequence[Change]) -> Store:
    stores = {change.store_id: change.store for change in changes}
    if not stores:
        raise CannotApplyError("No change is selected. Nothing was changed; tick at least one.")
    if len(stores) > 1:
        named = ", ".join(sorted(store.slug for store in stores.values()))
        raise CannotApplyError(
            f"These changes are of several stores, {named}. Nothing was changed; tick those of one store."
        )
    return next(iter(stores.values()))


def _plan_selected(changes: Sequence[Change], repository: Repository) -> Selection:
    store = changes[0].store
    tree = repository.snapshot(repository.head() or "")
    gone = undone([change.pk for change in changes])
    ordered = sorted(changes, key=lambda change: -change.pk)
    undo = [change for change in ordered if change.pk not in gone]
    refused = next((sentence for change in undo if (sentence := _never(change, repository))), "")
    back = inverse(store, () if refused else undo, tree, repository)
    later: dict[int, Change] = {}
    for change in undo if back.conflicts else ():
        given = back.given.get(change.pk, {})
        later |= {one.pk: one for one in later_on_same_lines(change, given.values(), repository, apart_from=undo)}
    delta = {} if back.conflicts else back.delta
    stated = f"{store.pk} {tree.oid} {[change.pk for change in undo]}"
    return Selection(
        store=store,
        changes=tuple(undo),
        already=tuple(change for change in ordered if change.pk in gone),
        tree=tree,
        delta=delta,
        conflicts=tuple(sorted(back.conflicts)),
        later=tuple(later[pk] for pk in sorted(later)),
        findings=findings(store, tree, delta),
        refused=refused,
        shown=hashlib.sha256(stated.encode()).hexdigest(),
    )


def batch(change: Change) -> tuple[int, ...]:
    """Return the changes, by primary key, that belong to one act with this one and are not taken back, newest first.

    That is one proposal, so a captured burst too, or one run of tidying, which is noted with each of its proposals.
    """
    if change.agent is not None and change.agent.name == Agent.TIDY and change.kind == ChangeKind.AUTO:
        found = _tidy_run(change)
    elif change.proposal_id is not None and change.kind not in (ChangeKind.ROLLBACK, ChangeKind.RESTORE):
        alike = Change.objects.filter(store=change.store_id, proposal=change.proposal_id)
        found = list(alike.values_list("pk", flat=True))
    else:
        return ()
    gone = undone(found)
    return tuple(sorted((pk for pk in found if pk not in gone), reverse=True))[:MAX_LATER]


def _tidy_run(change: Change) -> list[int]:
    run = change.proposal.source.get("run") if change.proposal is not None else None
    if not run:
        return []
    alike = Change.objects.filter(store=change.store_id, agent=change.agent, kind=change.kind)
    before, since = alike.filter(pk__lt=change.pk).order_by("-pk"), alike.filter(pk__gte=change.pk).order_by("pk")
    around = (one for part in (before, since) for one in part.select_related("proposal")[:MAX_LATER])
    return [one.pk for one in around if one.proposal is not None and one.proposal.source.get("run") == run]


def _never(change: Change, repository: Repository) -> str:
    """Return why a change can never be rolled back, "" for most."""
    if change.kind == ChangeKind.ADOPT:
        return "This is the first baseline of the store; there is nothing before it."
    if change.kind == ChangeKind.ERASE:
        return "What was erased is kept nowhere, so nothing can bring it back."
    return out_of_reach(change, repository)


def roll_back_selected(changes: Sequence[Change], *, person: User, note: str = "", shown: str | None = None) -> Change:
    """Undo several changes of one store in one commit, the newest first. What is undone already is left alone.

    Args: shown: `Selection.shown` of what the person saw, findings included; None where no page was shown.
    A second press returns the same rollback.

    Raises: StaleViewError when it would be something else now; otherwise as `roll_back` does.
    """
    refuse_secret_note(note)
    with locked(_one_store(changes)) as shop:
        require_maintainer(person, shop.store)
        reconcile_within(shop)
        capture_within(shop, only=sorted({path for change in changes for path in _names(change)}))
        found = _plan_selected(changes, shop.repository)
        if not found.changes:
            return undoers(found.already[0])[0]
        if shown is not None and shown != found.shown:
            raise StaleViewError("The store changed since this page was made. Nothing was changed; look again.")
        if found.refused:
            raise CannotApplyError(f"{found.refused} Nothing was changed.")
        if found.conflicts:
            raise RollbackConflictError(
                found.conflicts, [one.pk for one in found.later], [one.title for one in found.later]
            )
        return _land(shop, found.delta, found.changes, person, note, is_seen=shown is not None)


def by_hand(change: Change) -> tuple[str, dict[str, bytes | None]]:
    """Return the head, and the documents of a change as they stand there, under the names that they have now.

    Raises: CannotApplyError when the baseline cannot be read.
    """
    with reading(change.store) as repository:
        head = repository.head() or ""
        tree = repository.snapshot(head)
        names = Inverse(change.store, repository, tree).names(change)
        return head, {path: tree.get(path) for path in names}


def roll_back_by_hand(change: Change, *, person: User, head: str, texts: Mapping[str, str]) -> Change | Proposal:
    """Write a person's own wording for the documents of a change, recorded as its rollback.

    In team memory the wording is a proposal of theirs that another maintainer approves, unless they are alone.
    Args: head, texts: of `by_hand`; others are left out. Raises: StaleViewError when the head moved; the caller keeps
    the texts.
    """
    with locked(change.store) as shop:
        prepared = _prepare(shop, change, person)
        if prepared.already is not None:
            return prepared.already
        if shop.head() != head:
            raise StaleViewError("The store changed while you typed. Nothing was written; your text is kept below.")
        names = Inverse(shop.store, shop.repository, prepared.tree).names(change)
        typed = {
            path: restore_line_ends(text, prepared.tree.get(path) or b"")
            for path, text in texts.items()
            if path in names
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
    capture_within(shop, only=_names(change))
    prepared = _plan(change, shop.repository)
    if prepared.refused:
        raise CannotApplyError(f"{prepared.refused} Nothing was changed.")
    return prepared


def _names(change: Change) -> list[str]:
    """Return the names of a change's documents, then and now."""
    return sorted({*change.paths, *names_since(change.store, change.paths, change.pk).values()})


def _land(
    shop: Workshop, delta: Delta, undo: Sequence[Change], person: User, note: str, *, is_seen: bool = False
) -> Change:
    """Args: undo: newest first. is_seen: the person saw what scanners say of what comes back."""
    if not delta:
        raise CannotApplyError(
            "What this change wrote is gone already; there is nothing left to roll back. Nothing was changed."
        )
    first = undo[-1]
    stated = {"proposal": first.proposal, "store": shop.store, "change": first.oid, "person": person}
    decision = ledger.record_now(Decision(**stated, verb=Verb.ROLLBACK, note=note))
    steps.on_step("decision.recorded")
    landing = Landing(
        kind=ChangeKind.ROLLBACK,
        delta=delta,
        title=_title(undo),
        body="\n".join(f"Undoes {one.oid}" for one in undo),
        decision=decision,
        person=person,
        rolls_back=tuple(one.pk for one in undo),
        overridden=is_seen,
    )
    try:
        return land(shop, landing)
    except (CannotApplyError, SecretDetectedError) as error:
        if not stands(shop):
            ledger.record_now(Decision(**stated, verb=Verb.FAIL, note=str(error)))
        raise


def _title(undo: Sequence[Change]) -> str:
    first = f"Roll back “{undo[-1].title[:240]}”"
    return first if len(undo) == 1 else f"{first} and {len(undo) - 1} later"
