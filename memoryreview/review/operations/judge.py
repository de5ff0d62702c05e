"""The verdict on a change of one store, as who asks for it may have it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from memoryreview.baseline.repository import Snapshot
from memoryreview.core.classify.classify import classify
from memoryreview.core.model import Action, Classification, Context, Delta, Tree, Verdict
from memoryreview.core.overlay import Overlay
from memoryreview.review.models import Store

from .context import context_of

NOT_BY_A_TOOL = "A tool rewrites this document by itself, but not through this door: somebody must look at it."


def judge(
    store: Store,
    tree: Snapshot,
    delta: Delta,
    *,
    is_direct: bool = False,
    promoted_from: str = "",
    now: datetime | None = None,
    source: Mapping[str, Any] | None = None,
) -> Classification:
    """Classify a change. Only what was found on disk can have been written by the tool that owns a document.

    Args: now: when the change was taken in, by default now. source: what the proposal says where it comes from.
    """
    context = context_of(store, tree, delta, now=now, promoted_from=promoted_from, source=source)
    return judge_within(context, tree, delta, is_direct=is_direct)


def judge_within(context: Context, tree: Tree, delta: Delta, *, is_direct: bool = False) -> Classification:
    """The same by a context that is known already."""
    found = classify(tree, Overlay(tree, delta), context)
    if is_direct:
        return found
    actions = tuple(_asked(action) for action in found.actions)
    return found if actions == found.actions else replace(found, actions=actions, verdict=_overall(actions))


def _asked(action: Action) -> Action:
    if action.verdict is not Verdict.RECORDED:
        return action
    return replace(action, verdict=Verdict.REVIEW, reasons=(*action.reasons, NOT_BY_A_TOOL))


def _overall(actions: tuple[Action, ...]) -> Verdict:
    verdicts = {action.verdict for action in actions}
    if Verdict.REFUSED in verdicts:
        return Verdict.REFUSED
    return Verdict.MIXED if verdicts > {Verdict.REVIEW} else Verdict.REVIEW
