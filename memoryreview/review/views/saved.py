"""Filters that a person named, and what was applied by proof since they last looked."""

from __future__ import annotations

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from memoryreview.core.errors import MemoryReviewError
from memoryreview.review.models import Looked, SavedView
from memoryreview.review.operations import saved
from memoryreview.review.presenters import links
from memoryreview.review.presenters.changes import change_rows, with_names
from memoryreview.review.presenters.filters import Filter, named_views
from memoryreview.review.presenters.words import moment

from . import toast
from .access import Request, number, signed_in
from .answers import Problem, see_other
from .toast import Toast

ROWS = 50


@require_GET
@signed_in
def views(request: Request) -> HttpResponse:
    return _page(request, None)


def _page(request: Request, problem: Problem | None, *, name: str = "") -> HttpResponse:
    wanted = Filter.of((request.POST if request.method == "POST" else request.GET).dict())
    context = {
        "views": named_views(request.user.saved_views.order_by("name").values_list("pk", "name", "query")),
        "wanted": wanted,
        "kept": wanted.query(),
        "name": name,
        "at_most": saved.MAX_SAVED,
        "problem": problem,
        "toast": toast.take(request),
    }
    return render(request, "review/saved_views.html", context, status=problem.status if problem else 200)


@require_POST
@signed_in
def save(request: Request) -> HttpResponse:
    """Keep the present filter under a name, and show it."""
    name, wanted = request.POST.get("name", ""), Filter.of(request.POST.dict())
    try:
        view = saved.save_view(request.user, name=name, query=urlencode(wanted.query()))
    except MemoryReviewError as error:
        return _page(request, Problem.of(error), name=name[:200])
    toast.put(request, Toast(_("Saved the view “%(name)s”. It stands in the menu of the queue.") % {"name": view.name}))
    return see_other(wanted.url())


@require_POST
@signed_in
def rename(request: Request, pk: int) -> HttpResponse:
    try:
        view = saved.rename_view(_own(request, pk), name=request.POST.get("name", ""))
    except MemoryReviewError as error:
        return _page(request, Problem.of(error))
    toast.put(request, Toast(_("The view is called “%(name)s” now.") % {"name": view.name}))
    return see_other(reverse("views"))


@require_POST
@signed_in
def delete(request: Request, pk: int) -> HttpResponse:
    view = _own(request, pk)
    view.delete()
    toast.put(request, Toast(_("Deleted the view “%(name)s”. No proposal was touched.") % {"name": view.name}))
    return see_other(reverse("views"))


def _own(request: Request, pk: int) -> SavedView:
    view = SavedView.objects.filter(person=request.user, pk=pk).first()
    if view is None:
        raise Http404
    return view


@require_GET
@signed_in
def proved(request: Request) -> HttpResponse:
    """List what was applied by proof since the person last looked. Looking is said by a button, never by a visit."""
    before = number(request.GET.get("before", ""))
    found = saved.proved_since(request.user)
    listed = with_names(found.filter(pk__lt=before) if before else found, at_most=ROWS + 1)
    looked = Looked.objects.filter(person=request.user).first()
    context = {
        "rows": change_rows(listed[:ROWS], timezone.now()),
        "newest": found.order_by("-pk").values_list("pk", flat=True).first() or 0,
        "since": moment(looked.at, timezone.now()) if looked and looked.change else None,
        "older": links.with_query(reverse("proved"), before=str(listed[ROWS - 1].pk)) if len(listed) > ROWS else "",
        "toast": toast.take(request),
    }
    return render(request, "review/proved.html", context)


@require_POST
@signed_in
def look(request: Request) -> HttpResponse:
    saved.look(request.user, up_to=number(request.POST.get("up_to", "")))
    toast.put(request, Toast(_("Looked through. What lands by proof from now on is listed here.")))
    return see_other(reverse("proved"))
