"""Mass changes: so many documents, or so large a part of what a store remembers, that a person confirms the number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Sequence
from itertools import chain

from memoryreview.core.model import SAFE_KINDS, Context, Kind, Tree

from .budget import Budget
from .draft import Draft, entry_count
from .whole import read_within

MIN_DOCUMENTS = 20
MIN_LOST = 4
MAX_LOST_SHARE = 0.25


class Entries:
    """How many entries the documents of a store have.

    Args:
        known: counts of the documents that were read already.
    """

    def __init__(self, base: Tree, context: Context, budget: Budget) -> None:
        self._base, self._context, self._budget = base, context, budget
        self.known: dict[str, int] = {}

    def of(self, path: str) -> int:
        if path not in self.known:
            self.known[path] = entry_count(read_within(path, self._base[path], self._context, self._budget))
        return self.known[path]

    def at_least(self, lost: Iterable[str], stop: int) -> int:
        """Count those of the whole store, changed documents first, no further than `stop`: cost follows the change."""
        changed = dict.fromkeys(lost)
        total = 0
        for path in chain(changed, (path for path in self._base if path not in changed)):
            total += self.of(path)
            if total >= stop:
                break
        return total


def find(drafts: Sequence[Draft], staying: Container[str], entries: Entries) -> Draft | None:
    """Return the action that says how much is lost, None while it is little.

    Args:
        drafts: of the whole revision.
        staying: texts of entries that stand in a changed document afterwards: what moves or repeats is not lost.
    """
    waiting = [draft for draft in drafts if not draft.rewrites and draft.kind not in SAFE_KINDS]
    paths = sorted({draft.path for draft in waiting})
    lost = Counter(draft.path for draft in waiting for text in draft.gone if text not in staying)
    total = lost.total()
    if len(paths) >= MIN_DOCUMENTS:
        deleted = sum(draft.kind is Kind.FILE_DELETE for draft in waiting)
        gone = f", {deleted} of them deleted" if deleted else ""
        why = f"{len(paths)} documents change at once{gone}; {total} entries would be lost."
        return _draft("", f"Change {len(paths)} documents at once{gone}", why)
    deleted_paths = {draft.path for draft in waiting if draft.kind is Kind.FILE_DELETE}
    for path, count in sorted(lost.items(), key=lambda each: (-each[1], each[0])):
        if path in deleted_paths:
            # Its own action says that all of it goes.
            continue
        size = entries.of(path)
        if count >= MIN_LOST and count > size * MAX_LOST_SHARE:
            return _draft(path, f"Lose {count} of {size} entries", f"{count} of the {size} entries would be lost.")
    if total >= MIN_LOST:
        size = entries.at_least(lost, stop=int(total / MAX_LOST_SHARE) + 1)
        if total > size * MAX_LOST_SHARE:
            why = f"{total} of the {size} entries of the store would be lost."
            return _draft("", f"Lose {total} of {size} entries of the store", why)
    return None


def _draft(path: str, title: str, why: str) -> Draft:
    return Draft(Kind.MASS_CHANGE, path, (0, 0), (0, 0), "", "", title, (why,))
