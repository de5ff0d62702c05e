"""The queue: a list, the selected proposal, and what speaks for it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET

from memoryreview.review.models import Change, ChangeKind, Proposal
from memoryreview.review.operations import queue_search, takeback
from memoryreview.review.operations.listing import WALKED, Reader
from memoryreview.review.operations.opened import opened
from memoryreview.review.operations.saved import proved_since
from memoryreview.review.operations.takeback import Undoable
from memoryreview.review.operations.waiting import COUNTED_AT_MOST, overdue
from memoryreview.review.presenters import links
from memoryreview.review.presenters.documents import LAYOUTS, SPLIT, requested_look
from memoryreview.review.presenters.filters import (
    Chip,
    Field,
    Filter,
    Pages,
    ViewLink,
    behind_words,
    built_in_views,
    chips,
    fitting_words,
    form_fields,
    heading,
    named_views,
    pages,
    view_links,
)
from memoryreview.review.presenters.first_run import first_run
from memoryreview.review.presenters.proposal import Around, ProposalPage, proposal_page
from memoryreview.review.presenters.rows import Row, rows
from memoryreview.review.presenters.waiting import count_words, oldest_view

from . import toast
from .access import Request, number, signed_in
from .history import unread_changes
from .watch import badge_url

ROWS = 50
NEWS_AT_MOST = 99
_YEAR_S = 365 * 24 * 60 * 60
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
        "alike",
        "added",
        "removed",
        "deletes",
    ),
    *(
        "repeats",
        "failure",
        "snoozed_until",
        "promoted_from",
        "store__slug",
        "store__format",
        "agent__name",
        "person__username",
    ),
)
_LEAN = Proposal.objects.select_related("store", "agent", "person").only(*_OF_A_ROW)


def requested_filter(request: HttpRequest) -> Filter:
    return Filter.of((request.POST if request.method == "POST" else request.GET).dict())


def visible_proposal(request: Request, pk: int) -> Proposal:
    """Return a proposal that the person may see. A stranger's question has the same answer as one about nothing."""
    found = opened(request.user, pk)
    if found is None:
        raise Http404
    return found


def decided_proposal(request: Request, pk: int) -> Proposal:
    """Return the same for a decision, without what its page alone reads along."""
    found = Proposal.objects.visible_to(request.user).select_related("store__team", "agent").filter(pk=pk)
    proposal = next(iter(found), None)
    if proposal is None:
        raise Http404
    return proposal


@require_GET
@signed_in
def queue(request: Request) -> HttpResponse:
    return frame(request, None)


@require_GET
@signed_in
def proposal(request: Request, pk: int) -> HttpResponse:
    """Show one proposal beside the list; a part of a page asks for the panes only."""
    dropped = map(number, request.GET.getlist("drop"))
    response = panes(request, visible_proposal(request, pk), dropped=frozenset(dropped))
    if (layout := request.GET.get("layout")) in LAYOUTS:
        response.set_cookie("layout", layout, max_age=_YEAR_S, samesite="Strict", secure=request.is_secure())
    return response


@dataclass(frozen=True, slots=True)
class _List:
    """The list pane. `newest`: the newest proposal of all when it was made, 0 for none.

    `fitting`: how many there are. `walked`: among how many the page looked, 0 when all that fits is found.
    """

    rows: tuple[Row, ...]
    heading: str
    newest: int
    fitting: str
    views: tuple[ViewLink, ...]
    chips: tuple[Chip, ...]
    save_url: str
    fields: tuple[Field, ...]
    agents: tuple[str, ...]
    ignored: tuple[str, ...]
    pages: Pages
    walked: int
    unread: int
    proved: str
    waiting: int
    last: Undoable | None


def _proved(person: User) -> QuerySet[Change, Any]:
    return proved_since(person).values("pk")[: COUNTED_AT_MOST + 1]


