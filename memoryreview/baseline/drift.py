"""What stands in a memory folder otherwise than in a commit, without reading what cannot have changed."""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

from . import seen
from .errors import BaselineError
from .folder import PinnedFolder, UnreadableError, WorktreeError, read_document, unreadable
from .objects import object_id
from .repository import Snapshot
from .scan import FolderScan, is_skipped
from .seen import UNKNOWN, Seen

READ_ALL_AFTER_S = 24 * 60 * 60
"""Now and then every document is read: a write through mapped memory, or below a clock set back, shows in no time."""

MANY_DOCUMENTS = 2_000
"""From here on starting git costs less than looking at every file from Python."""


@dataclass(frozen=True, slots=True)
class Drift:
    """Documents that differ from a commit (None: gone), and what could not be read, with why."""

    documents: Mapping[str, bytes | None]
    skipped: Mapping[str, str]


def compare(folder: PinnedFolder, tree: Snapshot, *, many: int = MANY_DOCUMENTS) -> Drift:
    """Compare a folder with a commit. Call it under the store's lock: what was seen is kept for the next time.

    A file is not read again while its times, inode, mode, owner and size are those with which it was found as approved;
    once a day all are read.

    Raises: WorktreeError when the folder is gone or cannot be read; BaselineError when the commit cannot be.
    """
    known = seen.load(tree.repository.git_dir)
    if known is not None and not 0 <= time.time() - known.since < READ_ALL_AFTER_S:
        known = None
    if known is not None and known.tree == tree.root and known.count >= many:
        return _by_git(folder, tree, known)
    return _by_state(folder, tree, known)


def _by_state(folder: PinnedFolder, tree: Snapshot, known: Seen | None) -> Drift:
    """Look at every file from here."""
    states, since = (known.states(), known.since) if known is not None else ({}, int(time.time()))
    names = _Names(
        folder, tree.entries, {path: state for path, (oid, state) in states.items() if _has(tree, path, oid)}
    )
    names.run()
    look = _Look(folder, tree)
    look.read(names.found - names.unchanged.keys())
    if known is None or known.tree != tree.root or look.unchanged or names.folders != known.folders:
        _keep(tree, since, names.unchanged | look.unchanged, names.folders)
    return look.drift(names.skipped, tree.entries.keys() - names.found)


def _by_git(folder: PinnedFolder, tree: Snapshot, known: Seen) -> Drift:
    """Let git look at the files while new names are searched here. Git compares states and opens no file."""
    from .process import changed_files

    try:
        with changed_files(tree.repository.git_dir, index=seen.NAME, work_tree=folder.root) as answer:
            names = _Names(folder, tree, {}, known.folders)
            names.run()
            changed = answer()
    except BaselineError:
        return _by_state(folder, tree, known)
    look = _Look(folder, tree)
    look.read(changed | names.new)
    if look.unchanged or names.folders != known.folders:
        states = {path: state for path, (_oid, state) in known.states().items()}
        _keep(tree, known.since, states | look.unchanged, names.folders)
    return look.drift(names.skipped, ())


def _has(tree: Snapshot, path: str, oid: str) -> bool:
    entry = tree.entries.get(path)
    return entry is not None and entry.oid == oid


def _keep(tree: Snapshot, since: int, states: Mapping[str, bytes], folders: Mapping[str, bytes]) -> None:
    documents = {path: (entry.oid, states.get(path, UNKNOWN)) for path, entry in tree.entries.items()}
    seen.save(tree.repository.git_dir, tree.root, since, documents, folders)


