"""What views answer with besides pages."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import HttpResponse
from django.utils.encoding import iri_to_uri

from memoryreview.core.errors import MemoryReviewError
from memoryreview.review.presenters.recorded import in_language


@dataclass(frozen=True, slots=True)
class Problem:
    """What stopped an act, shown above the page that it was to change."""

    sentence: str
    status: int

    @classmethod
    def of(cls, error: MemoryReviewError) -> Problem:
        return cls(in_language(str(error)), error.status)


def see_other(url: str) -> HttpResponse:
    """Send the browser on after a form was carried out, so that a reload does not send it again."""
    return HttpResponse(status=303, headers={"Location": iri_to_uri(url)})
