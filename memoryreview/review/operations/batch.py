"""Approve what a person selected, each as its own decision and its own commit, written with one barrier per store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from django.contrib.auth.models import User

from memoryreview.baseline import steps
from memoryreview.core.errors import MemoryReviewError
from memoryreview.review.models import Change, Decision, Proposal, State, Store, Verb

from . import decide, proposals
from .apply import Burst, burst, standing_write
from .capture import capture_within
from .durability import relaxed
from .errors import NotPermittedError
from .reconcile import reconcile_within, replay_journal
from .standing import Standing, classification_of
from .stores import Workshop, locked

MAX_SELECTED = 50
"""Proposals in one batch: nobody has looked at more."""

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
    """What became of one of them: the change, or why nothing of it was written."""

    proposal: int
    title: str
    change: Change | None = None
    refusal: str = ""


def unfit(proposal: Proposal) -> str:
    """Return why a proposal is decided by itself and never in a batch, "" when it may be in one."""
    if proposal.state == State.QUARANTINED:
        return "A scanner stopped it: look at it by itself."
    if proposal.promoted_from_id is not None:
        return "It shares private memory: look at it by itself."
    if proposal.deletes:
        return "It deletes text: look at it by itself."
    return ""


def approve_many(selected: Sequence[Selected], *, person: User) -> tuple[Outcome, ...]:
    """Approve each of them as `decide.approve` does; one that cannot be does not stop the others. Effects in order:

    1. Per store, under its lock: finish what a kill left, record direct writes to the same documents.
    2. Per proposal, on the tree after those before it: compare permission, state, version and hunks with what was
       shown, record the decision, prepare the commit.
    3. Write all commits of the store with one barrier. When the system refuses, they wait again with the reason.

    Deletions, promotions, quarantined proposals and those that no page can show whole are left as they are.
    """
    unique = {one.proposal: one for one in selected[:MAX_SELECTED]}
    visible = Proposal.objects.visible_to(person).filter(pk__in=[*unique])
    found: dict[int, Outcome] = {}
    for store in Store.objects.filter(proposals__in=visible).distinct().order_by("pk"):
        own = set(visible.filter(store=store).values_list("pk", flat=True))
        for outcome in _in_store(store, [one for pk, one in unique.items() if pk in own], person):
            found[outcome.proposal] = outcome
    gone = "There is no such proposal. Nothing was changed."
    return tuple(found.get(pk) or Outcome(pk, "", refusal=gone) for pk in unique)


def _in_store(store: Store, selected: Sequence[Selected], person: User) -> Iterator[Outcome]:
    try:
        with locked(store) as shop:
            reconcile_within(shop)
            wanted = Proposal.objects.filter(pk__in=[one.proposal for one in selected])
            capture_within(shop, only={path for paths in wanted.values_list("paths", flat=True) for path in paths})
            yield from _approve_all(shop, selected, person)
    except MemoryReviewError as error:
        titles = dict(Proposal.objects.filter(store=store).values_list("pk", "title"))
        for one in selected:
            yield Outcome(one.proposal, titles[one.proposal], refusal=str(error))


def _approve_all(shop: Workshop, selected: Sequence[Selected], person: User) -> list[Outcome]:
    outcomes: dict[int, Outcome] = {}
    taken: list[tuple[Proposal, Decision]] = []
    failure = ""
    try:
        with burst(shop) as together:
            for one in selected:
                proposal = decide.fetch(one.proposal)
                try:
                    pressed = decide.repeated_press(proposal, Verb.APPROVE, person, one.version)
                    if pressed is not None:
                        outcomes[proposal.pk] = Outcome(proposal.pk, proposal.title, pressed.change)
                        continue
                    taken.append((proposal, _take(shop, together, proposal, one, person)))
                except MemoryReviewError as error:
                    outcomes[proposal.pk] = Outcome(proposal.pk, proposal.title, refusal=str(error))
            together.land()
    except MemoryReviewError as error:
        failure = str(error)
        replay_journal(shop)  # the ref may have moved all the same
    landed = Change.objects.filter(decision__in=[decision for _, decision in taken])
    changes = {change.decision_id: change for change in landed.select_related("store")}
    for proposal, decision in taken:
        change = changes.get(decision.pk)
        if change is None:
            _give_back(proposal, person, failure)
        outcomes[proposal.pk] = Outcome(proposal.pk, proposal.title, change, "" if change else failure)
    return [outcomes.get(one.proposal) or Outcome(one.proposal, "", refusal=failure) for one in selected]


def _take(shop: Workshop, together: Burst, proposal: Proposal, seen: Selected, person: User) -> Decision:
    """Record the decision on one proposal and prepare its commit. Raises a MemoryReviewError; it waits again then."""
    refusal = unfit(proposal)
    if refusal:
        raise NotPermittedError(f"{refusal} Nothing was changed.")
    allowed = decide.may_approve(person, proposal)
    view = decide.same_view(proposal, shop, together.tree, version=seen.version, shown=seen.shown)
    if decide.is_cut(view) or _deletes_now(proposal, view):
        raise NotPermittedError("It is more than a batch may hold: look at it by itself. Nothing was changed.")
    # Nothing has left the database yet: the journal, which is durable before anything does, takes the decision along.
    with relaxed():
        decision = proposals.move(
            proposal, to=State.APPLYING, verb=Verb.APPROVE, person=person, shown=seen.shown,
            carried_over=view.moved, sole_person=allowed.sole_person,
        )  # fmt: skip
    steps.on_step("decision.recorded")
    assert decision is not None, "a verb records a decision"  # noqa: S101
    landing = decide.landing_of(proposal, view, decision=decision, person=person)
    try:
        released = proposal.decisions.filter(verb=Verb.RELEASE).exists()
        together.add(replace(landing, overridden=released, standing=standing_write(proposal)))
    except MemoryReviewError as error:
        _give_back(proposal, person, str(error))
        raise
    return decision


def _deletes_now(proposal: Proposal, view: Standing) -> bool:
    """Whether text goes by it at the present head; what was found when it came in holds where nothing moved."""
    if view.is_as_judged:
        return proposal.deletes
    return proposals.summarise(classification_of(proposal, view), view.tree, view.delta).deletes


def _give_back(proposal: Proposal, person: User, sentence: str) -> None:
    proposals.move(proposal, to=State.PENDING, verb=Verb.FAIL, person=person, note=sentence, failure=sentence)
