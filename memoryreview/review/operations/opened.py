"""One proposal as its page opens it: with its latest revision and what is asked along with that, in one question."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from operator import attrgetter
from typing import Any

from django.contrib.auth.models import User
from django.db.models import BigIntegerField, Count, OuterRef, Subquery

from memoryreview.review.models import Decision, Membership, Proposal, Revision, Verb
from memoryreview.review.models.latest import Latest
from memoryreview.review.prepared import Prepared, number
from memoryreview.review.querysets import ProposalQuerySet

from .rejected import of_rejection, rejection_of_row

RELATED = ("store__team", "agent", "person", "promoted_from", "rejected_before")
"""What the page of a proposal reads of other tables."""

_KEPT_QUESTIONS = 128


def opened(person: User, pk: int) -> Proposal | None:
    """Return a proposal with `latest` read, None where the person sees none of that number."""
    latest = _latest(_visible(person).ask(pk=pk)) if pk <= BigIntegerField.MAX_BIGINT else None
    if latest is None:
        return None
    proposal = latest.revision.proposal
    proposal.latest = latest
    return proposal


def latest_of(proposal: Proposal) -> Latest:
    latest = proposal.latest or _latest(_known().ask(pk=proposal.pk))
    assert latest is not None, "a proposal is stored together with its first revision"  # noqa: S101
    return latest


@lru_cache(maxsize=_KEPT_QUESTIONS)
def _visible(person: User) -> Prepared[Revision]:
    return _revisions(Proposal.objects.visible_to(person))


@cache
def _known() -> Prepared[Revision]:
    return _revisions(Proposal.objects.all())


def _revisions(among: ProposalQuerySet) -> Prepared[Revision]:
    """Prepare the question for the revisions of the proposal `pk`."""
    asked = Decision.objects.filter(
        proposal=OuterRef("proposal"), verb=Verb.ASK_CHANGES, revision=OuterRef("number") - 1
    ).order_by("-pk")
    members = Membership.objects.filter(team=OuterRef("proposal__store__team")).order_by().values("team")
    return Prepared(
        Revision.objects.filter(proposal__in=among.filter(pk=number("pk")))
        .select_related("agent", *(f"proposal__{name}" for name in RELATED))
        .annotate(
            asked=Subquery(asked.values("note")[:1]),
            readers=Subquery(members.annotate(count=Count("pk")).values("count")),
            reason=of_rejection("proposal__rejected_before", "reason"),
            note=of_rejection("proposal__rejected_before", "note"),
            at=of_rejection("proposal__rejected_before", "at"),
        )
    )


def _latest(revisions: Sequence[Revision]) -> Latest | None:
    # Sorted by the database, each of its hundred columns would be looked at for that.
    revision: Any = max(revisions, key=attrgetter("number"), default=None)
    if revision is None:
        return None
    rejected = revision.proposal.rejected_before_id
    why = (revision.reason, revision.note, revision.at)
    return Latest(
        revision=revision,
        asked=revision.asked or "",
        readers=revision.readers or 1,
        rejected=rejection_of_row(rejected, *why) if rejected else None,
    )
