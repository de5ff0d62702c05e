"""What a change pushes out of the part of a document that an agent loads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from memoryreview.core.budget import BudgetChange, budgets
from memoryreview.core.model import Context, Tree
from memoryreview.core.overlay import Overlay

from . import titles
from .draft import Draft

MAX_NAMED = 5
MAX_DOCUMENTS = 100
PUSHES_OUT = "What the agent loads of this document would end earlier, so that it no longer sees all that it sees now."


def held(drafts: Sequence[Draft], base: Tree, applied: Mapping[str, bytes], context: Context) -> set[int]:
    """Return the identities of safe drafts that grow a document in which, by them, less would be loaded.

    Args: applied: the documents as the safe drafts leave them.
    """
    if len(applied) > MAX_DOCUMENTS:
        return set()  # the second check looks at each again
    full = {change.path for change in budgets(base, Overlay(base, applied), context) if change.is_cut and change.lost}
    return {id(draft) for draft in drafts if any(_grows(draft, path) for path in full)}


def told(drafts: Sequence[Draft], base: Tree, proposed: Tree, context: Context) -> list[Draft]:
    """Say with the first action that adds text to a document what it pushes past the limit, and with each that stands
    there itself that it does."""
    if len({draft.path for draft in drafts}) > MAX_DOCUMENTS:
        return list(drafts)
    found = {change.path: change for change in budgets(base, proposed, context) if change.lost}
    said: set[str] = set()
    return [_told(draft, found[draft.path], said) if draft.path in found else draft for draft in drafts]


def _grows(draft: Draft, path: str) -> bool:
    return any(one.path == path and len(one.new) > one.end - one.start for one in draft.rewrites)


def _told(draft: Draft, change: BudgetChange, said: set[str]) -> Draft:
    grows = len(draft.new_text.encode()) > len(draft.old_text.encode())
    if draft.rewrites or not grows or change.line_after is None:
        return draft
    if change.is_cut and draft.new[0] + 1 >= change.line_after:
        sentence = f"It stands past the limit of {change.limits}, so the agent never sees it."
    elif draft.path in said:
        return draft
    else:
        said.add(draft.path)
        sentence = _sentence(change, change.line_after)
    return replace(draft, reasons=(*draft.reasons, sentence))


def _sentence(change: BudgetChange, line: int) -> str:
    limits = f"the limit of {change.limits}"
    if not change.is_cut:
        return f"With this change the document is past {limits}, from line {line} on: Hermes refuses to add more."
    names = ", ".join(f"“{titles.shorten(name, 40)}”" for name in change.lost[:MAX_NAMED])
    more = f" and {change.lost_count - MAX_NAMED:,} more" if change.lost_count > MAX_NAMED else ""
    noun = "1 entry is" if change.lost_count == 1 else f"{change.lost_count:,} entries are"
    return f"With this change {noun} past {limits}, so the agent does not see {names}{more}."
