"""Which changes are taken back as things stand: a rollback that was itself rolled back takes nothing back."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from django.db.models import F
from django.utils import timezone

from memoryreview.review.models import Change, Proposal, State

_AT_ONCE = 5_000  # ids in one question; databases limit how many they take


def undone(changes: Collection[int]) -> set[int]:
    """Return those of the changes, by primary key, that are taken back as things stand. Cost follows the rollbacks."""
    taken_by: dict[int, list[int]] = {}
    fresh = set(changes)
    while fresh:
        taken_by |= {pk: [] for pk in fresh}
        found: set[int] = set()
        for some in _portions(fresh):
            for pk, by in Change.objects.filter(pk__in=some, rolled_back_by__isnull=False).values_list(
                "pk", "rolled_back_by"
            ):
                taken_by[pk].append(by)
                found.add(by)
        fresh = found - taken_by.keys()
    taken: dict[int, bool] = {}
    for pk in sorted(taken_by, reverse=True):  # what takes a change back is always newer
        taken[pk] = any(not taken[by] for by in taken_by[pk])
    return {pk for pk in changes if taken[pk]}


def undoers(change: Change) -> tuple[Change, ...]:
    """Return the rollbacks and restores that take a change back as things stand, newest first."""
    found = list(change.rolled_back_by.select_related("store", "person").order_by("-pk"))
    void = undone([by.pk for by in found])
    return tuple(by for by in found if by.pk not in void)


def follow(undoes: Collection[int]) -> None:
    """Let the proposals behind changes that were just taken back, or thereby brought back, say so.

    A proposal counts as rolled back while one of its changes is. Call it in the transaction that records the rollback.
    """
    for some in _portions(undoes):
        Change.objects.filter(pk__in=some).update(unread=False)
    reached: set[int] = set()
    fresh, proposals = set(undoes), set[int]()
    while fresh:
        reached |= fresh
        below: set[int] = set()
        for some in _portions(fresh):
            behind = Change.objects.filter(pk__in=some).exclude(proposal=None)
            proposals.update(behind.values_list("proposal", flat=True))
            below.update(Change.objects.filter(rolled_back_by__in=some).values_list("pk", flat=True))
        fresh = below - reached
    for portion in _portions(proposals):
        _follow(portion)


def _follow(proposals: Collection[int]) -> None:
    behind = dict(Change.objects.filter(proposal__in=proposals).values_list("pk", "proposal"))
    gone = {behind[pk] for pk in undone(behind)}
    for of, before, after in (
        (gone, State.APPLIED, State.ROLLED_BACK),
        (set(proposals) - gone, State.ROLLED_BACK, State.APPLIED),
    ):
        Proposal.objects.filter(pk__in=of, state=before).update(
            state=after, version=F("version") + 1, updated_at=timezone.now()
        )


def _portions(pks: Collection[int]) -> Iterator[list[int]]:
    ordered = sorted(pks)
    for start in range(0, len(ordered), _AT_ONCE):
        yield ordered[start : start + _AT_ONCE]
