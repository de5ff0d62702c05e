"""Filters under a name, and how far a person has looked: nobody else's business, and no decision."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from memoryreview.review.models import Change, ChangeKind, Looked, SavedView
from memoryreview.review.querysets import ChangeQuerySet

from .capture import holds_secret
from .errors import NotPermittedError

MAX_SAVED = 20
_NAME_CHARS = 40


def save_view(person: User, *, name: str, query: str) -> SavedView:
    """Keep a filter under a name. Raises NotPermittedError with a sentence."""
    if not query:
        raise NotPermittedError("The filter asks for nothing. Nothing was saved; set it first, then name it.")
    if SavedView.objects.filter(person=person).count() >= MAX_SAVED:
        raise NotPermittedError(f"You have {MAX_SAVED} views already. Nothing was saved; delete one first.")
    if holds_secret(query):
        raise NotPermittedError("The filter looks for a secret. Nothing was saved; look for another word.")
    return _stored(SavedView(person=person, name=_name(name), query=query))


def rename_view(view: SavedView, *, name: str) -> SavedView:
    """Give a view another name. Raises NotPermittedError with a sentence."""
    view.name = _name(name)
    return _stored(view)


def proved_since(person: User) -> ChangeQuerySet:
    """Return what was applied by proof since a person last looked, in the stores that they see."""
    looked = Subquery(Looked.objects.filter(person=person).values("change")[:1])
    found = Change.objects.visible_to(person).filter(kind=str(ChangeKind.AUTO), certificate__isnull=False)
    return found.filter(pk__gt=Coalesce(looked, 0))


def look(person: User, *, up_to: int) -> None:
    """Remember that a person looked at all that was applied up to a change; looking back changes nothing."""
    newest = Change.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
    with transaction.atomic():
        Looked.objects.get_or_create(person=person)
        reached = min(up_to, newest)
        Looked.objects.filter(person=person, change__lt=reached).update(change=reached, at=timezone.now())


def _name(text: str) -> str:
    name = " ".join(text.replace("\0", "").split())[:_NAME_CHARS]
    if not name or holds_secret(name):
        raise NotPermittedError("A view needs a name of one to 40 characters. Nothing was saved.")
    return name


def _stored(view: SavedView) -> SavedView:
    try:
        with transaction.atomic():
            view.save()
    except IntegrityError as error:
        raise NotPermittedError(f"You have a view called “{view.name}” already. Nothing was saved.") from error
    return view
