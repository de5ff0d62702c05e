"""Where the lines come from that a proposal changes or takes away."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _

from memoryreview.baseline.repository import Repository, Snapshot
from memoryreview.core.merge import changes
from memoryreview.core.model import Delta
from memoryreview.core.text import raw_lines
from memoryreview.review.models import OPEN_STATES, Proposal
from memoryreview.review.operations import blame
from memoryreview.review.operations.standing import standing
from memoryreview.review.operations.stores import reading

from . import links
from .blame import Origin, changes_of, origins
from .words import plural

_DOCUMENTS_SHOWN = 5
_LINES_LOOKED_AT = 400
_ORIGINS_SHOWN = 8


@dataclass(frozen=True, slots=True)
class TouchedDocument:
    """`url` is its blame. `more` counts changes that are not shown; `older` says which lines are older than was looked,
    or were not looked at, "" for none."""

    path: str
    url: str
    origins: tuple[Origin, ...]
    more: int
    older: str


@dataclass(frozen=True, slots=True)
class TouchedPage:
    """`more` counts documents that are not shown."""

    proposal_url: str
    documents: tuple[TouchedDocument, ...]
    more: int


def touched_page(proposal: Proposal, now: datetime) -> TouchedPage:
    """Attribute the lines that a proposal changes: as approved now while it waits, else as they were when it came.

    Raises: CannotApplyError when the baseline cannot be read.
    """
    with reading(proposal.store) as repository:
        tree, delta = _sides(proposal, repository)
        lines = {path: _lines_of(tree, path, new) for path, new in sorted(delta.items())}
        touched = [path for path, numbers in lines.items() if numbers]
        shown = tuple(_document(proposal, tree, path, lines[path], now) for path in touched[:_DOCUMENTS_SHOWN])
    return TouchedPage(links.proposal_url(proposal), shown, max(0, len(touched) - _DOCUMENTS_SHOWN))


def _sides(proposal: Proposal, repository: Repository) -> tuple[Snapshot, Delta]:
    revision = proposal.revision
    if proposal.state in OPEN_STATES:
        view = standing(revision, repository)
        return view.tree, {**view.proposed, **view.delta}
    return repository.snapshot(revision.submitted_base), revision.delta()


def _lines_of(tree: Snapshot, path: str, new: bytes | None) -> list[int]:
    """Return the lines (0-based) of a document that stand there and would not any more."""
    old = tree.get(path)
    return [run.old_start - 1 + at for run in changes(old, new) for at in range(len(raw_lines(run.old)) if old else 0)]


def _document(proposal: Proposal, tree: Snapshot, path: str, lines: list[int], now: datetime) -> TouchedDocument:
    looked_at = lines[:_LINES_LOOKED_AT]
    found = blame.blame(proposal.store, tree, path, looked_at)
    come_from = origins(found, changes_of(proposal.store, found.origins.values()), looked_at, now)
    unknown = len(lines) - sum(line in found.origins for line in looked_at)
    return TouchedDocument(
        path=path,
        url=links.document_url(proposal.store.slug, path, view="blame") if path in tree else "",
        origins=come_from[:_ORIGINS_SHOWN],
        more=max(0, len(come_from) - _ORIGINS_SHOWN),
        older=_("%(lines)s older than what was looked at.") % {"lines": plural(unknown, "line is", "lines are")}
        if unknown
        else "",
    )
