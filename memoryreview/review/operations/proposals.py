"""Rows of a proposal: stored whole in one transaction, with everything that the queue shows derived from it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from memoryreview.core import scan
from memoryreview.core.model import Classification, Delta, Tree, Verdict
from memoryreview.review.models import (
    Agent,
    Decision,
    Delivery,
    Proposal,
    Revision,
    RevisionDocument,
    State,
    Store,
    Verb,
)

from . import ledger, moved, unread
from .context import Told
from .durability import relaxed
from .errors import AlreadyDecidedError
from .keyed import keyed_digest
from .summary import Summary, fill, save_listed, summarise

AWAKE: Mapping[str, Any] = {"snoozed_until": None}


@dataclass(frozen=True, slots=True)
class Submission:
    """What somebody asks for, apart from the change itself. Texts are as sent."""

    title: str = ""
    rationale: str = ""
    claimed_kind: str = ""
    source: Mapping[str, Any] = field(default_factory=dict)
    scores: Mapping[str, Any] = field(default_factory=dict)
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class Promotion:
    """Where a promoted document comes from."""

    store: Store
    path: str
    commit: str


@dataclass(frozen=True, slots=True)
class DeliveryKey:
    """What tells a delivery that came before, as keyed digests only: body and key may hold what is erased later."""

    door: str
    key: str
    body_hash: str


def fingerprint(store: Store, delta: Delta) -> str:
    """Return the SHA-256 under which two requests ask for the same change of the same store."""
    digest = hashlib.sha256(store.slug.encode())
    for path in sorted(delta):
        new = delta[path]
        digest.update(b"\0%s\0" % path.encode("utf-8", "surrogateescape"))
        digest.update(b"-" if new is None else hashlib.sha256(new).digest())
    return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class Draft:
    """A proposal about to be stored."""

    store: Store
    base: str
    tree: Tree
    delta: Delta
    classification: Classification
    submission: Submission
    agent: Agent | None = None
    person: User | None = None
    promotion: Promotion | None = None
    masked: Delta | None = None  # what is kept instead of `delta` when a secret stands in it
    rejected_before: Proposal | None = None
    twin: Proposal | None = None  # asks for the same and waits
    told: Told | None = None  # what the history said for the verdict


@dataclass(frozen=True, slots=True)
class Stored:
    """The rows of a new proposal; `decision` is None when it waits."""

    proposal: Proposal
    revision: Revision
    decision: Decision | None


def initial_state(draft: Draft) -> State:
    """Say where a new proposal starts: quarantined, on its way to the baseline, or waiting."""
    if draft.classification.is_blocked or draft.masked is not None:
        return State.QUARANTINED
    return State.APPLYING if has_proof(draft) or lands_unread(draft) else State.PENDING


def has_proof(draft: Draft) -> bool:
    """Whether something of it needs no person: a safe action, or what a tool wrote by itself."""
    return any(action.verdict in (Verdict.SAFE, Verdict.RECORDED) for action in draft.classification.actions)


def lands_unread(draft: Draft) -> Delta:
    """Return the documents in which the store lets an agent's new facts land that a person reads afterwards only."""
    is_agents = draft.agent is not None and draft.agent.name != Agent.TIDY and draft.person is None
    if not is_agents or draft.promotion is not None or draft.rejected_before is not None:
        return {}
    return unread.additions(draft.store, draft.classification, draft.tree, draft.delta)


def store_proposal(draft: Draft, *, waits: bool = False) -> Proposal:
    """Store a proposal and its first revision in one transaction."""
    return store(draft, waits=waits).proposal


def store(
    draft: Draft, *, delivery: DeliveryKey | None = None, waits: bool = False, is_followed: bool = False
) -> Stored:
    """Store a proposal, its first revision and its idempotency key in one transaction.

    Args: is_followed: when it is on its way to the baseline, the caller makes a durable transaction before it answers.
    Raises: django.db.IntegrityError when the idempotency key was used meanwhile (nothing is stored then).
    """
    submission = draft.submission
    state = initial_state(draft)
    if waits and state == State.APPLYING:
        state = State.PENDING
    summary = summary_of(draft)
    decision = None
    with relaxed() if is_followed and state == State.APPLYING else transaction.atomic():
        draft = _at_its_commits(draft)
        promotion = draft.promotion
        proposal = Proposal(
            store=draft.store,
            agent=draft.agent,
            person=draft.person,
            state=state,
            fingerprint=fingerprint(draft.store, draft.delta),
            claimed_title=submission.title[:300],
            claimed_kind=submission.claimed_kind[:80],
            rationale=submission.rationale,
            source=dict(submission.source),
            scores=dict(submission.scores),
            confidence=submission.confidence,
            rejected_before=draft.rejected_before,
            masked=draft.masked is not None,
            promoted_from=promotion.store if promotion else None,
            promoted_path=promotion.path if promotion else "",
            promoted_commit=promotion.commit if promotion else "",
        )
        fill(proposal, summary)
        proposal.save(force_insert=True)
        revision = _add_revision(proposal, draft, summary, number=1)
        if delivery is not None and draft.agent is not None:
            keep_delivery(draft.agent, delivery, proposal)
        if state == State.APPLYING:
            verb = Verb.AUTO_APPLY if has_proof(draft) else Verb.PASSIVE
            decision = ledger.record(
                Decision(proposal=proposal, store=draft.store, revision=1, verb=verb, agent=draft.agent)
            )
    return Stored(proposal, revision, decision)


