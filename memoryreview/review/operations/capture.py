"""What was written to a memory folder without asking becomes a proposal of the agent `direct`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from memoryreview.baseline.worktree import Listing, Worktree, WorktreeError
from memoryreview.core import scan
from memoryreview.core.classify.classify import classify
from memoryreview.core.model import Delta, Guard, Scope, Tree
from memoryreview.core.overlay import Overlay
from memoryreview.review.models import Agent, Proposal, State, Store, Verb

from . import proposals
from .proposals import Draft, Submission, keyed_digest
from .reconcile import reconcile_within
from .settle import settle
from .stores import Workshop, context_of, locked

ALARM_SHARE = 0.5
"""More than this share of the documents gone between two scans means that the folder is lost, not edited (C041)."""


def capture(store: Store) -> list[Proposal]:
    """Compare the whole folder with what is approved and propose the difference. Repeating it is harmless.

    Raises: CannotApplyError when the folder or the baseline cannot be used; BusyError.
    """
    with locked(store) as shop:
        reconcile_within(shop)
        return capture_within(shop)


def capture_within(shop: Workshop, *, only: Collection[str] | None = None) -> list[Proposal]:
    """The same under a lock that is held already; `only` looks at these documents and no others."""
    tree = shop.tree()
    try:
        worktree = shop.worktree()
        listing = worktree.scan() if only is None else _look(worktree, only)
    except WorktreeError as error:
        if only is not None:
            raise
        _alarm(shop.store, f"{error} Capturing is paused; nothing was recorded as deleted.")
        return []
    drift = _drift(tree, listing, only)
    if only is None:
        lost = _lost(tree, drift)
        _alarm(shop.store, lost)
        if lost:
            return []
    fresh = _without_known(shop.store, drift, tree, only)
    if not fresh:
        return []
    proposal = _store(shop, tree, fresh)
    _supersede(shop.store, proposal)
    settle(shop, proposal)
    if shop.store.guard == Guard.ENFORCE:
        _put_back(shop, worktree, fresh)
    return [Proposal.objects.get(pk=proposal.pk)]


def _look(worktree: Worktree, paths: Collection[str]) -> Listing:
    found: dict[str, bytes] = {}
    for path in paths:
        content = worktree.read(path)
        if content is not None:
            found[path] = content
    return Listing(documents=found, skipped={})


def _drift(tree: Tree, listing: Listing, only: Collection[str] | None) -> dict[str, bytes | None]:
    drift: dict[str, bytes | None] = {
        path: content for path, content in listing.documents.items() if tree.get(path) != content
    }
    expected = tree if only is None else [path for path in only if path in tree]
    drift |= {path: None for path in expected if path not in listing.documents and not listing.is_unknown(path)}
    return drift


def _lost(tree: Tree, drift: Delta) -> str:
    gone = sum(1 for new in drift.values() if new is None)
    total = len(tree)
    if gone <= 1 or gone <= total * ALARM_SHARE:
        return ""
    return (
        f"{gone} of {total} documents are gone from the folder. That looks like a lost or moved "
        "folder, not like an edit: "
        "capturing is paused and nothing was recorded as deleted. Bring the files back, or adopt the folder again."
    )


def _alarm(store: Store, sentence: str) -> None:
    if store.alarm != sentence:
        store.alarm = sentence
        store.save(update_fields=["alarm"])


@dataclass(frozen=True, slots=True)
class Held:
    """What open proposals of `direct` hold of one document."""

    proposal: Proposal
    content: bytes | None
    digest: str

    def is_same(self, content: bytes | None) -> bool:
        if self.digest:
            return content is not None and keyed_digest(content) == self.digest
        return self.content == content


def _held(store: Store) -> dict[str, Held]:
    held: dict[str, Held] = {}
    open_ones = Proposal.objects.filter(store=store).direct().waiting().order_by("pk")
    for proposal in open_ones:
        for document in proposal.written.documents.all():
            held[document.path] = Held(proposal, document.held(), document.digest)
    return held


def _without_known(store: Store, drift: Delta, tree: Tree, only: Collection[str] | None) -> dict[str, bytes | None]:
    """Leave out what an open proposal holds byte for byte; bring in its other documents when one of them moved on."""
    held = _held(store)
    fresh = {path: new for path, new in drift.items() if path not in held or not held[path].is_same(new)}
    touched = {held[path].proposal.pk for path in fresh if path in held}
    if only is None:
        touched |= {one.proposal.pk for path, one in held.items() if path not in drift and store.guard == Guard.OBSERVE}
    for path, one in held.items():
        if one.proposal.pk in touched and path in drift:
            fresh[path] = drift[path]
    gone = touched - {held[path].proposal.pk for path in fresh if path in held}
    for proposal in Proposal.objects.filter(pk__in=gone):
        if not proposal.decisions.filter(verb__in=[Verb.REOPEN, Verb.EDIT]).exists():
            _close(proposal, State.WITHDRAWN, "The write was taken back on disk.")
    return fresh


def _store(shop: Workshop, tree: Tree, delta: Mapping[str, bytes | None]) -> Proposal:
    store = shop.store
    masked = _masked(delta, tree, Scope(store.scope))
    classification = classify(tree, Overlay(tree, delta), context_of(store))
    if masked is not None:  # the text of the actions must not hold the secret either; findings never do
        shown = classify(tree, Overlay(tree, masked), context_of(store))
        classification = replace(shown, findings=classification.findings)
    draft = Draft(
        store=store,
        base=shop.head(),
        tree=tree,
        delta=delta,
        classification=classification,
        submission=Submission(title="Direct write", source={"kind": "direct write"}),
        agent=Agent.objects.get_or_create(name=Agent.DIRECT)[0],
        masked=masked,
    )
    return proposals.store_proposal(draft)


def _masked(delta: Delta, tree: Tree, scope: Scope) -> Delta | None:
    """Return the delta with blocked secrets masked, None when there are none: a secret is kept nowhere in the clear."""
    kept: dict[str, bytes | None] = {}
    is_masked = False
    for path, new in delta.items():
        kept[path] = new
        if new is None:
            continue
        text = new.decode("utf-8", "replace")
        before = (tree.get(path) or b"").decode("utf-8", "replace")
        fresh = scan.new_findings(before, text, path=path, scope=scope)
        if any(finding.is_blocked_secret for finding in fresh):
            kept[path] = scan.mask(text, scan.scan(text, path=path, scope=scope)).encode()
            is_masked = True
    return kept if is_masked else None


def _supersede(store: Store, newer: Proposal) -> None:
    """Close older captures that the newer one holds completely."""
    paths = set(newer.paths)
    older = Proposal.objects.filter(store=store, pk__lt=newer.pk).direct().waiting()
    for proposal in older:
        if set(proposal.paths) & paths:
            _close(proposal, State.SUPERSEDED, f"A newer write, proposal {newer.pk}, holds the same documents.")


def _close(proposal: Proposal, state: State, note: str) -> None:
    verb = Verb.SUPERSEDE if state == State.SUPERSEDED else Verb.WITHDRAW
    proposals.move(proposal, to=state, verb=verb, agent=proposal.agent, note=note)


def _put_back(shop: Workshop, worktree: Worktree, written: Delta) -> None:
    """Under `enforce` the approved text returns at once; the write is held in the queue."""
    tree = shop.tree()
    for path, content in written.items():
        if tree.get(path) != content:
            worktree.replace(path, expected=content, new=tree.get(path))
