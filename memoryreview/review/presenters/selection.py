"""What rolling back several changes together would do, before anybody presses the button."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User
from django.utils.translation import gettext as _

from memoryreview.core.model import Severity
from memoryreview.review.models import Change
from memoryreview.review.operations import rollback
from memoryreview.review.operations.permissions import may_maintain
from memoryreview.review.operations.rollback import Selection

from . import documents, links
from .changes import STOPPED_WORDS, ChangeRow, change_rows, with_names
from .documents import DocumentView
from .grounds import FindingView, finding_view
from .words import plural

_DOCUMENTS_SHOWN = 40
_FINDINGS_SHOWN = 20


@dataclass(frozen=True, slots=True)
class SelectionPage:
    """`refusal` says why there is no button. `wider_url` selects the later changes that are in the way as well."""

    store: str
    shown: str
    does: str
    refusal: str
    changes: tuple[ChangeRow, ...]
    already: int
    paths: tuple[str, ...]
    later: tuple[ChangeRow, ...]
    wider_url: str
    findings: tuple[FindingView, ...]
    is_blocked: bool
    documents: tuple[DocumentView, ...]
    more_documents: int


def selection_page(changes: Sequence[Change], person: User, now: datetime) -> SelectionPage:
    """Read everything that the preview shows.

    Raises: CannotApplyError when nothing is selected, they are of several stores, or the baseline cannot be read.
    """
    found = rollback.plan_selected(changes)
    store = found.store
    portion = {path: found.delta[path] for path in list(found.delta)[:_DOCUMENTS_SHOWN]}
    views = documents.documents(found.tree, portion, slug=store.slug)
    pks, later = [change.pk for change in found.changes], [change.pk for change in found.later]
    return SelectionPage(
        store=store.slug,
        shown=found.shown,
        does=documents.consequence(found.tree, found.delta, views) if found.delta else "",
        refusal=_refusal(found, may_decide=may_maintain(person, store)),
        changes=change_rows(with_names(Change.objects.filter(pk__in=pks)), now),
        already=len(found.already),
        paths=found.conflicts,
        later=change_rows(with_names(Change.objects.filter(pk__in=later)), now),
        wider_url=links.selected_url([*pks, *later]) if later else "",
        findings=tuple(finding_view(finding) for finding in found.findings[:_FINDINGS_SHOWN]),
        is_blocked=any(finding.severity is Severity.BLOCK for finding in found.findings),
        documents=views,
        more_documents=len(found.delta) - len(portion),
    )


def _refusal(found: Selection, *, may_decide: bool) -> str:
    if found.refused:
        return found.refused
    if not found.changes:
        return _("%(changes)s taken back already; there is nothing left to roll back.") % {
            "changes": plural(len(found.already), "change")
        }
    if not may_decide:
        return _("Rolling back needs the store's owner or a maintainer of its team.")
    if any(finding.is_blocked_secret for finding in found.findings):
        return _(STOPPED_WORDS)
    if found.conflicts or found.delta:
        return ""
    return _("What these changes wrote is gone already; there is nothing left to roll back.")
