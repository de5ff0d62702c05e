"""Who may change what is approved in a store, and whose approval counts."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib.auth.models import User

from memoryreview.core.model import Scope
from memoryreview.review.models import Proposal, Role, Store, is_sole_person

from .errors import NotPermittedError


@dataclass(frozen=True, slots=True)
class Permission:
    """Whether a person may approve; `sentence` says why not, or what is recorded for a sole person."""

    allowed: bool
    sole_person: bool = False
    sentence: str = ""


def permission(person: User, proposal: Proposal) -> Permission:
    """Say whether this person may approve this proposal."""
    store = proposal.store
    if not may_maintain(person, store):
        return Permission(allowed=False, sentence="Deciding needs the store's owner or a maintainer of its team.")
    if store.scope != Scope.TEAM:
        return Permission(allowed=True)
    if person.pk not in _authors(proposal):
        return Permission(allowed=True)
    if is_sole_person():
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
    latest = proposal.revision
    uploader = latest.person_id or (latest.agent.person_id if latest.agent else None)
    proposer = proposal.person_id or (proposal.agent.person_id if proposal.agent else None)
    return {uploader, proposer} - {None}


def require_maintainer(person: User, store: Store) -> None:
    """Raises NotPermittedError for anyone who may not change what is approved in a store."""
    if not may_maintain(person, store):
        raise NotPermittedError("That needs the store's owner or a maintainer of its team. Nothing was changed.")
