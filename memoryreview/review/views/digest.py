"""The daily digest: the page, where else it goes, and what was sent."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_POST

from memoryreview.core.errors import MemoryReviewError
from memoryreview.review.models import Endpoint, Message
from memoryreview.review.operations import digest, notify
from memoryreview.review.presenters.digest import digest_page

from . import toast
from .access import Request, signed_in
from .answers import Problem, see_other
from .stepup import step_up
from .toast import Toast


@require_GET
@signed_in
def page(request: Request) -> HttpResponse:
    return _page(request)


def _page(request: Request, *, problem: Problem | None = None, secret: str = "") -> HttpResponse:
    context = {
        "page": digest_page(request.user, timezone.now()),
        "problem": problem,
        "secret": secret,
        "typed": request.POST.get("url", ""),
        "toast": toast.take(request),
    }
    return render(request, "review/digest.html", context, status=problem.status if problem else 200)


@require_POST
@signed_in
def make_now(request: Request) -> HttpResponse:
    """Make today's digest without waiting for its hour. There is one a day, however often this is pressed."""
    made = digest.make(request.user, timezone.now())
    toast.put(request, Toast(_("Today’s digest is made.") if made else _("Today’s digest was made already.")))
    return see_other(reverse("digest"))


@require_POST
@signed_in
def set_file(request: Request) -> HttpResponse:
    """Say whether digests become files."""
    wanted = "writes_file" in request.POST
    Endpoint.objects.update_or_create(person=request.user, defaults={"writes_file": wanted})
    toast.put(request, Toast(_("Each digest becomes a file.") if wanted else _("Digests become no files any more.")))
    return see_other(reverse("digest"))


@sensitive_post_parameters("password")
@require_POST
@signed_in
def set_webhook(request: Request) -> HttpResponse:
    """Say where events go. The new secret stands on the answer to the form and nowhere else."""
    wrong = step_up(request)
    if wrong:
        return _page(request, problem=Problem(wrong, 403))
    try:
        secret = notify.set_webhook(request.user, request.POST.get("url", ""))
    except MemoryReviewError as error:
        return _page(request, problem=Problem.of(error))
    if secret:
        return _page(request, secret=secret)
    toast.put(request, Toast(_("Nothing is sent any more.")))
    return see_other(reverse("digest"))


@require_POST
@signed_in
def redeliver(request: Request, pk: UUID) -> HttpResponse:
    """Send a message again, within a minute."""
    message = Message.objects.filter(person=request.user, pk=pk).first()
    if message is None:
        raise Http404
    notify.redeliver(message)
    toast.put(request, Toast(_("It is sent again within a minute.")))
    return see_other(reverse("digest"))
