"""What agents ask for: checked, scanned, classified, stored once, and carried as far as proof allows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone

from memoryreview.baseline.repository import Snapshot
from memoryreview.baseline.worktree import WorktreeError
from memoryreview.core import scan
from memoryreview.core.classify.classify import classify
from memoryreview.core.edits import Edit, EntryAdd, Operation, Write, build
from memoryreview.core.errors import InvalidOperationError, MemoryReviewError, PathNotAllowedError, StaleBaseError
from memoryreview.core.merge import Merged, merge3
from memoryreview.core.model import Classification, Delta, Finding, FormatName, Limits, Scope, Tree, Verdict
from memoryreview.core.names import refuse_escape, shown
from memoryreview.core.overlay import Overlay
from memoryreview.review.models import LIVE_STATES, Agent, Delivery, Proposal, State, Store, Verb
from memoryreview.review.querysets import StoreQuerySet

from . import moved, promote, proposals
from .capture import capture_within, holds_secret
from .context import context_of, tell, with_history, without_history
from .errors import (
    AlreadyDecidedError,
    BusyError,
    CannotApplyError,
    IdempotencyKeyReuseError,
    NotFoundError,
    PendingCapError,
    RejectedBeforeError,
    SecretDetectedError,
)
from .judge import judge_within
from .proposals import DeliveryKey, Draft, Promotion, Submission
from .reconcile import replay_journal
from .refusals import refuse
from .rejected import Twins, brings_new_evidence, rejected_before_json, twins
from .settle import Judged, settle
from .stores import locked, reading, worktree_of

LIMITS = Limits()
_REVISABLE = (State.PENDING, State.CHANGES_REQUESTED)


@dataclass(frozen=True, slots=True)
class Promote:
    path: str
    to_store: str


RequestedOperation: TypeAlias = Operation | Promote


@dataclass(frozen=True, slots=True)
class Request:
    """One proposal as asked for. `base` is a commit of the store, None for the present head."""

    store: str
    operations: tuple[RequestedOperation, ...]
    base: str | None = None
    submission: Submission = field(default_factory=Submission)


@dataclass(frozen=True, slots=True)
class Receipt:
    """`proposal` is None when nothing would change; nothing is stored then."""

    store: Store
    head: str
    proposal: Proposal | None
    duplicate_of: int | None = None
    replayed: bool = False


@dataclass(frozen=True, slots=True)
class Preview:
    store: Store
    head: str
    classification: Classification
    tree: Tree
    delta: Delta
    state: str
    rejected_before: dict[str, Any] | None


def submit(request: Request, *, agent: Agent, delivery: DeliveryKey | None = None) -> Receipt:
    """Take one proposal. Effects in order:

    1. Answer a used idempotency key with the proposal it made.
    2. Carry out the operations on the stated base and merge onto the head; refuse what cannot be read or proved clean.
    3. Store the proposal, or count a repeat of one that waits.
    4. Land its safe parts.

    Raises: a MemoryReviewError that says why nothing was stored.
    """
    if delivery is not None and (replay := _replay(request, agent, delivery)) is not None:
        return replay
    try:
        return _take(request, agent, delivery)
    except (MemoryReviewError, IntegrityError):
        # The same delivery may have come in beside us: its proposal landed, so the text asked for stands no more.
        replay = _replay(request, agent, delivery) if delivery is not None else None
        if replay is None:
            raise
        return replay


def _take(request: Request, agent: Agent, delivery: DeliveryKey | None) -> Receipt:
    store = store_for(agent, request.store)
    _refuse_secret_words(request.submission)
    with reading(store) as repository:
        head = repository.head() or ""
        draft = _draft(request, store, repository.snapshot(head), head, agent=agent)
    return _keep(draft, agent, delivery)


def _keep(draft: Draft, agent: Agent, delivery: DeliveryKey | None) -> Receipt:
    twin = draft.twin
    if not draft.delta or twin is not None:
        with transaction.atomic():
            if delivery is not None:
                proposals.keep_delivery(agent, delivery, twin)
            if twin is not None:
                Proposal.objects.filter(pk=twin.pk).update(repeats=F("repeats") + 1)
        return Receipt(draft.store, draft.base, twin, duplicate_of=twin.pk if twin else None)
    _refuse_beyond_cap(agent)
    stored = proposals.store(draft, delivery=delivery, is_followed=True)
    return Receipt(draft.store, draft.base, _carry(stored.proposal, Judged(draft, stored)))


def _carry(proposal: Proposal, judged: Judged) -> Proposal:
    """Capture what was written beside us first, then land the safe parts of a stored proposal.

    When folder or baseline cannot be used it waits with the reason; when the store is busy the worker carries on.
    Whatever comes of it is recorded durably, and with it the proposal.
    """
    if proposal.state != State.APPLYING:
        return proposal
    try:
        with locked(proposal.store) as shop:
            replay_journal(shop)
            capture_within(shop, only=proposal.paths)
            return settle(shop, proposal, judged=judged)
    except CannotApplyError as error:
        if not proposal.changes.exists():  # else part of it stands, and `reconcile` tells what is left
            proposals.move(Proposal.objects.get(pk=proposal.pk), to=State.PENDING, failure=str(error))
    except BusyError:
        Proposal.objects.filter(pk=proposal.pk).update(updated_at=timezone.now())
    return Proposal.objects.get(pk=proposal.pk)


def preview(request: Request, *, agent: Agent) -> Preview:
    """Say what `submit` would do; stores and writes nothing."""
    store = store_for(agent, request.store)
    _refuse_secret_words(request.submission)
    with reading(store) as repository:
        head = repository.head() or ""
        draft = _draft(request, store, repository.snapshot(head), head, agent=agent, ask_ledger=False)
        tree = dict(_touched(draft.tree, draft.delta))
        state = str(proposals.initial_state(draft)) if draft.delta else "unchanged"
        if state == State.APPLYING:
            state = str(State.PENDING if _leaves_something(draft) else State.APPLIED)
    rejected = twins(draft.store, draft.delta).rejected
    return Preview(
        draft.store, draft.base, draft.classification, tree, draft.delta, state,
        rejected_before_json(rejected) if rejected else None,
    )  # fmt: skip


def _leaves_something(draft: Draft) -> bool:
    """Whether a person has to decide about a part of it, after all that lands without one has landed."""
    landed = proposals.lands_unread(draft)
    waits = any(action.verdict is Verdict.REVIEW for action in draft.classification.actions)
    if not landed or not waits or not isinstance(draft.tree, Snapshot):
        return waits
    rest = {path: new for path, new in draft.delta.items() if path not in landed}
    tree = Overlay(draft.tree, landed)
    context = context_of(draft.store, draft.tree, rest, source=draft.submission.source)
    return any(action.verdict is Verdict.REVIEW for action in classify(tree, Overlay(tree, rest), context).actions)


def _touched(tree: Tree, delta: Delta) -> Iterable[tuple[str, bytes]]:
    return ((path, tree[path]) for path in delta if path in tree)


def revise(proposal_id: int, request: Request, *, agent: Agent) -> Receipt:
    """Put a new revision in place of one that waits or is with its agent; its proposer only. What landed stays."""
    proposal = own_proposal(proposal_id, agent)
    if proposal.state not in _REVISABLE:
        raise AlreadyDecidedError(proposal, proposals.last_decision(proposal))
    if proposal.promoted_from_id or any(isinstance(operation, Promote) for operation in request.operations):
        raise InvalidOperationError(1, "a promotion is not revised: withdraw it and promote again")
    if store_for(agent, request.store) != proposal.store:
        raise NotFoundError("such proposal in the store", shown(request.store))
    _refuse_secret_words(request.submission)
    with locked(proposal.store) as shop:
        draft = _draft(request, proposal.store, shop.tree(), shop.head(), agent=agent)
        if not draft.delta:
            return Receipt(proposal.store, draft.base, None)
        state = proposals.initial_state(draft)
        summary = proposals.summary_of(draft)
        with transaction.atomic():
            proposals.add_revision(proposal, draft, summary, number=proposal.revision.number + 1)
            verb = Verb.EDIT
            if state == State.APPLYING:
                verb = Verb.AUTO_APPLY if proposals.has_proof(draft) else Verb.PASSIVE
            proposals.move(proposal, to=state, verb=verb, agent=agent)
            proposal.fingerprint = proposals.fingerprint(proposal.store, draft.delta)
            proposal.save(update_fields=["fingerprint"])
        settle(shop, proposal)
    return Receipt(proposal.store, draft.base, Proposal.objects.get(pk=proposal.pk))


def withdraw(proposal_id: int, *, agent: Agent) -> Proposal:
    """Take back a waiting proposal; its proposer only. Withdrawing twice is harmless."""
    proposal = own_proposal(proposal_id, agent)
    if proposal.state == State.WITHDRAWN:
        return proposal
    if proposal.state not in LIVE_STATES:
        raise AlreadyDecidedError(proposal, proposals.last_decision(proposal))
    proposals.move(proposal, to=State.WITHDRAWN, verb=Verb.WITHDRAW, agent=agent)
    return proposal


def own_proposal(proposal_id: int, agent: Agent) -> Proposal:
    """Return a proposal of this agent. Raises NotFoundError for any other, also for one that exists."""
    proposal = Proposal.objects.select_related("store", "agent").filter(pk=proposal_id, agent=agent).first()
    if proposal is None:
        raise NotFoundError("proposal", str(proposal_id))
    return proposal


def store_for(agent: Agent, slug: str) -> Store:
    """Return a store that the agent may read and propose to. Raises NotFoundError for any other."""
    store = stores_for(agent).filter(slug=slug).first()
    if store is None:
        raise NotFoundError("store", shown(slug))
    return store


def stores_for(agent: Agent) -> StoreQuerySet:
    return Store.objects.usable_by(agent)


def _replay(request: Request, agent: Agent, delivery: DeliveryKey) -> Receipt | None:
    used = Delivery.objects.filter(agent=agent, door=delivery.door, key=delivery.key).select_related("proposal__store")
    row = used.first()
    if row is None:
        return None
    if row.body_hash != delivery.body_hash:
        raise IdempotencyKeyReuseError
    if row.proposal is None:
        store = store_for(agent, request.store)
        with reading(store) as repository:
            return Receipt(store, repository.head() or "", None, replayed=True)
    return Receipt(row.proposal.store, row.proposal.revision.base, row.proposal, replayed=True)


def _refuse_secret_words(submission: Submission) -> None:
    """Scan everything that comes with a change: a secret in a title or a quote must not be stored either."""
    stated = {
        "title": submission.title,
        "rationale": submission.rationale,
        "kind": submission.claimed_kind,
        **{f"source.{place}": text for place, text in _strings(submission.source)},
        **{f"scores.{place}": text for place, text in _strings(submission.scores)},
    }
    found: list[Finding] = []
    for place, text in stated.items():
        if text:
            found += [finding for finding in scan.scan(text, path=place) if finding.is_blocked_secret]
    if found:
        raise SecretDetectedError(found)


def _strings(value: Any, place: str = "") -> Iterable[tuple[str, str]]:
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield f"{place}.key", str(key)
            yield from _strings(inner, f"{place}.{key}".lstrip(".")[:60])
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _strings(inner, f"{place}[{number}]")


def _draft(
    request: Request, store: Store, tree: Snapshot, head: str, *, agent: Agent, ask_ledger: bool = True
) -> Draft:
    promotions = [operation for operation in request.operations if isinstance(operation, Promote)]
    if promotions:
        draft = _promotion(request, store, tree, head, promotions, agent)
    else:
        delta = _requested_delta(request, store, tree, head)
        context = without_history(store, source=request.submission.source)
        told = tell(context, store, tree, delta)
        draft = Draft(
            store=store,
            base=head,
            tree=tree,
            delta=delta,
            classification=judge_within(with_history(context, store, tree, delta, told=told), tree, delta),
            submission=request.submission,
            agent=agent,
            told=told,
        )
    refuse(draft)
    earlier = twins(draft.store, draft.delta) if ask_ledger else Twins()
    rejected = earlier.rejected
    if rejected is not None and not brings_new_evidence(request.submission, rejected):
        raise RejectedBeforeError(rejected_before_json(rejected))
    return replace(draft, rejected_before=rejected, twin=earlier.waiting)


def _promotion(
    request: Request, store: Store, tree: Snapshot, head: str, wanted: Sequence[Promote], agent: Agent
) -> Draft:
    if len(request.operations) > 1:
        raise InvalidOperationError(1, "a promotion stands alone: send one promote operation and nothing else")
    target = stores_for(agent).filter(slug=wanted[0].to_store, scope=Scope.TEAM).select_related("team").first()
    if target is None:
        raise NotFoundError("team store", wanted[0].to_store[:60])
    source = Promotion(store=store, path=wanted[0].path, commit=head)
    return promote.draft(source, tree, target, submission=request.submission, agent=agent)


def _requested_delta(request: Request, store: Store, tree: Snapshot, head: str) -> Delta:
    operations = [_through_link(op, store) for op in request.operations if not isinstance(op, Promote)]
    form = FormatName(store.format)
    if request.base is None or request.base == head:
        delta = build(tree, operations, format=form, limits=LIMITS)
    else:
        with reading(store) as repository:
            stated = request.base if repository.has_commit(request.base) else moved.current(store, request.base)
            if not repository.has_commit(stated) or not repository.is_ancestor(stated, head):
                raise StaleBaseError(
                    "", None, "The base is not a commit of this store. Nothing was stored; read the head again."
                )
            base = repository.snapshot(stated)
            delta = _onto_head(base, tree, build(base, operations, format=form, limits=LIMITS))
    check_names(store, tree, delta)
    return delta


def check_names(store: Store, tree: Tree, delta: Delta) -> None:
    """Raise PathNotAllowedError where a name holds a secret or is not that of the document itself."""
    for path in delta:
        if path not in tree and holds_secret(path):
            raise PathNotAllowedError("the name that was sent", "it holds what looks like a credential")
        if _real_path(path, store) != path:
            raise PathNotAllowedError(shown(path), "it is a link, or lies behind one; name the document itself")


def _onto_head(base: Tree, tree: Tree, wanted: Delta) -> Delta:
    """Merge a change that was made on an older base. What conflicts is kept as asked for and shown as a conflict."""
    merged: dict[str, bytes | None] = {}
    for path, new in wanted.items():
        outcome = merge3(base.get(path), tree.get(path), new)
        merged[path] = outcome.data if isinstance(outcome, Merged) else new
    return {path: new for path, new in merged.items() if new != tree.get(path)}


def _through_link(operation: Operation, store: Store) -> Operation:
    """Let a change of text go through a link inside the folder to the document itself."""
    if not isinstance(operation, Edit | Write | EntryAdd):
        return operation
    refuse_escape(operation.path)
    return replace(operation, path=_real_path(operation.path, store))


def _real_path(path: str, store: Store) -> str:
    """Return where a path leads in the folder. Raises PathNotAllowedError when it leads out of it."""
    try:
        worktree = worktree_of(store)
    except WorktreeError:
        return path  # the folder is away; the proposal waits until it is back
    try:
        return worktree.resolve(path)
    except WorktreeError as error:
        raise PathNotAllowedError(shown(path), "it is a link that leaves the folder") from error


def _refuse_beyond_cap(agent: Agent) -> None:
    if agent.proposals.undecided().count() >= settings.PENDING_PER_AGENT:
        raise PendingCapError(agent.name, settings.PENDING_PER_AGENT)
