"""What takes changes back at the present head: an inverse three-way merge, document by document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import islice

from memoryreview.baseline.repository import Repository, Snapshot, TreeEntry
from memoryreview.core import scan
from memoryreview.core.formats import of_document
from memoryreview.core.merge import Conflicted, Merged
from memoryreview.core.merge_entries import take_back
from memoryreview.core.model import Delta, Finding, FormatName, Scope, Tree
from memoryreview.core.text import split_lines
from memoryreview.review.models import Change, Store

from .lineage import MAX_NAMES, names_since, passages_since, renamed_to

MAX_LATER = 100
"""Later changes of a document that are looked at, and changes that are rolled back together."""


@dataclass(slots=True)
class Inverse:
    """Documents of a tree while changes are taken back, and where that is impossible.

    `given` holds for each change, by its key, the documents that conflict: their names then, by those they have now.
    """

    store: Store
    repository: Repository
    tree: Snapshot
    state: dict[str, bytes | None] = field(default_factory=dict)
    conflicts: dict[str, Conflicted] = field(default_factory=dict)
    given: dict[int, dict[str, str]] = field(default_factory=dict)

    @property
    def delta(self) -> dict[str, bytes | None]:
        return {path: new for path, new in sorted(self.state.items()) if new != self.tree.get(path)}

    def take_back(self, change: Change) -> None:
        """Take one change back. Call it for the newest first.

        A document is followed to the name that it has now; one that the change renamed goes back to its old name with
        the edits made since.
        """
        before, after = self.repository.snapshot(change.parent), self.repository.snapshot(change.oid)
        done: set[str] = set()
        names = names_since(self.store, change.paths, change.pk)
        for given, was in change.renames.values_list("path", "was"):
            here = self._name_now(given, after, names)
            merged = self._merged(given, after.get(given), self._present(here), before.get(was))
            if self._present(here) is not None and self._present(was) is None and isinstance(merged, Merged):
                self.state |= {here: None, was: merged.data}
                done |= {given, was}
        for path in change.paths:
            if path in done:
                continue
            here = self._name_now(path, after, names)
            merged = self._merged(here, after.get(path), self._present(here), before.get(path))
            if isinstance(merged, Merged):
                self.state[here] = merged.data
            else:
                self.conflicts[here] = merged
                self.given.setdefault(change.pk, {})[here] = path

    def names(self, change: Change) -> dict[str, str]:
        """Return the documents of a change: their names after it, by those they have now."""
        after, names = self.repository.snapshot(change.oid), names_since(self.store, change.paths, change.pk)
        return {self._name_now(path, after, names): path for path in change.paths}

    def _present(self, path: str) -> bytes | None:
        return self.state[path] if path in self.state else self.tree.get(path)

    def _name_now(self, path: str, after: Tree, names: Mapping[str, str]) -> str:
        """Return what a document of the change is called now; its old name when it is gone.

        Args: names: by the renames since. Another document may bear the old name by now.
        """
        name = names.get(path, path)
        if name != path and path in after and (self._present(name) is not None or path not in self.state):
            return name
        name = path
        for _ in range(MAX_NAMES):
            if not name or self._present(name) is not None or path not in after:
                break
            name = renamed_to(self.store, name)
        return name if name and self._present(name) is not None else path

    def _merged(
        self, path: str, after: bytes | None, present: bytes | None, before: bytes | None
    ) -> Merged | Conflicted:
        return merged_back(self.store, path, after, present, before)


def merged_back(
    store: Store, path: str, after: bytes | None, present: bytes | None, before: bytes | None
) -> Merged | Conflicted:
    """Take what led from `before` to `after` back in the present text of a document, by lines or by entries."""
    form = FormatName(store.format)
    return take_back(after, present, before, lambda data: of_document(form, path, data).entries(path, data))


def inverse(store: Store, undo: Iterable[Change], tree: Snapshot, repository: Repository) -> Inverse:
    """Take changes back one after the other, the newest first."""
    state = Inverse(store, repository, tree)
    for change in undo:
        state.take_back(change)
    return state


def later_on_same_lines(
    change: Change, paths: Iterable[str], repository: Repository, *, apart_from: Sequence[Change] = ()
) -> tuple[Change, ...]:
    """Return the later changes that made the conflict: those across which the conflicting text on our side changed.

    Args: paths: names that the documents had after the change; they are followed to later ones.
    """
    found = {later.pk: later for path in paths for later in _quarrelling(change, path, repository)}
    return tuple(found[pk] for pk in sorted(found) if found[pk] not in apart_from)


def _quarrelling(change: Change, path: str, repository: Repository) -> Iterator[Change]:
    before, after = (repository.snapshot(oid).get(path) for oid in (change.parent, change.oid))

    @cache  # what one change leaves is what the next one finds
    def quarrel(entry: TreeEntry | None) -> tuple[bytes, ...]:
        ours = repository.blob(entry.oid) if entry is not None else None
        return _quarrel(merged_back(change.store, path, after, ours, before), ours)

    touching = {one.pk: one for one in islice(passages_since(change.store, path, change.pk), MAX_LATER)}
    for later in Change.objects.filter(pk__in=list(touching)).select_related("store").order_by("pk"):
        passage = touching[later.pk]
        was = quarrel(repository.snapshot(later.parent).entry(passage.was or passage.path))
        if was != quarrel(repository.snapshot(later.oid).entry(passage.path)):
            yield later


def _quarrel(merged: Merged | Conflicted, ours: bytes | None) -> tuple[bytes, ...]:
    if isinstance(merged, Merged):
        return ()
    content = ours or b""
    lines = split_lines(content)
    spans = [lines[conflict.ours[0] - 1 : conflict.ours[1] - 1] for conflict in merged.conflicts]
    return tuple(b"".join(content[line.start : line.end] for line in span) for span in spans) or (b"",)


def findings(store: Store, tree: Tree, delta: Delta) -> tuple[Finding, ...]:
    """Return what the scanners see in the text that a delta brings and that does not stand there now."""
    found: list[Finding] = []
    for path, new in delta.items():
        if new is not None:
            before = (tree.get(path) or b"").decode("utf-8", "replace")
            found += scan.new_findings(before, new.decode("utf-8", "replace"), path=path, scope=Scope(store.scope))
    return tuple(found)
