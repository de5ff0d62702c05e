"""Approve or reject what a person selected, each as its own decision; approvals share one barrier per store."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from memoryreview.baseline import steps
from memoryreview.core import concerns
from memoryreview.core.concerns import HIGH
from memoryreview.core.errors import MemoryReviewError
from memoryreview.core.model import Verdict
from memoryreview.review.models import Change, Decision, Proposal, State, Store, Verb

from . import decide, ledger, proposals
from .apply import Burst, burst
from .capture import capture_within, refuse_secret_note
from .durability import relaxed
from .errors import AlreadyDecidedError, NotPermittedError
from .reconcile import reconcile_within, replay_journal
from .standing import Standing, classification_of
from .stores import Workshop, locked

MAX_SELECTED = 50
"""Proposals in one batch: nobody has looked at more."""

_GONE = "There is no such proposal. Nothing was changed."
LARGE = 10
"""From so many on, the batch asks for the password again."""


@dataclass(frozen=True, slots=True)
class Selected:
    """A proposal exactly as a person saw it: its version, and the hash of the hunks that were shown."""

    proposal: int
    version: int
    shown: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one of them: decided, with the change that it made, or why nothing was done about it."""

    proposal: int
    title: str
    change: Change | None = None
    refusal: str = ""

    @property
    def is_decided(self) -> bool:
        return not self.refusal


def unfit(proposal: Proposal) -> str:
    """Return why a proposal is decided by itself and never in a batch, "" when it may be in one."""
    if proposal.state == State.QUARANTINED:
        return "A scanner stopped it: look at it by itself."
    if proposal.promoted_from_id is not None:
        return "It shares private memory: look at it by itself."
    if proposal.deletes:
        return "It deletes text: look at it by itself."
    if proposal.risk >= HIGH:
        return "It is of high risk: look at it by itself."
    return ""


def approve_many(selected: Sequence[Selected], *, person: User) -> tuple[Outcome, ...]:
    """Approve each of them as `decide.approve` does; one that cannot be does not stop the others. Effects in order:

    1. Per store, under its lock: finish what a kill left, record direct writes to the same documents.
    2. Per proposal, on the tree after those before it: compare permission, state, version and hunks with what was
       shown, record the decision, prepare the commit.
    3. Write all commits of the store with one barrier. When the system refuses, they wait again with the reason.

    Deletions, promotions, what is quarantined or of high risk, and what no page can show whole are left as they are.
    All decisions bear the number of the batch, by which `takeback.undo` takes back all of it.
    """
    batch = uuid.uuid4().hex
    unique = {one.proposal: one for one in selected[:MAX_SELECTED]}
    visible = Proposal.objects.visible_to(person).filter(pk__in=[*unique])
    found: dict[int, Outcome] = {}
    for store in Store.objects.filter(proposals__in=visible).distinct().order_by("pk"):
        own = set(visible.filter(store=store).values_list("pk", flat=True))
        for outcome in _in_store(store, [one for pk, one in unique.items() if pk in own], person, batch):
            found[outcome.proposal] = outcome
    return tuple(found.get(pk) or Outcome(pk, "", refusal=_GONE) for pk in unique)


def reject_many(selected: Sequence[Selected], *, person: User, reason: str = "", note: str = "") -> tuple[Outcome, ...]:
    """Reject each of them as `decide.reject` does, for the same reason; one that cannot be does not stop the others.

    What no batch may hold is left as it is, as when approving.
    """
    refuse_secret_note(note)
    batch = uuid.uuid4().hex
    unique = {one.proposal: one for one in selected[:MAX_SELECTED]}
    found = Proposal.objects.visible_to(person).in_bulk([*unique])
    return tuple(_rejected(one, found.get(pk), person, (reason, note, batch)) for pk, one in unique.items())


