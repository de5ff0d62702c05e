"""What differs between two revisions of a proposal, or between what a person saw and what stands now."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from django.utils.translation import gettext as _

from memoryreview.baseline.repository import Repository, Snapshot
from memoryreview.core.model import Delta
from memoryreview.review.models import Proposal, Revision
from memoryreview.review.operations.standing import Standing, standing

from .documents import DEFAULT_LOOK, DocumentView, Look, View, documents
from .links import proposal_url

_SIGHT = re.compile(r"([0-9]{1,18})\.([0-9]{1,6})\.([0-9a-f]{40})", re.ASCII)
_OFFERED = 5
_NUMBERS = re.compile(r"([0-9]{1,6})-([0-9]{1,6})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Compared:
    """`documents` is empty where no text differs."""

    words: str
    documents: tuple[DocumentView, ...]


@dataclass(frozen=True, slots=True)
class RevisionPair:
    """Two revisions that a person may compare; `value` is what the address says."""

    value: str
    words: str
    is_chosen: bool


def revision_pairs(latest: int, chosen: str) -> tuple[RevisionPair, ...]:
    """Return the pairs of the newest revisions, the last against the one before it first; () while there is one."""
    newest = range(latest, max(0, latest - _OFFERED), -1)
    pairs = sorted(((older, newer) for newer in newest for older in newest if older < newer), key=_nearest_first)
    return tuple(
        RevisionPair(
            f"{older}-{newer}",
            _("%(newer)s against %(older)s") % {"newer": newer, "older": older},
            f"{older}-{newer}" == chosen,
        )
        for older, newer in pairs
    )


def _nearest_first(pair: tuple[int, int]) -> tuple[int, int]:
    older, newer = pair
    return newer - older, -newer


def sight(revision: Revision, head: str) -> str:
    """Return what a form carries of what its page showed: the revision of which proposal, and against which head."""
    return f"{revision.proposal_id}.{revision.number}.{head}"


def since_seen(
    proposal: Proposal, now: Standing, latest: Revision, repository: Repository, seen: str
) -> Compared | None:
    """Return how what would stand differs from what a person saw; None when it does not, or that is not known."""
    found = _SIGHT.fullmatch(seen)
    if found is None or int(found[1]) != proposal.pk or seen == sight(latest, now.head):
        return None
    revision = _revision(proposal, int(found[2]))
    if revision is None or not repository.has_commit(found[3]):
        return None
    before = standing(revision, repository, repository.snapshot(found[3]))
    shown = _between(before, now, proposal.store.slug)
    return Compared(_("What changed since you looked"), shown) if shown else None


def between_revisions(proposal: Proposal, tree: Snapshot, repository: Repository, look: Look) -> Compared | None:
    """Return what differs between two revisions, both laid onto one tree: what the baseline took in meanwhile is none.

    None is returned where the look names no two revisions.
    """
    found = _NUMBERS.fullmatch(look.compare)
    if found is None:
        return None
    older, newer = _revision(proposal, int(found[1])), _revision(proposal, int(found[2]))
    if older is None or newer is None or older.number == newer.number:
        return None
    before, after = (standing(one, repository, tree) for one in (older, newer))
    shown = _between(before, after, proposal.store.slug, replace(look, view=View.WORDS), proposal_url(proposal))
    words = _("Revision %(newer)s against revision %(older)s") % {"newer": newer.number, "older": older.number}
    return Compared(words if shown else _("%(words)s: no text differs") % {"words": words}, shown)


def _revision(proposal: Proposal, number: int) -> Revision | None:
    return proposal.revisions.prefetch_related("documents").filter(number=number).first()


def _between(
    before: Standing, after: Standing, slug: str, look: Look = DEFAULT_LOOK, url: str = ""
) -> tuple[DocumentView, ...]:
    paths = sorted({*before.proposed, *after.proposed})
    olds = {path: _text(before, path) for path in paths}
    changed: Delta = {path: new for path in paths if (new := _text(after, path)) != olds[path]}
    tree = {path: old for path, old in olds.items() if old is not None}
    return documents(tree, changed, slug=slug, look=look, url=url, place="c")


def _text(view: Standing, path: str) -> bytes | None:
    """Return what would stand in a document; where both sides changed it, what was proposed."""
    if path in view.conflicts:
        return view.proposed[path]
    return view.delta[path] if path in view.delta else view.tree.get(path)
