"""Proposals that a person puts aside until a time. It decides nothing, and holds for everybody who sees the store.

It comes back by the clock alone: whatever asks what waits compares with the time of asking, see `querysets.awake`, so
that no task has to run for it.
"""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from memoryreview.core.snooze import Snooze, ends_at
from memoryreview.review.models import OPEN_STATES, Decision, Proposal, Verb
from memoryreview.review.querysets import awake

from . import ledger
from .capture import refuse_secret_note
from .decide import Decided, fetch
from .errors import AlreadyDecidedError, NotPermittedError, StaleViewError
from .expire import expires_at
from .permissions import require_maintainer
from .proposals import AWAKE, last_decision


def snooze(proposal_id: int, *, person: User, version: int, chosen: Snooze, note: str = "") -> Decided:
    """Put an open proposal aside until a time, and record who did and why. A second press changes nothing.

    It is no transition: the version stays, so that whoever has the page open can decide all the same.
    Raises: AlreadyDecidedError, StaleViewError, NotPermittedError.
    """
    proposal = fetch(proposal_id)
    require_maintainer(person, proposal.store)
    refuse_secret_note(note)
    now = timezone.now()
    until = ends_at(chosen, now, ZoneInfo(settings.MACHINE_ZONE))
    expiry = expires_at(proposal)
    if expiry is not None and until >= expiry:
        raise NotPermittedError(
            f"It expires at {minute(expiry)}, before that. Nothing was changed; choose an earlier time, or decide it."
        )
    with transaction.atomic():
        waiting = Proposal.objects.undecided().filter(awake(now), pk=proposal.pk, version=version)
        if waiting.update(snoozed_until=until):
            told = f"Until {minute(until)}. {note.strip()}".rstrip()
            return Decided(fetch(proposal.pk), _record(proposal, Verb.SNOOZE, person, told))
    return _repeated(fetch(proposal.pk), person, version)


def _repeated(proposal: Proposal, person: User, version: int) -> Decided:
    last = last_decision(proposal)
    if proposal.state not in OPEN_STATES:
        raise AlreadyDecidedError(proposal, last)
    if proposal.version != version:
        raise StaleViewError("This proposal changed since you saw it. Nothing was changed; this is how it stands now.")
    if last is not None and last.person_id == person.pk:
        return Decided(proposal, last, repeated=True)
    raise StaleViewError("Somebody else put it aside meanwhile. Nothing was changed; this is how it stands now.")


def wake(proposal_id: int, *, person: User) -> Decided:
    """Let a proposal wait again before its time. One that waits already is left as it is.

    Raises: AlreadyDecidedError, NotPermittedError.
    """
    proposal = fetch(proposal_id)
    require_maintainer(person, proposal.store)
    with transaction.atomic():
        if Proposal.objects.snoozed().filter(pk=proposal.pk).update(**AWAKE):
            return Decided(fetch(proposal.pk), _record(proposal, Verb.WAKE, person))
    proposal = fetch(proposal.pk)
    if proposal.state not in OPEN_STATES:
        raise AlreadyDecidedError(proposal, last_decision(proposal))
    return Decided(proposal, None, repeated=True)


def minute(at: datetime) -> str:
    """Say a time in UTC, as pages do."""
    return f"{at:%Y-%m-%d %H:%M} UTC"


def _record(proposal: Proposal, verb: Verb, person: User, note: str = "") -> Decision:
    return ledger.record(
        Decision(
            proposal=proposal,
            store=proposal.store,
            revision=proposal.revision.number,
            verb=verb,
            person=person,
            note=note,
        )
    )
