"""What holds tidying back: rules that stopped in a store, edits that were taken back, and how many edits a day has."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from memoryreview.core.model import Kind
from memoryreview.core.tidy.model import Known
from memoryreview.review.models import Agent, Change, ChangeKind, Store, TidyStop

from .permissions import require_maintainer
from .undone import undoers

DAILY_EDITS = 200
"""Edits that tidying makes in one store within 24 hours without a person asking for them."""

BREAKER_DAYS = 30
"""A tidy change that a person rolls back within these days stops its rule in that store."""


@dataclass(frozen=True, slots=True)
class Stop:
    """A rule that stopped. `change` is what was rolled back, None when a check refused."""

    rule: Kind
    sentence: str
    at: datetime
    change: Change | None


def tidy_changes(store: Store) -> QuerySet[Change]:
    return Change.objects.filter(store=store, agent__name=Agent.TIDY, kind=ChangeKind.AUTO)


def stops(store: Store) -> tuple[Stop, ...]:
    """Return the rules that are stopped in a store, one entry per cause, newest first. Writes nothing."""
    noted = TidyStop.objects.filter(store=store, lifted_at__isnull=True).select_related("change")
    found = [Stop(Kind(one.rule), one.sentence, one.at, one.change) for one in noted if one.rule in set(Kind)]
    found += [_stop_of(change, by) for change, by in _unnoted(store)]
    return tuple(sorted(found, key=lambda stop: stop.at, reverse=True))


def note_rollbacks(store: Store) -> None:
    """Write down which rules stop because a person rolled one of their changes back. Harmless to repeat."""
    for change, by in _unnoted(store):
        stop = _stop_of(change, by)
        TidyStop.objects.get_or_create(
            change=change, defaults={"store": store, "rule": stop.rule, "sentence": stop.sentence, "at": stop.at}
        )


def stop(store: Store, rule: Kind, sentence: str) -> None:
    """Stop a rule in a store because a check refused what it proposed."""
    if not TidyStop.objects.filter(store=store, rule=rule, change=None, lifted_at__isnull=True).exists():
        TidyStop.objects.create(store=store, rule=rule, sentence=sentence)


def resume(store: Store, rule: Kind, *, person: User) -> None:
    """Let a rule tidy a store again. What was rolled back is not done again. Raises NotPermittedError."""
    require_maintainer(person, store)
    with transaction.atomic():
        note_rollbacks(store)
        TidyStop.objects.filter(store=store, rule=rule, lifted_at__isnull=True).update(
            lifted_at=timezone.now(), lifted_by=person
        )


def switch(store: Store, *, on: bool, person: User) -> None:
    """Let the clock tidy a store, or not. Raises NotPermittedError."""
    require_maintainer(person, store)
    Store.objects.filter(pk=store.pk).update(tidies=on)


def edits_today(store: Store) -> int:
    """Return how many edits tidying made in the last 24 hours."""
    recent = tidy_changes(store).filter(at__gt=timezone.now() - timedelta(days=1))
    return sum(len((change.certificate or {}).get("rewrites", ())) for change in recent.only("certificate"))


def taken_back(store: Store) -> Known:
    """Return whether an edit is one that a person rolled back in this store."""
    edits = {
        (action["kind"], action["path"], action["old"], action["new"])
        for change in _rolled_back(store)
        for action in _actions(change)
        if action.get("commit") == change.oid
    }
    return lambda rule, path, old, new: (rule, path, old, new) in edits


def _actions(change: Change) -> list[dict[str, Any]]:
    return change.proposal.revision.actions if change.proposal is not None else []


def _rolled_back(store: Store) -> Iterator[Change]:
    """Yield the tidy changes that are rolled back as things stand."""
    for change in tidy_changes(store).filter(rolled_back_by__isnull=False).select_related("proposal").distinct():
        if _undoing(change) is not None:
            yield change


def _undoing(change: Change) -> Change | None:
    """Return the rollback of a change by a person that holds: one that was itself rolled back does not.

    A restore judges no single change, so it stops no rule.
    """
    return next((by for by in undoers(change) if by.person_id and by.kind == ChangeKind.ROLLBACK), None)


def _unnoted(store: Store) -> Iterator[tuple[Change, Change]]:
    """Yield (change, its rollback) for each that a person took back soon enough and that nothing is written of yet."""
    for change in _rolled_back(store):
        by = _undoing(change)
        is_soon = by is not None and by.at - change.at <= timedelta(days=BREAKER_DAYS)
        if by is not None and is_soon and not TidyStop.objects.filter(change=change).exists() and _rule(change):
            yield change, by


def _rule(change: Change) -> Kind | None:
    rule = (change.certificate or {}).get("rule", "")
    return Kind(rule) if rule in set(Kind) else None


def _stop_of(change: Change, by: Change) -> Stop:
    rule = _rule(change)
    assert rule is not None, "only changes with a rule stop one"  # noqa: S101
    name = by.person.get_username() if by.person else "Somebody"
    return Stop(rule, f"{name} rolled it back: {change.title}.", by.at, change)
