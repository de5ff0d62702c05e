"""What lies beside a change: of each document the change before and after, and the document as it was then."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from django.db.models import OuterRef, Subquery

from memoryreview.core.model import Tree
from memoryreview.review.models import Change, ChangedPath

from .documents import Around, DocumentView
from .links import document_url, oid_url


def with_around(views: Iterable[DocumentView], change: Change, after: Tree) -> tuple[DocumentView, ...]:
    """Add to documents of a change what lies beside them. Asks the database once.

    Args: after: the documents as of the change.
    """
    shown = tuple(views)
    same = ChangedPath.objects.filter(store=change.store_id, path=OuterRef("path"))
    earlier = same.filter(change_id__lt=change.pk).order_by("-change_id").values("change__oid")[:1]
    later = same.filter(change_id__gt=change.pk).order_by("change_id").values("change__oid")[:1]
    rows = ChangedPath.objects.filter(change=change, path__in=[view.path for view in shown])
    found = {
        path: (before, behind)
        for path, before, behind in rows.annotate(before=Subquery(earlier), behind=Subquery(later)).values_list(
            "path", "before", "behind"
        )
    }
    return tuple(
        replace(view, around=_around(view.path, change, after, *found.get(view.path, ("", "")))) for view in shown
    )


def _around(path: str, change: Change, after: Tree, earlier: str | None, later: str | None) -> Around:
    slug = change.store.slug
    is_there = path in after
    return Around(
        earlier=oid_url(earlier, slug) if earlier else "",
        later=oid_url(later, slug) if later else "",
        then=document_url(slug, path, at=change.oid) if is_there else "",
        blame=document_url(slug, path, at=change.oid, view="blame") if is_there else "",
        file=document_url(slug, path, at=change.oid, view="file") if is_there else "",
    )
