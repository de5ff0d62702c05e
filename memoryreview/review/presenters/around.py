"""What lies beside a change: of each document the change before and after, and the document as it was then."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from django.db.models import OuterRef, Subquery

from memoryreview.core.model import Tree
from memoryreview.review.models import Change, ChangedPath, RenamedPath

from .documents import Around, DocumentView
from .links import document_url, oid_url


def with_around(views: Iterable[DocumentView], change: Change, after: Tree) -> tuple[DocumentView, ...]:
    """Add to documents of a change what lies beside them. Asks the database twice, however many there are.

    Args: after: the documents as of the change.
    """
    shown = tuple(views)
    was = dict(RenamedPath.objects.filter(change=change).values_list("path", "was"))
    same = ChangedPath.objects.filter(store=change.store_id, path=OuterRef("path"))
    earlier = same.filter(change_id__lt=change.pk).order_by("-change_id").values("change__oid")[:1]
    later = same.filter(change_id__gt=change.pk).order_by("change_id").values("change__oid")[:1]
    names = [view.path for view in shown] + [was[view.path] for view in shown if view.path in was]
    rows = ChangedPath.objects.filter(change=change, path__in=names)
    rows = rows.annotate(before=Subquery(earlier), behind=Subquery(later))
    found = {row.path: (row.before or "", row.behind or "") for row in rows}
    nothing = ("", "")

    def neighbours(path: str) -> tuple[str, str]:
        """Return the changes before and after; before a rename the document had its old name."""
        before = found.get(was.get(path, path), nothing)[0]
        return before, found.get(path, nothing)[1]

    return tuple(replace(view, around=_around(view.path, change, after, *neighbours(view.path))) for view in shown)


def _around(path: str, change: Change, after: Tree, earlier: str, later: str) -> Around:
    slug = change.store.slug
    is_there = path in after
    return Around(
        earlier=oid_url(earlier, slug) if earlier else "",
        later=oid_url(later, slug) if later else "",
        then=document_url(slug, path, at=change.oid) if is_there else "",
        blame=document_url(slug, path, at=change.oid, view="blame") if is_there else "",
        file=document_url(slug, path, at=change.oid, view="file") if is_there else "",
    )
