"""Approving a part of a proposal: what a person may leave out, and what then goes back to the agent."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from memoryreview.core.concerns import Concern
from memoryreview.core.formats import of as format_of
from memoryreview.core.model import Delta, FormatName, Verdict
from memoryreview.core.overlay import Overlay
from memoryreview.core.portions import Portion, portions, without
from memoryreview.review.models import Proposal, Store

from . import proposals
from .context import context_of
from .errors import NotPermittedError, StaleViewError
from .judge import judge_within
from .standing import Standing, judge_for
from .summary import summarise

APPLIED, DROPPED = "applied", "dropped"


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What a person leaves out, by the numbers of its portions, and why; the agent reads it."""

    numbers: frozenset[int] = frozenset()
    reason: str = ""


NOTHING = LeftOut()


@dataclass(frozen=True, slots=True)
class Partial:
    """What is kept of a proposal, and what its revision says from then on.

    Args:
        actions: those that land and those that were dropped, each with its outcome, as in the API answer.
        deletes: text goes by what is kept.
        fingerprint: of what was dropped: the same sent again is known by it.
    """

    delta: Delta
    title: str
    deletes: bool
    actions: tuple[dict[str, Any], ...]
    dropped: int
    fingerprint: str


def portions_of(store: Store, view: Standing) -> tuple[Portion, ...]:
    """Return what a person may keep or drop, documents before the index that points to them."""
    is_index = format_of(FormatName(store.format)).is_index
    ordered = {path: view.delta[path] for path in sorted(view.delta, key=lambda path: (is_index(path), path))}
    return portions(view.tree, ordered, is_index=is_index)


def kept_of(store: Store, view: Standing, dropped: Collection[int]) -> dict[str, bytes | None]:
    """Return what approving writes without the portions of these numbers."""
    return without(view.tree, view.delta, [one for one in portions_of(store, view) if one.number in dropped])


def partial(proposal: Proposal, view: Standing, left_out: LeftOut, *, note: str = "") -> Partial | None:
    """Judge what stays of a proposal, and tell what does not. Changes nothing. None when all of it stays.

    Raises: StaleViewError, NotPermittedError.
    """
    store, dropped = proposal.store, left_out.numbers
    why = ": ".join(filter(None, (left_out.reason, note)))
    if not dropped:
        return None
    if not {portion.number for portion in portions_of(store, view)}.issuperset(dropped):
        raise StaleViewError(
            "What would be written is not what you saw. Nothing was written; this is how it stands now."
        )
    if proposal.promoted_from_id is not None:
        raise NotPermittedError("A promotion is approved as a whole. Nothing was written; edit it, or reject it.")
    kept = kept_of(store, view, dropped)
    if not kept:
        raise NotPermittedError("You left out all of it. Nothing was written; reject the proposal instead.")
    found = judge_for(proposal, view.tree, kept, now=view.received)
    refused = [action for action in found.actions if action.verdict is Verdict.REFUSED]
    if refused:
        raise NotPermittedError(f"{' '.join(refused[0].reasons)} Nothing was written; keep more of it, or edit it.")
    stays = summarise(store, found, view.tree, kept)
    after = Overlay(view.tree, kept)
    rest = {path: new for path, new in view.delta.items() if after.get(path) != new}
    context = context_of(store, view.tree, rest, now=view.received, source=proposal.source)
    goes = summarise(store, judge_within(context, after, rest, is_direct=proposal.is_direct), after, rest)
    return Partial(
        delta=kept,
        title=stays.title,
        deletes=Concern.DELETES in stays.concerns,
        actions=(
            *({**action, "outcome": APPLIED} for action in stays.actions),
            *({**action, "outcome": DROPPED, "outcome_reason": why} for action in goes.actions),
        ),
        dropped=len(goes.actions),
        fingerprint=proposals.fingerprint(store, rest),
    )
