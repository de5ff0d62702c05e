"""Decisions as form posts. Each calls one operation; without htmx it answers with a redirect to the next proposal."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TypeAlias

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from django.views.decorators.http import require_http_methods, require_POST
from django_htmx.http import push_url, trigger_client_event

from memoryreview.core.errors import MemoryReviewError
from memoryreview.core.snooze import Snooze
from memoryreview.review.models import OPEN_STATES, Proposal, Reason, Verb
from memoryreview.review.operations import decide, takeback
from memoryreview.review.operations import snooze as aside
from memoryreview.review.operations.batch import LARGE
from memoryreview.review.operations.duplicates import originals, reject_as_duplicate
from memoryreview.review.operations.errors import RollbackConflictError, StaleViewError
from memoryreview.review.operations.listing import Reader, View
from memoryreview.review.operations.opened import RELATED
from memoryreview.review.operations.partial import LeftOut
from memoryreview.review.operations.waiting import waiting_count
from memoryreview.review.presenters import editing, links
from memoryreview.review.presenters.actions import asked_first
from memoryreview.review.presenters.changes import rolled_back_words
from memoryreview.review.presenters.duplicates import original_views
from memoryreview.review.presenters.recorded import in_language, title_in_language
from memoryreview.review.presenters.rows import title_of
from memoryreview.review.presenters.waiting import count_words
from memoryreview.review.presenters.words import plural, short_oid

from . import toast
from .access import Request, number, signed_in
from .answers import Problem, see_other
from .errors import refused
from .queue import decided_proposal, panes, read, requested_filter, visible_proposal
from .stepup import step_up
from .toast import Toast

_OPENED = Proposal.objects.select_related(*RELATED)
_NOT_AS_SEEN = gettext_noop(
    "What would be written is not what you saw. Nothing was written; this is how it stands now."
)
_NO_TIME = gettext_noop("Choose until when it is put aside. Nothing was changed.")

Decide: TypeAlias = Callable[[int], decide.Decided]


def _number(request: Request, name: str) -> int:
    return number(request.POST.get(name, ""))


@require_POST
@signed_in
def approve(request: Request, pk: int) -> HttpResponse:
    proposal = decided_proposal(request, pk)
    shown = request.POST.get("shown", "")
    version = _number(request, "version")
    dropped = frozenset(map(number, request.POST.getlist("drop")))
    confirm, asked = asked_first(proposal, request.user, dropped)
    if confirm:
        if (asked, proposal.version) != (shown, version):
            return _answer(request, pk, Problem(_NOT_AS_SEEN, 409))
        is_confirmed = request.POST.get("confirm") == "1"
        wrong = step_up(request) if is_confirmed else ""
        if not is_confirmed or wrong:
            problem = Problem(wrong, 403) if wrong else None
            return _answer(request, pk, problem, asks="approve", dropped=dropped)
    return _decide(
        request,
        proposal,
        lambda number: decide.approve(
            number,
            person=request.user,
            version=version,
            shown=shown,
            note=request.POST.get("note", "").strip(),
            confirmed=request.POST.get("confirm") == "1",
            left_out=LeftOut(dropped, _reason(request)),
        ),
        dropped=dropped,
    )


def _reason(request: Request) -> str:
    reason = request.POST.get("reason", "")
    return reason if reason in set(Reason) else ""


@require_POST
@signed_in
def reject(request: Request, pk: int) -> HttpResponse:
    proposal = decided_proposal(request, pk)
    return _decide(
        request,
        proposal,
        lambda number: decide.reject(
            number,
            person=request.user,
            version=_number(request, "version"),
            reason=_reason(request),
            note=request.POST.get("note", "").strip(),
        ),
        asks="reject",
    )


@require_http_methods(["GET", "POST"])
@signed_in
def duplicate(request: Request, pk: int) -> HttpResponse:
    """Choose what came first, and reject the proposal as its duplicate."""
    proposal = visible_proposal(request, pk)
    if request.method == "GET":
        return _duplicate_page(request, proposal, None)
    of, note = request.POST.get("of", ""), request.POST.get("note", "").strip()
    try:
        decided = reject_as_duplicate(pk, person=request.user, version=_number(request, "version"), of=of, note=note)
    except MemoryReviewError as error:
        return _duplicate_page(request, visible_proposal(request, pk), Problem.of(error))
    return _go_on(request, pk, _told(decided), _following(request, proposal))


def _duplicate_page(request: Request, proposal: Proposal, problem: Problem | None) -> HttpResponse:
    try:
        found = originals(proposal, request.user) if proposal.state in OPEN_STATES else ()
    except MemoryReviewError as error:
        found, problem = (), Problem.of(error)
    context = {
        "page": read(request, proposal),
        "originals": original_views(found, proposal.store.slug),
        "typed": request.POST.get("note", ""),
        "problem": problem,
        "kept": requested_filter(request).query(),
    }
    return render(request, "review/proposal_duplicate.html", context, status=problem.status if problem else 200)


@require_POST
@signed_in
def ask(request: Request, pk: int) -> HttpResponse:
    """Hand a proposal back to its agent, with what should change."""
    proposal = decided_proposal(request, pk)
    version, note = _number(request, "version"), request.POST.get("note", "")
    return _decide(
        request,
        proposal,
        lambda number: decide.ask_for_changes(number, person=request.user, version=version, note=note),
        asks="changes",
    )


@require_POST
@signed_in
def snooze(request: Request, pk: int) -> HttpResponse:
    """Put a proposal aside until a time, and go on."""
    proposal = visible_proposal(request, pk)
    version, note, until = _number(request, "version"), request.POST.get("note", ""), request.POST.get("until", "")
    if until not in set(Snooze):
        return _answer(request, pk, Problem(_(_NO_TIME), 422), asks="snooze")
    return _decide(
        request,
        proposal,
        lambda number: aside.snooze(number, person=request.user, version=version, chosen=Snooze(until), note=note),
        asks="snooze",
    )


@require_POST
@signed_in
def wake(request: Request, pk: int) -> HttpResponse:
    """Let a proposal wait again before its time."""
    proposal = visible_proposal(request, pk)
    try:
        woken = aside.wake(pk, person=request.user)
    except MemoryReviewError as error:
        return _answer(request, pk, Problem.of(error))
    told = Toast(f"{_('It waits again:')} {title_of(woken.proposal)}")
    if requested_filter(request).show == View.SNOOZED:
        return _go_on(request, pk, told, _following(request, proposal))
    return _show(request, visible_proposal(request, pk), told)


@require_POST
@signed_in
def reopen(request: Request, pk: int) -> HttpResponse:
    """Let a rejected proposal, or one that is with its agent, wait again."""
    visible_proposal(request, pk)
    try:
        reopened = takeback.reopen(pk, person=request.user, version=_number(request, "version"))
    except MemoryReviewError as error:
        return _answer(request, pk, Problem.of(error))
    sentence = _("Reopened, it waits again: %(title)s") % {"title": title_of(reopened.proposal)}
    return _show(request, visible_proposal(request, pk), Toast(sentence))


@require_POST
@signed_in
def release(request: Request, pk: int) -> HttpResponse:
    """Let a quarantined proposal into the queue. It stays in view: releasing approves nothing."""
    proposal = visible_proposal(request, pk)
    wrong = step_up(request)
    if wrong:
        return _answer(request, pk, Problem(wrong, 403), asks="release")
    try:
        decide.release(
            pk, person=request.user, version=_number(request, "version"), note=request.POST.get("note", "").strip()
        )
    except MemoryReviewError as error:
        return _answer(request, pk, Problem.of(error), asks="release")
    sentence = _("Released, it waits for a decision now: %(title)s") % {"title": title_of(proposal)}
    return _show(request, visible_proposal(request, pk), Toast(sentence))


def _decide(
    request: Request, proposal: Proposal, act: Decide, *, asks: str = "", dropped: Collection[int] = ()
) -> HttpResponse:
    """Decide and go on; what stops it is shown with the sheet `asks` open, so that what was typed stays."""
    try:
        decided = act(proposal.pk)
    except MemoryReviewError as error:
        kept = () if isinstance(error, StaleViewError) else dropped  # the numbers are those of what was shown
        return _answer(request, proposal.pk, Problem.of(error), asks=asks, dropped=kept)
    return _go_on(request, proposal.pk, _told(decided), _following(request, proposal))


def _told(decided: decide.Decided) -> Toast:
    """Say what was done, with what undoes it."""
    title, url, act = title_of(decided.proposal), links.proposal_url(decided.proposal), decided.decision
    number = act.pk if act else 0
    if decided.change is not None:
        oid = short_oid(decided.change.oid)
        words = _("Approved in part") if decided.proposal.dropped else _("Approved")
        return Toast(
            _("%(words)s as %(oid)s: %(title)s")
            % {"words": words, "oid": oid, "title": title_in_language(decided.change.title)},
            number,
            links.change_url(decided.change),
        )
    if act and act.verb == Verb.ASK_CHANGES:
        return Toast(_("Asked for changes: %(title)s") % {"title": title}, number, url)
    if act and act.verb == Verb.SNOOZE and decided.proposal.snoozed_until:
        told = {"time": aside.minute(decided.proposal.snoozed_until), "title": title}
        return Toast(_("Snoozed until %(time)s: %(title)s") % told, number, url)
    reason = _(" as %(reason)s") % {"reason": _(act.reason)} if act and act.reason else ""
    return Toast(_("Rejected%(reason)s: %(title)s") % {"reason": reason, "title": title}, number, url)


def _following(request: Request, decided: Proposal) -> Proposal | None:
    """Return the proposal below the decided one in the list that the person sees, else the one above it."""
    asked, reader, next_pk = requested_filter(request).asked, Reader.of(request.user), _number(request, "next")
    if next_pk and reader.holds(asked, next_pk):
        return visible_proposal(request, next_pk)
    place = reader.place_of(asked, decided)
    below = reader.page_after(place, asked, _OPENED, rows=1).proposals
    return next(iter(below or reader.page_before(place, asked, _OPENED, rows=1).proposals), None)


def _go_on(request: Request, decided: int, told: Toast, following: Proposal | None) -> HttpResponse:
    """Answer with the next proposal: as parts of the page to htmx, as a redirect to everybody else."""
    kept = requested_filter(request).query()
    url = links.with_query(links.proposal_url(following) if following else reverse("queue"), **kept)
    if not request.htmx:
        toast.put(request, told)
        return see_other(url)
    context = {
        "page": read(request, following) if following else None,
        "decided": decided,
        "toast": told,
        "last": takeback.last_undoable(request.user),
        "waiting": count_words(waiting_count(request.user)),
        "is_filtered": bool(kept),
        "kept": kept,
    }
    response = push_url(render(request, "review/_decided.html", context), url)
    event = {"id": decided, "next": following.pk if following else 0}
    return trigger_client_event(response, "review:decided", event, after="settle")


def _answer(
    request: Request, pk: int, problem: Problem | None, *, asks: str = "", dropped: Collection[int] = ()
) -> HttpResponse:
    """Show the proposal as it stands now, with what stopped the decision or is asked first; what was typed stays."""
    return panes(
        request,
        visible_proposal(request, pk),
        status=problem.status if problem else 200,
        problem=problem,
        asks=asks,
        dropped=dropped,
        typed=request.POST.get("note", ""),
    )


def _show(request: Request, proposal: Proposal, told: Toast) -> HttpResponse:
    """Show the same proposal after something was done with it."""
    if not request.htmx:
        toast.put(request, told)
        return see_other(links.proposal_url(proposal))
    return panes(request, proposal, told=told)


@require_http_methods(["GET", "POST"])
@signed_in
def edit(request: Request, pk: int) -> HttpResponse:
    """Change the wording of a proposal, and approve it in the same stroke where that is allowed."""
    proposal = visible_proposal(request, pk)
    if request.method == "GET":
        return _edit_page(request, proposal)
    typed = editing.typed_texts(request.POST.dict())
    try:
        edited = decide.edit(pk, person=request.user, version=_number(request, "version"), texts=typed)
    except MemoryReviewError as error:
        return _edit_page(request, visible_proposal(request, pk), typed, Problem.of(error))
    if request.POST.get("then") == "approve":
        return _approve_edited(request, edited)
    toast.put(request, Toast(_("Saved your wording. It waits for approval; nothing is applied yet.")))
    return see_other(links.with_query(links.proposal_url(edited), **requested_filter(request).query()))


def _approve_edited(request: Request, proposal: Proposal) -> HttpResponse:
    """Approve what was just typed; what needs a second press or another person is shown instead."""
    page = read(request, visible_proposal(request, proposal.pk))
    if page.actions.confirm or page.actions.refusal:
        toast.put(request, Toast(_("Saved your wording. It is not applied yet.")))
        return see_other(page.url)
    return _decide(
        request,
        proposal,
        lambda number: decide.approve(
            number, person=request.user, version=page.version, shown=page.shown, note="edited, then approved"
        ),
    )


def _edit_page(
    request: Request, proposal: Proposal, typed: dict[str, str] | None = None, problem: Problem | None = None
) -> HttpResponse:
    page = read(request, proposal)
    kept = requested_filter(request).query()
    context = {"page": page, "boxes": editing.boxes(page.texts, typed), "problem": problem, "kept": kept}
    return render(request, "review/proposal_edit.html", context, status=problem.status if problem else 200)


@require_POST
@signed_in
def undo(request: Request) -> HttpResponse:
    """Undo one's own decision: reopen what was rejected, roll back what was approved."""
    number = _number(request, "decision")
    batch = request.user.decisions.filter(pk=number).values_list("batch", flat=True).first()
    if batch:
        return _undo_batch(request, batch)
    try:
        undone = takeback.undo(number, person=request.user)
    except RollbackConflictError as error:
        decision = request.user.decisions.filter(pk=number).first()
        change = decision.changes.select_related("store").order_by("-pk").first() if decision else None
        if change is None:
            return refused(request, error)
        toast.put(request, Toast(in_language(str(error))))
        return see_other(links.change_url(change))
    except MemoryReviewError as error:
        return refused(request, error)
    if undone.change is not None:
        first = undone.change.rolls_back.order_by("pk").first()
        told = Toast(rolled_back_words(undone.change, first or undone.change), 0, links.change_url(undone.change))
        toast.put(request, told)
        return see_other(links.with_query(reverse("queue"), **requested_filter(request).query()))
    verbs = {str(Verb.REOPEN): _("Reopened, it waits again:"), str(Verb.WAKE): _("It waits again:")}
    verb = verbs.get(undone.decision.verb, _("Undone:")) if undone.decision else _("Undone:")
    toast.put(request, Toast(f"{verb} {title_of(undone.proposal)}"))
    return see_other(links.with_query(links.proposal_url(undone.proposal), **requested_filter(request).query()))


def _undo_batch(request: Request, batch: str) -> HttpResponse:
    """Take back a whole batch. A large one asks for the password first, on the page that shows what would change."""
    landed = takeback.landed_by(batch, person=request.user)
    if len(landed) >= LARGE and step_up(request):
        first = [change.pk for change in landed if change.store_id == landed[0].store_id]
        return see_other(links.selected_url(first))
    taken = takeback.undo_batch(batch, person=request.user)
    rolled = sum(change.rolls_back.count() for change in taken.changes)
    done = [
        _("Rolled back %(changes)s of the batch.") % {"changes": plural(rolled, "change")} if rolled else "",
        _("%(proposals)s again.") % {"proposals": plural(taken.reopened, "proposal waits", "proposals wait")}
        if taken.reopened
        else "",
        *dict.fromkeys(map(in_language, taken.refusals)),
    ]
    url = links.change_url(taken.changes[0]) if taken.changes else ""
    toast.put(request, Toast(" ".join(filter(None, done)) or _("All of it is taken back already."), 0, url))
    return see_other(links.with_query(reverse("queue"), **requested_filter(request).query()))
