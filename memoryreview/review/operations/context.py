"""What a verdict may depend on besides the two trees: derived in one way for every door, the lock and replay."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from django.conf import settings
from django.utils import timezone

from memoryreview.baseline.repository import Snapshot
from memoryreview.core.classify.questions import questions
from memoryreview.core.model import SAFE_KINDS, Context, Delta, FormatName, Kind, Limits
from memoryreview.review.models import Store

from .evidence import evidence
from .history import history


def machine_time(moment: datetime | None = None) -> datetime:
    """Return a moment, by default the present one, in the zone of this machine."""
    return (moment or timezone.now()).astimezone(ZoneInfo(settings.MACHINE_ZONE))


def context_of(
    store: Store,
    tree: Snapshot,
    delta: Delta,
    *,
    now: datetime | None = None,
    promoted_from: str = "",
    source: Mapping[str, Any] | None = None,
) -> Context:
    """Return what a verdict on a change of `tree` may depend on. The store's settings are read afresh.

    Args: now: when the change was taken in, by default now. source: what the proposal says where it comes from.
    """
    context = without_history(store, now=now, promoted_from=promoted_from, source=source)
    return with_history(context, store, tree, delta)


def without_history(
    store: Store,
    *,
    now: datetime | None = None,
    promoted_from: str = "",
    source: Mapping[str, Any] | None = None,
) -> Context:
    """Return the part of it that is the same for every change. The store's settings are read afresh."""
    stated = settings_of(store)
    return Context(
        format=FormatName(store.format),
        limits=Limits(index_row_chars=stated.index_row_chars),
        switched_off=switched_off(stated),
        promoted_from=promoted_from,
        now=machine_time(now),
        evidence=evidence(stated, source or {}),
    )


def with_history(context: Context, store: Store, tree: Snapshot, delta: Delta) -> Context:
    """Add what the baseline says, as of the commit of `tree`, to what `delta` asks for. Days are those of `now`."""
    zone = context.now.tzinfo if context.now is not None else None
    if zone is None:
        return context
    return replace(context, history=history(store, tree, questions(tree, delta, context), zone))


def settings_of(store: Store) -> Store:
    """Return a store as it is set now: who waited for its lock may hold an older row."""
    return Store.objects.get(pk=store.pk)


def switched_off(store: Store) -> frozenset[Kind]:
    """Return the rules that a store sends to review; all of them when what is stored cannot be read."""
    stated: object = store.switched_off
    if not isinstance(stated, list) or not all(isinstance(one, str) for one in stated):
        return SAFE_KINDS
    return SAFE_KINDS if set(stated) - {*map(str, SAFE_KINDS)} else frozenset(Kind(one) for one in stated)
