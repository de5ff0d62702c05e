"""What a proposal may be a duplicate of: an older proposal that may still land, or an entry that is approved."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from django.contrib.auth.models import User

from memoryreview.core.relations import Place, RelationKind
from memoryreview.review.models import Proposal, Reason

from . import decide
from .errors import StaleViewError
from .relations import near, remembered
from .standing import standing
from .stores import reading

MOST_OFFERED = 8
"""Of older proposals, and of entries."""

_LOOKED_THROUGH = 200
_ALIKE = (RelationKind.DUPLICATE, RelationKind.NEAR_DUPLICATE, RelationKind.SHORTER, RelationKind.ELSEWHERE)


@dataclass(frozen=True, slots=True)
class Original:
    """What came first. `key` names it in a form; there is either a proposal or a place in the store's approved text."""

    key: str
    proposal: Proposal | None = None
    place: Place | None = None

    @property
    def sentence(self) -> str:
        """What the agent is told. It names no text: that of another agent's proposal is not for its eyes."""
        if self.proposal is not None:
            return f"The same as proposal {self.proposal.pk}."
        assert self.place is not None, "an original is a proposal or a place"  # noqa: S101
        line = f", line {self.place.line}" if self.place.line else ""
        return f"It stands in “{self.place.path}”{line} already."


def originals(proposal: Proposal, person: User) -> tuple[Original, ...]:
    """Return what a person can choose from: older proposals about the same documents, then entries nearly the same.

    Raises: CannotApplyError when the baseline cannot be read.
    """
    return (*islice(_older(proposal), MOST_OFFERED), *islice(_entries(proposal, person), MOST_OFFERED))


def _older(proposal: Proposal) -> Iterator[Original]:
    paths = set(proposal.paths)
    before = Proposal.objects.live().filter(store=proposal.store, pk__lt=proposal.pk)
    for other in before.select_related("agent", "person", "store").order_by("-pk")[:_LOOKED_THROUGH]:
        if not paths.isdisjoint(other.paths):
            yield Original(f"proposal-{other.pk}", proposal=other)


def _entries(proposal: Proposal, person: User) -> Iterator[Original]:
    with reading(proposal.store) as repository:
        view = standing(proposal.revision, repository)
        found = remembered(proposal, view.delta, repository, near(person))
    places = [one.there for one in found.relations if one.kind in _ALIKE]
    own = [place for place in dict.fromkeys(places) if place.store in ("", proposal.store.slug)]
    for place in own:
        yield Original(f"entry-{place.line or 0}-{place.path}", place=place)


def reject_as_duplicate(proposal_id: int, *, person: User, version: int, of: str, note: str = "") -> decide.Decided:
    """Reject a proposal since another one, or an entry, says the same; its agent is told which.

    Args: of: the key of an original. Raises: as `decide.reject`; StaleViewError when the original is gone.
    """
    proposal = decide.fetch(proposal_id)
    chosen = next((one for one in originals(proposal, person) if one.key == of), None)
    if chosen is None:
        raise StaleViewError("What you chose is not there any more. Nothing was decided; choose again.")
    told = " ".join(filter(None, (chosen.sentence, note)))
    return decide.reject(
        proposal_id, person=person, version=version, reason=Reason.DUPLICATE, note=told, duplicate_of=chosen.proposal
    )
