"""What was just done, told once on the next page: in the session, since a form answers with a redirect."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from django.http import HttpRequest

_KEY = "toast"


@dataclass(frozen=True, slots=True)
class Toast:
    """`decision` is what "Undo" would undo, 0 when nothing; `url` leads to what came of it."""

    sentence: str
    decision: int = 0
    url: str = ""


def put(request: HttpRequest, toast: Toast) -> None:
    request.session[_KEY] = asdict(toast)


def take(request: HttpRequest) -> Toast | None:
    stored = request.session.pop(_KEY, None)
    return Toast(**stored) if stored else None