def _list(request: Request, reader: Reader, wanted: Filter) -> _List:
    is_behind = bool(wanted.asked.terms) and reader.has_unsearched and queue_search.catch_up()
    if wanted.before or wanted.at_end:
        listing = reader.page_before(wanted.before, wanted.asked, _LEAN, rows=ROWS)
    else:
        listing = reader.page_after(wanted.after, wanted.asked, _LEAN, rows=ROWS)
    own = named_views(reader.saved)
    views = [*built_in_views(), *((view.name, view.wanted) for view in own)]
    asked = [*(view.asked for _, view in views), wanted.asked]
    counted = reader.count(asked, unread_changes, _proved, along=[takeback.newest])
    counts, (unread, proved) = counted.fitting, counted.others
    words = [
        fitting_words(count, is_walked=is_cut, total=counts[0])
        for count, is_cut in zip(counts, counted.cut, strict=True)
    ]
    return _List(
        rows=rows(listing.proposals, timezone.now(), wanted.query()),
        heading=heading(wanted),
        newest=counted.newest,
        fitting=words[-1],
        views=view_links(wanted, views, words[:-1]),
        chips=chips(wanted),
        save_url=links.with_query(reverse("views"), **wanted.query()),
        fields=form_fields(wanted, stores=[store.slug for store in reader.stores]),
        agents=tuple(sorted({proposal.agent.name for proposal in listing.proposals if proposal.agent})),
        ignored=(*wanted.ignored, *behind_words(is_behind=is_behind)),
        pages=pages(wanted, listing),
        walked=WALKED if listing.is_short else 0,
        unread=unread,
        proved=count_words(proved),
        waiting=counts[0],
        last=takeback.undoable(request.user, *counted.along),
    )


def panes(
    request: Request, proposal: Proposal, *, status: int = 200, dropped: Collection[int] = (), **extra: object
) -> HttpResponse:
    """Render one proposal: its panes to htmx, the whole page to everybody else."""
    if not request.htmx or request.htmx.history_restore_request:
        return frame(request, proposal, status=status, dropped=dropped, **extra)
    context = {"page": read(request, proposal, dropped), "kept": requested_filter(request).query(), **extra}
    return _varied(render(request, "review/_panes.html", context, status=status))


def read(
    request: Request, proposal: Proposal, dropped: Collection[int] = (), reader: Reader | None = None
) -> ProposalPage:
    layout = request.GET.get("layout") or request.COOKIES.get("layout")
    look = requested_look(request.GET.dict(), kept=requested_filter(request).query(), is_split=layout == SPLIT)
    look = replace(look, seen=request.POST.get("seen", ""))
    around = Around(reader.rights(proposal.store_id), reader.near()) if reader else None
    return proposal_page(proposal, request.user, timezone.now(), look, dropped, around)


def frame(
    request: Request, chosen: Proposal | None, *, status: int = 200, dropped: Collection[int] = (), **extra: object
) -> HttpResponse:
    """Render the list beside the chosen proposal, the first one when none was chosen."""
    wanted, reader = requested_filter(request), Reader.of(request.user)
    listed = _list(request, reader, wanted)
    selected = chosen or (visible_proposal(request, listed.rows[0].id) if listed.rows else None)
    context = {
        "list": listed,
        "wanted": wanted,
        "page": read(request, selected, dropped, reader) if selected else None,
        "shows": "proposal" if chosen else "list",
        "waiting": listed.views[0].count,
        "badge": badge_url(listed.waiting),
        "overdue": oldest_view(overdue(reader.watched), timezone.now()),
        "alarmed": [store.slug for store in reader.watched if store.alarm],
        "last": listed.last,
        "toast": toast.take(request),
        "kept": wanted.query(),
        **(emptiness(request, wanted) if selected is None else {}),
        **extra,
    }
    return _varied(render(request, "review/queue.html", context, status=status))


def emptiness(request: Request, wanted: Filter) -> dict[str, object]:
    """What is true when nothing waits: nothing happened yet, nothing that fits the filter, or all decided."""
    today = timezone.now().replace(hour=0, minute=0, second=0, microsecond=0)
    proved = Change.objects.visible_to(request.user).filter(
        kind=str(ChangeKind.AUTO), certificate__isnull=False, at__gte=today
    )
    first = None if wanted.query() else first_run(request.user)
    return {
        "first": first,
        **({"shows": "proposal"} if first else {}),  # a narrow page shows one pane, and the list has nothing to say
        "is_filtered": bool(wanted.query()),
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
