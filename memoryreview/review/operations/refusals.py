"""What must not be stored at all, and the problem that its sender is told."""

from __future__ import annotations

from memoryreview.core.model import Kind, Severity, Verdict

from .errors import RefusedChangeError, SecretDetectedError
from .proposals import Draft

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
