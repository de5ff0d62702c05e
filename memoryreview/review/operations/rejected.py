"""Earlier proposals of the very same change. What a person said no to comes back only with new evidence."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import OuterRef, Q, Subquery

from memoryreview.core.model import Delta
from memoryreview.review.models import LIVE_STATES, Decision, Proposal, State, Store, Verb
from memoryreview.review.models.latest import Rejection

from . import proposals
from .proposals import Submission

_NO = (Verb.REJECT, Verb.APPROVE)  # approving the rest of it leaves a part out


@dataclass(frozen=True, slots=True)
class Twins:
    """The newest that a person rejected, or dropped from what was approved; the oldest that waits, as it was sent."""

    rejected: Proposal | None = None
    waiting: Proposal | None = None


def twins(store: Store, delta: Delta) -> Twins:
    """Return the earlier proposals of the very same change; an empty change has none."""
    if not delta:
        return Twins()
    same = Proposal.objects.filter(store=store, fingerprint=proposals.fingerprint(store, delta))
    said_no = Q(state=State.REJECTED) | Q(state=State.APPLIED, dropped__gt=0)
    found = same.filter(said_no | Q(state__in=LIVE_STATES)).values_list("pk", "state", "masked").order_by("pk")
    rejected = [pk for pk, state, _ in found if state not in LIVE_STATES]
    waiting = [pk for pk, state, is_masked in found if state in LIVE_STATES and not is_masked]
    known = Proposal.objects.in_bulk([*rejected[-1:], *waiting[:1]])
    return Twins(*(known.get(pks[at]) if pks else None for pks, at in ((rejected, -1), (waiting, 0))))


def brings_new_evidence(submission: Submission, rejected: Proposal) -> bool:
    """Whether a quote or a cited place comes with a change that did not when it was rejected."""
    stated = {key: value for key, value in submission.source.items() if key in ("evidence", "files") and value}
    return bool(stated) and any(rejected.source.get(key) != value for key, value in stated.items())


def of_rejection(proposal: str, name: str) -> Subquery:
    """Return what another question can ask along: a field of the decision that rejected a proposal.

    Args: proposal: how the rows of that question name it. name: "reason", "note" or "at", for `rejection_of_row`.
    """
    no = Decision.objects.filter(proposal=OuterRef(proposal), verb__in=_NO).order_by("-pk")
    return Subquery(no.values(name)[:1])


def rejection_of_row(pk: int, reason: str | None, note: str | None, at: datetime | None) -> Rejection:
    """Return what a row says in which `of_rejection` was asked."""
    return Rejection(pk, reason or "", note or "", at)


def rejected_before_json(proposal: Proposal) -> dict[str, Any]:
    """Return what an agent is told of an earlier rejection: id, reason, note, ISO time or None."""
    decision = proposal.decisions.filter(verb__in=_NO).order_by("-pk").first()
    return {
        "id": proposal.pk,
        "reason": decision.reason if decision else "",
        "note": decision.note if decision else "",
        "at": decision.at.isoformat() if decision else None,
    }
