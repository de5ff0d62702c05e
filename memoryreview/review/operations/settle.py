"""Carry a new proposal as far as it goes without a person: land its safe parts, leave the rest waiting."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from memoryreview.core.classify.split import apply_proof, rebase, safe_part
from memoryreview.core.formats import of as format_of
from memoryreview.core.model import Classification, Delta, FormatName, Kind, Proof, Tree, Verdict
from memoryreview.core.overlay import Overlay
from memoryreview.core.redact import redacted
from memoryreview.review.models import ChangeKind, Decision, Proposal, State, Verb

from . import ledger, proposals, unread
from .apply import Landing, burst, land, standing_write, stands
from .context import Told
from .errors import CannotApplyError, SecretDetectedError
from .proposals import Draft, Stored, last_decision
from .standing import Standing, classification_of, standing
from .stores import Workshop
from .summary import show, summarise

_UNASKED = (Verb.AUTO_APPLY, Verb.PASSIVE)


@dataclass(frozen=True, slots=True)
class Judged:
    """What was found of a proposal when it came in, and the rows that were stored of it then.

    It counts for the head that it was found on, until somebody else carries the proposal on.
    """

    draft: Draft
    stored: Stored


def settle(shop: Workshop, proposal: Proposal, *, judged: Judged | None = None) -> Proposal:
    """Finish a proposal in state `applying` that no person decided; any other is left alone. Can be repeated.

    1. Merge it onto the present head and classify what is left.
    2. Land one commit per safe rule, each with its certificate; then what a tool wrote by itself.
    3. Land what the store's owner lets in unread, then what is safe beside it: the row of a new document.
    4. Leave it applied, or waiting with the rest against the new head.

    Args: judged: what was found when it came in, which saves the second look. Proofs are verified again all the same.
    """
    version = proposal.version
    proposal.refresh_from_db(fields=["state", "version", "failure"])
    if judged is not None and (proposal.version, shop.head()) != (version, judged.draft.base):
        judged = None
    decision = last_decision(proposal) if judged is None else judged.stored.decision
    if proposal.state != State.APPLYING or decision is None or decision.verb not in _UNASKED:
        return proposal
    if judged is None:
        view = standing(proposal.revision, shop.repository)
    else:
        view = standing(judged.stored.revision, shop.repository, proposed=judged.draft.delta)
    failure = ""
    try:
        if _land_safe(shop, proposal, decision, view, judged):
            return proposal
        if _land_unread(shop, proposal):
            again = standing(proposal.revision, shop.repository)
            if _land_safe(shop, proposal, decision, again):
                return proposal
    except (CannotApplyError, SecretDetectedError) as error:
        if stands(shop):
            return proposal
        failure = str(error)
    return _leave(shop, proposal, failure)


def _land_safe(
    shop: Workshop, proposal: Proposal, decision: Decision, view: Standing, judged: Judged | None = None
) -> bool:
    """Land what needs nobody, with one barrier. Returns whether nothing of the proposal is left then.

    Raises what stopped one of the landings, when those before it have landed.
    """
    if view.conflicts:
        return False
    found = classification_of(proposal, view) if judged is None else judged.draft.classification
    classification = redacted(found, view.tree, Overlay(view.tree, view.delta))
    if classification.is_blocked:
        return False
    told = None if judged is None else judged.draft.told
    landings = list(_landings(proposal, decision, view, classification, told))
    tree: Tree = view.tree
    for landing in landings:
        tree = Overlay(tree, landing.delta)
    is_whole = bool(landings) and all(tree.get(path) == new for path, new in view.delta.items())
    if is_whole:
        landings[-1] = replace(landings[-1], after=State.APPLIED)
    with burst(shop) as together:
        for landing in landings:
            try:
                together.add(landing)
            except (CannotApplyError, SecretDetectedError):
                together.land()
                raise
        together.land()
    return is_whole


def _landings(
    proposal: Proposal, decision: Decision, view: Standing, classification: Classification, told: Told | None
) -> Iterator[Landing]:
    """Yield one landing per safe rule, then one for what a tool wrote; each is against the tree after those before."""
    tree: Tree = view.tree
    kind = ChangeKind.CAPTURED if proposal.is_direct else ChangeKind.AUTO
    for proof in rebase(safe_part(classification)):
        delta = apply_proof(tree, proof)
        titles = [action.title for action in classification.actions if action.kind == proof.rule]
        yield _landing(proposal, decision, kind, delta, titles, lands=frozenset({proof.rule}), proof=proof, told=told)
        tree = Overlay(tree, delta)
    recorded = _recorded(proposal, view, classification)
    if recorded:
        titles, lands = ["Record files that a tool rewrote"], frozenset({Kind.TOOL_GENERATED})
        yield _landing(proposal, decision, ChangeKind.CAPTURED, recorded, titles, lands=lands)


def _land_unread(shop: Workshop, proposal: Proposal) -> bool:
    """Land the additions that nobody is asked about; False when there are none."""
    if not unread.is_eligible(proposal):
        return False
    view = standing(proposal.revision, shop.repository)
    classification = classification_of(proposal, view)
    delta = {} if view.conflicts else unread.documents(shop.store, classification, view.tree, view.delta)
    if not delta:
        return False
    decision = last_decision(proposal)
    if decision is None or decision.verb != Verb.PASSIVE:
        number = proposal.revision.number
        decision = ledger.record_now(
            Decision(proposal=proposal, store=proposal.store, revision=number, verb=Verb.PASSIVE, agent=proposal.agent)
        )
    kind = ChangeKind.CAPTURED if proposal.is_direct else ChangeKind.AUTO
    titles = [action.title for action in classification.actions if action.path in delta]
    land(shop, _landing(proposal, decision, kind, delta, titles, lands=unread.KINDS))
    return True


def _landing(
    proposal: Proposal,
    decision: Decision,
    kind: ChangeKind,
    delta: Delta,
    titles: list[str],
    *,
    lands: frozenset[Kind],
    proof: Proof | None = None,
    told: Told | None = None,
) -> Landing:
    title = titles[0] if len(titles) == 1 else f"{titles[0]}, and {len(titles) - 1} more" if titles else proposal.title
    return Landing(
        kind=kind,
        delta=delta,
        title=title,
        proposal=proposal,
        decision=decision,
        agent=proposal.agent,
        proof=proof,
        after=State.APPLYING,
        standing=standing_write(proposal),
        whole=False,
        source=str(proposal.source.get("session", "")),
        lands=lands,
        told=told,
    )


def _recorded(proposal: Proposal, view: Standing, classification: Classification) -> Delta:
    if not proposal.is_direct or not any(action.verdict is Verdict.RECORDED for action in classification.actions):
        return {}
    form = format_of(FormatName(proposal.store.format))
    return {path: new for path, new in view.delta.items() if form.is_generated(path)}


def _leave(shop: Workshop, proposal: Proposal, failure: str) -> Proposal:
    """Say what became of it: all landed, or the rest waits."""
    proposal.refresh_from_db()
    revision = proposal.revision
    view = standing(revision, shop.repository)
    if not view.delta and not view.conflicts:
        proposals.move(proposal, to=State.APPLIED)
        return proposal
    classification = classification_of(proposal, view)
    proposals.move(proposal, to=State.QUARANTINED if classification.is_blocked else State.PENDING, failure=failure)
    summary = summarise(shop.store, classification, view.tree, view.delta or view.proposed)
    show(proposal, revision, summary)
    return proposal