def _rejected(seen: Selected, proposal: Proposal | None, person: User, said: tuple[str, str, str]) -> Outcome:
    if proposal is None:
        return Outcome(seen.proposal, "", refusal=_GONE)
    refusal = unfit(proposal)
    if refusal:
        return Outcome(seen.proposal, proposal.title, refusal=f"{refusal} Nothing was changed.")
    reason, note, batch = said
    try:
        decide.reject(proposal.pk, person=person, version=seen.version, reason=reason, note=note, batch=batch)
    except MemoryReviewError as error:
        return Outcome(seen.proposal, proposal.title, refusal=str(error))
    return Outcome(seen.proposal, proposal.title)


def _in_store(store: Store, selected: Sequence[Selected], person: User, batch: str) -> Iterator[Outcome]:
    try:
        with locked(store) as shop:
            reconcile_within(shop)
            wanted = Proposal.objects.filter(pk__in=[one.proposal for one in selected])
            capture_within(shop, only={path for paths in wanted.values_list("paths", flat=True) for path in paths})
            yield from _approve_all(shop, selected, person, batch)
    except MemoryReviewError as error:
        titles = dict(Proposal.objects.filter(store=store).values_list("pk", "title"))
        for one in selected:
            yield Outcome(one.proposal, titles[one.proposal], refusal=str(error))


def _approve_all(shop: Workshop, selected: Sequence[Selected], person: User, batch: str) -> list[Outcome]:
    found = decide.fetch_all(one.proposal for one in selected)
    approvals = _Approvals(shop, person, batch)
    landed: Iterable[Change] = ()
    failure = ""
    try:
        with burst(shop) as together:
            for one in selected:
                approvals.add(together, found[one.proposal], one)
            approvals.decide(together)
            landed = together.land()
    except MemoryReviewError as error:
        failure = str(error)
        replay_journal(shop)  # the ref may have moved all the same
        landed = Change.objects.filter(decision__in=approvals.taken.values()).select_related("store")
    outcomes = approvals.outcomes
    changes = {change.decision_id: change for change in landed}
    for proposal, decision in approvals.taken.items():
        change = changes.get(decision.pk)
        if change is None:
            _give_back(proposal, person, failure)
        outcomes[proposal.pk] = Outcome(proposal.pk, proposal.title, change, "" if change else failure)
    return [outcomes.get(one.proposal) or Outcome(one.proposal, "", refusal=failure) for one in selected]


@dataclass(frozen=True, slots=True)
class _Approval:
    """What a person approves, looked at and not yet decided."""

    proposal: Proposal
    view: Standing
    decision: Decision


