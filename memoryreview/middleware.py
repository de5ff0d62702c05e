"""What holds for every answer: the host is one of ours, and the page may load nothing from elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse

GetResponse: TypeAlias = Callable[[HttpRequest], HttpResponse]

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "font-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)


AGENT_DOORS = ("/api/", "/hooks/")


def without_cookies(get_response: GetResponse) -> GetResponse:
    """Take cookies away from what is asked at the doors of agents, before a session could be looked up.

    Nothing there may depend on one, and looking costs a query whose failure would be answered with a page.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        if request.path_info.startswith(AGENT_DOORS):
            request.META.pop("HTTP_COOKIE", None)
            request.COOKIES = {}
        return get_response(request)

    return middleware


def check_host(get_response: GetResponse) -> GetResponse:
    """Refuse a foreign Host header before anything runs (DNS rebinding): Django looks only when something asks."""

    def middleware(request: HttpRequest) -> HttpResponse:
        try:
            host = request.get_host()
        except DisallowedHost:
            host = ""
        if not host or host.partition(":")[0].endswith("."):
            return HttpResponse("This address is not served here.\n", status=400, content_type="text/plain")
        return get_response(request)

    return middleware


def security_headers(get_response: GetResponse) -> GetResponse:
    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        response.headers["Content-Security-Policy"] = POLICY
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers["Referrer-Policy"] = "same-origin"
        response.headers["Cross-Origin-Opener-Policy"] = "same-origin"
        response.headers["Cross-Origin-Resource-Policy"] = "same-origin"
        if not request.path.startswith("/static/"):
            response.headers["Cache-Control"] = "no-store"
        return response

    return middleware