class _Names(FolderScan):
    """The documents' names. A folder that looks as it did holds approved documents, so it is not listed again.

    Args: states: of the files that were found as approved, to be compared here. folders: state of each known folder.
    """

    def __init__(
        self,
        folder: PinnedFolder,
        approved: Collection[str],
        states: Mapping[str, bytes],
        folders: Mapping[str, bytes] | None = None,
    ) -> None:
        super().__init__(folder)
        self._approved, self._states, self._known = approved, states, folders or {}
        self._below: dict[str, list[tuple[str, ...]]] = {}
        for path in self._known:
            self._below.setdefault(path.rpartition("/")[0], []).append(tuple(path.split("/")))
        self.found: set[str] = set()
        self.new: set[str] = set()
        self.unchanged: dict[str, bytes] = {}
        self.folders: dict[str, bytes] = {}

    def enter(self, folder_fd: int, segments: tuple[str, ...]) -> list[tuple[str, ...]]:
        now_s, file = time.time(), os.fstat(folder_fd)
        path, state = "/".join(segments), seen.state_of(file)
        if self._known.get(path) == state:
            self.folders[path] = state
            return [below for below in self._below.get(path, ()) if below != ("",)]
        noted = len(self.skipped), len(self.new)
        below = super().enter(folder_fd, segments)
        is_plain = (len(self.skipped), len(self.new)) == noted
        self.folders[path] = state if is_plain and seen.is_settled(file, now_s) else UNKNOWN
        return below

    def take(self, folder_fd: int, entry: os.DirEntry[str], path: str) -> None:
        self.found.add(path)
        if path not in self._approved:
            self.new.add(path)
        state = self._states.get(path)
        if state is not None and _state(folder_fd, entry.name) == state:
            self.unchanged[path] = state


class _Look:
    """Documents that are read. `unchanged`: those as approved, in a state that a later write has to change."""

    def __init__(self, folder: PinnedFolder, tree: Snapshot) -> None:
        self._folder, self._tree = folder, tree
        self._skipped: dict[str, str] = {}
        self._differing: dict[str, bytes] = {}
        self._absent: list[str] = []
        self.unchanged: dict[str, bytes] = {}

    def read(self, paths: Iterable[str]) -> None:
        """Read documents, each folder opened once. Raises WorktreeError when the trouble is not one document's."""
        split = sorted((parents, name, path) for path in paths for parents, _, name in [path.rpartition("/")])
        for parents, group in groupby(split, itemgetter(0)):
            rows = list(group)
            try:
                with self._folder.opened(parents.split("/") if parents else ()) as fd:
                    for _, name, path in rows:
                        self._read(fd, name, path)
            except FileNotFoundError:
                self._absent += [path for _, _, path in rows]
            except OSError as error:
                self._unopened(parents, [path for _, _, path in rows], error)

    def _unopened(self, parents: str, paths: list[str], error: OSError) -> None:
        if isinstance(error, NotADirectoryError) and not self._leads_through_link(parents):
            self._absent += paths
            return
        problem = unreadable(error)
        if isinstance(problem, WorktreeError):
            raise problem from error
        self._skipped[parents] = str(problem)

    def _leads_through_link(self, parents: str) -> bool:
        segments = parents.split("/")
        return any(self._folder.root.joinpath(*segments[: n + 1]).is_symlink() for n in range(len(segments)))

    def _read(self, folder_fd: int, name: str, path: str) -> None:
        now_s, before = time.time(), _stat(folder_fd, name)
        try:
            content = read_document(folder_fd, name)
        except UnreadableError as error:
            self._skipped[path] = str(error)
            return
        if content is None:
            self._absent.append(path)
            return
        approved = self._tree.entry(path)
        if approved is None or approved.oid != object_id(b"blob", content):
            self._differing[path] = content
        elif before is not None and seen.is_settled(before, now_s):
            state = seen.state_of(before)
            if _state(folder_fd, name) == state:
                self.unchanged[path] = state

    def drift(self, skipped: Mapping[str, str], missing: Iterable[str]) -> Drift:
        """Return what was found. Args: skipped, missing: what the list of names says already."""
        skipped = dict(sorted({**skipped, **self._skipped}.items()))
        gone = [path for path in (*self._absent, *missing) if path in self._tree and not is_skipped(path, skipped)]
        return Drift(dict(sorted({**self._differing, **dict.fromkeys(gone)}.items())), skipped)


def _stat(folder_fd: int, name: str) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder_fd, follow_symlinks=False)
    except OSError:
        return None


def _state(folder_fd: int, name: str) -> bytes | None:
    file = _stat(folder_fd, name)
    return None if file is None else seen.state_of(file)
