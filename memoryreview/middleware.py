"""What holds for every answer: host, language, and that the page may load nothing from elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse
from django.utils import translation
from django.utils.cache import patch_vary_headers

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


def page_language(get_response: GetResponse) -> GetResponse:
    """Speak to people in the language that a cookie or else the browser asks for, and to agents in English always.

    What is said at the doors of agents is a contract that programs read.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        if request.path_info.startswith(AGENT_DOORS):
            with translation.override(settings.LANGUAGE_CODE):
                return get_response(request)
        language = translation.get_language_from_request(request)
        with translation.override(language):
            response = get_response(request)
        patch_vary_headers(response, ("Accept-Language", "Cookie"))
        response.headers.setdefault("Content-Language", language)
        return response

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
