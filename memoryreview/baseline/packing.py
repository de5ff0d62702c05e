"""Upkeep of a baseline's objects, little and often: history stays quick to walk and the folder small.

Packing drops nothing that can be read, so it needs no lock of the store: every object stands in its new pack before its
old copies go. Collecting drops what no branch reaches and nothing has touched for two weeks, never anything younger.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from . import steps
from .errors import BaselineError, remedy
from .lock import store_lock
from .repository import Repository

LOCK_NAME = "memoryreview.pack.lock"
MARK_NAME = "memoryreview.packing"
PACKED_NAME = "memoryreview.packed"
COLLECTED_NAME = "memoryreview.collected"
SAFE_AGE_S = 14 * 24 * 60 * 60
_PAUSE_S = 0.05
# No bitmaps: they serve clones, and cost as much as the pack itself.
_OPTIONS = ("-c", "repack.writeBitmaps=false")
_GRAPH = ("commit-graph", "write", "--reachable", "--changed-paths", "--no-progress")
_LEFT_OVERS = (
    "objects/pack/tmp_*",
    "objects/pack/.tmp-*",
    "objects/info/commit-graphs/tmp_*",
    "objects/info/commit-graphs/*.lock",
    "objects/info/tmp_*",
    "objects/info/packs_*",
    "objects/info/*.lock",
)


@dataclass(frozen=True, slots=True)
class Clutter:
    """What waits to be packed. `loose_bytes` is the room that loose objects take on disk."""

    loose: int
    loose_bytes: int
    packs: int


def clutter(git_dir: Path) -> Clutter:
    """Count loose objects and packs. Raises BaselineError when the folder cannot be read."""
    objects = git_dir / "objects"
    loose = size_bytes = packs = 0
    try:
        for folder in os.scandir(objects):
            if len(folder.name) == 2 and folder.is_dir(follow_symlinks=False):
                for entry in os.scandir(folder.path):
                    loose += 1
                    size_bytes += _room(entry)
        packs = sum(entry.name.endswith(".pack") for entry in os.scandir(objects / "pack"))
    except OSError as error:
        raise BaselineError(
            f"The objects of the baseline at “{git_dir}” cannot be counted: {error.strerror}. Nothing was changed; "
            f"{remedy(error)}."
        ) from error
    return Clutter(loose, size_bytes, packs)


def _room(entry: os.DirEntry[str]) -> int:
    """Return the bytes that a file takes on disk, 0 when it was packed while we looked."""
    try:
        return entry.stat(follow_symlinks=False).st_blocks * 512
    except FileNotFoundError:
        return 0


def done_at(git_dir: Path) -> tuple[float, float]:
    """Return when the baseline was last packed and last collected, in seconds since 1970; 0 for never."""
    packed, collected = (_time_of(git_dir / name) for name in (PACKED_NAME, COLLECTED_NAME))
    return packed, collected


def _time_of(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def pack(git_dir: Path) -> bool:
    """Bring loose objects and small packs together, and note which commit touched which path.

    False when another process packs this baseline now. A kill at any point loses nothing.

    Raises BaselineError when git cannot do it; what could be read before still can.
    """
    with packing_lock(git_dir) as fd:
        if fd is None:
            return False
        with _marked(git_dir):
            _git(git_dir, fd, "repack", "-d", "--geometric=2", "-q")
            steps.on_step("packs.written")
            _git(git_dir, fd, *_GRAPH, "--split")
            steps.on_step("graph.written")
            (git_dir / PACKED_NAME).touch(mode=0o600)
    return True


def collect(
    git_dir: Path, *, older_than_s: int = SAFE_AGE_S, alone: Callable[[], AbstractContextManager[None]] | None = None
) -> bool:
    """Write one pack of everything, and drop what no branch reaches once it is older than that.

    What was dropped from packs before its time waits in a pack of its own, with its age. False when another process
    packs this baseline now.

    Args: alone: what keeps every writer away, where the store's lock in the git dir does not; that one by default.
    Raises: BaselineError when git cannot do it; LockBusyError when the store is busy for long.
    """
    expiry = f"{older_than_s}.seconds.ago"
    with packing_lock(git_dir) as fd:
        if fd is None:
            return False
        with _marked(git_dir):
            _git(git_dir, fd, "repack", "-d", "--cruft", f"--cruft-expiration={expiry}", "-q")
            steps.on_step("packs.written")
            _git(git_dir, fd, *_GRAPH, "--split=replace")
            steps.on_step("graph.written")
            if clutter(git_dir).loose:
                # A writer may find its object there and rely on it, so none may be at work.
                with alone() if alone is not None else store_lock(git_dir):
                    _git(git_dir, fd, "prune", f"--expire={expiry}")
                steps.on_step("objects.pruned")
            for name in (PACKED_NAME, COLLECTED_NAME):
                (git_dir / name).touch(mode=0o600)
    return True


def sweep(git_dir: Path) -> tuple[Path, ...]:
    """Remove what a killed packing left behind and return it. Files of another git's packing stay.

    Raises BaselineError with the system's reason.
    """
    if not (git_dir / MARK_NAME).exists():
        return ()
    with packing_lock(git_dir) as fd:
        try:
            return () if fd is None else _sweep(git_dir)
        except OSError as error:
            raise BaselineError(
                f"What a packing left in “{git_dir}” cannot be removed: {error.strerror}. Nothing else was changed; "
                "give permission, then try again."
            ) from error


@contextmanager
def packing_lock(git_dir: Path, *, wait_s: float = 0.0) -> Iterator[int | None]:
    """Hold off every other packing of this baseline; gives None when one is still at work after the wait.

    The git processes that get the descriptor hold the lock as well: it is free only when the last of them has ended,
    also when the process that started them was killed. Enter it before the store's lock.

    Raises BaselineError when the git dir is missing or cannot be locked.
    """
    fd = _lock(git_dir, wait_s)
    try:
        yield fd
    finally:
        if fd is not None:
            os.close(fd)


def _lock(git_dir: Path, wait_s: float) -> int | None:
    deadline = time.monotonic() + wait_s
    try:
        fd = os.open(git_dir / LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise _cannot_lock(git_dir, error) from error
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                os.close(fd)
                return None
            time.sleep(_PAUSE_S)
        except OSError as error:
            os.close(fd)
            raise _cannot_lock(git_dir, error) from error
        else:
            return fd


def _cannot_lock(git_dir: Path, error: OSError) -> BaselineError:
    return BaselineError(
        f"The baseline at “{git_dir}” cannot be packed: {error.strerror}. Nothing was changed; run "
        "“memoryreview doctor”."
    )


@contextmanager
def _marked(git_dir: Path) -> Iterator[None]:
    """Leave a mark while git writes: whoever finds it, and has the lock, knows that the left-overs are ours."""
    mark = git_dir / MARK_NAME
    try:
        Repository(git_dir).close()
        if mark.exists():
            _sweep(git_dir)
        mark.touch(mode=0o600)
        yield
        mark.unlink(missing_ok=True)
    except OSError as error:
        raise BaselineError(
            f"The baseline at “{git_dir}” cannot be packed: {error.strerror}. Nothing was lost."
        ) from error


def _sweep(git_dir: Path) -> tuple[Path, ...]:
    removed = []
    for pattern in _LEFT_OVERS:
        for path in git_dir.glob(pattern):
            path.unlink(missing_ok=True)
            removed.append(path)
    (git_dir / MARK_NAME).unlink(missing_ok=True)
    return tuple(removed)


def _git(git_dir: Path, lock_fd: int, *arguments: str) -> None:
    # Packing is rare; readers of loose objects need no git, and GitPython takes a tenth of a second to import.
    from .process import run

    status, _stdout, stderr = run(git_dir, *_OPTIONS, *arguments, pass_fds=(lock_fd,))
    if status != 0:
        raise BaselineError(
            f"git cannot pack the baseline at “{git_dir}” ({arguments[0]}): {stderr.strip()}. Nothing was lost; "
            "make room if the disk is full, else run “memoryreview verify”."
        )
