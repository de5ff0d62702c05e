"""What pages and the API show of a proposal, derived from its latest revision."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from memoryreview.core import alike, concerns
from memoryreview.core.concerns import Concern
from memoryreview.core.formats import of_document
from memoryreview.core.merge import changes
from memoryreview.core.model import Action, Classification, Delta, FormatName, Kind, Tree, Verdict
from memoryreview.core.overlay import Overlay
from memoryreview.core.redact import action_shape, redacted
from memoryreview.core.relations import disagrees
from memoryreview.review.models import Proposal, Revision, Store

from .errors import finding_json
from .keyed import keyed_digest

_NEW_AGENT = timedelta(days=7)
_LISTED = ("title", "kinds", "paths", "concerns", "risk", "alike", "lead_kind", "added", "removed", "deletes")


@dataclass(frozen=True, slots=True)
class Summary:
    """What pages and the API show of a revision. Made before any transaction: it reads git and scans."""

    verdict: Verdict
    actions: tuple[dict[str, Any], ...]
    findings: tuple[dict[str, Any], ...]
    title: str
    kinds: tuple[str, ...]
    paths: tuple[str, ...]
    concerns: tuple[Concern, ...]
    shape: str
    added: int
    removed: int


def summarise(store: Store, classification: Classification, tree: Tree, delta: Delta) -> Summary:
    """Return the summary of a change; no secret stands in it."""
    shown = redacted(classification, tree, Overlay(tree, delta))
    waiting = [action for action in shown.actions if action.verdict is not Verdict.SAFE]
    runs = [change for path, new in delta.items() for change in changes(tree.get(path), new)]
    return Summary(
        verdict=shown.verdict,
        actions=tuple(action_json(action) for action in shown.actions),
        findings=tuple(finding_json(finding) for finding in shown.findings),
        title=_title(waiting or list(shown.actions)),
        kinds=tuple(sorted({str(action.kind) for action in waiting or shown.actions})),
        paths=tuple(sorted(delta)),
        concerns=_concerns(store, shown, waiting, tree, delta),
        shape=alike.shape(waiting),
        added=sum(_lines(change.new) for change in runs),
        removed=sum(_lines(change.old) for change in runs),
    )


def _concerns(
    store: Store, shown: Classification, waiting: Sequence[Action], tree: Tree, delta: Delta
) -> tuple[Concern, ...]:
    form = FormatName(store.format)
    found = concerns.concerns(
        waiting,
        shown.findings,
        tree,
        delta,
        is_always_loaded=lambda path, text: bool(of_document(form, path, text).meters(path, text)),
    )
    return (*found, Concern.CONTRADICTS) if waiting and disagrees(tree, delta, form) else found


def _lines(text: bytes) -> int:
    return text.count(b"\n") + (text != b"" and not text.endswith(b"\n"))


def show(proposal: Proposal, revision: Revision, summary: Summary) -> None:
    """Save what is shown of a revision. What landed before stays listed."""
    landed = [action for action in revision.actions if action.get("commit")]
    revision.actions = [*landed, *summary.actions]
    revision.findings = list(summary.findings)
    revision.verdict = summary.verdict
    revision.save(update_fields=["actions", "findings", "verdict"])
    save_listed(proposal, summary)


def save_listed(proposal: Proposal, summary: Summary) -> None:
    """Refresh what the queue shows of a proposal."""
    fill(proposal, summary)
    proposal.searched = Proposal.OUTDATED
    proposal.save(update_fields=[*_LISTED, "searched"])


def fill(proposal: Proposal, summary: Summary) -> None:
    """Set the fields of a proposal that the queue shows."""
    proposal.title, proposal.kinds, proposal.paths = summary.title, list(summary.kinds), list(summary.paths)
    proposal.added, proposal.removed = summary.added, summary.removed
    found = {*summary.concerns, *_of_its_agent(proposal)}
    proposal.concerns = list(concerns.ordered(found))
    proposal.risk = concerns.rank(map(Kind, summary.kinds), found)
    proposal.alike = keyed_digest(summary.shape.encode())[:16] if summary.shape else ""
    proposal.lead_kind = str(concerns.gravest(map(Kind, summary.kinds)) or "")
    proposal.deletes = Concern.DELETES in found


def _of_its_agent(proposal: Proposal) -> Iterator[Concern]:
    if proposal.label_disagrees:
        yield Concern.MISLABELLED
    agent = proposal.agent
    if agent is not None and not agent.is_reserved and proposal.created_at - agent.created_at < _NEW_AGENT:
        yield Concern.NEW_AGENT


def _title(actions: Sequence[Action]) -> str:
    if not actions:
        return "Nothing left to change"
    ranked = sorted(actions, key=lambda action: -concerns.GRAVITY.get(action.kind, 0))
    first, others = ranked[0], ranked[1:]
    if first.kind in (Kind.FILE_ADD, Kind.SCOPE_PROMOTE):  # its index row belongs to it
        others = [action for action in others if action.kind not in (Kind.INDEX_ADD, first.kind)]
    if not others or first.kind is Kind.MASS_CHANGE:
        return first.title
    return f"{first.title[:280]}, and {len(others)} more"


def action_json(action: Action) -> dict[str, Any]:
    """Return an action as the API shows it: the shape that `classify --json` prints, and its title."""
    shape = {**action_shape(action), "title": action.title}
    for side in ("old", "new"):
        shape[side] = shape[side].replace("\0", "\u2400")  # PostgreSQL stores no NUL
    return shape
