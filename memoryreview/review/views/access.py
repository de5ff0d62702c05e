"""Who gets in: sessions only. What an agent holds never reaches a page."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Concatenate, ParamSpec, TypeAlias, cast
from urllib.parse import urlsplit

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme, urlencode
from django.utils.translation import gettext as _
from django_htmx.http import HttpResponseClientRedirect, HttpResponseStopPolling
from django_htmx.middleware import HtmxDetails

from .errors import refusal

P = ParamSpec("P")
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_OWN_PAGES = frozenset({"same-origin", "none"})
_NUMBER_DIGITS = 18  # the longest whose every number fits the database


class Request(HttpRequest):
    """A request of a person who is signed in."""

    user: User
    htmx: HtmxDetails


View: TypeAlias = Callable[Concatenate[Request, P], HttpResponse]
Guarded: TypeAlias = Callable[Concatenate[HttpRequest, P], HttpResponse]


def signed_in(view: View[P]) -> Guarded[P]:
    """Let people through who are signed in; send others to the sign-in page and back again."""

    def guarded(request: HttpRequest, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        if request.headers.get("Authorization", "").startswith("Bearer "):
            return refusal(request, 403, _("An agent's token opens no page and decides nothing. Nothing was changed."))
        foreign = request.headers.get("Sec-Fetch-Site", "none") not in _OWN_PAGES
        if foreign and request.method not in _SAFE_METHODS:
            return refusal(request, 403, _("This form came from another site. Nothing was changed."))
        if request.user.is_authenticated:
            return view(cast("Request", request), *args, **kwargs)
        return _to_sign_in(request)

    return cast("Guarded[P]", update_wrapper(guarded, view))


def _to_sign_in(request: HttpRequest) -> HttpResponse:
    htmx = cast("Request", request).htmx
    came_from = request.get_full_path() if request.method in _SAFE_METHODS else reverse("queue")
    if htmx and htmx.trigger == "fresh":
        # The reader may be typing: a poll that finds the session ended says so, and takes nobody away.
        return HttpResponseStopPolling(render_to_string("review/_signed_out.html", request=request))
    if htmx:
        came_from = _came_from(htmx) or reverse("queue")
        return HttpResponseClientRedirect(f"{reverse('sign-in')}?{urlencode({'next': came_from})}")
    return redirect(f"{reverse('sign-in')}?{urlencode({'next': came_from})}")


def _came_from(htmx: HtmxDetails) -> str:
    """Return which page of ours asked, "" where the browser names none."""
    try:
        return urlsplit(htmx.current_url_abs_path or "").geturl()
    except ValueError:
        return ""


def number(text: str) -> int:
    """Return the whole number that a field holds, 0 where it holds none; no number of a row is 0."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= _NUMBER_DIGITS else 0


def next_page(request: HttpRequest) -> str:
    """Return where to go after signing in: an address of ours, else the queue."""
    wanted = request.POST.get("next") or request.GET.get("next") or ""
    if wanted.startswith("/") and wanted.isprintable() and url_has_allowed_host_and_scheme(wanted, allowed_hosts=None):
        return wanted
    return reverse("queue")
