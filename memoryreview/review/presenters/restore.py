"""What restoring a store would do, before anybody presses the button."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User
from django.utils.translation import gettext as _

from memoryreview.core.model import Delta, Tree
from memoryreview.review.models import Change, Store
from memoryreview.review.operations import restore
from memoryreview.review.operations.permissions import may_maintain
from memoryreview.review.operations.restore import Affected, Fate, Preview

from . import documents, links
from .changes import ChangeRow, change_row, change_rows, with_names
from .document_pages import DocumentPages, document_pages
from .documents import DocumentView
from .grounds import FindingView, finding_view
from .recorded import in_language
from .rows import title_of
from .words import Words, listed, plural, short_oid

_ROWS_SHOWN = 10
_FINDINGS_SHOWN = 20

_FATE_WORDS = Words(
    {
        Fate.CONFLICT: "%(proposals)s in conflict afterwards.",
        Fate.CONTAINED: "%(proposals)s with nothing left to change.",
        Fate.MOVED: "%(proposals)s merged onto what comes back.",
    }
)
_FATE_EXPLAINED = Words(
    {
        Fate.CONFLICT: "The same lines come back otherwise; edit or reject then.",
        Fate.CONTAINED: "What comes back says the same.",
        Fate.MOVED: "Nothing is decided about them.",
    }
)
_WRITE_WORDS = Words(
    {
        Fate.CONFLICT: "stays on disk as it is and will differ from what is approved",
        Fate.MOVED: "is kept and waits in the queue",
        Fate.CONTAINED: "holds what comes back already",
    }
)


@dataclass(frozen=True, slots=True)
class ProposalLink:
    title: str
    url: str


@dataclass(frozen=True, slots=True)
class AffectedGroup:
    """Waiting proposals that share a fate; those that go on as before are counted, not listed."""

    words: str
    explains: str
    proposals: tuple[ProposalLink, ...]
    more: int


@dataclass(frozen=True, slots=True)
class WriteView:
    path: str
    words: str


@dataclass(frozen=True, slots=True)
class RestorePage:
    """A preview. `refusal` says why there is no button, `does` what it does; `documents` are of the present page."""

    row: ChangeRow
    url: str
    head: str
    shown: str
    does: str
    refusal: str
    deletes: bool
    undoes: tuple[ChangeRow, ...]
    undone_count: int
    findings: tuple[FindingView, ...]
    more_findings: int
    affected: tuple[AffectedGroup, ...]
    uncompared: int
    writes: tuple[WriteView, ...]
    documents: tuple[DocumentView, ...]
    pages: DocumentPages


def restore_page(store: Store, oid: str, person: User, now: datetime, *, start: int) -> RestorePage:
    """Read everything that the preview shows, with a portion of its documents from `start` on, 0-based.

    Raises: NotFoundError; CannotApplyError when the baseline cannot be read.
    """
    preview = restore.plan(store, oid)
    url = links.restore_url(store.slug, oid)
    shown = document_pages(list(preview.delta), url, start)
    undoes = with_names(preview.undoes, at_most=_ROWS_SHOWN)
    return RestorePage(
        row=change_row(preview.to, now),
        url=url,
        head=short_oid(preview.head),
        shown=preview.shown,
        does=does_words(preview.tree, preview.delta) if preview.delta else "",
        refusal=_refusal(preview, person, store),
        deletes=any(new is None for new in preview.delta.values()),
        undoes=change_rows(undoes, now),
        undone_count=preview.undoes.count(),
        findings=tuple(finding_view(finding) for finding in preview.findings[:_FINDINGS_SHOWN]),
        more_findings=max(0, len(preview.findings) - _FINDINGS_SHOWN),
        affected=tuple(_groups(preview.affected)),
        uncompared=preview.uncompared,
        writes=tuple(WriteView(path, _WRITE_WORDS[fate]) for path, fate in preview.writes.items()),
        documents=documents.documents(
            preview.tree, {path: preview.delta[path] for path in shown.paths}, slug=store.slug
        ),
        pages=shown,
    )


def does_words(tree: Tree, delta: Delta) -> str:
    """Say what writing a delta does, by what becomes of its documents: "change 2 documents and remove 1 document"."""
    goes = sum(new is None for new in delta.values())
    comes = sum(new is not None and path not in tree for path, new in delta.items())
    changes = len(delta) - goes - comes
    parts = [
        _("change %(documents)s") % {"documents": plural(changes, "document")} if changes else "",
        _("bring back %(documents)s") % {"documents": plural(comes, "document")} if comes else "",
        _("remove %(documents)s") % {"documents": plural(goes, "document")} if goes else "",
    ]
    return listed([part for part in parts if part])


def restored_words(change: Change, differing: Iterable[str]) -> str:
    """Say what a restore did, and which documents kept another text on disk."""
    kept = sorted({*differing} & {*change.paths})
    left = (
        _(" On disk %(documents)s kept a write that waits.") % {"documents": plural(len(kept), "document")}
        if kept
        else ""
    )
    return _("Restored as %(oid)s, %(documents)s written.%(left)s") % {
        "oid": short_oid(change.oid),
        "documents": plural(len(change.paths), "document"),
        "left": left,
    }


def _refusal(preview: Preview, person: User, store: Store) -> str:
    if not preview.delta:
        return in_language(restore.SAME_ALREADY)
    if not may_maintain(person, store):
        return _("Restoring needs the store's owner or a maintainer of its team.")
    if preview.is_stopped:
        return _("A secret would come back. Restore to a later change, or erase the secret from the history first.")
    return in_language(preview.unreadable or store.alarm)


def _groups(affected: Sequence[Affected]) -> Iterator[AffectedGroup]:
    for fate, words in _FATE_WORDS.items():
        alike = [one.proposal for one in affected if one.fate is fate]
        listed_ones = () if fate is Fate.MOVED else alike[:_ROWS_SHOWN]
        if alike:
            yield AffectedGroup(
                words=words % {"proposals": plural(len(alike), "waiting proposal")},
                explains=_FATE_EXPLAINED[fate],
                proposals=tuple(ProposalLink(title_of(one), links.proposal_url(one)) for one in listed_ones),
                more=max(0, len(alike) - _ROWS_SHOWN) if listed_ones else 0,
            )
