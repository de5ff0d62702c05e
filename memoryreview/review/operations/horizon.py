"""How far back a baseline reaches: a new one begins where the earlier one was lost, and its record goes on."""

from __future__ import annotations

from memoryreview.baseline import lost
from memoryreview.baseline.repository import Repository
from memoryreview.review.models import Change, ChangeKind, Store

from .stores import baseline_dir


def beginning(store: Store) -> Change | None:
    """Return the change with which the present baseline began, None when it reaches back as far as the record."""
    newest = Change.objects.filter(store=store, kind=ChangeKind.ADOPT).order_by("-pk").first()
    is_later = newest is not None and Change.objects.filter(store=store, pk__lt=newest.pk).exists()
    return newest if is_later else None


def looks_whole(store: Store) -> bool:
    """Whether the baseline shows what was recorded last; no object is read."""
    newest = Change.objects.filter(store=store).order_by("-pk").values_list("oid", flat=True).first()
    return newest is not None and lost.looks_whole(baseline_dir(store), newest)


def holds(change: Change, repository: Repository) -> bool:
    """Whether the baseline still has what a change made, and what was there before it."""
    return all(repository.has_commit(oid) for oid in (change.oid, change.parent) if oid)


def out_of_reach(change: Change, repository: Repository) -> str:
    """Return why a change can no longer be undone or shown, "" when its commits are there."""
    if holds(change, repository):
        return ""
    began = beginning(change.store)
    if began is not None and began.pk > change.pk:
        return (
            f"This is of before the present baseline, which began on {began.at:%Y-%m-%d}: its record stays, but it can "
            "no longer be undone. What stands in the documents is not touched by that; edit them to take it back."
        )
    return (
        "The baseline does not hold this commit any more: it was rewritten from outside, or is not complete. The "
        "record stays, but it can no longer be undone; restore the data folder from a backup, or adopt the folder anew."
    )


def told(store: Store) -> str:
    """Say where the history of a store begins when it is later than its record, else ""."""
    began = beginning(store)
    if began is None:
        return ""
    before = Change.objects.filter(store=store, pk__lt=began.pk).count()
    kept = ", ".join(f"“{path}”" for path in lost.set_aside_before(baseline_dir(store)))
    sentence = (
        f"{store.slug}: history begins on {began.at:%Y-%m-%d %H:%M} UTC with {began.oid[:7]}, a new baseline. "
        f"{'One change' if before == 1 else f'{before} changes'} of before can be read and no longer be undone."
    )
    return f"{sentence} What was left of the earlier baseline lies at {kept}." if kept else sentence
