"""Refusals of operations, each with its problem type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memoryreview.core.errors import MemoryReviewError
from memoryreview.core.model import Finding
from memoryreview.review.models import Decision, Proposal, State


class NotFoundError(MemoryReviewError):
    problem = "not-found"
    status = 404

    def __init__(self, what: str, name: str) -> None:
        super().__init__(f"There is no {what} “{name}” that you may use. Nothing was stored.")


class BusyError(MemoryReviewError):
    """Another writer holds the store. The same request may be sent again."""

    problem = "busy"
    status = 503

    def __init__(self, slug: str, *, is_being_restored: bool = False) -> None:
        doing = "is being restored to an earlier state" if is_being_restored else "is busy with another change"
        super().__init__(f"The store “{slug}” {doing}. Nothing was changed; try again in a moment.")


class SecretDetectedError(MemoryReviewError):
    problem = "secret-detected"

    def __init__(self, findings: Sequence[Finding]) -> None:
        self.findings = findings
        first = findings[0]
        place = f"“{first.path}” line {first.line}" if first.path else f"line {first.line}"
        super().__init__(f"{first.message} ({first.rule}, {place}). Nothing was stored; remove it and send again.")

    def members(self) -> dict[str, object]:
        return {"findings": [finding_json(finding) for finding in self.findings]}


class RejectedBeforeError(MemoryReviewError):
    problem = "rejected-before"
    status = 409

    def __init__(self, rejected: dict[str, object]) -> None:
        self.rejected = rejected
        super().__init__(
            "The same change was rejected before and brings no new evidence. Nothing was stored; send evidence with it."
        )

    def members(self) -> dict[str, object]:
        return {"rejected_before": self.rejected}


class PendingCapError(MemoryReviewError):
    problem = "pending-cap"
    status = 429

    def __init__(self, agent: str, cap: int) -> None:
        self.cap = cap
        super().__init__(
            f"“{agent}” has {cap:,} proposals waiting, which is the limit. Nothing was stored; wait for decisions."
        )


class IdempotencyKeyReuseError(MemoryReviewError):
    problem = "idempotency-key-reuse"
    status = 409

    def __init__(self) -> None:
        super().__init__("This idempotency key was used with another body. Nothing was stored; use a new key.")


class RefusedChangeError(MemoryReviewError):
    """The classifier refuses the change as a whole. `problem` follows the kind."""

    def __init__(self, problem: str, kind: str, path: str, reasons: Sequence[str]) -> None:
        self.problem, self.kind, self.path = problem, kind, path
        super().__init__(f"“{path}”: {' '.join(reasons)} Nothing was stored.")

    def members(self) -> dict[str, object]:
        return {"kind": self.kind, "path": self.path}


_SAID = {State.PENDING: "waiting again", State.CHANGES_REQUESTED: "handed back to its agent"}


class AlreadyDecidedError(MemoryReviewError):
    problem = "already-decided"
    status = 409

    def __init__(self, proposal: Proposal, decision: Decision | None) -> None:
        self.proposal, self.decision = proposal, decision
        by = f" by {decision.person.get_username()}" if decision and decision.person else ""
        said = _SAID.get(State(proposal.state), proposal.state.replace("_", " "))
        super().__init__(f"This proposal is already {said}{by}. Nothing was changed.")

    def members(self) -> dict[str, object]:
        return {"id": self.proposal.pk, "state": self.proposal.state}


class StaleViewError(MemoryReviewError):
    """What would be written is not what the person saw. The page is shown again with what differs now."""

    problem = "stale-base"
    status = 409

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)


class NotPermittedError(MemoryReviewError):
    problem = "not-permitted"
    status = 403

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)


class SelfApprovalError(NotPermittedError):
    problem = "self-approval"

    def __init__(self) -> None:
        super().__init__(
            "Team memory needs a second person: you, or an agent of yours, proposed this. Nothing "
            "was changed; ask another maintainer."
        )


class CannotApplyError(MemoryReviewError):
    """The system refused to write (disk full, no permission, baseline damaged), or a scan at apply time did."""

    problem = "cannot-apply"
    status = 409

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)


class BranchHeldError(CannotApplyError):
    """A git that is not ours holds the branch of the baseline. The same request may be sent again."""

    problem = "busy"
    status = 503


class RollbackConflictError(MemoryReviewError):
    """Later changes touched the same lines. `later` are their primary keys, oldest first."""

    problem = "rollback-conflict"
    status = 409

    def __init__(self, paths: Sequence[str], later: Sequence[int], titles: Sequence[str]) -> None:
        self.paths, self.later = tuple(paths), tuple(later)
        named = "; ".join(f"“{title}”" for title in titles) or "a write on disk"
        super().__init__(f"A later change touched the same lines: {named}. Nothing was changed.")

    def members(self) -> dict[str, object]:
        return {"paths": list(self.paths)}


def finding_json(finding: Finding) -> dict[str, Any]:
    """Return a finding as the API and the stored revision show it; it never holds the text itself."""
    return {
        "scanner": finding.scanner,
        "rule": finding.rule,
        "severity": str(finding.severity),
        "path": finding.path,
        "line": finding.line,
        "column": finding.column,
        "length": finding.length,
        "message": finding.message,
    }
