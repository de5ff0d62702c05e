"""What tells of proposals while nobody looks at the queue: a count, and the icon of the tab."""

from __future__ import annotations

from django.http import HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET

from memoryreview.review.operations.waiting import waiting_count
from memoryreview.review.presenters.waiting import count_words

from .access import Request, signed_in

LEGIBLE = 99
"""The largest number that can be read in an icon of 16 pixels."""


def badge_url(count: int) -> str:
    return reverse("badge", args=[min(count, LEGIBLE + 1)]) if count else ""


@require_GET
@signed_in
def count(request: Request) -> JsonResponse:
    """Say how much waits, for `notice.js` of an open page: the number, its words, a sentence and the icon."""
    found = waiting_count(request.user)
    words = count_words(found)
    sentence = ngettext("%(count)s proposal waits for you.", "%(count)s proposals wait for you.", found)
    told = {"count": found, "words": words, "sentence": sentence % {"count": words}, "badge": badge_url(found)}
    return JsonResponse(told)


@require_GET
@signed_in
def badge(request: Request, count: int) -> HttpResponse:
    """Draw the icon of a tab with a number."""
    words = str(count) if count <= LEGIBLE else f"{LEGIBLE}+"
    size = {1: 12, 2: 10}.get(len(words), 7)
    return render(request, "review/badge.svg", {"words": words, "size": size}, content_type="image/svg+xml")
