"""What agents are told: one shape for a proposal wherever it is answered. The models are the OpenAPI document's too."""

from __future__ import annotations

from typing import Any, Literal

from django.conf import settings
from django.urls import reverse
from pydantic import BaseModel, ConfigDict

from memoryreview.baseline.repository import Repository
from memoryreview.review.models import UNDECIDED_STATES, ChangeKind, Decision, Proposal, Store, Verb
from memoryreview.review.operations.errors import finding_json
from memoryreview.review.operations.receive import Preview, Receipt
from memoryreview.review.operations.rejected import rejected_before_json
from memoryreview.review.operations.summary import action_json

from .unified import unified_diff

UNCHANGED = "unchanged"
_NO_CHANGE_OF_ITS_OWN = (ChangeKind.ROLLBACK, ChangeKind.RESTORE)
_NO_OUTCOME = (Verb.EDIT, Verb.RELEASE, Verb.REOPEN, Verb.SNOOZE, Verb.WAKE)


class Answer(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class RewriteAnswer(Answer):
    """Half-open byte span in the base document."""

    path: str
    start: int
    end: int
    new: str


class ProofAnswer(Answer):
    rule: str
    version: int
    rewrites: list[RewriteAnswer]


class ActionAnswer(Answer):
    """`lines` are 1-based and inclusive, in the base; `commit` says where a part that landed stands.

    `outcome` is there where a person approved a part of the proposal: what was dropped, with the reason, waits no more.
    """

    kind: str
    verdict: str
    path: str
    lines: tuple[int, int] | None
    new_lines: tuple[int, int] | None
    old: str
    new: str
    title: str = ""
    proof: ProofAnswer | None = None
    reasons: list[str] | None = None
    commit: str | None = None
    outcome: Literal["applied", "dropped"] | None = None
    outcome_reason: str | None = None


class FindingAnswer(Answer):
    """What a scanner saw; never the text itself."""

    scanner: str
    rule: str
    severity: Literal["block", "review", "note"]
    path: str
    line: int
    column: int
    length: int
    message: str


class RejectedBeforeAnswer(Answer):
    id: int
    reason: str
    note: str
    at: str | None


class DecisionAnswer(Answer):
    """What settled a proposal: "approve", "reject", "auto_apply", "withdraw", "expire", …"""

    verb: str
    reason: str
    note: str
    at: str


class ProposalAnswer(Answer):
    """`base` is what the revision was made from, `commit` the last of `changes`. `reasons` say why it came out so.

    `label_mismatch` says that the `kind` that was sent is not what the server found.
    """

    id: int | None
    url: str | None
    state: str
    title: str
    store: str
    base: str
    commit: str | None
    changes: list[str]
    revision: int | None
    actions: list[ActionAnswer]
    findings: list[FindingAnswer]
    decision: DecisionAnswer | None
    reasons: list[str]
    duplicate_of: int | None
    rejected_before: RejectedBeforeAnswer | None
    label_mismatch: str | None


class PreviewAnswer(Answer):
    """`state` is what the proposal would be at once; `diff` is unified and applies to `base`."""

    store: str
    base: str
    state: str
    verdict: str
    actions: list[ActionAnswer]
    findings: list[FindingAnswer]
    diff: str
    rejected_before: RejectedBeforeAnswer | None


class StoreAnswer(Answer):
    """`root` is the folder on the server's machine."""

    slug: str
    format: str
    scope: str
    guard: str
    root: str
    head: str
    documents: int


class StoresAnswer(Answer):
    stores: list[StoreAnswer]


class FileAnswer(Answer):
    path: str
    blob: str


class FilesAnswer(Answer):
    store: str
    head: str
    files: list[FileAnswer]


class FaultAnswer(Answer):
    field: str
    message: str


class ProblemAnswer(BaseModel):
    """RFC 9457. `type` is the stable word to act on; more members depend on it."""

    model_config = ConfigDict(extra="allow", frozen=True)
    type: str
    title: str
    status: int
    detail: str
    errors: list[FaultAnswer] | None = None


def receipt_answer(receipt: Receipt) -> dict[str, Any]:
    """Return what a request came to; for one that changes nothing there is no proposal to name."""
    if receipt.proposal is not None:
        return proposal_answer(receipt.proposal, duplicate_of=receipt.duplicate_of)
    return {
        "id": None,
        "url": None,
        "state": UNCHANGED,
        "title": "",
        "store": receipt.store.slug,
        "base": receipt.head,
        "commit": None,
        "changes": [],
        "revision": None,
        "actions": [],
        "findings": [],
        "decision": None,
        "reasons": [],
        "duplicate_of": None,
        "rejected_before": None,
        "label_mismatch": None,
    }


def proposal_answer(proposal: Proposal, *, duplicate_of: int | None = None) -> dict[str, Any]:
    """Return a proposal as it stands now."""
    revision = proposal.revision
    landed = proposal.changes.exclude(kind__in=_NO_CHANGE_OF_ITS_OWN).order_by("pk")
    changes = list(landed.values_list("oid", flat=True))
    decision = _outcome(proposal)
    said = (decision.reason, decision.note) if decision else ()
    return {
        "id": proposal.pk,
        "url": settings.PUBLIC_URL + reverse("proposal", args=[proposal.pk]),
        "state": proposal.state,
        "title": proposal.title,
        "store": proposal.store.slug,
        "base": revision.submitted_base,
        "commit": changes[-1] if changes else None,
        "changes": changes,
        "revision": revision.number,
        "actions": revision.actions,
        "findings": revision.findings,
        "decision": _decision_answer(decision) if decision else None,
        "reasons": [words for words in (*said, proposal.failure) if words],
        "duplicate_of": duplicate_of or proposal.duplicate_of_id,
        "rejected_before": rejected_before_json(proposal.rejected_before) if proposal.rejected_before else None,
        "label_mismatch": _label_mismatch(proposal),
    }


def _label_mismatch(proposal: Proposal) -> str | None:
    if not proposal.label_disagrees:
        return None
    return f"It was sent as “{proposal.claimed_kind}”; by its bytes it is {', '.join(proposal.kinds)}."


def _outcome(proposal: Proposal) -> Decision | None:
    """Return what settled a proposal, None while it is open."""
    if proposal.state in UNDECIDED_STATES:
        return None
    return proposal.decisions.exclude(verb__in=_NO_OUTCOME).order_by("-pk").first()


def _decision_answer(decision: Decision) -> dict[str, Any]:
    return {
        "verb": decision.verb,
        "reason": decision.reason,
        "note": decision.note,
        "at": decision.at.isoformat(),
    }


def preview_answer(preview: Preview) -> dict[str, Any]:
    classification = preview.classification
    return {
        "store": preview.store.slug,
        "base": preview.head,
        "state": preview.state,
        "verdict": str(classification.verdict),
        "actions": [action_json(action) for action in classification.actions],
        "findings": [finding_json(finding) for finding in classification.findings],
        "diff": "".join(unified_diff(path, preview.tree.get(path), new) for path, new in sorted(preview.delta.items())),
        "rejected_before": preview.rejected_before,
    }


def store_answer(store: Store, repository: Repository) -> dict[str, Any]:
    head = repository.head() or ""
    return {
        "slug": store.slug,
        "format": store.format,
        "scope": store.scope,
        "guard": store.guard,
        "root": store.root,
        "head": head,
        "documents": len(repository.snapshot(head).entries) if head else 0,
    }
