"""What all doors of agents have in common: no cookies, no CSRF, and never an answer that is not ours."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

from memoryreview.core.errors import MemoryReviewError
from memoryreview.database import unusable

from .problems import InternalError, MethodNotAllowedError, problem_response

log = logging.getLogger(__name__)
Captured = ParamSpec("Captured")


def door(
    *methods: str,
) -> Callable[[Callable[Concatenate[HttpRequest, Captured], HttpResponse]], Callable[..., HttpResponse]]:
    """Make a view that answers these methods (GET includes HEAD), and every refusal as a problem document.

    Exempt from CSRF, which is right only because nothing behind a door looks at cookies or sessions.
    """
    allowed = [*methods, "HEAD"] if "GET" in methods else list(methods)

    def decorate(view: Callable[Concatenate[HttpRequest, Captured], HttpResponse]) -> Callable[..., HttpResponse]:
        @csrf_exempt
        @wraps(view)
        def answer(request: HttpRequest, *args: Captured.args, **captured: Captured.kwargs) -> HttpResponse:
            try:
                if request.method not in allowed:
                    raise MethodNotAllowedError(allowed)
                response = view(request, *args, **captured)
            except MemoryReviewError as error:
                response = problem_response(error)
            except Exception as error:  # noqa: BLE001  # the outermost edge: an agent gets a problem, the log the rest
                _log_without_values(error, view.__name__)
                response = problem_response(unusable(error) or InternalError())
            if request.method == "HEAD":
                response.content = b""
            return response

        return answer

    return decorate


def _log_without_values(error: Exception, door_name: str) -> None:
    """Log where it failed, not what the exception says: its message may quote the body."""
    frames = "".join(traceback.format_tb(error.__traceback__))
    log.error("%s failed with %s\n%s", door_name, type(error).__qualname__, frames)