class _Approvals:
    """Approvals of one store on their way to one barrier.

    Those that stand as they were judged, in documents of their own, cannot change what another one means: they are
    decided in one transaction. Any other is looked at when those before it are commits.

    `taken` holds what was decided and may land, `outcomes` what was answered already.
    """

    def __init__(self, shop: Workshop, person: User, batch: str) -> None:
        self.taken: dict[Proposal, Decision] = {}
        self.outcomes: dict[int, Outcome] = {}
        self._shop, self._person, self._batch = shop, person, batch
        self._waiting: list[_Approval] = []
        self._paths: set[str] = set()

    def add(self, together: Burst, proposal: Proposal, seen: Selected) -> None:
        """Look at one more proposal. What may be approved waits for `decide`, or was decided by it."""
        try:
            pressed = decide.repeated_press(proposal, Verb.APPROVE, self._person, seen.version)
            if pressed is not None:
                self.outcomes[proposal.pk] = Outcome(proposal.pk, proposal.title, pressed.change)
                return
            paths = proposal.revision.delta().keys()
            if self._paths & paths:
                self.decide(together)
            approval = self._look(together, proposal, seen)
            if self._waiting and not approval.view.is_as_judged:
                self.decide(together)
                approval = self._look(together, proposal, seen)
        except MemoryReviewError as error:
            self._refuse(proposal, error)
        else:
            self._waiting.append(approval)
            self._paths |= paths

    def _look(self, together: Burst, proposal: Proposal, seen: Selected) -> _Approval:
        """Compare a proposal with what the person saw. Raises a MemoryReviewError when it cannot be approved here."""
        refusal = unfit(proposal)
        if refusal:
            raise NotPermittedError(f"{refusal} Nothing was changed.")
        allowed = decide.may_approve(self._person, proposal)
        view = decide.same_view(proposal, self._shop, together.tree, version=seen.version, shown=seen.shown)
        if decide.is_cut(view) or _deletes_now(proposal, view):
            raise NotPermittedError("It is more than a batch may hold: look at it by itself. Nothing was changed.")
        decision = Decision(
            proposal=proposal, store=proposal.store, revision=proposal.revision.number, verb=Verb.APPROVE,
            person=self._person, shown=seen.shown, carried_over=view.moved, sole_person=allowed.sole_person,
            batch=self._batch,
        )  # fmt: skip
        return _Approval(proposal, view, decision)

    def decide(self, together: Burst) -> None:
        """Record the decisions that wait, each on its own proposal, and prepare their commits."""
        waiting, self._waiting, self._paths = self._waiting, [], set()
        if not waiting:
            return
        # Nothing has left the database yet: the journal, which is durable before anything does, takes them along.
        with relaxed():
            taken = _take([approval.decision for approval in waiting])
        steps.on_step("decision.recorded")
        for approval in waiting:
            if approval.proposal in taken:
                self._prepare(together, approval)
            else:
                fresh = decide.fetch(approval.proposal.pk)
                self._refuse(fresh, AlreadyDecidedError(fresh, proposals.last_decision(fresh)))

    def _prepare(self, together: Burst, approval: _Approval) -> None:
        proposal, decision = approval.proposal, approval.decision
        try:
            together.add(decide.landing_by(decision, proposal, approval.view, person=self._person))
        except MemoryReviewError as error:
            _give_back(proposal, self._person, str(error))
            self._refuse(proposal, error)
        else:
            self.taken[proposal] = decision

    def _refuse(self, proposal: Proposal, error: MemoryReviewError) -> None:
        self.outcomes[proposal.pk] = Outcome(proposal.pk, proposal.title, refusal=str(error))


def _take(decisions: Sequence[Decision]) -> set[Proposal]:
    """Make the same transition of several proposals, to `applying`, each with its decision: compare-and-swap as
    `proposals.move`.

    Returns the proposals that were taken; with any other somebody else was faster, and nothing is recorded.
    """
    asked = {decision.proposal: decision for decision in decisions if decision.proposal is not None}
    with transaction.atomic():
        rows = Proposal.objects.select_for_update().filter(pk__in=[proposal.pk for proposal in asked])
        now = set(rows.values_list("pk", "version", "state"))
        taken = {proposal for proposal in asked if (proposal.pk, proposal.version, proposal.state) in now}
        Proposal.objects.filter(pk__in=[proposal.pk for proposal in taken]).update(
            state=State.APPLYING, version=F("version") + 1, failure="", updated_at=timezone.now(), **proposals.AWAKE
        )
        ledger.record_all([decision for proposal, decision in asked.items() if proposal in taken])
    for proposal in taken:
        proposal.state, proposal.version, proposal.failure = State.APPLYING, proposal.version + 1, ""
    return taken


def _deletes_now(proposal: Proposal, view: Standing) -> bool:
    """Whether text goes by it at the present head; what was found when it came in holds where nothing moved."""
    if view.is_as_judged:
        return proposal.deletes
    actions = classification_of(proposal, view).actions
    return concerns.deletes(action for action in actions if action.verdict is not Verdict.SAFE)


def _give_back(proposal: Proposal, person: User, sentence: str) -> None:
    proposals.move(proposal, to=State.PENDING, verb=Verb.FAIL, person=person, note=sentence, failure=sentence)
