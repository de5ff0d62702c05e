"""History: what was applied, one change, and rolling it back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from memoryreview.core.errors import MemoryReviewError
from memoryreview.review.models import Change, ChangeKind, Proposal, Store
from memoryreview.review.operations import moved, rollback, unread
from memoryreview.review.operations.errors import CannotApplyError
from memoryreview.review.presenters import editing, links
from memoryreview.review.presenters.changes import change_page, filter_words, rolled_back_words
from memoryreview.review.presenters.entry_history import entry_page
from memoryreview.review.presenters.history import UNREAD, Wanted, kind_choices, listed_changes, renamed_link
from memoryreview.review.presenters.words import plural
from memoryreview.review.querysets import ChangeQuerySet

from . import toast
from .access import Request, number, signed_in
from .answers import Problem, see_other
from .errors import refused
from .stepup import step_up
from .toast import Toast

ROWS = 50
BOXES = 40
UNREAD_AT_MOST = 100
PROVED = "proved"


def visible_changes(request: Request) -> ChangeQuerySet:
    found = Change.objects.visible_to(request.user).newest_first()
    return found.select_related("store__team", "agent", "person", "decision").prefetch_related("rolled_back_by")


def visible_change(request: Request, oid: str) -> Change:
    """Return a change that the person may see; `store` tells two apart that share their commit id.

    An id that a commit had before an erasure leads to it as well.
    """
    seen = visible_changes(request).select_related("decision__person", "decision__agent", "proposal")
    found = seen.filter(oid=oid)
    slug = request.GET.get("store") or request.POST.get("store")
    change = (found.filter(store__slug=slug) if slug else found).first()
    return _moved_change(seen, oid) if change is None else change


def _moved_change(seen: ChangeQuerySet, oid: str) -> Change:
    places = (seen.filter(store=store, oid=new).first() for store, new in moved.everywhere(oid))
    change = next((one for one in places if one is not None), None)
    if change is None:
        raise Http404
    return change


@require_GET
@signed_in
def history(request: Request) -> HttpResponse:
    """List changes, newest first: of all stores, one store, one document or one entry; all, or those unread."""
    wanted = Wanted.of(request.GET.dict(), before=number(request.GET.get("before", "")))
    stores = Store.objects.visible_to(request.user).filter(**({"slug": wanted.store} if wanted.store else {}))
    store = stores.first() if wanted.store else None
    if wanted.entry and wanted.path and store is not None:
        return _entry_history(request, wanted, store)
    page = listed_changes(visible_changes(request), wanted, stores, timezone.now(), rows=ROWS)
    older = links.with_query(reverse("history"), **wanted.query(), before=page.older) if page.older else ""
    context = {
        "rows": page.rows,
        "ticks": "ticked" if any(row.is_undoable for row in page.rows) else "",
        "older": older,
        "title": filter_words(wanted.store, wanted.path),
        "wanted": wanted,
        "kinds": kind_choices(),
        "renamed": renamed_link(store, wanted.path) if store and wanted.path else None,
        "unread": unread_changes(request.user).count(),
        "lost": page.lost,
        "toast": toast.take(request),
    }
    return render(request, "review/history.html", context)


def _entry_history(request: Request, wanted: Wanted, store: Store) -> HttpResponse:
    try:
        page = entry_page(visible_changes(request), wanted, store, timezone.now())
    except MemoryReviewError as error:
        return refused(request, error)
    return render(request, "review/entry_history.html", {"page": page, "wanted": wanted})


def unread_changes(person: User) -> QuerySet[Change, Any]:
    """Return the ids of changes that landed unread and wait to be read, UNREAD_AT_MOST at most."""
    return Change.objects.visible_to(person).unread().values("pk")[:UNREAD_AT_MOST]


@require_POST
@signed_in
def keep(request: Request) -> HttpResponse:
    """Let changes stand that landed unread. Those that somebody kept or rolled back meanwhile are left alone."""
    chosen = [number(text) for text in request.POST.getlist("change")[:ROWS]]
    try:
        kept = unread.keep(visible_changes(request).filter(pk__in=chosen), person=request.user)
    except MemoryReviewError as error:
        return refused(request, error)
    toast.put(
        request,
        Toast(_("Kept %(changes)s.") % {"changes": plural(kept, "change")} if kept else _("Nothing was left to keep.")),
    )
    return see_other(links.with_query(reverse("history"), show=UNREAD, store=request.POST.get("store", "")[:60]))


@require_GET
@signed_in
def change(request: Request, oid: str) -> HttpResponse:
    shown = visible_change(request, oid)
    return _change_page(request, shown, None) if shown.oid == oid else redirect(links.change_url(shown))


def _change_page(request: Request, shown: Change, problem: Problem | None) -> HttpResponse:
    page = change_page(shown, request.user, timezone.now())
    context = {"page": page, "problem": problem, "toast": toast.take(request)}
    return render(request, "review/change.html", context, status=problem.status if problem else 200)


def _undo(request: Request, undone: Change, act: Callable[[Change], Change], *, asks: bool) -> HttpResponse:
    """Roll back and go to the new commit. What is in the way is shown on the page of the change."""
    wrong = step_up(request) if asks else ""
    if wrong:
        return _change_page(request, undone, Problem(wrong, 403))
    try:
        made = act(undone)
    except MemoryReviewError as error:
        return _change_page(request, undone, Problem.of(error))
    toast.put(request, _rolled_back(made, undone, url=links.change_url(made)))
    if request.POST.get("show") == UNREAD:
        return see_other(links.with_query(reverse("history"), show=UNREAD))
    if request.POST.get("show") == PROVED:
        return see_other(reverse("proved"))
    return see_other(links.change_url(made))


@require_POST
@signed_in
def roll_back(request: Request, oid: str) -> HttpResponse:
    undone = visible_change(request, oid)
    is_restore = undone.kind == ChangeKind.RESTORE
    return _undo(request, undone, lambda change: rollback.roll_back(change, person=request.user), asks=is_restore)


@require_POST
@signed_in
def roll_back_together(request: Request, oid: str) -> HttpResponse:
    undone = visible_change(request, oid)
    return _undo(request, undone, lambda change: rollback.roll_back_together(change, person=request.user), asks=True)


def _rolled_back(made: Change, undone: Change, *, url: str = "") -> Toast:
    return Toast(rolled_back_words(made, undone), url=url, undo_url=links.selected_url([made.pk]))


@require_http_methods(["GET", "POST"])
@signed_in
def roll_back_by_hand(request: Request, oid: str) -> HttpResponse:
    """Write the wording that should stand instead of a change, where later changes are in the way."""
    undone = visible_change(request, oid)
    if request.method == "GET":
        return _by_hand_page(request, undone, {}, None)
    typed = editing.typed_texts(request.POST.dict())
    wrong = step_up(request)
    if wrong:
        return _by_hand_page(request, undone, typed, Problem(wrong, 403))
    head = request.POST.get("head", "")
    try:
        made = rollback.roll_back_by_hand(undone, person=request.user, head=head, texts=typed)
    except MemoryReviewError as error:
        return _by_hand_page(request, undone, typed, Problem.of(error))
    if isinstance(made, Proposal):
        toast.put(request, Toast(_("Your wording waits for another maintainer. Nothing is written yet.")))
        return see_other(links.proposal_url(made))
    toast.put(request, _rolled_back(made, undone))
    return see_other(links.change_url(made))


def _by_hand_page(request: Request, undone: Change, typed: dict[str, str], problem: Problem | None) -> HttpResponse:
    page = change_page(undone, request.user, timezone.now())
    contents: dict[str, bytes | None] = {}
    head = ""
    try:
        head, contents = rollback.by_hand(undone)
    except CannotApplyError as error:
        problem = problem or Problem.of(error)
    shown = {path: contents[path] for path in sorted(contents)[:BOXES]}
    context = {"page": page, "head": head, "boxes": editing.boxes(shown, typed), "problem": problem}
    return render(request, "review/change_edit.html", context, status=problem.status if problem else 200)
