"""What every page says of the stores that somebody sees, and of that person, in one question."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import Case, Exists, OuterRef, When
from django.utils import timezone

from memoryreview.core.model import Scope
from memoryreview.review.models import Proposal, Role, SavedView, Store
from memoryreview.review.prepared import Prepared, now
from memoryreview.review.querysets import JsonRows

from .waiting import WATCHED, Watched, with_oldest

_REACHABLE = ("pk", "slug", "scope", "decides", "format", "baseline")
_SAVED = {"number": "pk", "named": "name", "asked": "query"}
_KEPT_QUESTIONS = 128


@dataclass(frozen=True, slots=True)
class Reachable:
    """A store that somebody sees. `decides`: its owner, or a maintainer of its team."""

    pk: int
    slug: str
    scope: str
    decides: bool
    format: str
    baseline: UUID


@dataclass(frozen=True, slots=True)
class Reach:
    """`stores` are those that the person sees, by name.

    `is_alone`: there is nobody else who could approve what the person proposed. `watched` is what every page says of
    the stores, `saved` the views that the person named: id, name and query. `has_unsearched`: a proposal changed since
    it was read for searching.
    """

    stores: tuple[Reachable, ...]
    is_alone: bool
    watched: tuple[Watched, ...]
    saved: tuple[tuple[int, str, str], ...]
    has_unsearched: bool


def reach(person: User) -> Reach:
    rows = _question(person).ask(now=timezone.now())
    saved = rows[0][len(_REACHABLE) + 1] if rows else person.saved_views.order_by("name").values_list(*_SAVED.values())
    return Reach(
        stores=tuple(Reachable(*row[: len(_REACHABLE)]) for row in rows),
        is_alone=not any(row[len(_REACHABLE)] for row in rows),
        watched=tuple(Watched(*row[-len(WATCHED) :]) for row in rows),
        saved=tuple((pk, name, query) for pk, name, query in saved or ()),
        has_unsearched=any(row[len(_REACHABLE) + 2] for row in rows),
    )


@lru_cache(maxsize=_KEPT_QUESTIONS)
def _question(person: User) -> Prepared[tuple[Any, ...]]:
    maintained = person.memberships.filter(role=str(Role.MAINTAINER), team=OuterRef("team"))
    seen = with_oldest(Store.objects.visible_to(person), now()).annotate(
        decides=Case(When(scope=str(Scope.PRIVATE), then=True), default=Exists(maintained)),
        has_others=Exists(User.objects.filter(is_active=True).exclude(pk=person.pk)),
        saved=JsonRows(SavedView.objects.filter(person=person).order_by("name"), **_SAVED),
        unsearched=Exists(Proposal.objects.filter(is_unsearched=True)),
    )
    return Prepared(seen.order_by("slug").values_list(*_REACHABLE, "has_others", "saved", "unsearched", *WATCHED))
