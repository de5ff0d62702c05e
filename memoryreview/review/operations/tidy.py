"""Safe edits that the server makes itself, through the same classifier and write path as everybody's, and suggestions
for what it cannot prove."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from django.contrib.auth.models import User
from django.db.models import Q
from django.utils import timezone

from memoryreview.baseline import steps
from memoryreview.baseline.repository import Snapshot
from memoryreview.core.classify.classify import classify
from memoryreview.core.merge import Merged
from memoryreview.core.model import Classification, Delta, FormatName, Problem, Scope, Tree, Verdict
from memoryreview.core.overlay import Overlay
from memoryreview.core.redact import redacted
from memoryreview.core.tidy import plan as core_plan
from memoryreview.core.tidy.across import Shelf, across
from memoryreview.core.tidy.model import Plan, Step, Suggestion
from memoryreview.core.tidy.plan import Wishes
from memoryreview.review.models import LIVE_STATES, OPEN_STATES, Agent, Change, Proposal, State, Store, Verb
from memoryreview.review.querysets import ProposalQuerySet

from . import proposals, tidy_stops
from .adopt import problems
from .capture import capture_within
from .context import context_of
from .errors import CannotApplyError, StaleViewError
from .judge import judge
from .permissions import require_maintainer
from .proposals import Draft, Submission
from .reconcile import reconcile_within
from .settle import settle
from .standing import base_of, merge_onto
from .stores import Workshop, locked, reading, skipped_in

MAX_OPEN_SUGGESTIONS = 20
"""Suggestions that wait in one store at once: tidying must not fill the queue."""

_HELD = "A proposal that waits changes the same lines; they are tidied after it is decided."
_STORABLE = (Verdict.REVIEW, Verdict.MIXED, Verdict.SAFE)
_SETTLED = (State.REJECTED, State.ROLLED_BACK)


@dataclass(frozen=True, slots=True)
class Suggested:
    """A suggestion as it would be proposed: `classification` is of its delta against the tree after all steps."""

    suggestion: Suggestion
    tree: Tree
    classification: Classification


@dataclass(frozen=True, slots=True)
class Preview:
    """What tidying a store would do now.

    Args:
        steps: one per rule and commit; `classification` of each holds no secret.
        suggested: new suggestions that would be made; those that wait already, or were rejected, are left out.
        withheld: suggestions beyond MAX_OPEN_SUGGESTIONS.
        shown: hash of steps and suggestions, which a form carries.
    """

    store: Store
    head: str
    tree: Tree
    plan: Plan
    steps: tuple[Step, ...]
    suggested: tuple[Suggested, ...]
    withheld: int
    stops: tuple[tidy_stops.Stop, ...]
    problems: tuple[Problem, ...]
    shown: str


@dataclass(frozen=True, slots=True)
class Tidied:
    """What a run did. `stopped` says why it ended early, "" when it did all it found."""

    store: Store
    applied: tuple[Change, ...]
    suggested: tuple[Proposal, ...]
    problems: tuple[Problem, ...]
    stopped: str = ""


def preview(store: Store, *, is_asked: bool = True) -> Preview:
    """Say what tidying would do. Writes nothing.

    Args: is_asked: a person asks for it, so the daily limit does not count.
    Raises: CannotApplyError when the baseline cannot be read.
    """
    with reading(store) as repository:
        head = repository.head() or ""
        return _preview(store, repository.snapshot(head), head, is_asked=is_asked)


def across_stores(store: Store) -> tuple[Problem, ...]:
    """Return where a store and the shared memory of its people disagree. Writes nothing."""
    others = Store.objects.exclude(pk=store.pk).order_by("pk")
    if store.owner_id is not None:
        others = others.filter(Q(owner=store.owner_id) | Q(team__memberships__person=store.owner_id)).distinct()
    return across(_shelf(store), [_shelf(other) for other in others])


def _shelf(store: Store) -> Shelf:
    try:
        with reading(store) as repository:
            tree = dict(repository.snapshot(repository.head() or ""))
    except CannotApplyError:
        tree = {}
    return Shelf(store.slug, Scope(store.scope), FormatName(store.format), tree)


def tidy(store: Store, *, person: User | None = None, shown: str | None = None) -> Tidied:
    """Tidy one store. Effects in order, under its lock:

    1. Finish what a kill left, record direct writes as their own proposals.
    2. Plan, or take over what was planned before the lock; compare with what the person saw.
    3. Land one commit per rule, each as a proposal of the agent `tidy` with its certificate.
    4. Store suggestions that are new, withdraw those whose reason is gone.

    Without a person the daily limit holds. A rule whose edit is refused at apply time is stopped and ends the run.

    Raises: NotPermittedError; StaleViewError when the plan is not what was shown; CannotApplyError when folder or
        baseline cannot be used; BusyError.
    """
    if person is not None:
        require_maintainer(person, store)
    ready = preview(store, is_asked=person is not None)  # before the lock: a large store takes its time
    with locked(store) as shop:
        reconcile_within(shop)
        capture_within(shop)
        if shop.store.alarm:
            raise CannotApplyError(shop.store.alarm)
        tidy_stops.note_rollbacks(store)
        found = _preview(store, shop.tree(), shop.head(), is_asked=person is not None, ready=ready)
        if shown is not None and shown != found.shown:
            raise StaleViewError("What tidying would do changed since this page was made. Nothing was changed.")
        applied: list[Change] = []
        refusal, run = "", secrets.token_hex(8)
        for step in found.steps:
            landed = _land(shop, step, person, run)
            if isinstance(landed, str):
                tidy_stops.stop(store, step.rule, landed)
                refusal = landed
                break
            applied.append(landed)
            steps.on_step("tidy.landed")
        suggested = () if refusal else _suggest(shop, found)
        Store.objects.filter(pk=store.pk).update(tidied_at=timezone.now())
    return Tidied(store, tuple(applied), suggested, found.problems, refusal)


def _preview(store: Store, snapshot: Snapshot, head: str, *, is_asked: bool, ready: Preview | None = None) -> Preview:
    """Args: ready: an earlier answer, of which whatever still holds is taken over."""
    stopped = tidy_stops.stops(store)
    is_same = ready is not None and (ready.head, [one.rule for one in ready.stops]) == (head, [s.rule for s in stopped])
    tree = ready.tree if ready is not None and is_same else dict(snapshot)
    most = core_plan.MAX_EDITS if is_asked else max(0, tidy_stops.DAILY_EDITS - tidy_stops.edits_today(store))
    wishes = Wishes(stopped={stop.rule for stop in stopped}, most=most, known=tidy_stops.taken_back(store))
    found = ready.plan if ready is not None and is_same else _planned(store, snapshot, tree, wishes)
    held = _in_the_way(store, tree, found)
    if held:
        found = _planned(store, snapshot, tree, replace(wishes, held=held))
    fresh = list(_fresh(store, snapshot, dict(Overlay(tree, _overall(found.steps))), found))
    room = max(0, MAX_OPEN_SUGGESTIONS - _open(store).count())
    looks = ready.problems if ready is not None and is_same else _looks_wrong(store, tree, found)
    return Preview(
        store=store,
        head=head,
        tree=tree,
        plan=found,
        steps=tuple(_shown_steps(tree, found.steps)),
        suggested=tuple(fresh[:room]),
        withheld=len(fresh[room:]),
        stops=stopped,
        problems=looks,
        shown=_hash(found, fresh[:room]),
    )


def _looks_wrong(store: Store, tree: Tree, found: Plan) -> tuple[Problem, ...]:
    return _ordered((*problems(store, tree, skipped_in(store)), *found.noticed))


def _ordered(found: Iterable[Problem]) -> tuple[Problem, ...]:
    return tuple(sorted(found, key=lambda problem: (problem.path, problem.line or 0, problem.kind)))


def _planned(store: Store, snapshot: Snapshot, tree: Tree, wishes: Wishes) -> Plan:
    # Steps that did not land yet have no history of their own: it is that of the head, for all of them.
    return core_plan.plan(tree, FormatName(store.format), lambda _, delta: context_of(store, snapshot, delta), wishes)


def _overall(planned: Sequence[Step]) -> Delta:
    return {path: new for step in planned for path, new in step.delta.items()}


def _shown_steps(tree: Tree, planned: Sequence[Step]) -> Iterator[Step]:
    for step in planned:
        after = Overlay(tree, step.delta)
        yield replace(step, classification=redacted(step.classification, tree, after))
        tree = dict(after)


def _in_the_way(store: Store, tree: Tree, found: Plan) -> Mapping[str, str]:
    """Return the documents in which an edit would bring a proposal that waits into conflict."""
    new_texts = _overall(found.steps)
    held: dict[str, str] = {}
    if not new_texts:
        return held
    with reading(store) as repository:
        for proposal in Proposal.objects.filter(store=store, state__in=OPEN_STATES):
            wanted = {path: new for path, new in proposal.revision.delta().items() if path in new_texts}
            base = base_of(proposal.revision, repository) if wanted else None
            for path, new in wanted.items():
                if isinstance(merge_onto(base, path, tree.get(path), new), Merged) and not isinstance(
                    merge_onto(base, path, new_texts[path], new), Merged
                ):
                    held[path] = _HELD
    return held


def _fresh(store: Store, snapshot: Snapshot, tree: Tree, found: Plan) -> Iterator[Suggested]:
    """Yield the suggestions that nobody has seen: none that waits, was rejected, or was applied and rolled back."""
    ours = Proposal.objects.filter(store=store, agent__name=Agent.TIDY, state__in=(*OPEN_STATES, *_SETTLED))
    seen = {str(source.get("key")) for source in ours.values_list("source", flat=True) if isinstance(source, dict)}
    prints = set(
        Proposal.objects.filter(store=store, state__in=(*LIVE_STATES, State.REJECTED)).values_list(
            "fingerprint", flat=True
        )
    )
    for suggestion in found.suggestions:
        if suggestion.key in seen or proposals.fingerprint(store, suggestion.delta) in prints:
            continue
        seen.add(suggestion.key)
        context = context_of(store, snapshot, suggestion.delta)
        classification = classify(tree, Overlay(tree, suggestion.delta), context)
        if _may_wait(classification):
            shown = redacted(classification, tree, Overlay(tree, suggestion.delta))
            yield Suggested(suggestion, tree, shown)


def _may_wait(classification: Classification) -> bool:
    return classification.verdict in _STORABLE and not classification.is_blocked


def _open(store: Store) -> ProposalQuerySet:
    """Suggestions that wait."""
    return Proposal.objects.filter(store=store, agent__name=Agent.TIDY).undecided()


def _hash(found: Plan, suggested: Sequence[Suggested]) -> str:
    digest = hashlib.sha256()
    for step in found.steps:
        digest.update(f"{step.rule}\0{step.proof.rewrites}\0".encode("utf-8", "surrogatepass"))
    for one in suggested:
        digest.update(one.suggestion.key.encode())
    return digest.hexdigest()


def _land(shop: Workshop, step: Step, person: User | None, run: str) -> Change | str:
    """Land one step as a proposal of `tidy`, judged once more. Returns the change, or why there is none.

    Args: run: by which the changes that landed together are found again.
    """
    tree, head = shop.tree(), shop.head()
    classification = judge(shop.store, tree, step.delta)
    if classification.verdict is not Verdict.SAFE or {a.kind for a in classification.actions} != {step.rule}:
        return "What is approved now does not confirm the proof. Nothing was changed."
    by = f"{person.get_username()} asked for it" if person is not None else "by the clock or a command"
    source = {"kind": "tidy", "run": run}
    draft = _draft(shop.store, head, tree, step.delta, classification, f"Tidying, {by}.", source)
    proposal = settle(shop, proposals.store_proposal(draft))
    if proposal.state == State.APPLIED:
        return Change.objects.get(proposal=proposal)
    refusal = proposal.failure or "The edit could not be applied. Nothing was changed."
    proposals.move(proposal, to=State.WITHDRAWN, verb=Verb.WITHDRAW, agent=draft.agent, note=refusal)
    return refusal


def _suggest(shop: Workshop, found: Preview) -> tuple[Proposal, ...]:
    keys = {suggestion.key for suggestion in found.plan.suggestions}
    for proposal in _open(shop.store).select_related("store", "agent"):
        is_ours_alone = not proposal.decisions.filter(verb__in=[Verb.EDIT, Verb.REOPEN]).exists()
        is_skipped = any(path in found.plan.survey.skipped for path in proposal.paths)
        if is_ours_alone and not is_skipped and proposal.source.get("key") and proposal.source["key"] not in keys:
            note = "What this was about is not there any more."
            proposals.move(proposal, to=State.WITHDRAWN, verb=Verb.WITHDRAW, agent=proposal.agent, note=note)
    tree, head = shop.tree(), shop.head()
    made: list[Proposal] = []
    for one in found.suggested:
        classification = judge(shop.store, tree, one.suggestion.delta)
        source = {"kind": "tidy", "finding": one.suggestion.kind, "key": one.suggestion.key}
        draft = _draft(shop.store, head, tree, one.suggestion.delta, classification, one.suggestion.why, source)
        if _may_wait(classification):
            made.append(proposals.store_waiting(draft))
            steps.on_step("tidy.suggested")
    return tuple(made)


def _draft(
    store: Store,
    head: str,
    tree: Snapshot,
    delta: Delta,
    classification: Classification,
    why: str,
    source: Mapping[str, str],
) -> Draft:
    return Draft(
        store=store,
        base=head,
        tree=tree,
        delta=delta,
        classification=classification,
        submission=Submission(rationale=why, source=source),
        agent=Agent.objects.get_or_create(name=Agent.TIDY)[0],
    )
