"""One proposal as its page shows it: what changes, why it waits, what speaks for it, and what deciding would do."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.contrib.auth.models import User
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from memoryreview.core.diff import document_diff
from memoryreview.core.model import Delta
from memoryreview.core.portions import Portion
from memoryreview.review.models import OPEN_STATES, Proposal, State, Store
from memoryreview.review.operations.apply import commit_message
from memoryreview.review.operations.decide import landing_of
from memoryreview.review.operations.errors import CannotApplyError
from memoryreview.review.operations.opened import latest_of
from memoryreview.review.operations.partial import portions_of
from memoryreview.review.operations.permissions import Rights, rights
from memoryreview.review.operations.relations import near, remembered
from memoryreview.review.operations.standing import Standing, standing
from memoryreview.review.operations.stores import reading

from . import documents, links
from .actions import Actions, Sides, actions_of
from .documents import DEFAULT_LOOK, ConflictView, DocumentView, Look, Tab, View
from .evidence import Evidence, evidence
from .grounds import Grounds, grounds
from .interdiff import Compared, RevisionPair, between_revisions, revision_pairs, sight, since_seen
from .outcome import Outcome, outcome
from .portions import MOST_OFFERED, with_portions
from .recorded import in_language
from .relations import MemoryView, memory_view
from .rows import Sign, author_of, lead_first, sign_of, title_of
from .snooze import Aside, aside
from .words import STATE_WORDS, Moment, moment, short_oid


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
    aside: Aside | None
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
    seen = Sides(latest, given)
    try:
        with reading(proposal.store) as repository:
            if proposal.state in OPEN_STATES:
                view_now = standing(revision, repository)
                stores = around.stores if around else near(person)
                told = remembered(proposal, view_now.delta, repository, stores)
                compared = between_revisions(proposal, view_now.tree, repository, look)
                compared = compared or since_seen(proposal, view_now, revision, repository, look.seen)
                kept = frozenset(dropped)
                seen = Sides(latest, given, view_now.tree, view_now.delta, view_now, told, kept, compared)
            elif not repository.has_commit(revision.submitted_base):
                return _page(proposal, person, now, look, seen, fault=_(_BASE_GONE))
            else:
                tree = repository.snapshot(revision.submitted_base)
                compared = between_revisions(proposal, tree, repository, look)
                seen = Sides(latest, given, tree, revision.delta(), compared=compared)
            return _page(proposal, person, now, look, seen)
    except CannotApplyError as error:
        return _page(proposal, person, now, look, Sides(latest, given), fault=in_language(str(error)))


def _page(proposal: Proposal, person: User, now: datetime, look: Look, seen: Sides, fault: str = "") -> ProposalPage:
    slug, url, is_open = proposal.store.slug, links.proposal_url(proposal), proposal.state in OPEN_STATES
    revision = seen.latest.revision
    shown, actions = _documents(proposal, seen, look), Actions()
    if not fault:
        shown, actions = _in_portions(proposal, seen, look, shown, actions_of(proposal, person, seen, shown))
    path = next(iter(lead_first(proposal.paths, proposal.store.format)), "")
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
        aside=aside(proposal, now),
        asked=seen.latest.asked if is_open else "",
        unreadable=fault,
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
        memory=memory_view(seen.remembered, slug, _gone(seen.delta)) if seen.remembered else None,
        outcome=None if is_open else outcome(proposal, now),
    )


def _documents(proposal: Proposal, seen: Sides, look: Look) -> tuple[DocumentView, ...]:
    store, url = proposal.store, links.proposal_url(proposal)
    delta = {path: seen.delta[path] for path in lead_first(seen.delta, store.format)}
    return documents.documents(seen.tree, delta, slug=store.slug, look=look, url=url)


def _in_portions(
    proposal: Proposal, seen: Sides, look: Look, shown: tuple[DocumentView, ...], actions: Actions
) -> tuple[tuple[DocumentView, ...], Actions]:
    """Offer a box for each part where the person may leave some out."""
    offered = _offered(proposal, seen, shown, look) if actions.approve and not actions.refusal else ()
    if not offered:
        return shown, actions
    counted = replace(actions, portions=len(offered), dropped=len(seen.dropped))
    return with_portions(shown, offered, seen.dropped), counted


def _offered(proposal: Proposal, seen: Sides, shown: tuple[DocumentView, ...], look: Look) -> tuple[Portion, ...]:
    """Return what can be left out: nothing where the whole is one act, or not all of it is on the page."""
    is_whole = proposal.promoted_from_id is not None or any(view.diff and view.diff.truncated for view in shown)
    if seen.standing is None or is_whole or look.view is not View.WORDS:
        return ()
    offered = portions_of(proposal.store, seen.standing)
    return offered if 1 < len(offered) <= MOST_OFFERED else ()


def _state_words(proposal: Proposal) -> str:
    is_partial = proposal.state == State.APPLIED and proposal.dropped > 0
    return _("applied in part") if is_partial else STATE_WORDS[State(proposal.state)]


def _texts(seen: Sides) -> Delta:
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
