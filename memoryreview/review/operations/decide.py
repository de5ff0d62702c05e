"""What a person decides. No agent credential, command or API route reaches this module."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, replace

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import prefetch_related_objects

from memoryreview.baseline import steps
from memoryreview.baseline.repository import Snapshot
from memoryreview.baseline.worktree import WorktreeError
from memoryreview.core.diff import is_shown_whole
from memoryreview.core.model import Guard, Severity, Verdict
from memoryreview.core.scan import PACK_VERSION
from memoryreview.core.typed import restore_line_ends
from memoryreview.review.models import OPEN_STATES, Agent, Change, ChangeKind, Decision, Proposal, State, Verb

from . import proposals
from .apply import Landing, land, standing_write, stands
from .capture import Held, capture_within, refuse_secret_note
from .errors import (
    AlreadyDecidedError,
    CannotApplyError,
    NotFoundError,
    NotPermittedError,
    SecretDetectedError,
    SelfApprovalError,
    StaleViewError,
)
from .partial import NOTHING, LeftOut, Partial, partial
from .permissions import Permission, may_maintain, permission, require_maintainer
from .proposals import Draft, Submission, last_decision
from .reconcile import reconcile_within
from .record import note_differing
from .refusals import refuse_wording
from .standing import Standing, classification_of, judge_for, standing
from .stores import Workshop, locked


@dataclass(frozen=True, slots=True)
class Decided:
    """`repeated`: the same decision stood already; nothing was done again."""

    proposal: Proposal
    decision: Decision | None
    change: Change | None = None
    repeated: bool = False


def approve(
    proposal_id: int, *, person: User, version: int, shown: str, note: str = "", confirmed: bool = False,
    left_out: LeftOut = NOTHING,
) -> Decided:  # fmt: skip
    """Approve what the person saw, or the part of it that was kept. Effects in order, under the store's lock:

    1. Record direct writes to the same documents as their own proposals.
    2. Compare permission, state, version, and the hunks that would be written with those that were shown.
    3. Record the decision and take the proposal (compare-and-swap).
    4. Land the commit. When the system refuses, the proposal waits again with the reason.
    5. Put back on disk what was left out of a direct write.

    Raises: AlreadyDecidedError, StaleViewError, SelfApprovalError, NotPermittedError, CannotApplyError,
        SecretDetectedError.
    """
    proposal = fetch(proposal_id)
    refuse_secret_note(note)
    with locked(proposal.store) as shop:
        reconcile_within(shop)
        capture_within(shop, only=proposal.paths)
        proposal = fetch(proposal_id)
        prefetch_related_objects([proposal], "revisions__documents", "decisions")
        repeated = repeated_press(proposal, Verb.APPROVE, person, version)
        if repeated is not None:
            return repeated
        allowed = may_approve(person, proposal)
        view = same_view(proposal, shop, shop.tree(), version=version, shown=shown)
        if not confirmed and is_cut(view):
            raise NotPermittedError(
                "The page shows a part of this change only. Nothing was written; read it all first."
            )
        part = partial(proposal, view, left_out, note=note)
        decision = proposals.move(
            proposal, to=State.APPLYING, verb=Verb.APPROVE, person=person, reason=left_out.reason if part else "",
            note=note, shown=shown, carried_over=view.moved, sole_person=allowed.sole_person,
        )  # fmt: skip
        steps.on_step("decision.recorded")
        assert decision is not None, "a verb records a decision"  # noqa: S101
        landing = landing_by(decision, proposal, view, person=person)
        return _land(shop, landing) if part is None else _land_part(shop, landing, view, part)


def landing_of(proposal: Proposal, view: Standing, *, decision: Decision | None, person: User) -> Landing:
    """Return what approving would commit; the page shows its message before there is a decision."""
    return Landing(
        kind=ChangeKind.PROMOTE if proposal.promoted_from_id else ChangeKind.APPROVED,
        delta=view.delta,
        title=proposal.title,
        body=proposal.rationale,
        proposal=proposal,
        decision=decision,
        agent=proposal.agent,
        person=person,
        after=State.APPLIED,
        source=_source(proposal),
    )


def landing_by(decision: Decision, proposal: Proposal, view: Standing, *, person: User) -> Landing:
    """Return what approving commits, with all that the write path must know of the proposal."""
    return replace(
        landing_of(proposal, view, decision=decision, person=person),
        overridden=any(earlier.verb == Verb.RELEASE for earlier in proposal.decisions.all()),
        scanned=_is_scanned(proposal, view),
        standing=standing_write(proposal),
    )


def _is_scanned(proposal: Proposal, view: Standing) -> bool:
    """Whether the scanners of today saw this very text in these very documents, and stopped nothing in it."""
    revision = proposal.revision
    stopped = any(finding["severity"] == Severity.BLOCK for finding in revision.findings)
    return view.is_as_judged and revision.pack_version == PACK_VERSION and not stopped


def _land(shop: Workshop, landing: Landing) -> Decided:
    proposal = landing.proposal
    assert proposal is not None, "a decision is about a proposal"  # noqa: S101
    try:
        change = land(shop, landing)
    except (CannotApplyError, SecretDetectedError) as error:
        if stands(shop):
            raise
        sentence = str(error)
        proposals.move(
            proposal, to=State.PENDING, verb=Verb.FAIL, person=landing.person, note=sentence, failure=sentence
        )
        raise
    proposal.refresh_from_db(fields=["state", "version", "failure", "dropped", "fingerprint", "updated_at"])
    return Decided(proposal, landing.decision, change)


def _land_part(shop: Workshop, landing: Landing, view: Standing, part: Partial) -> Decided:
    proposal = landing.proposal
    assert proposal is not None, "a decision is about a proposal"  # noqa: S101
    told = {"actions": list(part.actions), "dropped": part.dropped, "fingerprint": part.fingerprint}
    decided = _land(shop, replace(landing, delta=part.delta, title=part.title, scanned=False, partial=told))
    if proposal.is_direct and proposal.store.guard == Guard.OBSERVE:
        _put_back(shop, proposal, view.delta.keys() - part.delta.keys())
    return decided


def _source(proposal: Proposal) -> str:
    if proposal.promoted_from is not None:
        return f"{proposal.promoted_from.slug} {proposal.promoted_path} {proposal.promoted_commit}"
    return str(proposal.source.get("session", ""))


def fetch(proposal_id: int) -> Proposal:
    """Return a proposal with what decisions need, read afresh."""
    found = Proposal.objects.select_related("store__team", "agent", "promoted_from").filter(pk=proposal_id)
    proposal = next(iter(found), None)  # `first` sorts, and Django looks at every column for that
    if proposal is None:
        raise NotFoundError("proposal", str(proposal_id))
    return proposal


def fetch_all(proposal_ids: Iterable[int]) -> dict[int, Proposal]:
    """Return proposals by id, with their revisions, documents and decisions, in a few questions for all of them."""
    wanted = Proposal.objects.prefetch_related(
        "store__team", "agent", "promoted_from", "revisions__documents", "revisions__agent", "decisions"
    )
    return wanted.in_bulk(list(proposal_ids))


def repeated_press(proposal: Proposal, verb: Verb, person: User, version: int) -> Decided | None:
    """Answer a second press: the same decision by the same person is harmless. None while nothing is decided.

    Raises: AlreadyDecidedError when another decision was faster.
    """
    if proposal.state in OPEN_STATES:
        return None
    last = last_decision(proposal)
    is_same = last is not None and last.verb == verb and last.person_id == person.pk and proposal.version <= version + 2
    if is_same and proposal.state in (State.APPLIED, State.REJECTED, State.CHANGES_REQUESTED):
        change = Change.objects.filter(decision=last).order_by("-pk").first()
        return Decided(proposal, last, change, repeated=True)
    raise AlreadyDecidedError(proposal, last)


def may_approve(person: User, proposal: Proposal) -> Permission:
    """Return on what grounds a person approves. Raises SelfApprovalError, NotPermittedError."""
    allowed = permission(person, proposal)
    if allowed.allowed:
        return allowed
    if may_maintain(person, proposal.store):
        raise SelfApprovalError
    raise NotPermittedError(f"{allowed.sentence} Nothing was changed.")


def is_cut(view: Standing) -> bool:
    """Whether the page cannot show all of what approving writes, so that it must ask once more."""
    return not all(is_shown_whole(view.tree.get(path), new) for path, new in view.delta.items())


def same_view(proposal: Proposal, shop: Workshop, tree: Snapshot, *, version: int, shown: str) -> Standing:
    """Return what approving would write onto a tree. Raises StaleViewError, NotPermittedError when it is not what was
    shown, or may not be written."""
    if proposal.state == State.QUARANTINED:
        raise NotPermittedError(
            "This proposal is quarantined. Nothing was changed; release it with a reason, or reject it."
        )
    revision = proposal.revision
    if revision.verdict == Verdict.REFUSED:
        raise NotPermittedError(
            "This write cannot be approved as it is. Nothing was changed; reject it, or mend the file on disk."
        )
    view = standing(revision, shop.repository, tree)
    if view.conflicts:
        raise StaleViewError("Somebody changed the same lines meanwhile. Nothing was written; see both versions below.")
    if proposal.version != version or view.shown != shown:
        raise StaleViewError(
            "What would be written is not what you saw. Nothing was written; this is how it stands now."
        )
    actions = () if view.is_as_judged else classification_of(proposal, view).actions
    refused = [action for action in actions if action.verdict is Verdict.REFUSED]
    if refused:
        raise NotPermittedError(f"{' '.join(refused[0].reasons)} Nothing was written; edit the proposal or reject it.")
    if not view.delta:
        raise StaleViewError("All of this is approved already. Nothing is left to write; reject it to close it.")
    return view


def edit(proposal_id: int, *, person: User, version: int, texts: Mapping[str, str]) -> Proposal:
    """Store a person's wording as a new revision; both authors stay on record. Nothing is applied.

    Raises: StaleViewError, AlreadyDecidedError, SecretDetectedError, RefusedChangeError; the caller keeps the text.
    """
    proposal = fetch(proposal_id)
    with locked(proposal.store) as shop:
        proposal = fetch(proposal_id)
        if proposal.state != State.PENDING:
            raise AlreadyDecidedError(proposal, last_decision(proposal))
        require_maintainer(person, proposal.store)
        if proposal.version != version:
            raise StaleViewError("This proposal changed while you typed. Nothing was stored; your text is kept below.")
        view = standing(proposal.revision, shop.repository)
        wanted = {**view.proposed, **view.delta}
        typed = {
            path: restore_line_ends(text, wanted.get(path) or b"") for path, text in texts.items() if path in wanted
        }
        delta = {path: new for path, new in {**wanted, **typed}.items() if new != view.tree.get(path)}
        if not delta:
            raise StaleViewError(
                "Your wording equals what is approved already. Nothing was stored; reject the proposal instead."
            )
        draft = Draft(
            store=proposal.store,
            base=view.head,
            tree=view.tree,
            delta=delta,
            classification=judge_for(proposal, view.tree, delta),
            submission=Submission(),
            person=person,
        )
        refuse_wording(draft)
        summary = proposals.summary_of(draft)
        with transaction.atomic():
            proposals.add_revision(proposal, draft, summary, number=proposal.revision.number + 1)
            proposals.move(proposal, to=State.PENDING, verb=Verb.EDIT, person=person)
    return fetch(proposal_id)


def reject(
    proposal_id: int,
    *,
    person: User,
    version: int,
    reason: str = "",
    note: str = "",
    batch: str = "",
    duplicate_of: Proposal | None = None,
) -> Decided:
    """Reject; the agent learns the reason. A direct write that still stands on disk gives way to the approved text."""
    proposal = fetch(proposal_id)
    refuse_secret_note(note)
    with locked(proposal.store) as shop:
        reconcile_within(shop)
        proposal = fetch(proposal_id)
        repeated = repeated_press(proposal, Verb.REJECT, person, version)
        if repeated is not None:
            return repeated
        require_maintainer(person, proposal.store)
        if proposal.version != version:
            raise StaleViewError(
                "This proposal changed since you saw it. Nothing was decided; this is how it stands now."
            )
        puts_back = proposal.is_direct and proposal.store.guard == Guard.OBSERVE
        with transaction.atomic():
            decision = proposals.move(
                proposal, to=State.REJECTED, verb=Verb.REJECT, person=person, reason=reason, note=note, batch=batch
            )
            if duplicate_of is not None:
                Proposal.objects.filter(pk=proposal.pk).update(duplicate_of=duplicate_of)
            if puts_back:  # named first: a kill leaves the rest to `reconcile`
                note_differing(shop.store, (), [document.path for document in proposal.written.documents.all()])
        steps.on_step("decision.recorded")
        if puts_back:
            _put_back(shop, proposal, {document.path for document in proposal.written.documents.all()})
        return Decided(fetch(proposal.pk), decision)


def unaskable(proposal: Proposal) -> str:
    """Return why nobody can be asked to change a proposal, "" when its agent can be."""
    agent = proposal.agent
    if agent is None or agent.name in Agent.RESERVED:
        return "No agent stands behind it that could be asked. Edit it, or reject it."
    if agent.revoked_at is not None:
        return f"“{agent.name}” was revoked and hears of nothing any more. Edit it, or reject it."
    if proposal.promoted_from_id is not None:
        return "A promotion is not revised. Edit it, or reject it; then it can be promoted again."
    return ""


def ask_for_changes(proposal_id: int, *, person: User, version: int, note: str) -> Decided:
    """Hand a waiting proposal back to its agent, with what should change; a revision brings it back. Applies nothing.

    Raises: AlreadyDecidedError, StaleViewError, NotPermittedError.
    """
    proposal = fetch(proposal_id)
    repeated = repeated_press(proposal, Verb.ASK_CHANGES, person, version)
    if repeated is not None:
        return repeated
    require_maintainer(person, proposal.store)
    refuse_secret_note(note)
    if proposal.state == State.QUARANTINED:
        raise NotPermittedError("This proposal is quarantined. Nothing was changed; release it first, or reject it.")
    refusal = unaskable(proposal)
    if refusal:
        raise NotPermittedError(f"{refusal} Nothing was changed.")
    if not note.strip():
        raise NotPermittedError("Say what should change: the agent reads it. Nothing was changed.")
    if proposal.version != version:
        raise StaleViewError("This proposal changed since you saw it. Nothing was decided; this is how it stands now.")
    decision = proposals.move(
        proposal, to=State.CHANGES_REQUESTED, verb=Verb.ASK_CHANGES, person=person, note=note.strip()
    )
    return Decided(fetch(proposal.pk), decision)


def _put_back(shop: Workshop, proposal: Proposal, paths: Set[str]) -> None:
    """Let documents that a direct write left on disk give way to the approved text; the store names what stays."""
    tree = shop.tree()
    settled: set[str] = set()
    for document in proposal.written.documents.filter(path__in=paths):
        held, approved = Held(proposal, document.held(), document.digest), tree.get(document.path)
        try:
            worktree = shop.worktree()
            disk = worktree.read(document.path)
            if (
                not held.is_same(disk)  # a newer write is captured by itself
                or disk == approved
                or worktree.replace(document.path, expected=disk, new=approved)
            ):
                settled.add(document.path)
        except WorktreeError:  # the decision stands; the store names what still differs
            continue
    note_differing(shop.store, paths, paths - settled)


def release(proposal_id: int, *, person: User, version: int, note: str) -> None:
    """Let a quarantined proposal into the queue, on a person's typed reason. Approves nothing."""
    proposal = fetch(proposal_id)
    if proposal.state != State.QUARANTINED:
        raise AlreadyDecidedError(proposal, last_decision(proposal))
    if proposal.masked:
        raise NotPermittedError(
            "A secret stands in this write; it is kept nowhere and cannot be approved. Clean the "
            "file, then it is captured again."
        )
    require_maintainer(person, proposal.store)
    refuse_secret_note(note)
    if not note.strip():
        raise NotPermittedError("Say why this text is harmless. Nothing was changed.")
    if proposal.version != version:
        raise StaleViewError("This proposal changed since you saw it. Nothing was decided; this is how it stands now.")
    proposals.move(proposal, to=State.PENDING, verb=Verb.RELEASE, person=person, note=note)
