"""Refusals as pages, in the voice of the product: what happened, what was not changed, what to do."""

from __future__ import annotations

import json
import sys

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template import loader
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from memoryreview.core.errors import MemoryReviewError
from memoryreview.database import unusable
from memoryreview.review.presenters.recorded import in_language
from memoryreview.review.presenters.words import Words

_TITLES = Words(
    {
        400: "This request cannot be read",
        403: "Not allowed",
        404: "Nothing here",
        405: "Not that way",
        409: "Not as it was",
        500: "Something broke",
        503: "Busy",
    }
)

_BUG = gettext_noop(
    "This is a fault of memoryreview; its log says more. A decision that was being applied is finished or taken "
    "back at the next start, nothing is lost."
)


def refusal(request: HttpRequest, status: int, sentence: str) -> HttpResponse:
    """Answer with a page, or with an alert when a part of a page asked."""
    if getattr(request, "htmx", False):
        response = HttpResponse(status=status)
        response.headers["HX-Trigger"] = json.dumps({"review:failed": {"sentence": sentence}})
        response.headers["HX-Reswap"] = "none"
        return response
    context = {"status": status, "title": _TITLES.get(status, _("Not done")), "sentence": sentence}
    return render(request, "review/error.html", context, status=status)


def refused(request: HttpRequest, error: MemoryReviewError) -> HttpResponse:
    """Answer with what an operation refused."""
    return refusal(request, error.status, in_language(str(error)))


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    return refusal(request, 400, _("The request cannot be read. Nothing was changed."))


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    return refusal(request, 403, _("You may not do that. Nothing was changed."))


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return refusal(
        request,
        404,
        _("There is no such page, or it is not yours to see. It may have been renamed; start from the queue."),
    )


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer without database, session or context: any of them may be what broke. 503 when it is the database.

    Called while the exception is being handled.
    """
    fault = unusable(sys.exception())
    status, title, sentence = (
        (500, _TITLES[500], _(_BUG)) if fault is None else (503, _("No database"), in_language(str(fault)))
    )
    if getattr(request, "htmx", False):
        return refusal(request, status, sentence)
    context = {"status": status, "title": title, "sentence": sentence, "theme": "auto"}
    return HttpResponse(loader.get_template("review/error.html").render(context), status=status)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    return refusal(
        request,
        403,
        _(
            "The form is older than your session, or came from another page. Nothing was changed; what "
            "you typed is still in the form. Go back, copy it, reload the page and send again."
        ),
    )
