"""Signing in and out, and the one-time link that makes an account."""

from __future__ import annotations

from django.contrib.auth import login, logout
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from memoryreview.core.errors import MemoryReviewError
from memoryreview.review.forms import SignInForm, WelcomeForm
from memoryreview.review.operations import accounts
from memoryreview.review.presenters.recorded import in_language

from . import throttle
from .access import next_page
from .errors import refusal
from .language import others
from .stepup import note_password

ANONYMOUS_S = 60 * 60
"""How long the session of somebody who only looked at the sign-in page is kept; it holds the key of the form."""


@sensitive_post_parameters("password")
@require_http_methods(["GET", "POST"])
def sign_in(request: HttpRequest) -> HttpResponse:
    if request.method == "POST":
        return _check_password(request)
    if request.user.is_authenticated:
        return redirect(next_page(request))
    request.session.set_expiry(ANONYMOUS_S)
    return _sign_in_page(request, SignInForm(request))


def _check_password(request: HttpRequest) -> HttpResponse:
    name = request.POST.get("username", "")
    wait_s = throttle.passwords.begin(name)
    if wait_s:
        waiting = SignInForm(request, initial={"username": name})
        response = _sign_in_page(request, waiting, status=429, problem=throttle.wait_words(wait_s))
        response.headers["Retry-After"] = str(wait_s)
        return response
    form = SignInForm(request, data=request.POST)
    if not form.is_valid():
        return _sign_in_page(request, form, status=422)
    throttle.passwords.forget(name)
    _let_in(request, form.get_user())
    return redirect(next_page(request))


def _let_in(request: HttpRequest, person: User) -> None:
    login(request, person)
    request.session.set_expiry(None)  # the one that was begun for the form ends sooner
    note_password(request)


def _sign_in_page(request: HttpRequest, form: SignInForm, *, status: int = 200, problem: str = "") -> HttpResponse:
    context = {"form": form, "next": next_page(request), "problem": problem}
    return render(request, "review/sign_in.html", context, status=status)


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    logout(request)
    return redirect("sign-in")


@sensitive_post_parameters("password", "again")
@require_http_methods(["GET", "POST"])
def welcome(request: HttpRequest, token: str) -> HttpResponse:
    """Make the account that a one-time link stands for, and sign in with it."""
    link = accounts.find_link(token)
    if link is None:
        return refusal(
            request,
            404,
            _(
                "This link was used, has expired, or never was one. Ask who sent it for a new one. For the "
                "first account of this installation, start it again with “memoryreview up”: it prints a new "
                "link."
            ),
        )
    form = WelcomeForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            person = accounts.create_account(
                link, username=form.cleaned_data["username"], password=form.cleaned_data["password"]
            )
        except ValidationError as error:
            form.add_error(None if hasattr(error, "error_dict") else "password", error)
        except MemoryReviewError as error:
            return refusal(request, error.status, in_language(str(error)))
        else:
            _let_in(request, person)
            return redirect("queue")
    status = 200 if request.method == "GET" else 422
    context = {"form": form, "team": link.team, "languages": others()}
    return render(request, "review/welcome.html", context, status=status)
