"""Proposals that nobody decided for long stop waiting; they can be sent again."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings
from django.utils import timezone

from memoryreview.review.models import Agent, Proposal, State, Verb

from . import proposals
from .errors import AlreadyDecidedError


def expires_at(proposal: Proposal) -> datetime | None:
    """Return when a proposal expires if nothing happens to it, None for one that never does."""
    return None if proposal.is_direct else proposal.updated_at + timedelta(days=settings.EXPIRE_DAYS)


def expire() -> int:
    """Expire what waits longer than EXPIRE_DAYS; return how many. A direct write stands on disk and never expires."""
    limit = timezone.now() - timedelta(days=settings.EXPIRE_DAYS)
    old = Proposal.objects.live().filter(updated_at__lt=limit).exclude(agent__name=Agent.DIRECT)
    expired = 0
    for proposal in old.select_related("store").iterator():
        who = "Its agent changed nothing" if proposal.state == State.CHANGES_REQUESTED else "Nobody decided"
        note = f"{who} within {settings.EXPIRE_DAYS} days."
        try:
            proposals.move(proposal, to=State.EXPIRED, verb=Verb.EXPIRE, note=note)
        except AlreadyDecidedError:
            continue
        expired += 1
    return expired
