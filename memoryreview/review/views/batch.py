"""Approving several proposals: first what would be written, then the outcome of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from memoryreview.review.models import Proposal
from memoryreview.review.operations.batch import LARGE, MAX_SELECTED, Selected, approve_many
from memoryreview.review.presenters import batch as presenter

from .access import Request, number, signed_in
from .answers import Problem
from .queue import RELATED
from .stepup import step_up


@require_http_methods(["GET", "POST"])
@signed_in
def batch(request: Request) -> HttpResponse:
    """Show the selected proposals, or approve exactly what was shown of them."""
    if request.method == "GET":
        return _preview(request, [number(one) for one in request.GET.getlist("proposal")])
    selected = list(_selected(request.POST.getlist("selected")))[:MAX_SELECTED]
    wrong = step_up(request) if len(selected) >= LARGE else ""
    if wrong:
        return _preview(request, [one.proposal for one in selected], Problem(wrong, 403))
    made = approve_many(selected, person=request.user)
    context = {
        "outcomes": presenter.done(made),
        "approved": sum(1 for one in made if one.change),
        "together": presenter.together(made),
    }
    return render(request, "review/batch_done.html", context)


def _preview(request: Request, numbers: Iterable[int], problem: Problem | None = None) -> HttpResponse:
    found = Proposal.objects.visible_to(request.user).waiting().filter(pk__in=list(numbers)).in_queue_order()
    chosen = presenter.chosen(found.select_related(*RELATED)[:MAX_SELECTED], request.user)
    ready = [one for one in chosen if one.value]
    context = {
        "ready": ready,
        "left_out": [one for one in chosen if not one.value],
        "is_large": len(ready) >= LARGE,
        "at_most": MAX_SELECTED,
        "more": max(0, found.count() - MAX_SELECTED),
        "problem": problem,
    }
    return render(request, "review/batch.html", context, status=problem.status if problem else 200)


def _selected(values: Iterable[str]) -> Iterator[Selected]:
    for value in values:
        pk, _, rest = value.partition(":")
        version, _, shown = rest.partition(":")
        if number(pk) and number(version):
            yield Selected(number(pk), number(version), shown)
