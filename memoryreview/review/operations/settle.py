"""Carry a new proposal as far as it goes without a person: land its safe parts, leave the rest waiting."""

from __future__ import annotations

from collections.abc import Collection

from memoryreview.core.classify.split import apply_proof, rebase, safe_part
from memoryreview.core.formats import of as format_of
from memoryreview.core.model import Classification, Delta, FormatName, Kind, Proof, Verdict
from memoryreview.core.overlay import Overlay
from memoryreview.core.redact import redacted
from memoryreview.review.models import ChangeKind, Decision, Proposal, State, Verb

from . import ledger, proposals, unread
from .apply import Landing, land, standing_write
from .errors import CannotApplyError, SecretDetectedError
from .proposals import last_decision
from .standing import Standing, classification_of, standing
from .stores import Workshop

_UNASKED = (Verb.AUTO_APPLY, Verb.PASSIVE)


def settle(shop: Workshop, proposal: Proposal) -> Proposal:
    """Finish a proposal in state `applying` that no person decided; any other is left alone. Can be repeated.

    1. Merge it onto the present head and classify what is left.
    2. Land one commit per safe rule, each with its certificate; then what a tool wrote by itself.
    3. Land what the store's owner lets in unread, then what is safe beside it: the row of a new document.
    4. Leave it applied, or waiting with the rest against the new head.
    """
    proposal.refresh_from_db()
    decision = last_decision(proposal)
    if proposal.state != State.APPLYING or decision is None or decision.verb not in _UNASKED:
        return proposal
    view = standing(proposal.revision, shop.repository)
    classification = redacted(classification_of(proposal, view), view.tree, Overlay(view.tree, view.delta))
    failure = ""
    if not view.conflicts and not classification.is_blocked:
        try:
            _land_safe(shop, proposal, decision, view, classification)
            if _land_unread(shop, proposal):
                _land_again(shop, proposal, decision)
        except (CannotApplyError, SecretDetectedError) as error:
            failure = str(error)
    return _leave(shop, proposal, failure)


def _land_safe(
    shop: Workshop, proposal: Proposal, decision: Decision, view: Standing, classification: Classification
) -> None:
    tree = view.tree
    kind = ChangeKind.CAPTURED if proposal.is_direct else ChangeKind.AUTO
    for proof in rebase(safe_part(classification)):
        delta = apply_proof(tree, proof)
        titles = [action.title for action in classification.actions if action.kind == proof.rule]
        landing = _landing(proposal, decision, kind, delta, titles, proof)
        change = land(shop, landing)
        _mark_landed(proposal, {proof.rule}, change.oid)
        tree = shop.tree()
    recorded = _recorded(proposal, view, classification)
    if recorded:
        change = land(
            shop, _landing(proposal, decision, ChangeKind.CAPTURED, recorded, ["Record files that a tool rewrote"])
        )
        _mark_landed(proposal, {Kind.TOOL_GENERATED}, change.oid)


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
    change = land(shop, _landing(proposal, decision, kind, delta, titles))
    _mark_landed(proposal, unread.KINDS, change.oid, paths=delta)
    return True


def _land_again(shop: Workshop, proposal: Proposal, decision: Decision) -> None:
    view = standing(proposal.revision, shop.repository)
    classification = redacted(classification_of(proposal, view), view.tree, Overlay(view.tree, view.delta))
    if not view.conflicts and not classification.is_blocked:
        _land_safe(shop, proposal, decision, view, classification)


def _landing(
    proposal: Proposal,
    decision: Decision,
    kind: ChangeKind,
    delta: Delta,
    titles: list[str],
    proof: Proof | None = None,
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
    )


def _recorded(proposal: Proposal, view: Standing, classification: Classification) -> Delta:
    if not proposal.is_direct or not any(action.verdict is Verdict.RECORDED for action in classification.actions):
        return {}
    form = format_of(FormatName(proposal.store.format))
    return {path: new for path, new in view.delta.items() if form.is_generated(path)}


def _mark_landed(
    proposal: Proposal, kinds: Collection[Kind], oid: str, *, paths: Collection[str] | None = None
) -> None:
    """Note with the actions of these kinds (in these documents) which commit carries them."""
    revision = proposal.revision
    for action in revision.actions:
        is_meant = action["kind"] in kinds and (paths is None or action["path"] in paths)
        if is_meant and "commit" not in action:
            action["commit"] = oid
    revision.save(update_fields=["actions"])


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
    summary = proposals.summarise(classification, view.tree, view.delta or view.proposed)
    proposals.show(proposal, revision, summary)
    return proposal
