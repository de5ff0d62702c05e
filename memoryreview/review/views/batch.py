"""Deciding about several proposals: first what would be written, then the outcome of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from memoryreview.core.errors import MemoryReviewError
from memoryreview.review.models import Proposal, Reason
from memoryreview.review.operations import takeback
from memoryreview.review.operations.batch import LARGE, MAX_SELECTED, Outcome, Selected, approve_many, reject_many
from memoryreview.review.operations.opened import RELATED
from memoryreview.review.presenters import batch as presenter

from .access import Request, number, signed_in
from .answers import Problem
from .stepup import step_up


@require_http_methods(["GET", "POST"])
@signed_in
def batch(request: Request) -> HttpResponse:
    """Show the selected proposals, or approve or reject exactly what was shown of them."""
    if request.method == "GET":
        together = ",".join((*request.GET.getlist("proposal"), *request.GET.getlist("alike")))
        return _preview(request, [number(one) for one in together.split(",")])
    selected = list(_selected(request.POST.getlist("selected")))[:MAX_SELECTED]
    act = request.POST.get("act", "")
    if act == "ask":
        return _ask_reason(request, selected)
    wrong = step_up(request) if len(selected) >= LARGE else ""
    problem = Problem(wrong, 403) if wrong else None
    if act == "reject":
        return _reject(request, selected, problem)
    if problem:
        return _preview(request, [one.proposal for one in selected], problem)
    return _done(request, approve_many(selected, person=request.user), "approved")


def _ask_reason(request: Request, selected: Sequence[Selected], problem: Problem | None = None) -> HttpResponse:
    visible = Proposal.objects.visible_to(request.user).in_bulk([one.proposal for one in selected])
    context = {
        "asked": presenter.asked(selected, visible),
        "is_large": len(selected) >= LARGE,
        "typed": request.POST.get("note", ""),
        "problem": problem,
    }
    return render(request, "review/batch_reject.html", context, status=problem.status if problem else 200)


def _reject(request: Request, selected: Sequence[Selected], problem: Problem | None) -> HttpResponse:
    if problem:
        return _ask_reason(request, selected, problem)
    reason, note = request.POST.get("reason", ""), request.POST.get("note", "").strip()
    try:
        stated = reason if reason in set(Reason) else ""
        made = reject_many(selected, person=request.user, reason=stated, note=note)
    except MemoryReviewError as error:
        return _ask_reason(request, selected, Problem.of(error))
    return _done(request, made, "rejected")


def _done(request: Request, made: Sequence[Outcome], did: str) -> HttpResponse:
    context = {
        "outcomes": presenter.done(made),
        "decided": sum(one.is_decided for one in made),
        "did": did,
        "together": presenter.together(made),
        "last": takeback.last_undoable(request.user) if any(one.is_decided for one in made) else None,
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
