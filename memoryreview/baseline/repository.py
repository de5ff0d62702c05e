"""Read side of one store's baseline: head, trees, blobs. Own git dir, private config, never a work tree."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Self

from . import durable, steps
from .errors import BaselineError, ForeignConfigError, remedy
from .lock import store_lock
from .objects import (
    DOCUMENT_MODES,
    FOLDER_MODE,
    CommitObject,
    ObjectStore,
    TreeEntry,
    decode_commit,
    decode_tree,
    object_id,
)
from .refs import BRANCH, read_branch

__all__ = ["BaselineError", "Repository", "Snapshot", "TreeEntry"]

# Byte for byte what `create` writes: a config that says anything else could start programs or change bytes.
CONFIG = b"""\
[core]
\trepositoryFormatVersion = 0
\tbare = true
\tfileMode = true
\tautocrlf = false
\tsafecrlf = false
\tfsmonitor = false
\tuntrackedCache = false
\tlogAllRefUpdates = false
\thooksPath = /dev/null
\tattributesFile = /dev/null
\texcludesFile = /dev/null
\tfsync = all
\tfsyncMethod = fsync
[commit]
\tgpgSign = false
[tag]
\tgpgSign = false
[diff]
\texternal =
[gc]
\tauto = 0
\tautoDetach = false
[maintenance]
\tauto = false
[transfer]
\tfsckObjects = true
"""
OWN_FILES = {
    "HEAD": f"ref: {BRANCH}\n".encode("ascii"),
    "config": CONFIG,
    "info/attributes": b"* -text\n",
}
_FOLDERS = ("info", "objects", "objects/info", "objects/pack", "refs", "refs/heads", "refs/tags")
_NEAR_COMMITS = 256
_KEPT_BLOB_BYTES = 1024 * 1024
"""Documents that one opened repository keeps: a verdict asks for the same few again and again."""


class Snapshot(Mapping[str, bytes]):
    """The documents of one commit by path; blobs are read when asked for. `entries` maps path to TreeEntry.

    Looking one path up reads only the trees on its way. Links and nested repositories, which we never write, are left
    out. `oid` is the commit, `root` its topmost tree, `repository` where it was read.
    """

    def __init__(self, repository: Repository, oid: str) -> None:
        self.repository = repository
        self.oid = oid
        self._found: dict[str, TreeEntry | None] = {}
        self.root = repository.commit(oid).tree

    @cached_property
    def entries(self) -> Mapping[str, TreeEntry]:
        return dict(self.repository.walk(self.root))

    def entry(self, path: str) -> TreeEntry | None:
        """Return where a document is kept, None when the commit has none of that path."""
        if path not in self._found:
            self._found[path] = self._look_up(path)
        return self._found[path]

    def holds(self, path: str, content: bytes | None) -> bool:
        """Whether a document has these bytes in this commit (None: there is none). No document is read for it."""
        entry = self.entry(path)
        return entry is None if content is None else entry is not None and entry.oid == object_id(b"blob", content)

    def _look_up(self, path: str) -> TreeEntry | None:
        try:
            segments = os.fsencode(path).split(b"/")
        except UnicodeEncodeError:
            return None
        here: TreeEntry | None = TreeEntry(self.root, FOLDER_MODE)
        for segment in segments:
            if here is None or not here.is_folder:
                return None
            here = self.repository.tree(here.oid).get(segment)
        return here if here is not None and here.mode in DOCUMENT_MODES else None

    def differing(self, other: Snapshot) -> tuple[str, ...]:
        """Return the paths of documents that do not have the same bytes in both commits, sorted; folders that are equal
        are not read."""
        found: list[str] = []
        waiting: list[tuple[str, TreeEntry | None, TreeEntry | None]] = [
            ("", TreeEntry(self.root, FOLDER_MODE), TreeEntry(other.root, FOLDER_MODE))
        ]
        while waiting:
            path, *sides = waiting.pop()
            mine, theirs = sides
            if mine is not None and theirs is not None and mine.oid == theirs.oid:
                continue
            below = [self.repository.tree(side.oid) if side and side.is_folder else {} for side in sides]
            prefix = f"{path}/" if path else ""
            names = below[0].keys() | below[1].keys()
            waiting += [(prefix + os.fsdecode(name), below[0].get(name), below[1].get(name)) for name in names]
            if any(side is not None and side.mode in DOCUMENT_MODES for side in sides):
                found.append(path)
        return tuple(sorted(found))

    def gone_in(self, later: Snapshot) -> Iterator[tuple[str, TreeEntry]]:
        """Yield (path, entry) of the documents of this commit whose paths name none in `later`. What is new there costs
        nothing, and folders that are equal are not read."""
        waiting: list[tuple[str, str, TreeEntry | None]] = [("", self.root, TreeEntry(later.root, FOLDER_MODE))]
        while waiting:
            prefix, oid, other = waiting.pop()
            theirs = self.repository.tree(other.oid) if other is not None and other.is_folder else {}
            for name, entry in self.repository.tree(oid).items():
                now = theirs.get(name)
                if now == entry:
                    continue
                path = prefix + os.fsdecode(name)
                if entry.is_folder:
                    waiting.append((f"{path}/", entry.oid, now))
                elif entry.mode in DOCUMENT_MODES and (now is None or now.mode not in DOCUMENT_MODES):
                    yield path, entry

    def __getitem__(self, path: str) -> bytes:
        entry = self.entry(path)
        if entry is None:
            raise KeyError(path)
        return self.repository.blob(entry.oid)

    def __contains__(self, path: object) -> bool:
        return isinstance(path, str) and self.entry(path) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)


class Repository:
    """One bare repository. Cheap to open; close it (context manager). Branch is always refs/heads/main.

    Not for two threads: each opens its own.
    """

    def __init__(self, git_dir: Path) -> None:
        """Open. Raises BaselineError when it is missing, or its config is not the one that we wrote."""
        self.git_dir = git_dir.absolute()
        self.objects = ObjectStore(self.git_dir)
        self._trees: dict[str, dict[bytes, TreeEntry]] = {}
        self._commits: dict[str, CommitObject] = {}
        self._blobs: dict[str, bytes] = {}
        self._blob_bytes = 0
        _check_is_ours(self.git_dir)

    @classmethod
    def create(cls, git_dir: Path) -> Repository:
        """Make an empty repository, durable, mode 0700, with our own config; nothing from user or system is used.

        Raises:
            BaselineError: there is something at `git_dir` already, or the system refuses.
        """
        git_dir = git_dir.absolute()
        temp = git_dir.parent / f".mr-new-{git_dir.name}"
        try:
            temp.mkdir(mode=0o700, parents=True, exist_ok=True)
            # The lock file moves along with the folder; a second creator waits, then finds the first one's repository.
            with store_lock(temp):
                _empty(temp)
                _lay_out(temp)
                steps.on_step("repository.written")
                temp.rename(git_dir)
                durable.sync_folder(git_dir.parent)
        except OSError as error:
            shutil.rmtree(temp, ignore_errors=True)
            raise BaselineError(
                f"No baseline can be made at “{git_dir}”: {error.strerror}. Nothing was changed; {remedy(error)}."
            ) from error
        return cls(git_dir)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop the process that reads packs, if one was needed."""
        self.objects.close()

    def head(self) -> str | None:
        """Return the commit id that the branch points to, None before the first commit.

        Raises BaselineError when the repository is gone, or the branch file is damaged.
        """
        return read_branch(self.git_dir)

    def snapshot(self, oid: str) -> Snapshot:
        """Return the tree of a commit. Raises BaselineError when the commit is unknown."""
        return Snapshot(self, oid)

    def has_commit(self, oid: str) -> bool:
        """Whether the commit can be read here; False for anything that is no commit id."""
        found = self.objects.find(oid)
        return found is not None and found[0] == b"commit"

    def message(self, oid: str) -> str:
        """Return a commit's whole message. Raises BaselineError when the commit is unknown."""
        return self.commit(oid).message

    def is_ancestor(self, oid: str, of: str) -> bool:
        """Whether `oid` is `of` or one of its ancestors; False when `oid` is unknown.

        Raises BaselineError when `of` is unknown. Near ancestors are found without a process.
        """
        waiting, seen = [of], {of}
        for _ in range(_NEAR_COMMITS):
            if not waiting:
                return False
            here = waiting.pop(0)
            if here == oid:
                return True
            fresh = [parent for parent in self.commit(here).parents if parent not in seen]
            waiting += fresh
            seen.update(fresh)
        return self.has_commit(oid) and self._asks_git_for_ancestry(oid, of)

    def _asks_git_for_ancestry(self, oid: str, of: str) -> bool:
        from .process import run

        status, _stdout, stderr = run(self.git_dir, "merge-base", "--is-ancestor", oid, of)
        if status not in {0, 1}:
            raise BaselineError(
                f"git cannot walk the history of the baseline: {stderr.strip()}. Nothing was changed; "
                "run “memoryreview verify”."
            )
        return status == 0

    def blob(self, oid: str) -> bytes:
        """Return the bytes of one stored document. Raises BaselineError when there is none."""
        if oid in self._blobs:
            return self._blobs[oid]
        payload = self.objects.read(oid, b"blob")
        if self._blob_bytes + len(payload) <= _KEPT_BLOB_BYTES:
            self._blobs[oid] = payload
            self._blob_bytes += len(payload)
        return payload

    def commit(self, oid: str) -> CommitObject:
        """Return the fields of a commit. Raises BaselineError when it is unknown or damaged."""
        if oid not in self._commits:
            try:
                self._commits[oid] = decode_commit(self.objects.read(oid, b"commit"))
            except ValueError as error:
                raise BaselineError(f"Commit {oid} of the baseline cannot be read: {error}.") from error
        return self._commits[oid]

    def tree(self, oid: str) -> Mapping[bytes, TreeEntry]:
        """Return the entries of one folder by name. Raises BaselineError when it is unknown or damaged."""
        if oid not in self._trees:
            try:
                self._trees[oid] = decode_tree(self.objects.read(oid, b"tree"))
            except ValueError as error:
                raise BaselineError(f"Tree {oid} of the baseline cannot be read: {error}.") from error
        return self._trees[oid]

    def remember_tree(self, oid: str, entries: Mapping[bytes, TreeEntry]) -> None:
        """Keep the entries of a folder that was just made, in order, so that it need not be read to be looked into."""
        self._trees[oid] = dict(entries)

    def walk(self, tree: str) -> Iterator[tuple[str, TreeEntry]]:
        """Yield (path, entry) of every document below a tree, sorted as git sorts."""
        waiting = [("", TreeEntry(tree, FOLDER_MODE))]
        while waiting:
            path, entry = waiting.pop()
            if entry.is_folder:
                prefix = f"{path}/" if path else ""
                below = [(prefix + os.fsdecode(name), child) for name, child in self.tree(entry.oid).items()]
                waiting += reversed(below)
            elif entry.mode in DOCUMENT_MODES:
                yield path, entry


def _check_is_ours(git_dir: Path) -> None:
    try:
        config = (git_dir / "config").read_bytes()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise BaselineError(
            f"There is no baseline at “{git_dir}”. The memory folder is unchanged; restore the data folder from a "
            "backup, or adopt the folder anew."
        ) from error
    except OSError as error:
        raise BaselineError(
            f"The baseline at “{git_dir}” cannot be read: {error.strerror}. Nothing was changed; {remedy(error)}."
        ) from error
    if config != CONFIG:
        raise ForeignConfigError(
            f"The git config at “{git_dir / 'config'}” is not the one that memoryreview wrote, so it is not used. "
            "Nothing was changed; find out who changed it, then copy the file of another baseline: all are the same."
        )


def _empty(folder: Path) -> None:
    """Remove what a killed creator left."""
    for name in {name.partition("/")[0] for name in (*_FOLDERS, *OWN_FILES)}:
        path = folder / name
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def _lay_out(folder: Path) -> None:
    for name in _FOLDERS:
        (folder / name).mkdir(mode=0o700)
    for name, content in OWN_FILES.items():
        durable.write_new_file(folder / name, content)
    for name in _FOLDERS:
        durable.sync_folder(folder / name)
    durable.sync_folder(folder)
