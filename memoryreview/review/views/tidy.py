"""Tidying: what would be done now, doing it, and what holds it back."""

from __future__ import annotations

from collections.abc import Sequence

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from memoryreview.core.errors import MemoryReviewError
from memoryreview.core.model import Kind
from memoryreview.review.models import Store
from memoryreview.review.operations import tidy_stops
from memoryreview.review.operations.errors import CannotApplyError, StaleViewError
from memoryreview.review.operations.permissions import may_maintain
from memoryreview.review.operations.tidy import tidy
from memoryreview.review.presenters import links
from memoryreview.review.presenters.tidy import TidyPage, done_words, store_tabs, tidy_page

from . import toast
from .access import Request, signed_in
from .answers import Problem, see_other
from .errors import refused
from .toast import Toast


def _stores(request: Request) -> Sequence[Store]:
    """Return the stores in which the person decides."""
    visible = Store.objects.visible_to(request.user).select_related("team").order_by("slug")
    return [store for store in visible if may_maintain(request.user, store)]


def _decided_store(request: Request, slug: str) -> Store:
    store = next((store for store in _stores(request) if store.slug == slug), None)
    if store is None:
        raise Http404
    return store


@require_GET
@signed_in
def page(request: Request) -> HttpResponse:
    stores = _stores(request)
    wanted = request.GET.get("store", "")
    chosen = _decided_store(request, wanted) if wanted else next(iter(stores), None)
    return _page(request, stores, chosen, None)


@require_POST
@signed_in
def run(request: Request, slug: str) -> HttpResponse:
    """Do what the page showed; where it would be something else now, show that instead."""
    store = _decided_store(request, slug)
    try:
        done = tidy(store, person=request.user, shown=request.POST.get("shown", ""))
    except (StaleViewError, CannotApplyError) as error:
        store.refresh_from_db()
        return _page(request, _stores(request), store, Problem.of(error))
    except MemoryReviewError as error:
        return refused(request, error)
    toast.put(request, Toast(done_words(done)))
    return see_other(_url(store))


@require_POST
@signed_in
def switch(request: Request, slug: str) -> HttpResponse:
    """Let the clock tidy a store, or not."""
    store = _decided_store(request, slug)
    is_on = request.POST.get("on") == "1"
    tidy_stops.switch(store, on=is_on, person=request.user)
    sentence = (
        _("%(slug)s is tidied once a day now.") % {"slug": slug}
        if is_on
        else _("%(slug)s is tidied only when you ask for it now.") % {"slug": slug}
    )
    toast.put(request, Toast(sentence))
    return see_other(_url(store))


@require_POST
@signed_in
def resume(request: Request, slug: str) -> HttpResponse:
    """Let a rule that stopped tidy a store again."""
    store = _decided_store(request, slug)
    rule = request.POST.get("rule", "")
    if rule not in set(Kind):
        raise Http404
    tidy_stops.resume(store, Kind(rule), person=request.user)
    toast.put(request, Toast(_("Switched on again. What was rolled back is not done again.")))
    return see_other(_url(store))


def _url(store: Store) -> str:
    return links.with_query(reverse("tidy"), store=store.slug)


def _page(request: Request, stores: Sequence[Store], store: Store | None, problem: Problem | None) -> HttpResponse:
    now = timezone.now()
    shown: TidyPage | None = None
    if store is not None:
        try:
            shown = tidy_page(store, now)
        except CannotApplyError as error:
            problem = problem or Problem.of(error)
    context = {
        "tabs": store_tabs(stores, store.slug if store else "", now),
        "page": shown,
        "problem": problem,
        "toast": toast.take(request),
    }
    return render(request, "review/tidy.html", context, status=problem.status if problem else 200)
