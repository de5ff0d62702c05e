"""One proposal as its page shows it: what changes, why it waits, what speaks for it, and what deciding would do."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from django.contrib.auth.models import User
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from memoryreview.core.diff import document_diff, is_shown_whole
from memoryreview.core.errors import MemoryReviewError
from memoryreview.core.model import Delta, Guard, Tree, Verdict
from memoryreview.core.portions import Portion
from memoryreview.review.models import OPEN_STATES, Proposal, State, Store
from memoryreview.review.models.latest import Latest
from memoryreview.review.operations.apply import commit_message
from memoryreview.review.operations.decide import landing_of, unaskable
from memoryreview.review.operations.errors import CannotApplyError
from memoryreview.review.operations.opened import latest_of
from memoryreview.review.operations.partial import LeftOut, kept_of, partial, portions_of
from memoryreview.review.operations.permissions import Rights, permission, rights
from memoryreview.review.operations.relations import Remembered, near, remembered
from memoryreview.review.operations.standing import Standing, standing
from memoryreview.review.operations.stores import reading
from memoryreview.review.operations.takeback import REOPENABLE

from . import documents, links
from .documents import DEFAULT_LOOK, ConflictView, DocumentView, Look, Tab, View
from .evidence import Evidence, evidence
from .grounds import Grounds, grounds
from .interdiff import Compared, RevisionPair, between_revisions, revision_pairs, sight, since_seen
from .outcome import Outcome, outcome
from .portions import MOST_OFFERED, with_portions
from .recorded import in_language
from .relations import MemoryView, memory_view
from .rows import Sign, author_of, lead_first, sign_of, title_of
from .words import STATE_WORDS, Moment, moment, plural, short_oid

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


@dataclass(frozen=True, slots=True)
class ProposalPage:
    id: int
    url: str
    edit_url: str
    duplicate_url: str
    title: str
    sign: Sign
    state: str
    state_words: str
    is_open: bool
    version: int
    shown: str
    store: str
    store_url: str
    path: str
    path_url: str
    section: str
    more_paths: int
    agent: str
    created: Moment
    base: str
    base_words: str
    repeats: int
    failure: str
    asked: str
    unreadable: str
    grounds: Grounds
    tabs: tuple[Tab, ...]
    zooms: tuple[Tab, ...]
    layouts: tuple[Tab, ...]
    seen: str
    pairs: tuple[RevisionPair, ...]
    compared: Compared | None
    documents: tuple[DocumentView, ...]
    conflicts: tuple[ConflictView, ...]
    commit: str
    actions: Actions
    texts: Delta
    evidence: Evidence
    memory: MemoryView | None
    outcome: Outcome | None


@dataclass(frozen=True, slots=True)
class Around:
    """What whoever lists proposals knows of one: the person's rights in its store, and stores to compare with."""

    rights: Rights
    stores: Sequence[Store]


@dataclass(frozen=True, slots=True)
class _Seen:
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


_BASE_GONE = gettext_noop(
    "The baseline does not hold the commit any more that this was proposed against, so its difference cannot be shown. "
    "What was decided stays on record."
)


def proposal_page(
    proposal: Proposal,
    person: User,
    now: datetime,
    look: Look = DEFAULT_LOOK,
    dropped: Collection[int] = (),
    around: Around | None = None,
) -> ProposalPage:
    """Read everything that the page of a proposal shows; portions of it that a person left out stay left out.

    An open proposal is shown against the present head, a decided one as it was proposed. A baseline that cannot be read
    leaves the page without documents, and with the sentence of the fault.

    Args: around: what is known already.
    """
    latest = proposal.latest = latest_of(proposal)
    revision, given = latest.revision, around.rights if around else rights(person, proposal.store)
    seen = _Seen(latest, given)
    try:
        with reading(proposal.store) as repository:
            if proposal.state in OPEN_STATES:
                view_now = standing(revision, repository)
                stores = around.stores if around else near(person)
                told = remembered(proposal, view_now.delta, repository, stores)
                compared = between_revisions(proposal, view_now.tree, repository, look)
                compared = compared or since_seen(proposal, view_now, revision, repository, look.seen)
                kept = frozenset(dropped)
                seen = _Seen(latest, given, view_now.tree, view_now.delta, view_now, told, kept, compared)
            elif not repository.has_commit(revision.submitted_base):
                return _page(proposal, person, now, look, seen, unreadable=_(_BASE_GONE))
            else:
                tree = repository.snapshot(revision.submitted_base)
                compared = between_revisions(proposal, tree, repository, look)
                seen = _Seen(latest, given, tree, revision.delta(), compared=compared)
            return _page(proposal, person, now, look, seen)
    except CannotApplyError as error:
        return _page(proposal, person, now, look, _Seen(latest, given), unreadable=in_language(str(error)))


def asked_first(proposal: Proposal, person: User, dropped: Collection[int]) -> tuple[str, str]:
    """Return `confirm` of the actions and what it is about, `shown`, without making the rest of the page."""
    if proposal.state not in OPEN_STATES:
        return "", ""
    latest = proposal.latest or Latest(proposal.revision)  # what else is read along only the page shows
    try:
        with reading(proposal.store) as repository:
            view, given = standing(latest.revision, repository), rights(person, proposal.store)
            seen = _Seen(latest, given, view.tree, view.delta, view, dropped=frozenset(dropped))
            return _actions(proposal, person, seen, ()).confirm, view.shown
    except CannotApplyError:  # deciding says why
        return "", ""


