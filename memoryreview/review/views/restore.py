"""Bringing a whole store back: what it would do, and doing it."""

from __future__ import annotations

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from memoryreview.core.errors import MemoryReviewError
from memoryreview.review.models import Store
from memoryreview.review.operations import moved
from memoryreview.review.operations import restore as operation
from memoryreview.review.operations.errors import NotFoundError
from memoryreview.review.presenters import links
from memoryreview.review.presenters.restore import restore_page, restored_words

from . import toast
from .access import Request, number, signed_in
from .answers import Problem, see_other
from .errors import refused
from .stepup import step_up
from .stores import visible_store
from .toast import Toast


@require_http_methods(["GET", "POST"])
@signed_in
def restore(request: Request, slug: str, oid: str) -> HttpResponse:
    """Show what would change, or do it and go to the new change, which has its own Roll back."""
    store = visible_store(request, slug)
    oid = moved.current(store, oid)
    if request.method == "GET":
        return _preview(request, store, oid, None)
    wrong = step_up(request)
    if wrong:
        return _preview(request, store, oid, Problem(wrong, 403))
    shown, note = request.POST.get("shown", ""), request.POST.get("note", "").strip()
    try:
        made = operation.restore(store, to=oid, person=request.user, shown=shown, note=note)
    except NotFoundError as error:
        raise Http404 from error
    except MemoryReviewError as error:
        return _preview(request, store, oid, Problem.of(error))
    store.refresh_from_db(fields=["differing"])
    toast.put(request, Toast(restored_words(made, store.differing), undo_url=links.selected_url([made.pk])))
    return see_other(links.change_url(made))


def _preview(request: Request, store: Store, oid: str, problem: Problem | None) -> HttpResponse:
    try:
        page = restore_page(store, oid, request.user, timezone.now(), start=number(request.GET.get("start", "")))
    except NotFoundError as error:
        raise Http404 from error
    except MemoryReviewError as error:
        return refused(request, error)
    context = {"page": page, "problem": problem, "typed": request.POST.get("note", "")}
    return render(request, "review/restore.html", context, status=problem.status if problem else 200)
