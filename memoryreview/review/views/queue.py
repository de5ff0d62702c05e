"""The queue: a list, the selected proposal, and what speaks for it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET

from memoryreview.review.models import Change, ChangeKind, Proposal, Store
from memoryreview.review.operations import takeback
from memoryreview.review.presenters import links
from memoryreview.review.presenters.documents import requested_look
from memoryreview.review.presenters.proposal import ProposalPage, proposal_page
from memoryreview.review.presenters.rows import Row, rows
from memoryreview.review.querysets import ProposalQuerySet

from . import toast
from .access import Request, number, signed_in
from .history import unread_count

ROWS = 50
NEWS_AT_MOST = 99
RELATED = ("store__team", "agent", "person", "promoted_from", "rejected_before")
_OF_A_ROW = (
    *(
        "created_at",
        "state",
        "title",
        "claimed_title",
        "claimed_kind",
        "kinds",
        "paths",
        "risk",
        "concerns",
        "added",
        "removed",
        "deletes",
    ),
    *("repeats", "failure", "promoted_from", "store__slug", "store__format", "agent__name", "person__username"),
)


@dataclass(frozen=True, slots=True)
class Filter:
    """Which part of the queue a person looks at; `after` is the cursor of the last row of the page before."""

    words: str = ""
    store: str = ""
    after: str = ""

    def query(self) -> dict[str, str]:
        return {"q": self.words, "store": self.store}


def requested_filter(request: HttpRequest) -> Filter:
    asked = request.POST if request.method == "POST" else request.GET
    return Filter(asked.get("q", "").strip()[:200], asked.get("store", "")[:60], asked.get("after", "")[:40])


def waiting(request: Request, wanted: Filter) -> ProposalQuerySet:
    """Return the proposals of the filter, in queue order, from its cursor on."""
    found = Proposal.objects.visible_to(request.user).waiting().in_queue_order()
    if wanted.store:
        found = found.filter(store__slug=wanted.store)
    if wanted.words:
        words = wanted.words
        found = found.filter(
            Q(title__icontains=words)
            | Q(paths__icontains=words)
            | Q(agent__name__icontains=words)
            | Q(store__slug__icontains=words)
        )
    return beyond(found, wanted.after)


def beyond(found: ProposalQuerySet, cursor: str) -> ProposalQuerySet:
    """Keep what comes after a row. The first bound is implied by the second; it lets the index do the work."""
    stated_risk, _, stated_pk = cursor.partition("-")
    risk, pk = number(stated_risk), number(stated_pk)
    if not pk:
        return found
    return found.filter(risk__lte=risk).filter(Q(risk__lt=risk) | Q(risk=risk, id__lt=pk))


def visible_proposal(request: Request, pk: int) -> Proposal:
    """Return a proposal that the person may see. A stranger's question has the same answer as one about nothing."""
    found = Proposal.objects.visible_to(request.user).select_related(*RELATED).filter(pk=pk).first()
    if found is None:
        raise Http404
    return found


@require_GET
@signed_in
def queue(request: Request) -> HttpResponse:
    return frame(request, None)


@require_GET
@signed_in
def proposal(request: Request, pk: int) -> HttpResponse:
    """Show one proposal beside the list; a part of a page asks for the panes only."""
    return panes(request, visible_proposal(request, pk))


@dataclass(frozen=True, slots=True)
class _List:
    rows: tuple[Row, ...]
    newest: int
    more_url: str


def _list(request: Request, wanted: Filter) -> _List:
    lean = waiting(request, wanted).select_related("store", "agent", "person").only(*_OF_A_ROW)
    found = list(lean[: ROWS + 1])
    prepared = rows(found[:ROWS], timezone.now(), wanted.query())
    newest = max((row.id for row in prepared), default=0)
    more = ""
    if len(found) > ROWS:
        more = links.with_query(reverse("queue"), **wanted.query(), after=prepared[-1].cursor)
    return _List(prepared, newest, more)


def panes(
    request: Request, proposal: Proposal, *, status: int = 200, dropped: Collection[int] = (), **extra: object
) -> HttpResponse:
    """Render one proposal: its panes to htmx, the whole page to everybody else."""
    if not request.htmx or request.htmx.history_restore_request:
        return frame(request, proposal, status=status, dropped=dropped, **extra)
    context = {"page": read(request, proposal, dropped), **requested_filter(request).query(), **extra}
    return _varied(render(request, "review/_panes.html", context, status=status))


def read(request: Request, proposal: Proposal, dropped: Collection[int] = ()) -> ProposalPage:
    look = requested_look(request.GET.dict(), kept=requested_filter(request).query())
    return proposal_page(proposal, request.user, timezone.now(), look, dropped)


def frame(
    request: Request, chosen: Proposal | None, *, status: int = 200, dropped: Collection[int] = (), **extra: object
) -> HttpResponse:
    """Render the list beside the chosen proposal, the first one when none was chosen."""
    wanted = requested_filter(request)
    listed = _list(request, wanted)
    selected = chosen or (visible_proposal(request, listed.rows[0].id) if listed.rows else None)
    context = {
        "list": listed,
        "page": read(request, selected, dropped) if selected else None,
        "shows": "proposal" if chosen else "list",
        "last": takeback.last_undoable(request.user),
        "unread": unread_count(request),
        "toast": toast.take(request),
        **wanted.query(),
        **(emptiness(request, wanted) if selected is None else {}),
        **extra,
    }
    return _varied(render(request, "review/queue.html", context, status=status))


def emptiness(request: Request, wanted: Filter) -> dict[str, object]:
    """What is true when nothing waits: no store yet, nothing that fits the filter, or all decided."""
    today = timezone.now().replace(hour=0, minute=0, second=0, microsecond=0)
    proved = Change.objects.visible_to(request.user).filter(
        kind=str(ChangeKind.AUTO), certificate__isnull=False, at__gte=today
    )
    return {
        "has_stores": Store.objects.visible_to(request.user).exists(),
        "is_filtered": bool(wanted.words or wanted.store),
        "proved_today": proved.count(),
    }


def _varied(response: HttpResponse) -> HttpResponse:
    response.headers["Vary"] = "HX-Request"
    return response


@require_GET
@signed_in
def fresh(request: Request) -> HttpResponse:
    """Say how many proposals came since the list was made; the list itself never moves under a reader."""
    after, seen = request.GET.get("after", ""), request.GET.get("seen", "")
    newer = Proposal.objects.visible_to(request.user).waiting().filter(id__gt=number(after))
    count = newer[: NEWS_AT_MOST + 1].count()
    if seen == str(count):
        return HttpResponse(status=204)
    context = {"newest": number(after), "news": count, "at_most": NEWS_AT_MOST, "is_part": True}
    return _varied(render(request, "review/_fresh.html", context))
