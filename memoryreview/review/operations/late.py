"""Documents that the system refused to write when it was decided what they say: they are written later.

Until then their old text on disk is no direct write: nobody took the decision back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from memoryreview.baseline.worktree import WorktreeError
from memoryreview.review.models import Change, Proposal, RevisionDocument, State, Store

from .keyed import keyed_digest
from .record import note_differing
from .stores import Workshop


@dataclass(frozen=True, slots=True)
class Outdated:
    """Texts of one document that are to go from disk; None: it is to come. `digest` is of a write kept nowhere."""

    texts: tuple[bytes | None, ...]
    digest: str = ""

    def holds(self, disk: bytes | None) -> bool:
        return disk in self.texts or (self.digest != "" and disk is not None and keyed_digest(disk) == self.digest)


def named_differing(store: Store) -> list[str]:
    """Return the documents that stand on disk otherwise than approved, as far as the store says so."""
    return list(Store.objects.values_list("differing", flat=True).get(pk=store.pk))


def outdated(shop: Workshop) -> Mapping[str, Outdated]:
    """Return, for each document named as differing, its text from before the latest change and the newest rejected
    direct write to it. A document with a direct write that waits is left out: what stands there is to be decided."""
    differing = named_differing(shop.store)
    if not differing:
        return {}
    direct = Proposal.objects.filter(store=shop.store).direct()
    held = {path for proposal in direct.undecided() for path in proposal.paths}
    found: dict[str, Outdated] = {}
    for path in set(differing) - held:
        texts: list[bytes | None] = []
        latest = Change.objects.filter(store=shop.store, changed_paths__path=path).order_by("-pk").first()
        if latest is not None and latest.parent:
            texts.append(shop.repository.snapshot(latest.parent).get(path))
        rejected = RevisionDocument.objects.filter(
            path=path, revision__proposal__in=direct.filter(state=State.REJECTED), revision__agent__isnull=False
        )
        write = rejected.order_by("-pk").first()
        if write is not None and not write.digest:
            texts.append(write.held())
        found[path] = Outdated(tuple(texts), write.digest if write is not None else "")
    return found


def write_late(shop: Workshop) -> None:
    """Write what can be written by now. What cannot stays named in the store; nothing is raised about it."""
    waiting = outdated(shop)
    if not waiting:
        return
    tree, settled = shop.tree(), set()
    for path, old in waiting.items():
        try:
            worktree = shop.worktree()
            disk, approved = worktree.read(path), tree.get(path)
            if disk != approved and old.holds(disk) and worktree.replace(path, expected=disk, new=approved):
                disk = approved
        except WorktreeError:
            continue
        if disk == approved:
            settled.add(path)
    if settled:
        note_differing(shop.store, settled, ())
