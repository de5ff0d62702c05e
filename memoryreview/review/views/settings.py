"""Settings of stores: how much lands without a person."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from memoryreview.core.errors import MemoryReviewError
from memoryreview.core.model import SAFE_KINDS
from memoryreview.review.models import Store
from memoryreview.review.operations import configure
from memoryreview.review.operations.configure import ConfirmationError, SettingError, Settings
from memoryreview.review.operations.errors import StaleViewError
from memoryreview.review.operations.permissions import may_maintain
from memoryreview.review.operations.push import set_push
from memoryreview.review.operations.relocate import relocate
from memoryreview.review.presenters.recorded import in_language
from memoryreview.review.presenters.settings import settings_page, settings_rows, settings_url

from . import toast
from .access import Request, number, signed_in
from .answers import see_other
from .errors import refusal
from .stepup import asks_password, step_up
from .stores import visible_store
from .toast import Toast

FOLDER = "folder"
PUSH = "push_to"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why nothing was saved: `field` is what to correct, "" for the whole form; `loosened` needs the password."""

    sentence: str
    status: int
    field: str = ""
    loosened: tuple[str, ...] = ()


@require_GET
@signed_in
def settings(request: Request) -> HttpResponse:
    """List the stores that a person may set."""
    stores = Store.objects.visible_to(request.user).select_related("team").order_by("slug")
    return render(request, "review/settings.html", {"rows": settings_rows(stores, request.user)})


@require_http_methods(["GET", "POST"])
@signed_in
def store_settings(request: Request, slug: str) -> HttpResponse:
    """Show and save the settings of one store. More than before lands unasked only after the password was given."""
    store = visible_store(request, slug)
    if not may_maintain(request.user, store):
        return refusal(request, 403, _("Settings are for the store's owner or a maintainer of its team."))
    if request.method == "GET":
        return _page(request, store)
    wanted = _wanted(request, store)
    try:
        done = _save(request, store, wanted, confirmed=not asks_password(request))
    except ConfirmationError as needed:
        wrong = step_up(request)
        if wrong:
            return _page(request, store, wanted, Refusal(wrong, 403, loosened=needed.sentences))
        return _answered(request, store, wanted)
    except MemoryReviewError as error:
        return _refused(request, store, wanted, error)
    return done


@require_POST
@signed_in
def store_folder(request: Request, slug: str) -> HttpResponse:
    """Say where the folder of a store is now."""
    typed = request.POST.get(FOLDER, "").strip()
    return _named(request, slug, FOLDER, lambda store: relocate(store, Path(typed), person=request.user))


@require_POST
@signed_in
def store_push(request: Request, slug: str) -> HttpResponse:
    """Say where the baseline of a store is copied to."""
    typed = request.POST.get(PUSH, "")
    return _named(request, slug, PUSH, lambda store: set_push(store, typed, person=request.user))


def _named(request: Request, slug: str, field: str, act: Callable[[Store], str]) -> HttpResponse:
    """Do what names a place outside memoryreview: with the password, and with what is wrong beside the field."""
    store = visible_store(request, slug)
    if not may_maintain(request.user, store):
        return refusal(request, 403, _("Settings are for the store's owner or a maintainer of its team."))
    wrong = step_up(request)
    if wrong:
        return _page(request, store, problem=Refusal(wrong, 403, field))
    try:
        done = act(store)
    except (MemoryReviewError, ValueError) as error:
        status = error.status if isinstance(error, MemoryReviewError) else 400
        return _page(request, store, problem=Refusal(in_language(str(error)), status, field))
    toast.put(request, Toast(done))
    return see_other(settings_url(store.slug))


def _answered(request: Request, store: Store, wanted: Settings) -> HttpResponse:
    try:
        return _save(request, store, wanted, confirmed=True)
    except MemoryReviewError as error:
        return _refused(request, store, wanted, error)


def _save(request: Request, store: Store, wanted: Settings, *, confirmed: bool) -> HttpResponse:
    shown = request.POST.get("shown", "")
    made = configure.configure(store, person=request.user, shown=shown, wanted=wanted, confirmed=confirmed)
    toast.put(
        request,
        Toast(
            _("Saved. %(note)s") % {"note": in_language(made.note)}
            if made
            else _("Nothing differs, so nothing was saved.")
        ),
    )
    return see_other(settings_url(store.slug))


def _refused(request: Request, store: Store, wanted: Settings, error: MemoryReviewError) -> HttpResponse:
    field = error.field if isinstance(error, SettingError) else ""
    typed = None if isinstance(error, StaleViewError) else wanted
    return _page(request, store, typed, Refusal(in_language(str(error)), error.status, field))


def _wanted(request: Request, store: Store) -> Settings:
    """Read the form. What is missing in it counts as the stricter value; who has no folder field keeps the folder."""
    sent = request.POST
    chosen = set(sent.getlist("rules"))
    return Settings(
        switched_off=frozenset(kind for kind in SAFE_KINDS if str(kind) not in chosen),
        index_row_chars=number(sent.get("index_row_chars", "")),
        evidence_root=sent.get("evidence_root", configure.current(store).evidence_root),
        passive="passive" in sent,
    )


def _page(
    request: Request, store: Store, typed: Settings | None = None, problem: Refusal | None = None
) -> HttpResponse:
    page = settings_page(store, request.user, timezone.now(), typed)
    context = {"page": page, "problem": problem, "toast": toast.take(request), "typed": request.POST}
    return render(request, "review/store_settings.html", context, status=problem.status if problem else 200)
