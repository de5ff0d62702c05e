"""Where the lines of a proposal come from, on request: walking a history back takes time that a decision need not."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET
from django.views.decorators.vary import vary_on_headers

from memoryreview.core.errors import MemoryReviewError
from memoryreview.review.presenters.touched import touched_page

from .access import Request, signed_in
from .errors import refused
from .queue import visible_proposal


@require_GET
@vary_on_headers("HX-Request")
@signed_in
def touched(request: Request, pk: int) -> HttpResponse:
    try:
        page = touched_page(visible_proposal(request, pk), timezone.now())
    except MemoryReviewError as error:
        return refused(request, error)
    template = "review/_touched.html" if request.htmx else "review/touched.html"
    return render(request, template, {"page": page})
