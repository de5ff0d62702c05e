"""Health, help, and addresses without their last slash."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_safe

from memoryreview.review.presenters import help as help_text
from memoryreview.review.presenters.health import health_page

from .access import Request, signed_in


@require_GET
def health(request: HttpRequest) -> HttpResponse:
    """Tell a person how the parts do, and everybody else only that the server answers."""
    if not request.user.is_authenticated:
        return HttpResponse("ok\n", content_type="text/plain; charset=utf-8")
    return _health(request)


@signed_in
def _health(request: Request) -> HttpResponse:
    return render(request, "review/health.html", {"page": health_page(request.user, timezone.now())})


@require_GET
@signed_in
def help_page(request: Request, name: str = help_text.NAMES[0]) -> HttpResponse:
    page, pages = help_text.help_page(name), help_text.help_pages()
    if page is None and name != help_text.ALL:
        raise Http404
    return render(request, "review/help.html", {"page": page, "shown": (page,) if page else pages, "pages": pages})


@require_safe
@signed_in
def with_slash(request: Request, slug: str = "") -> HttpResponse:
    return redirect(request.get_full_path(force_append_slash=True), permanent=True)
