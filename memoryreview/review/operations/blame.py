"""Where the lines and entries of a document come from, by walking its changes back. Nothing of it is stored."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from memoryreview.baseline.repository import BaselineError, Repository, Snapshot, TreeEntry
from memoryreview.core.blame import Asked, Touch, entry_touches, line_origins
from memoryreview.core.formats import of_document
from memoryreview.core.formats.base import Entry
from memoryreview.core.model import FormatName
from memoryreview.review.models import Change, Store

from .lineage import Passage, passages

MAX_VERSIONS = 200
"""Changes of one document that are looked at."""

MAX_BYTES = 16 * 1024 * 1024
"""Text of all versions that are compared."""


@dataclass(frozen=True, slots=True)
class Blame:
    """`origins` are 0-based lines to the change that brought them; `cut` says why none older was looked at, or ""."""

    origins: Mapping[int, Passage]
    cut: str


@dataclass(frozen=True, slots=True)
class EntryHistory:
    """Changes and what they did, newest first; `cut` says why none older was looked at, or ""."""

    touches: tuple[tuple[Passage, Touch], ...]
    cut: str


def blame(store: Store, at: Snapshot, path: str, wanted: Collection[int]) -> Blame:
    """Return which change each wanted line (0-based) of a document as of a commit comes from."""
    walk = _Walk(store, at, path)
    found = line_origins(walk.versions(), wanted)
    origins = {line: walk.passed[version] for line, version in found.items()}
    return Blame(origins, walk.cut)


def entry_history(store: Store, at: Snapshot, path: str, asked: Asked) -> EntryHistory:
    """Return what changes did to one entry of a document as of a commit, newest first."""
    walk = _Walk(store, at, path)
    touches = tuple(entry_touches(walk.versions(), walk.entries, asked))
    return EntryHistory(tuple((walk.passed[touch.version], touch) for touch in touches), walk.cut)


def entries_of(store: Store, path: str, data: bytes) -> Sequence[Entry]:
    return of_document(FormatName(store.format), path, data).entries(path, data)


class _Walk:
    """The versions of one document back from a commit.

    `passed` are the changes that made those that were read. `cut` says, once read, why no older one was; "" where the
    document begins.
    """

    def __init__(self, store: Store, at: Snapshot, path: str) -> None:
        self._store, self._at, self._path = store, at, path
        self.passed: list[Passage] = []
        self.cut = ""

    def entries(self, version: int, data: bytes) -> Sequence[Entry]:
        path = self.passed[version].path if version < len(self.passed) else self._path
        return entries_of(self._store, path, data)

    def versions(self) -> Iterator[bytes | None]:
        """Yield the document after each change, then None if it began there. Ends early where it cannot go on."""
        try:
            yield from self._versions(self._at.repository)
        except BaselineError as error:
            self.cut = str(error)

    def _versions(self, repository: Repository) -> Iterator[bytes | None]:
        as_of = Change.objects.filter(store=self._store, oid=self._at.oid).values_list("pk", flat=True).first()
        if as_of is None:
            self.cut = f"Commit {self._at.oid[:7]} is not recorded as a change."
            return
        expected, left = self._at.entry(self._path), MAX_BYTES
        for passage in passages(self._store, self._path, as_of=as_of):
            if expected is None and not repository.has_commit(passage.oid):
                break  # the baseline began anew after it, without the document
            after = repository.snapshot(passage.oid)
            entry = after.entry(passage.path)
            if _blob(entry) != _blob(expected):
                break  # a commit between them is not recorded
            content = repository.blob(entry.oid) if entry is not None else None
            self.passed.append(passage)
            yield content
            left -= len(content or b"")
            if len(self.passed) > MAX_VERSIONS or left < 0:
                self.cut = f"Only the last {len(self.passed) - 1} changes of the document were looked at."
                return
            expected = _before(after, passage)
        if expected is not None:
            self.cut = "An older commit is not recorded as a change."
            return
        yield None


def _blob(entry: TreeEntry | None) -> str:
    return entry.oid if entry is not None else ""


def _before(after: Snapshot, passage: Passage) -> TreeEntry | None:
    parents = after.repository.commit(after.oid).parents
    return after.repository.snapshot(parents[0]).entry(passage.was or passage.path) if parents else None
