"""What a person may do with a proposal, and what it would do, as the buttons of its page say it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from django.contrib.auth.models import User
from django.utils.translation import gettext as _

from memoryreview.core.diff import is_shown_whole
from memoryreview.core.errors import MemoryReviewError
from memoryreview.core.model import Delta, Guard, Tree, Verdict
from memoryreview.review.models import OPEN_STATES, Proposal, State
from memoryreview.review.models.latest import Latest
from memoryreview.review.operations.decide import unaskable
from memoryreview.review.operations.errors import CannotApplyError
from memoryreview.review.operations.partial import LeftOut, kept_of, partial
from memoryreview.review.operations.permissions import Rights, permission, rights
from memoryreview.review.operations.relations import Remembered
from memoryreview.review.operations.standing import Standing, standing
from memoryreview.review.operations.stores import reading
from memoryreview.review.operations.takeback import REOPENABLE

from . import documents
from .documents import DocumentView
from .interdiff import Compared
from .recorded import in_language
from .words import plural

_CONFIRM_LINES = 5


@dataclass(frozen=True, slots=True)
class Actions:
    """What the buttons say and whether they may be pressed.

    Args:
        approve: what approving does, "" where it cannot be done in this state.
        refusal: why this person may not approve, shown beside the disabled button.
        confirm: "deletion", "promotion", "unseen lines" or "": what the second press approves.
        lines: what the second press names: lines that go, or who will read it.
        note: what is recorded with the decision, or what it touches.
        portions: how many parts can be kept or left out by themselves, 0 where there is no choice; `dropped` of them
            are left out.
    """

    approve: str = ""
    refusal: str = ""
    confirm: str = ""
    lines: tuple[str, ...] = ()
    note: str = ""
    may_edit: bool = False
    may_reject: bool = False
    may_release: bool = False
    may_ask: bool = False
    portions: int = 0
    dropped: int = 0
    may_reopen: bool = False

    @property
    def may_snooze(self) -> bool:
        """Whoever may say no may say later."""
        return self.may_reject


@dataclass(frozen=True, slots=True)
class Sides:
    """The two sides that a page compares; `standing` and `remembered` only while the proposal is open.

    `dropped` are the portions that a person left out.
    """

    latest: Latest
    rights: Rights
    tree: Tree = field(default_factory=dict)
    delta: Delta = field(default_factory=dict)
    standing: Standing | None = None
    remembered: Remembered | None = None
    dropped: frozenset[int] = frozenset()
    compared: Compared | None = None


def asked_first(proposal: Proposal, person: User, dropped: Collection[int]) -> tuple[str, str]:
    """Return `confirm` of the actions and what it is about, `shown`, without making the rest of the page."""
    if proposal.state not in OPEN_STATES:
        return "", ""
    latest = proposal.latest or Latest(proposal.revision)  # what else is read along only the page shows
    try:
        with reading(proposal.store) as repository:
            view, given = standing(latest.revision, repository), rights(person, proposal.store)
            seen = Sides(latest, given, view.tree, view.delta, view, dropped=frozenset(dropped))
            return actions_of(proposal, person, seen, ()).confirm, view.shown
    except CannotApplyError:  # deciding says why
        return "", ""


def actions_of(proposal: Proposal, person: User, seen: Sides, shown: tuple[DocumentView, ...]) -> Actions:
    may_decide = seen.rights.decides
    if proposal.state not in OPEN_STATES:
        return Actions(may_reopen=may_decide and proposal.state in REOPENABLE)
    if not may_decide:
        return Actions(refusal=_("Deciding in a team store needs one of its maintainers."))
    if proposal.masked:
        return Actions(
            may_reject=True,
            refusal=_(
                "A secret stands in this write. Its text is kept nowhere and cannot be approved: clean the "
                "file, then it is captured again."
            ),
        )
    if proposal.state == State.QUARANTINED:
        return Actions(may_reject=True, may_release=True)
    may_ask = not unaskable(proposal)
    conflicted = bool(seen.standing and seen.standing.conflicts)
    if conflicted:
        return Actions(
            may_edit=True, may_reject=True, may_ask=may_ask, refusal=_("Edit the text so that it fits, or reject.")
        )
    if seen.latest.revision.verdict == Verdict.REFUSED:
        return Actions(
            may_reject=True,
            may_ask=may_ask,
            refusal=_("This write cannot be approved as it is: reject it, or mend the file on disk."),
        )
    if not seen.delta:
        return Actions(may_reject=True, refusal=_("All of this is approved already. Reject to close it."))
    return _approval(proposal, person, seen, shown)


def _approval(proposal: Proposal, person: User, seen: Sides, shown: tuple[DocumentView, ...]) -> Actions:
    allowed = permission(person, proposal, seen.rights)
    confirm = ""
    lines: tuple[str, ...] = ()
    delta, deletes = seen.delta, proposal.deletes
    if seen.standing is not None and seen.dropped:
        delta, deletes = _kept(proposal, seen.standing, seen.dropped)
        shown = documents.documents(seen.tree, delta, slug=proposal.store.slug)
    what = documents.consequence(seen.tree, delta, shown) if delta else _("nothing, since all of it is left out")
    if proposal.promoted_from is not None:
        confirm, lines = "promotion", (_audience(proposal, seen.latest.readers),)
        what = _("give %(promoted_path)s to %(name)s") % {
            "promoted_path": proposal.promoted_path,
            "name": _team_name(proposal),
        }
    elif deletes:
        confirm, lines = "deletion", documents.removed_lines(shown, at_most=_CONFIRM_LINES)
    elif not all(is_shown_whole(seen.tree.get(path), new) for path, new in seen.delta.items()):
        confirm = "unseen lines"
    return Actions(
        approve=what,
        refusal="" if allowed.allowed else in_language(allowed.sentence),
        confirm=confirm,
        lines=lines,
        note=in_language(allowed.sentence) if allowed.sole_person else _effect(proposal),
        may_edit=True,
        may_reject=True,
        may_ask=not unaskable(proposal),
    )


def _kept(proposal: Proposal, view: Standing, dropped: Collection[int]) -> tuple[Delta, bool]:
    """Return what is written without the dropped portions, and whether text goes by it."""
    try:
        part = partial(proposal, view, LeftOut(frozenset(dropped)))
    except MemoryReviewError:  # deciding says why
        part = None
    return (part.delta, part.deletes) if part else (kept_of(proposal.store, view, dropped), proposal.deletes)


def _effect(proposal: Proposal) -> str:
    """Say what deciding does beyond the commit: a direct write stands on disk already, or was put back."""
    slug = proposal.store.slug
    if proposal.agent is None or proposal.agent.name != proposal.agent.DIRECT:
        return _("One commit to %(slug)s.") % {"slug": slug}
    if proposal.store.guard == Guard.ENFORCE:
        return _("The approved text is on disk. Approving writes this one and makes one commit to %(slug)s.") % {
            "slug": slug
        }
    return _(
        "It stands on disk already: approving makes one commit to %(slug)s, rejecting puts the approved text back."
    ) % {"slug": slug}


def _team_name(proposal: Proposal) -> str:
    return proposal.store.team.name if proposal.store.team else proposal.store.slug


def _audience(proposal: Proposal, people: int) -> str:
    readers = _("%(people)s in %(name)s") % {
        "people": plural(people, "person", "people"),
        "name": _team_name(proposal),
    }
    return _("%(readers)s, and every agent that reads %(slug)s, will have it.") % {
        "readers": readers,
        "slug": proposal.store.slug,
    }
