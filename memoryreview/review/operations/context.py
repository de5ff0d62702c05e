"""What a verdict may depend on besides the two trees: derived in one way for every door, the lock and replay."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from django.conf import settings
from django.utils import timezone

from memoryreview.baseline.repository import Snapshot
from memoryreview.core.classify.questions import Questions, questions
from memoryreview.core.model import SAFE_KINDS, Context, Delta, FormatName, History, Kind, Limits
from memoryreview.review.models import Store

from .evidence import evidence
from .history import history


@dataclass(frozen=True, slots=True)
class Told:
    """What the history up to the commit `at` said to some questions: it says the same for good."""

    at: str
    asked: Questions
    history: History


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
    told: Told | None = None,
) -> Context:
    """Return what a verdict on a change of `tree` may depend on. The store's settings are read afresh.

    Args: now: when the change was taken in, by default now. source: what the proposal says where it comes from.
    told: what the history said a moment ago, which saves asking the same of the same commit again.
    """
    context = without_history(settings_of(store), now=now, promoted_from=promoted_from, source=source)
    return with_history(context, store, tree, delta, told=told)


def without_history(
    store: Store,
    *,
    now: datetime | None = None,
    promoted_from: str = "",
    source: Mapping[str, Any] | None = None,
) -> Context:
    """Return the part of it that is the same for every change, by the settings that `store` was read with."""
    return Context(
        format=FormatName(store.format),
        limits=Limits(index_row_chars=store.index_row_chars),
        switched_off=switched_off(store),
        promoted_from=promoted_from,
        now=machine_time(now),
        evidence=evidence(store, source or {}),
    )


def with_history(context: Context, store: Store, tree: Snapshot, delta: Delta, *, told: Told | None = None) -> Context:
    """Add what the baseline says, as of the commit of `tree`, to what `delta` asks for. Days are those of `now`."""
    told = tell(context, store, tree, delta, known=told)
    return context if told is None else replace(context, history=told.history)


def tell(context: Context, store: Store, tree: Snapshot, delta: Delta, *, known: Told | None = None) -> Told | None:
    """Ask the history what a verdict on a change may depend on; None when nobody says what day it is."""
    zone = context.now.tzinfo if context.now is not None else None
    if zone is None:
        return None
    asked = questions(tree, delta, context)
    if known is not None and (known.at, known.asked) == (tree.oid, asked):
        return known
    return Told(tree.oid, asked, history(store, tree, asked, zone))


def settings_of(store: Store) -> Store:
    """Return a store as it is set now: who waited for its lock may hold an older row."""
    return Store.objects.get(pk=store.pk)


def switched_off(store: Store) -> frozenset[Kind]:
    """Return the rules that a store sends to review; all of them when what is stored cannot be read."""
    stated: object = store.switched_off
    if not isinstance(stated, list) or not all(isinstance(one, str) for one in stated):
        return SAFE_KINDS
    return SAFE_KINDS if set(stated) - {*map(str, SAFE_KINDS)} else frozenset(Kind(one) for one in stated)
