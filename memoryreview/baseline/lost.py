"""A baseline that nobody can go on from: telling it from one that is only out of reach, and moving it aside."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from . import durable
from .errors import BaselineError, ForeignConfigError
from .objects import DOCUMENT_MODES, decode_commit, decode_tree
from .repository import Repository

# The same files may be readable again in a moment, or by somebody else: that is no loss.
_OUT_OF_REACH = frozenset(
    {errno.EACCES, errno.EPERM, errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ESTALE, errno.ETIMEDOUT}
)
_WAYS_OUT = "The memory folder is unchanged; restore the data folder from a backup, or adopt the folder anew."


def loss(git_dir: Path, newest: str, *, thorough: bool = False) -> str:
    """Return why a history cannot be gone on from, "" when it can.

    Args:
        newest: the commit that was recorded last; a history without it was rewritten from outside.
        thorough: read every object of the history, not those of the head alone.
    Raises: BaselineError when it may be whole all the same: the system refuses to read, or just its config is not ours.
    """
    try:
        with Repository(git_dir) as repository:
            head = repository.head()
            if head is None:
                return f"The baseline at “{git_dir}” has no commit. {_WAYS_OUT}"
            for _path, entry in repository.walk(repository.commit(head).tree):
                repository.objects.read(entry.oid, b"blob")
            if newest and not repository.is_ancestor(newest, head):
                gone = f"does not hold commit {newest[:40]}, which was recorded last"
                return f"The baseline at “{git_dir}” {gone}. {_WAYS_OUT}"
            if thorough:
                _read_all(repository, head)
    except ForeignConfigError:
        raise
    except BaselineError as error:
        cause = error.__cause__
        if isinstance(cause, OSError) and cause.errno in _OUT_OF_REACH:
            raise
        return str(error)
    return ""


def _read_all(repository: Repository, head: str) -> None:
    """Read what a commit reaches, each object once. Raises BaselineError for the first that is missing or damaged."""
    seen: set[str] = set()
    waiting = [(head, b"commit")]
    while waiting:
        oid, kind = waiting.pop()
        if oid in seen:
            continue
        seen.add(oid)
        payload = repository.objects.read(oid, kind)
        try:
            waiting += _named(kind, payload)
        except ValueError as error:
            raise BaselineError(f"Object {oid} of the baseline cannot be read: {error}.") from error


def _named(kind: bytes, payload: bytes) -> Iterator[tuple[str, bytes]]:
    if kind == b"commit":
        commit = decode_commit(payload)
        yield commit.tree, b"tree"
        yield from ((parent, b"commit") for parent in commit.parents)
    elif kind == b"tree":
        for entry in decode_tree(payload).values():
            if entry.is_folder or entry.mode in DOCUMENT_MODES:
                yield entry.oid, b"tree" if entry.is_folder else b"blob"


def looks_whole(git_dir: Path, newest: str) -> bool:
    """Whether, at a glance that reads no object, the branch shows the commit that was recorded last and it is kept."""
    try:
        with Repository(git_dir) as repository:
            if repository.head() != newest:
                return False
        loose = git_dir / "objects" / newest[:2] / newest[2:]
        return (loose.is_file() and loose.stat().st_size > 0) or any((git_dir / "objects/pack").glob("*.idx"))
    except (BaselineError, OSError):
        return False


def set_aside(git_dir: Path, at: datetime) -> Path | None:
    """Move what is left of a baseline out of the way, under a name that says when, durable; nothing of it is deleted.

    Returns where it lies now, None when nothing was left. Raises BaselineError with the system's reason.
    """
    if not os.path.lexists(git_dir):
        return None
    name = f"{git_dir.name.removesuffix('.git')}.lost-{at:%Y%m%dT%H%M%SZ}"
    to, number = git_dir.with_name(name), 2
    while os.path.lexists(to):
        to, number = git_dir.with_name(f"{name}-{number}"), number + 1
    try:
        git_dir.rename(to)
        durable.sync_folder(git_dir.parent)
    except OSError as error:
        raise BaselineError(
            f"“{git_dir}” cannot be moved aside: {error.strerror}. Nothing was changed; give permission and try again."
        ) from error
    return to


def set_aside_before(git_dir: Path) -> tuple[Path, ...]:
    """Return what was moved aside of a baseline, the oldest first."""
    return tuple(sorted(git_dir.parent.glob(f"{git_dir.name.removesuffix('.git')}.*lost-*")))
