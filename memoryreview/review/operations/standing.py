"""How a proposal stands against what is approved now: the bytes that approving would write, or where it conflicts."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from memoryreview.baseline.repository import Repository, Snapshot
from memoryreview.core.merge import Conflict, Conflicted, Merged, changes, merge3, merge_without_base
from memoryreview.core.model import Classification, Delta, Tree
from memoryreview.review.models import Proposal, Revision

from .judge import judge


@dataclass(frozen=True, slots=True)
class Standing:
    """A revision seen from the present head.

    Args:
        head: commit that `tree` shows.
        base_tree: what the revision was made from (equal to `tree` unless the head moved); None when the baseline does
            not hold it any more.
        delta: what approving would change; {} when all of it stands in the baseline already.
        conflicts: documents whose lines both sides changed, by path; approving is impossible while there are any.
        proposed: the documents as proposed, before merging.
        shown: hash of the hunks that a person sees and approves.
        moved: the head is no longer what the revision was made from.
        received: when the revision came in.
    """

    head: str
    tree: Snapshot
    base_tree: Snapshot | None
    delta: Delta
    proposed: Delta
    shown: str
    moved: bool
    received: datetime
    conflicts: Mapping[str, tuple[Conflict, ...]] = field(default_factory=dict)

    @property
    def is_as_judged(self) -> bool:
        """Whether its documents stood in the base and have not changed since, so that it still is what it was then."""
        base = self.base_tree
        return base is not None and all(
            (entry := self.tree.entry(path)) is not None and entry == base.entry(path) for path in self.proposed
        )


def standing(
    revision: Revision, repository: Repository, tree: Snapshot | None = None, *, proposed: Delta | None = None
) -> Standing:
    """Merge a revision onto the present head, or onto a tree that is about to become it. Reads only.

    Args: proposed: the documents of the revision, where they are known.
    """
    if tree is None:
        tree = repository.snapshot(repository.head() or "")
    head = tree.oid
    base_tree = tree if revision.base == head else base_of(revision, repository)
    if proposed is None:
        proposed = revision.delta()
    delta: dict[str, bytes | None] = {}
    conflicts: dict[str, tuple[Conflict, ...]] = {}
    for path, new in proposed.items():
        merged = merge_onto(base_tree, path, tree.get(path), new)
        if not isinstance(merged, Merged):
            conflicts[path] = merged.conflicts
        elif merged.data != tree.get(path):
            delta[path] = merged.data
    return Standing(
        head=head,
        tree=tree,
        base_tree=base_tree,
        delta=delta,
        proposed=proposed,
        shown=shown_hash(tree, delta),
        moved=revision.base != head,
        received=revision.created_at,
        conflicts=conflicts,
    )


def base_of(revision: Revision, repository: Repository) -> Snapshot | None:
    """Return what a revision was made from, None when the baseline does not hold it any more."""
    return repository.snapshot(revision.base) if repository.has_commit(revision.base) else None


def merge_onto(base: Tree | None, path: str, ours: bytes | None, new: bytes | None) -> Merged | Conflicted:
    """Merge a document as proposed onto its present text; where its base is not known, nothing that stands may go."""
    return merge_without_base(ours, new) if base is None else merge3(base.get(path), ours, new)


def shown_hash(tree: Tree, delta: Delta) -> str:
    """Return a hash of the changed hunks: it survives a head that moved elsewhere, and nothing else."""
    digest = hashlib.sha256()
    for path in sorted(delta):
        new = delta[path]
        digest.update(b"%d %s %d\0" % (path in tree, path.encode("utf-8", "surrogateescape"), new is not None))
        for change in changes(tree.get(path), new):
            digest.update(b"%d %d\0" % (len(change.old), len(change.new)) + change.old + change.new)
    return digest.hexdigest()


def classification_of(proposal: Proposal, view: Standing) -> Classification:
    """Classify what approving would change now, as of the day on which it came in, however long it waits."""
    return judge_for(proposal, view.tree, view.delta, now=view.received)


def judge_for(proposal: Proposal, tree: Snapshot, delta: Delta, *, now: datetime | None = None) -> Classification:
    """Classify a change of the proposal's store, as a direct write or a promotion when it is one.

    Args: now: when the change came in, by default now.
    """
    return judge(
        proposal.store,
        tree,
        delta,
        is_direct=proposal.is_direct,
        promoted_from=origin(proposal),
        now=now,
        source=proposal.source,
    )


def origin(proposal: Proposal) -> str:
    """Return the store that a promotion comes from, else ""."""
    return proposal.promoted_from.slug if proposal.promoted_from else ""
