"""Search over what is approved."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from memoryreview.review.models import Store
from memoryreview.review.operations.search import search
from memoryreview.review.presenters.search import results_view

from .access import Request, signed_in

MAX_CHARS = 200


@require_GET
@signed_in
def search_page(request: Request) -> HttpResponse:
    """Look for words in all stores of a person, or in one of them."""
    wanted, slug = request.GET.get("q", "")[:MAX_CHARS], request.GET.get("store", "")[:60]
    context = {
        "q": wanted,
        "store": slug,
        "slugs": Store.objects.visible_to(request.user).order_by("slug").values_list("slug", flat=True),
        "results": results_view(search(request.user, wanted, slug=slug)),
    }
    return render(request, "review/search.html", context)
