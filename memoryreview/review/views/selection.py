"""Rolling back several changes together: what it would do, and doing it."""

from __future__ import annotations

from collections.abc import Sequence

from django.http import HttpResponse, QueryDict
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from memoryreview.core.errors import MemoryReviewError
from memoryreview.review.models import Change
from memoryreview.review.operations import rollback
from memoryreview.review.operations.inverse import MAX_LATER
from memoryreview.review.presenters import links
from memoryreview.review.presenters.changes import rolled_back_words
from memoryreview.review.presenters.selection import selection_page

from . import toast
from .access import Request, number, signed_in
from .answers import Problem, see_other
from .errors import refused
from .history import visible_changes
from .stepup import step_up
from .toast import Toast


@require_http_methods(["GET", "POST"])
@signed_in
def roll_back_selected(request: Request) -> HttpResponse:
    """Show what would change, or do it and go to the new change."""
    changes = _ticked(request, request.POST if request.method == "POST" else request.GET)
    if request.method == "GET":
        return _preview(request, changes, None)
    wrong = step_up(request)
    if wrong:
        return _preview(request, changes, Problem(wrong, 403))
    shown, note = request.POST.get("shown", ""), request.POST.get("note", "").strip()
    try:
        made = rollback.roll_back_selected(changes, person=request.user, note=note, shown=shown)
    except MemoryReviewError as error:
        return _preview(request, changes, Problem.of(error))
    toast.put(request, Toast(rolled_back_words(made, changes[-1]), undo_url=links.selected_url([made.pk])))
    return see_other(links.change_url(made))


def _ticked(request: Request, form: QueryDict) -> Sequence[Change]:
    """Return the ticked changes that the person may see, newest first."""
    chosen = [number(text) for text in form.getlist("change")[:MAX_LATER]]
    return list(visible_changes(request).select_related("proposal").filter(pk__in=chosen))


def _preview(request: Request, changes: Sequence[Change], problem: Problem | None) -> HttpResponse:
    try:
        page = selection_page(changes, request.user, timezone.now())
    except MemoryReviewError as error:
        return refused(request, error)
    context = {"page": page, "problem": problem, "typed": request.POST.get("note", "")}
    return render(request, "review/rollback_selected.html", context, status=problem.status if problem else 200)
