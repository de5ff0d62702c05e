"""First run: adopt a folder from a page, and notice the first change."""

from __future__ import annotations

from pathlib import Path

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_http_methods
from django_htmx.http import HttpResponseClientRedirect

from memoryreview.core.errors import MemoryReviewError
from memoryreview.review.operations.adopt import Adopted, AdoptError
from memoryreview.review.operations.adopt import adopt as adopt_folder
from memoryreview.review.operations.configure import may_name_folder
from memoryreview.review.presenters.first_run import first_run
from memoryreview.review.presenters.links import store_url
from memoryreview.review.presenters.words import plural

from . import toast
from .access import Request, signed_in
from .answers import Problem, see_other
from .errors import refusal
from .stepup import step_up
from .toast import Toast


@sensitive_post_parameters("password")
@require_http_methods(["GET", "POST"])
@signed_in
def adopt(request: Request) -> HttpResponse:
    """Adopt a folder of this machine, as the command does."""
    if not may_name_folder(request.user):
        return refusal(request, 403, _("Only the owner of this installation names a folder of its disk."))
    if request.method == "GET":
        return _page(request, None)
    wrong = step_up(request)
    if wrong:
        return _page(request, Problem(wrong, 403))
    try:
        adopted = adopt_folder(_named(request.POST.get("path", "")), name=request.POST.get("name", "").strip()[:60])
    except MemoryReviewError as error:
        return _page(request, Problem.of(error))
    toast.put(request, Toast(_done(adopted), url=store_url(adopted.store.slug)))
    return see_other(reverse("queue"))


def _named(typed: str) -> Path:
    """Return the folder that was typed. Raises AdoptError for a path that depends on where the server was started."""
    stated = typed.strip()
    if not stated.startswith(("/", "~")) or "\0" in stated:
        raise AdoptError(_("Name a folder of this machine by its full path. Nothing was changed."))
    try:
        return Path(stated).expanduser()
    except RuntimeError as error:  # the home of nobody
        raise AdoptError(_("That home folder is nobody’s. Nothing was changed; name the full path.")) from error


def _done(adopted: Adopted) -> str:
    wrong = (
        _(" %(things)s in it look wrong.") % {"things": plural(len(adopted.problems), "thing")}
        if adopted.problems
        else ""
    )
    return _("Adopted %(slug)s: %(documents)s. No file was changed.%(wrong)s") % {
        "slug": adopted.store.slug,
        "documents": plural(adopted.documents, "document"),
        "wrong": wrong,
    }


def _page(request: Request, problem: Problem | None) -> HttpResponse:
    context = {"problem": problem, "typed": request.POST}
    return render(request, "review/adopt.html", context, status=problem.status if problem else 200)


@require_GET
@signed_in
def first(request: Request) -> HttpResponse:
    """Lead an open first-run page to the queue as soon as something happened; say nothing until then."""
    if first_run(request.user) is not None:
        return HttpResponse(status=204)
    return HttpResponseClientRedirect(reverse("queue"))
