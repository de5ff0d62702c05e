"""What was just done, told once on the next page: in the session, since a form answers with a redirect."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from django.http import HttpRequest

from memoryreview.review.operations.erase_rows import TOLD


@dataclass(frozen=True, slots=True)
class Toast:
    """`decision` is what "Undo" would undo, 0 when nothing; `url` leads to what came of it.

    `undo_url` leads to the page that asks before it is taken back.
    """

    sentence: str
    decision: int = 0
    url: str = ""
    undo_url: str = ""


def put(request: HttpRequest, toast: Toast) -> None:
    request.session[TOLD] = asdict(toast)


def take(request: HttpRequest) -> Toast | None:
    stored = request.session.pop(TOLD, None)
    return Toast(**stored) if stored else None
