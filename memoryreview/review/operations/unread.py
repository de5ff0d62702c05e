"""New facts that land unread in a private store whose owner wants it so, and that wait to be read afterwards.

Nothing but an addition lands this way, and nothing that a scanner speaks up about.
"""

from __future__ import annotations

from collections.abc import Iterable

from django.contrib.auth.models import User
from django.db import transaction

from memoryreview.core.formats import of as format_of
from memoryreview.core.model import Classification, Delta, FormatName, Kind, Scope, Severity, Tree, Verdict
from memoryreview.review.models import Agent, Change, Decision, Proposal, Store, Verb

from . import ledger
from .context import settings_of
from .permissions import require_maintainer

KINDS = frozenset({Kind.FACT_ADD, Kind.FILE_ADD})
_BESIDE = frozenset({Kind.INDEX_ADD})
"""What may wait while the additions beside it land: a row that points to a new document is worth nothing alone."""


def additions(store: Store, classification: Classification, tree: Tree, delta: Delta) -> Delta:
    """Return those documents of a change in which new facts may land unread, once what is safe has landed.

    With any other kind to decide, a finding of review severity or more, or a document that would no longer be read
    whole, all of it waits: additions are not torn from what they belong to.
    """
    if any(finding.severity is not Severity.NOTE for finding in classification.findings):
        return {}
    waiting = [action for action in classification.actions if action.verdict is not Verdict.SAFE]
    if any(action.verdict is not Verdict.REVIEW or action.kind not in KINDS | _BESIDE for action in waiting):
        return {}
    paths = {action.path for action in waiting if action.kind in KINDS}
    paths -= {action.path for action in waiting if action.kind in _BESIDE}
    if not paths or not _is_wanted(store):
        return {}
    landing = {path: delta[path] for path in paths}
    return {} if any(_overflows(store, tree, path, new) for path, new in landing.items()) else landing


def documents(store: Store, classification: Classification, tree: Tree, delta: Delta) -> Delta:
    """Return the additions that may land as they are: those in documents that hold nothing safe any more."""
    safe = {action.path for action in classification.actions if action.verdict is Verdict.SAFE}
    found = additions(store, classification, tree, delta)
    return {path: new for path, new in found.items() if path not in safe}


def _is_wanted(store: Store) -> bool:
    stated = settings_of(store)
    return stated.passive and stated.scope == Scope.PRIVATE and stated.team_id is None and stated.owner_id is not None


def _overflows(store: Store, tree: Tree, path: str, new: bytes | None) -> bool:
    """Whether a document passes a limit of its format, so that its agent would no longer see all of it."""
    meters = format_of(FormatName(store.format)).meters
    before = {meter.unit for meter in meters(path, tree.get(path, b"")) if meter.used > meter.limit}
    return any(meter.used > meter.limit and meter.unit not in before for meter in meters(path, new or b""))


def is_eligible(proposal: Proposal) -> bool:
    """Whether a proposal comes from an agent, and nobody decided on it or on its like before."""
    agent = proposal.agent
    return (
        agent is not None
        and agent.name != Agent.TIDY
        and proposal.person_id is None
        and proposal.revision.person_id is None
        and proposal.promoted_from_id is None
        and proposal.rejected_before_id is None
    )


def keep(changes: Iterable[Change], *, person: User) -> int:
    """Record that a person read what had landed unread, and lets it stand. Twice is harmless; returns how many.

    Raises: NotPermittedError; nothing is recorded then.
    """
    chosen = list(changes)
    for change in chosen:
        require_maintainer(person, change.store)
    kept = 0
    for change in chosen:
        with transaction.atomic():
            if Change.objects.unread().filter(pk=change.pk).update(unread=False):
                ledger.record(Decision(store=change.store, change=change.oid, verb=Verb.READ, person=person))
                kept += 1
    return kept
