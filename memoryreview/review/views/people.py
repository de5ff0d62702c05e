"""Agents and teams: who may propose, who may decide."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.models import User
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from memoryreview.core.errors import MemoryReviewError
from memoryreview.review.forms import AgentForm, RoleForm
from memoryreview.review.models import Role, Store, Team
from memoryreview.review.operations import accounts
from memoryreview.review.presenters.first_run import hook_command
from memoryreview.review.presenters.people import ROLE_WORDS, agent_rows, agents_visible_to, team_views
from memoryreview.review.presenters.recorded import in_language

from . import toast
from .access import Request, number, signed_in
from .errors import refused
from .stepup import step_up
from .toast import Toast


def _stores(request: Request) -> list[Store]:
    return list(Store.objects.visible_to(request.user).order_by("slug"))


@require_http_methods(["GET", "POST"])
@signed_in
def agents(request: Request) -> HttpResponse:
    """List agents and add one. Its token and secret stand on the answer to the form and nowhere else, ever."""
    if request.method == "GET":
        return _agents_page(request, AgentForm())
    form = AgentForm(request.POST)
    wrong = step_up(request)
    if wrong:
        form.add_error(None, wrong)
    if not form.is_valid():
        return _agents_page(request, form, status=403 if wrong else 422)
    chosen = set(request.POST.getlist("stores"))
    given = [store for store in _stores(request) if store.slug in chosen]
    try:
        made = accounts.add_agent(form.cleaned_data["name"], given, person=request.user)
    except MemoryReviewError as error:
        form.add_error("name", in_language(str(error)))
        return _agents_page(request, form, status=error.status)
    return _agents_page(request, AgentForm(), made=made)


def _agents_page(
    request: Request, form: AgentForm, *, made: accounts.NewAgent | None = None, status: int = 200
) -> HttpResponse:
    context = {
        "rows": agent_rows(request.user, timezone.now()),
        "stores": [store.slug for store in _stores(request)],
        "chosen": request.POST.getlist("stores") if made is None else [],
        "form": form,
        "made": made,
        "api_url": settings.PUBLIC_URL + reverse("api-proposals"),
        "hook_url": settings.PUBLIC_URL + reverse("hook", args=[made.agent.name]) if made else "",
        "hook_command": _hook_command(request, made) if made else "",
        "toast": toast.take(request),
    }
    return render(request, "review/agents.html", context, status=status)


def _hook_command(request: Request, made: accounts.NewAgent) -> str:
    stores = _stores(request)
    url = settings.PUBLIC_URL + reverse("hook", args=[made.agent.name])
    return hook_command(url, stores[0].slug if stores else "my-store")


@require_POST
@signed_in
def revoke_agent(request: Request, pk: int) -> HttpResponse:
    """Revoke one's own agent. Twice is harmless."""
    agent = next(
        (one for one in agents_visible_to(request.user) if one.pk == pk and one.person_id == request.user.pk), None
    )
    if agent is None:
        raise Http404
    accounts.revoke_agent(agent)
    toast.put(
        request,
        Toast(_("Revoked %(name)s. Its token and secret work no more; its proposals stay.") % {"name": agent.name}),
    )
    return redirect("agents")


@require_GET
@signed_in
def teams(request: Request) -> HttpResponse:
    return _teams_page(request)


def _teams_page(
    request: Request, *, invited: str = "", link: str = "", error: str = "", status: int = 200
) -> HttpResponse:
    context = {
        "teams": team_views(request.user),
        "roles": ROLE_WORDS.items(),
        "invited": invited,
        "link": link,
        "error": error,
        "toast": toast.take(request),
    }
    return render(request, "review/teams.html", context, status=status)


def _team(request: Request, slug: str) -> Team:
    team = Team.objects.filter(slug=slug, memberships__person=request.user).first()
    if team is None:
        raise Http404
    return team


@require_POST
@signed_in
def invite(request: Request, slug: str) -> HttpResponse:
    """Make a one-time link into a team. It stands on this answer only."""
    team = _team(request, slug)
    form = RoleForm(request.POST)
    wrong = step_up(request)
    if wrong or not form.is_valid() or form.cleaned_data["role"] == "none":
        return _teams_page(request, invited=slug, error=wrong or _("Choose a role."), status=403 if wrong else 422)
    try:
        link = accounts.invite(team, role=Role(form.cleaned_data["role"]), by=request.user)
    except MemoryReviewError as error:
        return _teams_page(request, invited=slug, error=in_language(str(error)), status=error.status)
    return _teams_page(request, invited=slug, link=link)


@require_POST
@signed_in
def set_role(request: Request, slug: str) -> HttpResponse:
    """Give a person of a team another role, or take them out."""
    team = _team(request, slug)
    form = RoleForm(request.POST)
    person = User.objects.filter(pk=number(request.POST.get("person", "")), memberships__team=team).first()
    if person is None:
        raise Http404
    if not form.is_valid():
        return _teams_page(request, invited=slug, error=_("Choose a role."), status=422)
    role = form.cleaned_data["role"]
    try:
        accounts.set_role(team, person, None if role == "none" else Role(role), by=request.user)
    except MemoryReviewError as error:
        return refused(request, error)
    values = {"person": person.get_username(), "role": role, "team": team.name}
    is_out = role == "none"
    told = (_("%(person)s is no longer in %(team)s.") if is_out else _("%(person)s is %(role)s of %(team)s.")) % values
    toast.put(request, Toast(told))
    return redirect("teams")
