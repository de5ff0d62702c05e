"""Which language the pages speak: chosen for a browser, kept in a cookie."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import translation
from django.views.decorators.http import require_POST

from .access import next_page
from .answers import see_other


@dataclass(frozen=True, slots=True)
class Language:
    """A language that can be chosen; `name` as its speakers call it."""

    code: str
    name: str


def choices(request: HttpRequest) -> tuple[Language, ...]:
    """Return the languages that a page offers: all but its own.

    Strangers are offered them where they sign in; elsewhere each of their requests would store a session.
    """
    match = request.resolver_match
    is_signed_in = getattr(request, "user", None) is not None and request.user.is_authenticated
    if not is_signed_in and (match is None or match.url_name != "sign-in"):
        return ()
    return others()


def others() -> tuple[Language, ...]:
    """Return the languages besides the one that is spoken."""
    spoken = translation.get_language()
    return tuple(Language(code, name) for code, name in settings.LANGUAGES if code != spoken)


def page_again(request: HttpRequest) -> str:
    """Return where a choice leads back to: the page itself, or the queue where a form was answered."""
    return request.get_full_path() if request.method == "GET" else reverse("queue")


@require_POST
def choose(request: HttpRequest) -> HttpResponse:
    """Remember the language for this browser. One that is not spoken here is ignored."""
    response = see_other(next_page(request))
    code = request.POST.get("language", "")
    if code in dict(settings.LANGUAGES):
        response.set_cookie(
            settings.LANGUAGE_COOKIE_NAME,
            code,
            max_age=settings.LANGUAGE_COOKIE_AGE,
            secure=settings.LANGUAGE_COOKIE_SECURE,
            httponly=settings.LANGUAGE_COOKIE_HTTPONLY,
            samesite="Strict",
        )
    return response
