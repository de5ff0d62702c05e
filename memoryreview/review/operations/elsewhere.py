"""Where a text or a document may stand after it was erased from one store: other stores, and other names it had."""

from __future__ import annotations

from collections.abc import Iterator

from django.contrib.auth.models import User

from memoryreview.core.erasure import Eraser
from memoryreview.core.names import shown
from memoryreview.review.models import Proposal, RenamedPath, RevisionDocument, Store

from .errors import CannotApplyError
from .lineage import MAX_NAMES
from .stores import reading


def elsewhere(store: Store, eraser: Eraser, *, person: User) -> tuple[str, ...]:
    """Return a sentence for each such place. Ask before the rows are cleaned. Changes nothing.

    Tells nobody what a store holds that they may not see: of such a one only that it brought the text here.
    """
    return tuple(dict.fromkeys([*_other_names(store, eraser), *_promotions(store, eraser, person)]))


def _other_names(store: Store, eraser: Eraser) -> Iterator[str]:
    for name in _names(store, eraser.path) if eraser.path else ():
        yield f"The document was also called “{shown(name)}”. What it held under that name is kept: erase it as well."


def _names(store: Store, path: str) -> list[str]:
    """Return the other names that a document had, before and after."""
    names = [path]
    for name in names:
        given = RenamedPath.objects.filter(store=store, was=name).values_list("path", flat=True)
        earlier = RenamedPath.objects.filter(store=store, path=name).values_list("was", flat=True)
        names += [other for other in sorted({*given, *earlier}) if other not in names][: MAX_NAMES - len(names)]
    return names[1:]


def _promotions(store: Store, eraser: Eraser, person: User) -> Iterator[str]:
    visible = set(Store.objects.visible_to(person).values_list("pk", flat=True))
    for sent in Proposal.objects.filter(promoted_from=store).exclude(store=store).select_related("store"):
        if sent.promoted_path == eraser.path or _brings(sent, eraser):
            yield f"It was promoted to “{sent.store.slug}”. Other stores are not touched: erase it there as well."
    for came in Proposal.objects.filter(store=store, promoted_from__isnull=False).select_related(
        "promoted_from__owner"
    ):
        source = came.promoted_from
        if source is None or not (eraser.path in came.paths or _brings(came, eraser)):
            continue
        owner = source.owner.get_username() if source.owner is not None else "somebody"
        place = f"“{source.slug}”" if source.pk in visible else f"private memory of {owner}"
        yield f"It came by promotion from {place}. Other stores are not touched: it is erased there by its owner."
    for other in Store.objects.filter(pk__in=visible).exclude(pk=store.pk).order_by("slug"):
        if _stands_in(other, eraser):
            yield f"It stands in “{other.slug}” as well. Other stores are not touched: erase it there."


def _brings(proposal: Proposal, eraser: Eraser) -> bool:
    held = RevisionDocument.objects.filter(revision__proposal=proposal, content__isnull=False)
    return any(
        content is not None and eraser.holds(bytes(content)) for content in held.values_list("content", flat=True)
    )


def _stands_in(store: Store, eraser: Eraser) -> bool:
    if eraser.path:
        return False
    try:
        with reading(store) as repository:
            tree = repository.snapshot(repository.head() or "")
            return any(eraser.holds(tree[path]) for path in tree)
    except CannotApplyError:
        return False
