"""A person's own text for a document."""

from __future__ import annotations

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from memoryreview.core.errors import MemoryReviewError
from memoryreview.review.models import Proposal, State, Store
from memoryreview.review.operations.errors import AlreadyDecidedError
from memoryreview.review.operations.write import write
from memoryreview.review.presenters import editing, links
from memoryreview.review.presenters.recorded import in_language
from memoryreview.review.presenters.writing import write_page

from . import toast
from .access import Request, signed_in
from .answers import Problem, see_other
from .errors import refused
from .stepup import step_up
from .stores import visible_store
from .toast import Toast


@sensitive_post_parameters("password")
@require_http_methods(["GET", "POST"])
@signed_in
def write_document(request: Request, slug: str) -> HttpResponse:
    """Write the text of a document, or a new one where no name is given."""
    store = visible_store(request, slug)
    if request.method == "GET":
        path = request.GET.get("path", "")
        return _page(request, store, path, is_new=not path)
    is_new, head = request.POST.get("new") == "1", request.POST.get("head", "")
    path, text = next(iter(editing.typed_texts(request.POST.dict()).items()), ("", ""))
    wrong = step_up(request)
    if wrong:
        return _page(request, store, path, is_new=is_new, typed=text, problem=Problem(wrong, 403))
    try:
        proposal = write(store, path, person=request.user, head=head, text=text, is_new=is_new)
    except AlreadyDecidedError as error:
        toast.put(request, Toast(_("The same change waits already. Nothing was stored.")))
        return see_other(links.proposal_url(error.proposal))
    except MemoryReviewError as error:
        return _page(request, store, path, is_new=is_new, typed=text, problem=Problem.of(error))
    return _written(request, store, proposal)


def _written(request: Request, store: Store, proposal: Proposal) -> HttpResponse:
    if proposal.state == State.APPLIED:
        toast.put(request, Toast(_("Written, as one commit by you.")))
        return see_other(links.document_url(store.slug, proposal.paths[0]))
    words = in_language(proposal.failure) or _("Your text waits for another maintainer. Nothing is written yet.")
    toast.put(request, Toast(words))
    return see_other(links.proposal_url(proposal))


def _page(
    request: Request, store: Store, path: str, *, is_new: bool, typed: str | None = None, problem: Problem | None = None
) -> HttpResponse:
    since = request.POST.get("head", "")
    try:
        page = write_page(store, path, request.user, is_new=is_new, typed=typed, since=since)
    except MemoryReviewError as error:
        return refused(request, error)
    if page is None:
        raise Http404
    context = {"page": page, "problem": problem}
    return render(request, "review/write.html", context, status=problem.status if problem else 200)
