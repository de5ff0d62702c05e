"""Who may change what is approved in a store, and whose approval counts."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, Q

from memoryreview.core.model import Scope
from memoryreview.review.models import Proposal, Revision, Role, Store

from .errors import NotPermittedError


@dataclass(frozen=True, slots=True)
class Permission:
    """Whether a person may approve; `sentence` says why not, or what is recorded for a sole person."""

    allowed: bool
    sole_person: bool = False
    sentence: str = ""


@dataclass(frozen=True, slots=True)
class Rights:
    """What a person may do in a store. `is_alone`: nobody else could approve what the person proposes."""

    decides: bool
    is_alone: bool


def rights(person: User, store: Store) -> Rights:
    """Return what a person may do in a store: one question about a team's, none about a private one."""
    if store.scope != Scope.TEAM or store.team is None:
        return Rights(may_maintain(person, store), is_alone=False)
    maintained = person.memberships.filter(role=Role.MAINTAINER, team=store.team)
    others = User.objects.filter(is_active=True).exclude(pk=person.pk)
    asked = User.objects.filter(pk=person.pk).values_list(Exists(maintained), ~Exists(others))
    return Rights(*asked.get())


def permission(person: User, proposal: Proposal, given: Rights | None = None) -> Permission:
    """Say whether this person may approve this proposal. Args: given: the person's rights, where they are known."""
    store = proposal.store
    given = given or rights(person, store)
    if not given.decides:
        return Permission(allowed=False, sentence="Deciding needs the store's owner or a maintainer of its team.")
    if store.scope != Scope.TEAM:
        return Permission(allowed=True)
    if person.pk not in _authors(proposal):
        return Permission(allowed=True)
    if given.is_alone:
        return Permission(
            allowed=True,
            sole_person=True,
            sentence=(
                "You proposed this yourself. There is one person only in this installation, so "
                "you may approve it; the record says so."
            ),
        )
    return Permission(
        allowed=False, sentence="You, or an agent of yours, proposed or edited this; another maintainer approves it."
    )


def may_maintain(person: User, store: Store) -> bool:
    """Whether a person may change what is approved in a store."""
    if store.scope != Scope.TEAM or store.team is None:
        return store.owner_id == person.pk
    return store.team.memberships.filter(person=person, role=Role.MAINTAINER).exists()


def _authors(proposal: Proposal) -> set[int | None]:
    latest = proposal.latest.revision if proposal.latest else proposal.revision
    uploader = latest.person_id or (latest.agent.person_id if latest.agent else None)
    proposer = proposal.person_id or (proposal.agent.person_id if proposal.agent else None)
    return {uploader, proposer} - {None}


def require_maintainer(person: User, store: Store) -> None:
    """Raises NotPermittedError for anyone who may not change what is approved in a store."""
    if not may_maintain(person, store):
        raise NotPermittedError("That needs the store's owner or a maintainer of its team. Nothing was changed.")


def written_by(person: User) -> Q:
    """Whether a person had a hand in a proposal, as `permission` counts it."""
    newer = Revision.objects.filter(proposal=OuterRef("proposal"), number__gt=OuterRef("number"))
    edited = Revision.objects.filter(~Exists(newer), person=person).values("proposal")
    return Q(person=person) | Q(agent__person=person) | Q(pk__in=edited)