def _page(
    proposal: Proposal,
    person: User,
    now: datetime,
    look: Look,
    seen: _Seen,
    unreadable: str = "",
) -> ProposalPage:
    slug, is_open = proposal.store.slug, proposal.state in OPEN_STATES
    delta = {path: seen.delta[path] for path in lead_first(seen.delta, proposal.store.format)}
    shown = documents.documents(seen.tree, delta, slug=slug, look=look, url=links.proposal_url(proposal))
    revision = seen.latest.revision
    actions = Actions() if unreadable else _actions(proposal, person, seen, shown)
    shown, actions = _in_portions(proposal, seen, look, shown, actions)
    paths = lead_first(proposal.paths, proposal.store.format)
    path, url = paths[0] if paths else "", links.proposal_url(proposal)
    return ProposalPage(
        id=proposal.pk,
        url=links.with_query(url, **look.kept),
        edit_url=links.with_query(f"{url}/edit", **look.kept),
        duplicate_url=links.with_query(f"{url}/duplicate", **look.kept),
        title=title_of(proposal),
        sign=sign_of(proposal),
        state=proposal.state,
        state_words=_state_words(proposal),
        is_open=is_open,
        version=proposal.version,
        shown=seen.standing.shown if seen.standing else "",
        store=slug,
        store_url=links.store_url(slug),
        path=path,
        path_url=links.document_url(slug, path) if path in seen.tree else "",
        section=documents.section(shown),
        more_paths=max(0, len(proposal.paths) - 1),
        agent=author_of(proposal),
        created=moment(proposal.created_at, now),
        base=short_oid(revision.base),
        base_words=_base_words(seen.standing),
        repeats=proposal.repeats,
        failure=in_language(proposal.failure),
        asked=seen.latest.asked if is_open else "",
        unreadable=unreadable,
        grounds=grounds(proposal, revision),
        tabs=documents.view_tabs(url, look),
        zooms=documents.zoom_tabs(url, look) if look.view is View.WORDS else (),
        layouts=documents.layout_tabs(url, look) if look.view is View.WORDS else (),
        seen=sight(revision, seen.standing.head) if seen.standing else "",
        pairs=revision_pairs(revision.number, look.compare),
        compared=seen.compared,
        documents=shown,
        conflicts=_conflicts(seen.standing),
        commit=_commit(proposal, seen.standing, person) if is_open and not seen.dropped else "",
        actions=actions,
        texts=_texts(seen),
        evidence=evidence(proposal, revision, seen.tree, seen.delta, seen.latest.rejected),
        memory=memory_view(seen.remembered, slug, _gone(delta)) if seen.remembered else None,
        outcome=None if is_open else outcome(proposal, now),
    )


def _in_portions(
    proposal: Proposal, seen: _Seen, look: Look, shown: tuple[DocumentView, ...], actions: Actions
) -> tuple[tuple[DocumentView, ...], Actions]:
    """Offer a box for each part where the person may leave some out."""
    offered = _offered(proposal, seen, shown, look) if actions.approve and not actions.refusal else ()
    if not offered:
        return shown, actions
    counted = replace(actions, portions=len(offered), dropped=len(seen.dropped))
    return with_portions(shown, offered, seen.dropped), counted


def _offered(proposal: Proposal, seen: _Seen, shown: tuple[DocumentView, ...], look: Look) -> tuple[Portion, ...]:
    """Return what can be left out: nothing where the whole is one act, or not all of it is on the page."""
    is_whole = proposal.promoted_from_id is not None or any(view.diff and view.diff.truncated for view in shown)
    if seen.standing is None or is_whole or look.view is not View.WORDS:
        return ()
    offered = portions_of(proposal.store, seen.standing)
    return offered if 1 < len(offered) <= MOST_OFFERED else ()


def _state_words(proposal: Proposal) -> str:
    is_partial = proposal.state == State.APPLIED and proposal.dropped > 0
    return _("applied in part") if is_partial else STATE_WORDS[State(proposal.state)]


def _texts(seen: _Seen) -> Delta:
    return {**seen.standing.proposed, **seen.standing.delta} if seen.standing else seen.delta


def _gone(delta: Delta) -> list[str]:
    return [path for path, new in delta.items() if new is None]


def _base_words(view: Standing | None) -> str:
    if view is None:
        return ""
    if view.base_tree is None:
        return _("of before the present baseline; it is shown against what is approved now")
    if view.conflicts:
        return _("somebody changed the same lines since")
    return _("the head moved elsewhere; these hunks are unchanged") if view.moved else _("up to date")


def _conflicts(view: Standing | None) -> tuple[ConflictView, ...]:
    if view is None:
        return ()
    base = view.tree if view.base_tree is None else view.base_tree
    return tuple(
        ConflictView(
            path=path,
            since=document_diff(path, base.get(path), view.tree.get(path)),
            wanted=document_diff(path, base.get(path), view.proposed[path]),
        )
        for path in sorted(view.conflicts)
    )


def _commit(proposal: Proposal, view: Standing | None, person: User) -> str:
    """Return the commit message that approving would write; the decision's number comes with the decision."""
    return commit_message(landing_of(proposal, view, decision=None, person=person)) if view else ""


def _actions(proposal: Proposal, person: User, seen: _Seen, shown: tuple[DocumentView, ...]) -> Actions:
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


def _approval(proposal: Proposal, person: User, seen: _Seen, shown: tuple[DocumentView, ...]) -> Actions:
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
