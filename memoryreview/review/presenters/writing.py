"""The form in which a person writes the text of a document."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib.auth.models import User

from memoryreview.core.diff import DocumentDiff, document_diff
from memoryreview.review.models import Store
from memoryreview.review.operations.write import text_of, waits

from . import links
from .editing import EditBox, boxes


@dataclass(frozen=True, slots=True)
class WritePage:
    """Args: boxes: the text box of a document that exists. text: what was typed for a new one. since: what changed in
    it while the person typed. waits: whether somebody else decides."""

    store: str
    store_url: str
    path: str
    back_url: str
    head: str
    is_new: bool
    boxes: tuple[EditBox, ...]
    text: str
    since: DocumentDiff | None
    waits: bool


def write_page(
    store: Store, path: str, person: User, *, is_new: bool, typed: str | None = None, since: str = ""
) -> WritePage | None:
    """Read a document for its form, what was typed kept; None when there is none of that name.

    Args: since: the commit that the person saw. Raises: CannotApplyError when the baseline cannot be read.
    """
    now = text_of(store, path, since=since)
    if now.content is None and not is_new:
        return None
    is_moved = bool(since) and not is_new and now.since != now.content
    return WritePage(
        store=store.slug,
        store_url=links.store_url(store.slug),
        path=path,
        back_url=links.store_url(store.slug) if is_new else links.document_url(store.slug, path),
        head=now.head,
        is_new=is_new,
        boxes=() if is_new else boxes({path: now.content}, None if typed is None else {path: typed}),
        text=typed or "",
        since=document_diff(path, now.since, now.content) if is_moved else None,
        waits=waits(person, store),
    )
