"""What a person said no to before: it comes back only with new evidence."""

from __future__ import annotations

from typing import Any

from memoryreview.core.model import Delta
from memoryreview.review.models import Proposal, State, Store, Verb

from . import proposals
from .proposals import Submission


def rejected_twin(store: Store, delta: Delta) -> Proposal | None:
    """Return the newest rejected proposal of the very same change."""
    print_ = proposals.fingerprint(store, delta)
    return Proposal.objects.filter(store=store, fingerprint=print_, state=State.REJECTED).order_by("-pk").first()


def brings_new_evidence(submission: Submission, rejected: Proposal) -> bool:
    """Whether a quote or a cited place comes with a change that did not when it was rejected."""
    stated = {key: value for key, value in submission.source.items() if key in ("evidence", "files") and value}
    return bool(stated) and any(rejected.source.get(key) != value for key, value in stated.items())


def rejected_before_json(proposal: Proposal) -> dict[str, Any]:
    """Return what an agent is told of an earlier rejection: id, reason, note, ISO time or None."""
    decision = proposal.decisions.filter(verb=Verb.REJECT).order_by("-pk").first()
    return {
        "id": proposal.pk,
        "reason": decision.reason if decision else "",
        "note": decision.note if decision else "",
        "at": decision.at.isoformat() if decision else None,
    }
