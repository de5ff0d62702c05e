"""Several proposals on one page, each as it stands now, before all of them are approved."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from django.contrib.auth.models import User
from django.utils.translation import gettext as _

from memoryreview.review.models import Proposal
from memoryreview.review.operations import batch
from memoryreview.review.operations.decide import is_cut
from memoryreview.review.operations.errors import CannotApplyError
from memoryreview.review.operations.permissions import permission
from memoryreview.review.operations.standing import Standing, standing
from memoryreview.review.operations.stores import reading

from . import documents, links
from .documents import DocumentView
from .recorded import in_language, title_in_language
from .rows import author_of, title_of
from .words import short_oid


@dataclass(frozen=True, slots=True)
class Chosen:
    """One selected proposal. `value` names exactly what is shown; "" with a refusal, which says why it is left out."""

    id: int
    url: str
    title: str
    agent: str
    store: str
    value: str = ""
    refusal: str = ""
    documents: tuple[DocumentView, ...] = ()


@dataclass(frozen=True, slots=True)
class Done:
    """What became of one: the short id and page of its commit when it was approved, or why nothing was done."""

    title: str
    url: str
    oid: str = ""
    refusal: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """One that is about to be rejected; `value` names what was shown of it."""

    title: str
    url: str
    value: str


@dataclass(frozen=True, slots=True)
class Together:
    """All changes of one batch in one store, and where they are rolled back in one go."""

    store: str
    count: int
    url: str


def chosen(proposals: Iterable[Proposal], person: User) -> tuple[Chosen, ...]:
    return tuple(_chosen(proposal, person) for proposal in proposals)


def _chosen(proposal: Proposal, person: User) -> Chosen:
    found = Chosen(
        id=proposal.pk,
        url=links.proposal_url(proposal.pk),
        title=title_of(proposal),
        agent=author_of(proposal),
        store=proposal.store.slug,
    )
    try:
        with reading(proposal.store) as repository:
            view = standing(proposal.revision, repository)
            refusal = _refusal(proposal, view, person)
            if refusal:
                return replace(found, refusal=refusal)
            shown = documents.documents(view.tree, view.delta, slug=proposal.store.slug)
    except CannotApplyError as error:
        return replace(found, refusal=in_language(str(error)))
    return replace(found, value=value_of(batch.Selected(proposal.pk, proposal.version, view.shown)), documents=shown)


def _refusal(proposal: Proposal, view: Standing, person: User) -> str:
    allowed = permission(person, proposal)
    if not allowed.allowed:
        return in_language(allowed.sentence)
    if view.conflicts:
        return _("Somebody changed the same lines meanwhile: look at it by itself.")
    if not view.delta:
        return _("All of this is approved already.")
    if is_cut(view):
        return _("It is too long to be shown here whole: look at it by itself.")
    return in_language(batch.unfit(proposal))


def asked(selected: Iterable[batch.Selected], visible: Mapping[int, Proposal]) -> tuple[Asked, ...]:
    return tuple(
        Asked(title_of(visible[one.proposal]), links.proposal_url(one.proposal), value_of(one))
        for one in selected
        if one.proposal in visible
    )


def value_of(seen: batch.Selected) -> str:
    """Return the form value that names a proposal exactly as it was shown."""
    return f"{seen.proposal}:{seen.version}:{seen.shown}"


def done(outcomes: Iterable[batch.Outcome]) -> tuple[Done, ...]:
    return tuple(
        Done(
            title_in_language(one.title) or _("Proposal %(proposal)s") % {"proposal": one.proposal},
            links.change_url(one.change),
            short_oid(one.change.oid),
        )
        if one.change
        else Done(
            title_in_language(one.title) or _("Proposal %(proposal)s") % {"proposal": one.proposal},
            links.proposal_url(one.proposal),
            refusal=in_language(one.refusal),
        )
        for one in outcomes
    )


def together(outcomes: Iterable[batch.Outcome]) -> tuple[Together, ...]:
    """Return one way back per store in which several were approved."""
    by_store: dict[str, list[int]] = {}
    for one in outcomes:
        if one.change is not None:
            by_store.setdefault(one.change.store.slug, []).append(one.change.pk)
    several = {slug: changes for slug, changes in by_store.items() if len(changes) > 1}
    return tuple(Together(slug, len(changes), links.selected_url(changes)) for slug, changes in several.items())