def _at_its_commits(draft: Draft) -> Draft:
    """Return a draft on the commits that stand now: an erasure may have moved them since it was made."""
    promotion = draft.promotion
    if promotion is not None:
        promotion = replace(promotion, commit=moved.current(promotion.store, promotion.commit))
    return replace(draft, base=moved.current(draft.store, draft.base), promotion=promotion)


def store_waiting(draft: Draft) -> Proposal:
    """Store a person's own proposal; nothing of it lands by proof, since somebody else is to see all of it."""
    return store_proposal(draft, waits=True)


def keep_delivery(agent: Agent, delivery: DeliveryKey, proposal: Proposal | None) -> None:
    """Use up an idempotency key. Raises django.db.IntegrityError when it was used meanwhile."""
    Delivery.objects.create(
        agent=agent, door=delivery.door, key=delivery.key, body_hash=delivery.body_hash, proposal=proposal
    )


def add_revision(proposal: Proposal, draft: Draft, summary: Summary, *, number: int) -> None:
    """Store one revision with its documents and refresh what the queue shows. Call inside a transaction."""
    _add_revision(proposal, draft, summary, number=number)
    save_listed(proposal, summary)


def _add_revision(proposal: Proposal, draft: Draft, summary: Summary, *, number: int) -> Revision:
    revision = Revision.objects.create(
        proposal=proposal,
        number=number,
        base=draft.base,
        submitted_base=draft.base,
        agent=draft.agent,
        person=draft.person,
        verdict=summary.verdict,
        actions=list(summary.actions),
        findings=list(summary.findings),
        pack_version=scan.PACK_VERSION,
    )
    kept = draft.delta if draft.masked is None else draft.masked
    RevisionDocument.objects.bulk_create(
        RevisionDocument(
            revision=revision,
            path=path,
            content=kept[path],
            digest=keyed_digest(new) if draft.masked is not None and new is not None else "",
        )
        for path, new in draft.delta.items()
    )
    return revision


def summary_of(draft: Draft) -> Summary:
    return summarise(
        draft.store, draft.classification, draft.tree, draft.delta if draft.masked is None else draft.masked
    )


def move(
    proposal: Proposal,
    *,
    to: State,
    verb: Verb | None = None,
    person: User | None = None,
    agent: Agent | None = None,
    reason: str = "",
    note: str = "",
    shown: str = "",
    carried_over: bool = False,
    sole_person: bool = False,
    batch: str = "",
    failure: str = "",
) -> Decision | None:
    """Make one transition: compare-and-swap on (id, version), with its decision row when a verb says what was done.

    Whatever was put aside is put aside no more: something happened to it.
    Args: failure: why it could not be applied, kept with the proposal; any transition clears an older one.
    Raises: AlreadyDecidedError when somebody else was faster.
    """
    with transaction.atomic():
        moved = Proposal.objects.filter(pk=proposal.pk, version=proposal.version, state=proposal.state).update(
            state=to, version=proposal.version + 1, failure=failure, updated_at=timezone.now(), **AWAKE
        )
        if not moved:
            fresh = Proposal.objects.get(pk=proposal.pk)
            raise AlreadyDecidedError(fresh, last_decision(fresh))
        proposal.state, proposal.version, proposal.failure = to, proposal.version + 1, failure
        if verb is None:
            return None
        return ledger.record(
            Decision(
                proposal=proposal,
                store=proposal.store,
                revision=proposal.revision.number,
                verb=verb,
                person=person,
                agent=agent,
                reason=reason,
                note=note,
                shown=shown,
                carried_over=carried_over,
                sole_person=sole_person,
                batch=batch,
            )
        )


def last_decision(proposal: Proposal) -> Decision | None:
    """Return the newest decision on a proposal, with its person."""
    return proposal.decisions.select_related("person", "agent").order_by("-pk").first()
