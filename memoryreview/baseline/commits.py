"""Write side: our own small durable object writer (blob, trees, commit, fsync) and the compare-and-swap of the ref.

Called by `review.operations` only (a contract of the build). GitPython starts a process per object and cannot make a
commit durable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Self

from memoryreview.core.model import Delta

from .errors import BaselineError
from .lock import store_lock
from .message import compose
from .names import split_path
from .objects import DOCUMENT_MODES, FOLDER_MODE, TEMP_PREFIX, TreeEntry, encode_in_order, in_order, object_id
from .refs import swap_branch, sweep_refs
from .repository import Repository

_IDENTITY = "memoryreview <memoryreview@localhost>"
_NEW_DOCUMENT_MODE = 0o100644
LOCK_WAIT_S = 10.0


def write_commit(
    repository: Repository,
    *,
    parent: str | None,
    delta: Delta,
    subject: str,
    body: str,
    trailers: Mapping[str, str],
    at: datetime,
) -> str:
    """Store blobs, the trees that change, and a commit; return the commit id. Durable (fsynced) when it returns.

    The ref does not move. Author and committer are always the tool; names and texts from outside stand in the body and
    in trailers, with control characters removed and body lines that look like trailers quoted. A path keeps its
    mode; a folder goes with its last document. A first commit may be of an empty folder.

    Raises:
        ValueError: the delta changes nothing, holds a path that git cannot keep, or makes one path both a document and
            a folder; `at` has no zone or lies before 1970.
        BaselineError: the parent is unknown or damaged, or the system refuses the write.
    """
    with Batch(repository) as batch:
        oid = batch.commit(parent=parent, delta=delta, subject=subject, body=body, trailers=trailers, at=at)
        batch.store()
    return oid


class Batch:
    """Commits that become durable together. Until `store` they are found through their repository and nowhere else.

    A context manager: leaving it forgets what was not stored.
    """

    def __init__(self, repository: Repository) -> None:
        self._repository = repository

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._repository.objects.forget_pending()

    def commit(
        self,
        *,
        parent: str | None,
        delta: Delta,
        subject: str,
        body: str,
        trailers: Mapping[str, str],
        at: datetime,
    ) -> str:
        """Make a commit as `write_commit` does, which may stand on another one of this batch; return its id."""
        seconds = _seconds(at)
        text = compose(subject, body, trailers)
        builder = _TreeBuilder(self._repository)
        base = None if parent is None else TreeEntry(self._repository.commit(parent).tree, FOLDER_MODE)
        tree = builder.fold(base, _nested(delta).children, "")
        root = tree.oid if tree is not None else builder.add(b"tree", b"")
        if base is not None and root == base.oid:
            raise ValueError("the delta changes nothing, so there is nothing to commit")
        lines = [f"tree {root}", *([f"parent {parent}"] if parent else [])]
        lines += [f"{role} {_IDENTITY} {seconds} +0000" for role in ("author", "committer")]
        oid = builder.add(b"commit", ("\n".join(lines) + "\n\n" + text).encode("utf-8", "backslashreplace"))
        self._repository.objects.keep(builder.pending)
        return oid

    def store(self) -> None:
        """Make all of them durable. Raises BaselineError; then none of them may be relied on."""
        self._repository.objects.store_pending()


def advance(repository: Repository, *, expected: str | None, new: str) -> bool:
    """Move the branch from `expected` to `new` by compare-and-swap, durable; False when it pointed elsewhere.

    Takes the store's lock when the caller does not hold it.

    Raises:
        LockBusyError: another writer, or a live foreign git, held the branch for 10 s.
        BaselineError: a foreign git left its lock behind (never removed by us), `new` is no commit here, or the
            system refuses the write.
    """
    if not repository.has_commit(new):
        raise BaselineError(f"The branch cannot move to {new[:40]!r}: there is no such commit. Nothing was changed.")
    return swap_branch(repository.git_dir, expected=expected, new=new, wait_s=LOCK_WAIT_S)


def sweep(git_dir: Path) -> tuple[Path, ...]:
    """Remove temp files and branch locks that killed writers of ours left, under the store's lock; return them.

    What a foreign git left stays. Raises LockBusyError, or BaselineError with the system's reason.
    """
    with store_lock(git_dir):
        try:
            removed = sweep_refs(git_dir)
            for temp in (git_dir / "objects").glob(f"{TEMP_PREFIX}*"):
                temp.unlink(missing_ok=True)
                removed.append(temp)
        except OSError as error:
            raise BaselineError(
                f"Left-over files in “{git_dir}” cannot be removed: {error.strerror}. Nothing else was changed."
            ) from error
    return tuple(removed)


@dataclass(slots=True)
class _Node:
    """What a delta does at one path: `names_it` when the path itself stands in it, `children` for what is below."""

    children: dict[bytes, _Node] = field(default_factory=dict)
    names_it: bool = False
    content: bytes | None = None


class _TreeBuilder:
    """Makes the trees on changed paths in memory; `pending` keeps what must be stored, in an order without dangling."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self.pending: dict[str, tuple[bytes, bytes]] = {}

    def add(self, kind: bytes, payload: bytes) -> str:
        oid = object_id(kind, payload)
        self.pending[oid] = (kind, payload)
        return oid

    def fold(self, before: TreeEntry | None, children: Mapping[bytes, _Node], path: str) -> TreeEntry | None:
        """Return the folder after the change, None when nothing is left in it."""
        if not children:
            return before
        base = {} if before is None else self._repository.tree(before.oid)
        entries = dict(base)
        is_in_order = True
        for name, node in children.items():
            was = base.get(name)
            entry = self._place(was, node, f"{path}/{name.decode('utf-8', 'replace')}")
            if entry is None:
                entries.pop(name, None)
            else:
                entries[name] = entry
                is_in_order = is_in_order and was is not None and was.is_folder == entry.is_folder
        if entries == base:
            return before
        if not entries:
            return None
        ordered = entries if is_in_order else in_order(entries)
        oid = self.add(b"tree", encode_in_order(ordered))
        self._repository.remember_tree(oid, ordered)
        return TreeEntry(oid, FOLDER_MODE)

    def _place(self, before: TreeEntry | None, node: _Node, path: str) -> TreeEntry | None:
        was_folder = before is not None and before.is_folder
        folder = self.fold(before if was_folder else None, node.children, path)
        document = self._document(before, node) if node.names_it else (None if was_folder else before)
        if folder is not None and document is not None:
            raise ValueError(f"{path[1:]!r} would be a document and a folder at once")
        return folder or document

    def _document(self, before: TreeEntry | None, node: _Node) -> TreeEntry | None:
        if node.content is None:
            return None
        keeps_mode = before is not None and before.mode in DOCUMENT_MODES
        mode = before.mode if before is not None and keeps_mode else _NEW_DOCUMENT_MODE
        oid = object_id(b"blob", node.content)
        if before is None or before.oid != oid:
            self.pending[oid] = (b"blob", node.content)
        return TreeEntry(oid, mode)


def _nested(delta: Delta) -> _Node:
    root = _Node()
    for path, content in delta.items():
        node = root
        for segment in split_path(path):
            node = node.children.setdefault(segment, _Node())
        node.names_it, node.content = True, content
    return root


def _seconds(at: datetime) -> int:
    if at.tzinfo is None or at.timestamp() < 0:
        raise ValueError("a commit needs an aware time after 1970")
    return int(at.timestamp())
