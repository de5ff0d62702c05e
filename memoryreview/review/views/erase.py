"""Erasing a text from the whole history. A typed text comes by form only, and goes back in no page, address or row."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from memoryreview.core.errors import MemoryReviewError
from memoryreview.review.models import Change, Store
from memoryreview.review.operations import erase as operation
from memoryreview.review.operations.permissions import may_maintain
from memoryreview.review.presenters import links
from memoryreview.review.presenters.erase import Asked, erase_page

from . import toast
from .access import Request, number, signed_in
from .answers import Problem, see_other
from .errors import refusal
from .stepup import step_up
from .stores import visible_store
from .toast import Toast


@sensitive_post_parameters("text", "password")
@require_http_methods(["GET", "POST"])
@signed_in
def erase(request: Request, slug: str) -> HttpResponse:
    """Ask what to erase, show what that would do, and do it after store name and password were typed."""
    store = visible_store(request, slug)
    if not may_maintain(request.user, store):
        return refusal(request, 403, _("Erasing is for the store's owner or a maintainer of its team."))
    asked = _asked(request)
    change = Change.objects.filter(store=store, oid=asked.change).first() if asked.change else None
    if request.method == "GET":
        return _form(request, store, asked, change, None)
    try:
        text = _text(request, asked, change)
        if request.POST.get("act") != "erase":
            return _preview(request, store, asked, text, None)
    except MemoryReviewError as error:
        return _form(request, store, asked, change, Problem.of(error))
    return _erase(request, store, asked, text)


def _asked(request: Request) -> Asked:
    sent = request.GET if request.method == "GET" else request.POST
    return Asked(
        path=sent.get("path", "").strip(),
        change=sent.get("change", ""),
        first=number(sent.get("first", "")),
        last=number(sent.get("last", "")) or number(sent.get("first", "")),
    )


def _text(request: Request, asked: Asked, change: Change | None) -> str:
    """Return the text that is to go, "" for a whole document. Raises CannotApplyError for lines that are not there."""
    if change is not None:
        return operation.lines_of(change, asked.path, asked.first, asked.last)
    return "" if asked.path else request.POST.get("text", "")


def _whole(asked: Asked) -> str:
    return "" if asked.change else asked.path


def _erase(request: Request, store: Store, asked: Asked, text: str) -> HttpResponse:
    wrong = step_up(request)
    if wrong:
        return _preview(request, store, asked, text, Problem(wrong, 403))
    toast.take(request)  # what it tells may quote the text, and this request saves the session after its end
    try:
        done = operation.erase(
            store,
            person=request.user,
            text=text,
            path=_whole(asked),
            shown=request.POST.get("shown", ""),
            confirmation=request.POST.get("confirmation", ""),
            note=request.POST.get("note", "").strip(),
        )
    except MemoryReviewError as error:
        return _preview(request, store, asked, text, Problem.of(error))
    toast.put(request, Toast(_("Erased. What it was is kept nowhere.")))
    return see_other(links.oid_url(done.head))


def _preview(request: Request, store: Store, asked: Asked, text: str, problem: Problem | None) -> HttpResponse:
    try:
        found = operation.preview(store, person=request.user, text=text, path=_whole(asked))
    except MemoryReviewError as error:
        return _form(request, store, asked, None, problem or Problem.of(error))
    page = erase_page(store, asked, None, found)
    context = {"page": page, "problem": problem, "confirmation": request.POST.get("confirmation", "")}
    return render(request, "review/erase.html", context, status=problem.status if problem else 200)


def _form(request: Request, store: Store, asked: Asked, change: Change | None, problem: Problem | None) -> HttpResponse:
    context = {"page": erase_page(store, asked, change, None), "problem": problem}
    return render(request, "review/erase.html", context, status=problem.status if problem else 200)
