"""Taking back what a person decided: by whoever decided it, and for good by whoever maintains the store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Case, When
from django.utils import timezone

from memoryreview.core.errors import MemoryReviewError
from memoryreview.core.model import Severity
from memoryreview.review.models import Change, ChangeKind, Decision, Proposal, State, Verb
from memoryreview.review.prepared import Prepared, now
from memoryreview.review.querysets import JsonRows

from . import proposals, rollback, snooze
from .decide import Decided, fetch
from .errors import AlreadyDecidedError, NotFoundError, StaleViewError
from .permissions import require_maintainer
from .proposals import last_decision

_LEADS_TO = {
    Verb.APPROVE: State.APPLIED,
    Verb.REJECT: State.REJECTED,
    Verb.ASK_CHANGES: State.CHANGES_REQUESTED,
}
_UNDOABLE = (*_LEADS_TO, Verb.SNOOZE)
REOPENABLE = (State.REJECTED, State.CHANGES_REQUESTED)
"""A person said no, or not yet; nothing was written, so that it can simply wait again."""


@dataclass(frozen=True, slots=True)
class Undoable:
    """A decision that can be undone, of that batch if any; `title` is its proposal's."""

    pk: int
    verb: str
    batch: str
    title: str


def last_undoable(person: User) -> Undoable | None:
    """Return this person's newest decision if it can be undone."""
    ((stated,),) = Prepared(User.objects.filter(pk=person.pk).values_list(newest(person))).ask(now=timezone.now())
    return undoable(person, stated)


def newest(person: User) -> JsonRows:
    """Return what another question can ask along, for `undoable`: the newest decision of a person."""
    is_snoozed = Case(When(proposal__snoozed_until__gt=now(), then=True), default=False)
    mine = Decision.objects.filter(person=person, verb__in=_UNDOABLE).annotate(is_snoozed=is_snoozed)
    last = mine.order_by("-pk")[:1]
    of_proposal = {"named": "proposal__title", "stands": "proposal__state", "aside": "is_snoozed"}
    return JsonRows(last, number="pk", done="verb", together="batch", **of_proposal)


def undoable(person: User, stated: list[list[Any]] | None) -> Undoable | None:
    """Return what can be undone, as `newest` states it. Of a batch something may stand when its last one does not."""
    for pk, verb, batch, title, state, is_snoozed in stated or ():
        leads_to = _LEADS_TO.get(Verb(verb))
        if is_snoozed if leads_to is None else state == leads_to:
            return Undoable(pk, verb, batch, title)
        together = Decision.objects.filter(person=person, batch=batch, proposal__state=leads_to)
        found = (
            together.order_by("-pk").values_list("pk", "verb", "batch", "proposal__title").first() if batch else None
        )
        return Undoable(*found) if found else None
    return None


def undo(decision_id: int, *, person: User) -> Decided:
    """Undo one's own decision: an approval is rolled back by a new commit, any other waits again."""
    decision = Decision.objects.select_related("proposal__store").filter(pk=decision_id, person=person).first()
    if decision is None or decision.proposal is None:
        raise NotFoundError("decision", str(decision_id))
    proposal = fetch(decision.proposal.pk)
    # A rollback that failed, or was itself rolled back, leaves the decision to be undone.
    newest = proposal.decisions.exclude(verb__in=[Verb.ROLLBACK, Verb.FAIL]).order_by("-pk").first()
    if newest is not None and newest.pk != decision.pk and proposal.state != State.ROLLED_BACK:
        raise AlreadyDecidedError(proposal, newest)
    if decision.verb == Verb.APPROVE:
        change = Change.objects.filter(decision=decision).order_by("-pk").first()
        if change is None:
            raise AlreadyDecidedError(proposal, last_decision(proposal))
        undone = rollback.roll_back(change, person=person)
        return Decided(fetch(proposal.pk), undone.decision, undone)
    if decision.verb == Verb.SNOOZE:
        return snooze.wake(proposal.pk, person=person)
    if proposal.state not in REOPENABLE or proposal.state != _LEADS_TO.get(Verb(decision.verb)):
        raise AlreadyDecidedError(proposal, last_decision(proposal))
    return _reopen(proposal, person)


@dataclass(frozen=True, slots=True)
class TakenBack:
    """What became of a batch that was taken back: the rollbacks, how many wait again, and why the others stay."""

    changes: tuple[Change, ...]
    reopened: int
    refusals: tuple[str, ...]


def landed_by(batch: str, *, person: User) -> tuple[Change, ...]:
    """Return the changes that a person's batch made and that stand, newest first."""
    made = Change.objects.filter(decision__batch=batch, decision__person=person).exclude(kind=ChangeKind.ROLLBACK)
    standing = made.filter(proposal__state=State.APPLIED)
    return tuple(standing.select_related("store", "proposal", "agent").order_by("-pk"))


def undo_batch(batch: str, *, person: User) -> TakenBack:
    """Undo all that one's own batch decided and that stands: one rollback per store, and what was rejected waits again.

    One store or proposal that cannot be taken back does not stop the others.
    """
    by_store: dict[int, list[Change]] = {}
    for change in landed_by(batch, person=person):
        by_store.setdefault(change.store_id, []).append(change)
    changes: list[Change] = []
    refusals: list[str] = []
    for made in by_store.values():
        try:
            changes.append(rollback.roll_back_selected(made, person=person))
        except MemoryReviewError as error:
            refusals.append(str(error))
    reopened = 0
    for decision in Decision.objects.filter(batch=batch, person=person, verb=Verb.REJECT).order_by("pk"):
        try:
            undo(decision.pk, person=person)
            reopened += 1
        except MemoryReviewError as error:
            refusals.append(str(error))
    return TakenBack(tuple(changes), reopened, tuple(refusals))


def reopen(proposal_id: int, *, person: User, version: int) -> Decided:
    """Let a proposal wait again that was rejected or handed back to its agent, whoever decided that and whenever.

    Raises: AlreadyDecidedError, StaleViewError, NotPermittedError.
    """
    proposal = fetch(proposal_id)
    if proposal.state not in REOPENABLE:
        raise AlreadyDecidedError(proposal, last_decision(proposal))
    if proposal.version != version:
        raise StaleViewError("This proposal changed since you saw it. Nothing was decided; this is how it stands now.")
    return _reopen(proposal, person)


def _reopen(proposal: Proposal, person: User) -> Decided:
    require_maintainer(person, proposal.store)
    is_blocked = any(finding["severity"] == Severity.BLOCK for finding in proposal.revision.findings)
    is_rejected = proposal.state == State.REJECTED
    to = State.QUARANTINED if is_blocked and is_rejected else State.PENDING
    with transaction.atomic():
        reopened = proposals.move(proposal, to=to, verb=Verb.REOPEN, person=person)
        Proposal.objects.filter(pk=proposal.pk).update(duplicate_of=None)
    return Decided(fetch(proposal.pk), reopened)
