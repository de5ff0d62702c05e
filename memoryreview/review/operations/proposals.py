"""Rows of a proposal: stored whole in one transaction, with everything that the queue shows derived from it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from memoryreview.core import scan
from memoryreview.core.merge import changes
from memoryreview.core.model import Action, Classification, Delta, Finding, Kind, Severity, Tree, Verdict
from memoryreview.core.overlay import Overlay
from memoryreview.core.redact import action_shape, redacted
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
from .errors import AlreadyDecidedError, RefusedChangeError, SecretDetectedError, finding_json
from .keyed import keyed_digest

_DELETING = frozenset({Kind.FACT_DELETE, Kind.FILE_DELETE, Kind.INDEX_DROP, Kind.MASS_CHANGE})
_RISK = {
    Kind.MASS_CHANGE: 60,
    Kind.FILE_DELETE: 50,
    Kind.SCOPE_PROMOTE: 40,
    Kind.FACT_DELETE: 35,
    Kind.INDEX_DROP: 30,
    Kind.FACT_REWRITE: 20,
    Kind.META_CHANGE: 15,
    Kind.FILE_RENAME: 15,
    Kind.FACT_ADD: 10,
    Kind.FILE_ADD: 10,
    Kind.INDEX_ADD: 5,
}
_QUARANTINE_RISK = 100
_FINDING_RISK = 25


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
        proposal = Proposal.objects.create(
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
            **_listed(summary, state),
        )
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
    _list(proposal, summary)


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


@dataclass(frozen=True, slots=True)
class Summary:
    """What pages and the API show of a revision. Made before any transaction: it reads git and scans."""

    verdict: Verdict
    actions: tuple[dict[str, Any], ...]
    findings: tuple[dict[str, Any], ...]
    title: str
    kinds: tuple[str, ...]
    paths: tuple[str, ...]
    risk: int
    added: int
    removed: int
    deletes: bool


def summarise(classification: Classification, tree: Tree, delta: Delta) -> Summary:
    """Return the summary of a change; no secret stands in it."""
    shown = redacted(classification, tree, Overlay(tree, delta))
    waiting = [action for action in shown.actions if action.verdict is not Verdict.SAFE]
    runs = [change for path, new in delta.items() for change in changes(tree.get(path), new)]
    return Summary(
        verdict=shown.verdict,
        actions=tuple(action_json(action) for action in shown.actions),
        findings=tuple(finding_json(finding) for finding in shown.findings),
        title=_title(waiting or list(shown.actions)),
        kinds=tuple(sorted({str(action.kind) for action in waiting or shown.actions})),
        paths=tuple(sorted(delta)),
        risk=_risk(waiting, shown.findings),
        added=sum(_lines(change.new) for change in runs),
        removed=sum(_lines(change.old) for change in runs),
        deletes=any(action.kind in _DELETING for action in waiting),
    )


def summary_of(draft: Draft) -> Summary:
    return summarise(draft.classification, draft.tree, draft.delta if draft.masked is None else draft.masked)


def _lines(text: bytes) -> int:
    return text.count(b"\n") + (text != b"" and not text.endswith(b"\n"))


def show(proposal: Proposal, revision: Revision, summary: Summary) -> None:
    """Save what is shown of a revision. What landed before stays listed."""
    landed = [action for action in revision.actions if action.get("commit")]
    revision.actions = [*landed, *summary.actions]
    revision.findings = list(summary.findings)
    revision.verdict = summary.verdict
    revision.save(update_fields=["actions", "findings", "verdict"])
    _list(proposal, summary)


def _list(proposal: Proposal, summary: Summary) -> None:
    listed = _listed(summary, State(proposal.state))
    for name, value in listed.items():
        setattr(proposal, name, value)
    proposal.save(update_fields=list(listed))


def _listed(summary: Summary, state: State) -> dict[str, Any]:
    """Return the fields of a proposal that the queue shows."""
    return {
        "title": summary.title,
        "kinds": list(summary.kinds),
        "paths": list(summary.paths),
        "risk": summary.risk + (_QUARANTINE_RISK if state == State.QUARANTINED else 0),
        "added": summary.added,
        "removed": summary.removed,
        "deletes": summary.deletes,
    }


def _title(actions: Sequence[Action]) -> str:
    if not actions:
        return "Nothing left to change"
    ranked = sorted(actions, key=lambda action: -_RISK.get(action.kind, 0))
    first, others = ranked[0], ranked[1:]
    if first.kind in (Kind.FILE_ADD, Kind.SCOPE_PROMOTE):  # its index row belongs to it
        others = [action for action in others if action.kind not in (Kind.INDEX_ADD, first.kind)]
    if not others or first.kind is Kind.MASS_CHANGE:
        return first.title
    return f"{first.title[:280]}, and {len(others)} more"


def _risk(actions: Sequence[Action], findings: Sequence[Finding]) -> int:
    risk = max((_RISK.get(action.kind, 0) for action in actions), default=0)
    if any(finding.severity is not Severity.NOTE for finding in findings):
        risk += _FINDING_RISK
    return risk


def action_json(action: Action) -> dict[str, Any]:
    """Return an action as the API shows it: the shape that `classify --json` prints, and its title."""
    shape = {**action_shape(action), "title": action.title}
    for side in ("old", "new"):
        shape[side] = shape[side].replace("\0", "\u2400")  # PostgreSQL stores no NUL
    return shape


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
    failure: str = "",
) -> Decision | None:
    """Make one transition: compare-and-swap on (id, version), with its decision row when a verb says what was done.

    Args: failure: why it could not be applied, kept with the proposal; any transition clears an older one.
    Raises: AlreadyDecidedError when somebody else was faster.
    """
    with transaction.atomic():
        moved = Proposal.objects.filter(pk=proposal.pk, version=proposal.version, state=proposal.state).update(
            state=to, version=proposal.version + 1, failure=failure, updated_at=timezone.now()
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
            )
        )


def last_decision(proposal: Proposal) -> Decision | None:
    """Return the newest decision on a proposal, with its person."""
    return proposal.decisions.select_related("person", "agent").order_by("-pk").first()


_PROBLEM_OF_REFUSAL = {
    Kind.NOT_UTF8: "not-utf8",
    Kind.OVER_SIZE: "payload-too-large",
    Kind.NAME_CLASH: "path-not-allowed",
}


def refuse_wording(draft: Draft) -> None:
    """Stop a person's own text also where an agent's is quarantined: they are there to change it."""
    refuse(draft)
    found = [finding for finding in draft.classification.findings if finding.severity is Severity.BLOCK]
    if found:
        raise RefusedChangeError("quarantined", "scan", found[0].path, [found[0].message])


def refuse(draft: Draft) -> None:
    """Stop what must not be stored. Raises SecretDetectedError, RefusedChangeError."""
    secrets = [finding for finding in draft.classification.findings if finding.is_blocked_secret]
    if secrets:
        raise SecretDetectedError(secrets)
    for action in draft.classification.actions:
        if action.verdict is Verdict.REFUSED:
            problem = _PROBLEM_OF_REFUSAL.get(action.kind, "schema-invalid")
            raise RefusedChangeError(problem, str(action.kind), action.path, action.reasons)
