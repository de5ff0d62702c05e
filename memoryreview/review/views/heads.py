"""Comparing two states of a store, and carrying one away."""

from __future__ import annotations

from tempfile import SpooledTemporaryFile
from typing import cast

from django.http import FileResponse, Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET

from memoryreview.core.errors import MemoryReviewError
from memoryreview.review.models import Change, Store
from memoryreview.review.operations import heads
from memoryreview.review.operations.errors import NotFoundError
from memoryreview.review.presenters import links
from memoryreview.review.presenters.compare import choosing, compare_page, zip_name

from .access import Request, number, signed_in
from .answers import Problem
from .errors import refused
from .stores import visible_store

_IN_MEMORY_BYTES = 8 * 1024 * 1024


@require_GET
@signed_in
def choose(request: Request, slug: str) -> HttpResponse:
    """Ask for two heads; go to what differs between them."""
    store = visible_store(request, slug)
    old, new = (request.GET.get(name, "")[:60] for name in ("from", "to"))
    problem = None
    if old or new:
        try:
            first, second = heads.head_named(store, old), heads.head_named(store, new)
            return redirect(links.compare_url(slug, first.oid, second.oid))
        except NotFoundError as error:
            problem = Problem.of(error)
    context = {"page": choosing(store, timezone.now()), "problem": problem, "old": old, "new": new}
    return render(request, "review/compare.html", context, status=problem.status if problem else 200)


@require_GET
@signed_in
def compare(request: Request, slug: str, old: str, new: str) -> HttpResponse:
    store = visible_store(request, slug)
    first, second = _head(store, old), _head(store, new)
    try:
        page = compare_page(first, second, timezone.now(), start=number(request.GET.get("start", "")))
    except MemoryReviewError as error:
        return refused(request, error)
    context = {"page": page, "problem": None, "old": first.oid[:7], "new": second.oid[:7]}
    return render(request, "review/compare.html", context)


@require_GET
@signed_in
def download(request: Request, slug: str, oid: str = "") -> HttpResponse:
    """Answer with the approved documents of a head as a zip, by default of the present one."""
    store = visible_store(request, slug)
    newest = Change.objects.filter(store=store).select_related("store").order_by("-pk").first()
    head = _head(store, oid) if oid else newest
    if head is None:
        raise Http404
    file = SpooledTemporaryFile(max_size=_IN_MEMORY_BYTES)  # noqa: SIM115  # the response closes it
    try:
        heads.write_zip(head, file)
    except MemoryReviewError as error:
        file.close()
        return refused(request, error)
    file.seek(0)
    answer = FileResponse(file, as_attachment=True, filename=zip_name(head), content_type="application/zip")
    return cast("HttpResponse", answer)  # Django's base class of both is of no use to a decorator


def _head(store: Store, oid: str) -> Change:
    try:
        return heads.head_named(store, oid)
    except NotFoundError as error:
        raise Http404 from error
