"""Signing in and out, and the one-time link that makes an account."""

from __future__ import annotations

from django.contrib.auth import login, logout
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from memoryreview.core.errors import MemoryReviewError
from memoryreview.review.forms import SignInForm, WelcomeForm
from memoryreview.review.operations import accounts

from .access import next_page
from .errors import refusal
from .stepup import note_password


@sensitive_post_parameters("password")
@require_http_methods(["GET", "POST"])
def sign_in(request: HttpRequest) -> HttpResponse:
    if request.user.is_authenticated and request.method == "GET":
        return redirect(next_page(request))
    form = SignInForm(request, data=request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        login(request, form.get_user())
        note_password(request)
        return redirect(next_page(request))
    status = 200 if request.method == "GET" else 422
    return render(request, "review/sign_in.html", {"form": form, "next": next_page(request)}, status=status)


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
            "This link was used, has expired, or never was one. Ask who sent it for a new one. For the first account "
            "of this installation, start it again with “memoryreview up”: it prints a new link.",
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
            return refusal(request, error.status, str(error))
        else:
            login(request, person)
            note_password(request)
            return redirect("queue")
    status = 200 if request.method == "GET" else 422
    return render(request, "review/welcome.html", {"form": form, "team": link.team}, status=status)
