"""What changes did to one entry of a document."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from memoryreview.core.blame import Asked, Fate, Touch
from memoryreview.core.diff import DiffLine, document_diff
from memoryreview.review.models import Store
from memoryreview.review.operations import blame
from memoryreview.review.operations.lineage import Passage
from memoryreview.review.operations.stores import reading
from memoryreview.review.querysets import ChangeQuerySet

from . import links
from .changes import ChangeRow, change_rows
from .history import Wanted
from .recorded import in_language
from .words import Words, short_oid

_WHOLE = 1_000_000

FATE_WORDS = Words(
    {
        Fate.ADDED: "added it",
        Fate.REWRITTEN: "rewrote it",
        Fate.MOVED: "moved it within the document",
        Fate.REMOVED: "removed it",
    }
)


@dataclass(frozen=True, slots=True)
class TouchView:
    """`called` names the document where it had another name then. `lines` are empty where only its place changed."""

    row: ChangeRow
    did: str
    called: str
    lines: tuple[DiffLine, ...]


@dataclass(frozen=True, slots=True)
class EntryPage:
    """`older_url` looks further back, "" where there is nothing further. `note` says why the list ends early."""

    title: str
    touches: tuple[TouchView, ...]
    document_url: str
    history_url: str
    as_of: str
    note: str
    older_url: str


def entry_page(visible: ChangeQuerySet, wanted: Wanted, store: Store, now: datetime) -> EntryPage:
    """Read the history of an entry; filters of kind, who and when leave changes out.

    Raises: CannotApplyError when the baseline cannot be read.
    """
    changes = visible.filter(store=store)
    with reading(store) as repository:
        known = changes.filter(oid=wanted.at).first() if wanted.at else None
        oid = known.oid if known is not None else repository.head() or ""
        asked = Asked.of(wanted.entry)
        found = blame.entry_history(store, repository.snapshot(oid), wanted.path, asked)
    kept = changes.filter(wanted.condition()).in_bulk([passage.pk for passage, _ in found.touches])
    rows = {row.id: row for row in change_rows(kept.values(), now)}
    shown = [
        _touch(rows[passage.pk], passage, touch, wanted.path)
        for passage, touch in found.touches
        if passage.pk in rows and touch.fate is not Fate.OLDER
    ]
    last = found.touches[-1] if found.touches else None
    return EntryPage(
        title=found.touches[0][1].entry.title if found.touches else "",
        touches=tuple(shown),
        document_url=links.document_url(store.slug, wanted.path),
        history_url=links.history_url(store=store.slug, path=wanted.path),
        as_of=short_oid(oid) if known is not None else "",
        note=in_language(found.cut),
        older_url=_further(store, *last) if last is not None and last[1].fate is Fate.OLDER else "",
    )


def _further(store: Store, passage: Passage, touch: Touch) -> str:
    entry = str(touch.entry.lines[0])
    return links.history_url(store=store.slug, path=passage.path, entry=entry, at=passage.oid)


def _touch(row: ChangeRow, passage: Passage, touch: Touch, path: str) -> TouchView:
    diff = document_diff(passage.path, touch.before, touch.after, context_lines=_WHOLE)
    return TouchView(
        row=row,
        did=FATE_WORDS[touch.fate],
        called=passage.path if passage.path != path else "",
        lines=tuple(line for hunk in diff.hunks for line in hunk.lines),
    )
