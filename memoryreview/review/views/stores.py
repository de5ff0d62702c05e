"""Stores, their approved documents, and carrying one to a team."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import quote

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_POST

from memoryreview.core.errors import MemoryReviewError
from memoryreview.review.models import Store
from memoryreview.review.operations import anew, configure, losses
from memoryreview.review.operations.errors import AlreadyDecidedError
from memoryreview.review.operations.permissions import may_maintain
from memoryreview.review.operations.promote import promote as promote_document
from memoryreview.review.presenters import links
from memoryreview.review.presenters.document_page import Ask, DocumentPage, document_page
from memoryreview.review.presenters.graph import graph_page
from memoryreview.review.presenters.history import Wanted, listed_changes, renamed_link
from memoryreview.review.presenters.stores import annotated, store_page, store_rows
from memoryreview.review.presenters.words import plural

from . import toast
from .access import Request, number, signed_in
from .answers import see_other
from .errors import refusal, refused
from .history import ROWS, visible_changes
from .stepup import step_up
from .toast import Toast


def visible_store(request: Request, slug: str) -> Store:
    found = Store.objects.visible_to(request.user).select_related("team").filter(slug=slug).first()
    if found is None:
        raise Http404
    return found


@require_GET
@signed_in
def stores(request: Request) -> HttpResponse:
    rows = store_rows(annotated(request.user), timezone.now())
    context = {"rows": rows, "may_name_folder": configure.may_name_folder(request.user)}
    return render(request, "review/stores.html", context)


@require_GET
@signed_in
def store(request: Request, slug: str) -> HttpResponse:
    wanted = request.GET.get("q", "")[:200]
    found = annotated(request.user).filter(slug=slug).first()
    if found is None:
        raise Http404
    context = {
        "toast": toast.take(request),
        "page": store_page(found, timezone.now(), wanted, number(request.GET.get("from", ""))),
        "q": wanted,
        "may_set": may_maintain(request.user, found),
        "may_name_folder": configure.may_name_folder(request.user),
    }
    return render(request, "review/store.html", context)


@require_GET
@signed_in
def document_links(request: Request, slug: str) -> HttpResponse:
    """Show which documents lead to which."""
    found = visible_store(request, slug)
    try:
        page = graph_page(found)
    except MemoryReviewError as error:
        return refused(request, error)
    return render(request, "review/links.html", {"page": page})


@require_GET
@signed_in
def document(request: Request, slug: str, path: str) -> HttpResponse:
    found = visible_store(request, slug)
    asked = {name: request.GET.get(name, "")[:60] for name in ("view", "at", "from", "line")}
    ask = Ask(
        links.readings(path),
        view=asked["view"],
        at=asked["at"],
        start=number(asked["from"]),
        lineno=number(asked["line"]),
    )
    try:
        page = document_page(found, ask, request.user, timezone.now())
    except MemoryReviewError as error:
        return refused(request, error)
    if page is None:
        raise Http404
    if ask.view == "file" and not page.is_gone:
        return _file(page)
    context: dict[str, object] = {"page": page, "toast": toast.take(request)}
    if page.view == "history":
        wanted = Wanted(store=slug, path=page.path)
        context["rows"] = listed_changes(visible_changes(request), wanted, [found], timezone.now(), rows=ROWS).rows
        context["renamed"] = renamed_link(found, page.path) if page.is_gone else None
        context["older"] = links.with_query(reverse("history"), store=slug, path=page.path)
    return render(request, "review/document.html", context)


def _file(page: DocumentPage) -> HttpResponse:
    """Answer with the very bytes, to be saved and never shown as a page of ours."""
    name = quote(page.path.rpartition("/")[2].encode("utf-8", "surrogateescape"))
    disposition = f"attachment; filename*=UTF-8''{name}"
    headers = {"Content-Disposition": disposition, "X-Content-Type-Options": "nosniff"}
    return HttpResponse(page.content, content_type="text/markdown; charset=utf-8", headers=headers)


@sensitive_post_parameters("password")
@require_POST
@signed_in
def put_back(request: Request, slug: str) -> HttpResponse:
    """Bring lost documents back; the page says why when that is impossible."""

    def act(store: Store) -> str:
        count = losses.put_back(store, person=request.user)
        return (
            _("Put %(documents)s back.") % {"documents": plural(count, "approved document")}
            if count
            else _("Nothing is lost any more.")
        )

    return _with_password(request, slug, act)


@require_POST
@signed_in
def accept_loss(request: Request, slug: str) -> HttpResponse:
    """Let lost documents wait in the queue as deletions; nothing is deleted by it."""
    found = visible_store(request, slug)
    try:
        made = losses.accept(found, person=request.user)
    except MemoryReviewError as error:
        return refused(request, error)
    if not made:
        toast.put(request, Toast(_("Nothing is lost any more.")))
        return see_other(links.store_url(found.slug))
    toast.put(request, Toast(_("The deletions wait for a decision. Nothing is deleted yet.")))
    return see_other(links.proposal_url(made[0]))


@sensitive_post_parameters("password")
@require_POST
@signed_in
def begin_anew(request: Request, slug: str) -> HttpResponse:
    """Begin a new baseline where the old one was lost."""

    def act(store: Store) -> str:
        begun = anew.begin_anew(store, person=request.user)
        return _("A new baseline holds %(documents)s. No file was changed.") % {
            "documents": plural(begun.documents, "document")
        }

    return _with_password(request, slug, act)


def _with_password(request: Request, slug: str, act: Callable[[Store], str]) -> HttpResponse:
    """Act on a store once the password is known, and say on its page what came of it, or why nothing did."""
    found = visible_store(request, slug)
    wrong = step_up(request)
    if wrong:
        return refusal(request, 403, wrong)
    try:
        words = act(found)
    except MemoryReviewError as error:
        return refused(request, error)
    toast.put(request, Toast(words))
    return see_other(links.store_url(found.slug))


@require_POST
@signed_in
def promote(request: Request) -> HttpResponse:
    """Propose a document to a team's store; a maintainer of the team decides."""
    source = visible_store(request, request.POST.get("store", ""))
    target = visible_store(request, request.POST.get("to", ""))
    path = request.POST.get("path", "")
    wrong = step_up(request)
    if wrong:
        return refusal(request, 403, wrong)
    try:
        proposal = promote_document(source, path, to=target, person=request.user)
    except AlreadyDecidedError as error:
        toast.put(request, Toast(_("The same promotion waits already. Nothing was stored.")))
        return see_other(links.proposal_url(error.proposal))
    except MemoryReviewError as error:
        return refused(request, error)
    toast.put(
        request,
        Toast(
            _("Proposed %(path)s to %(slug)s. It waits for a maintainer; nothing is shared yet.")
            % {"path": path, "slug": target.slug}
        ),
    )
    return see_other(links.proposal_url(proposal))
