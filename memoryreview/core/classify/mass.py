"""Mass changes: so many documents, or so large a part of what a store remembers, that a person confirms the number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Sequence

from memoryreview.core.model import SAFE_KINDS, Context, FormatName, Kind, Tree

from .document import has_delimiter, read
from .draft import Draft, entry_texts

MIN_DOCUMENTS = 20
MIN_LOST = 4
MAX_LOST_SHARE = 0.25


def find(drafts: Sequence[Draft], staying: Container[str], base: Tree, context: Context) -> Draft | None:
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
        size = _count([path], base, context, stop=None)
        if count >= MIN_LOST and count > size * MAX_LOST_SHARE:
            return _draft(path, f"Lose {count} of {size} entries", f"{count} of the {size} entries would be lost.")
    if total >= MIN_LOST:
        enough = int(total / MAX_LOST_SHARE) + 1
        size = _count([*lost, *(path for path in base if path not in lost)], base, context, stop=enough)
        if total > size * MAX_LOST_SHARE:
            why = f"{total} of the {size} entries of the store would be lost."
            return _draft("", f"Lose {total} of {size} entries of the store", why)
    return None


def _draft(path: str, title: str, why: str) -> Draft:
    return Draft(Kind.MASS_CHANGE, path, (0, 0), (0, 0), "", "", title, (why,))


def _count(paths: Iterable[str], base: Tree, context: Context, stop: int | None) -> int:
    """Count entries, no further than needed: the cost follows the change, not the store."""
    total = 0
    for path in paths:
        data = base[path]
        is_plain = len(data) > context.limits.file_bytes
        is_delimited = context.format is FormatName.HERMES and has_delimiter(data)
        total += len(entry_texts(read(path, data, context, is_delimited=is_delimited, is_plain=is_plain)))
        if stop is not None and total >= stop:
            break
    return total
