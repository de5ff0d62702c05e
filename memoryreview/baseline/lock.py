"""One writer per store, between processes."""

from __future__ import annotations

import fcntl
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from memoryreview.core.errors import MemoryReviewError

from .errors import BaselineError

LOCK_NAME = "memoryreview.lock"
_FIRST_PAUSE_S = 0.001
_LONGEST_PAUSE_S = 0.02


class LockBusyError(MemoryReviewError):
    """The lock was not free within the timeout. Attributes: path, waited_s."""

    problem = "store-busy"
    status = 503

    def __init__(self, path: Path, waited_s: float) -> None:
        self.path, self.waited_s = path, waited_s
        super().__init__(
            f"Another process is writing to this store: “{path}” was not free after {waited_s:.1f} s. "
            "Nothing was changed; try again."
        )


class LockLostError(MemoryReviewError):
    """A lock that can be lost while it is held was lost. Its next holder finishes or takes back what was begun."""

    problem = "busy"
    status = 503


class _Held(threading.local):
    """Locks that this thread holds: path of the lock file to its open file and how often it was entered.

    `checks` ask whether locks of another kind, which can be lost, are still held.
    """

    def __init__(self) -> None:
        self.by_path: dict[str, tuple[int, int]] = {}
        self.checks: list[Callable[[], None]] = []


_held = _Held()


def _forget_in_child() -> None:
    """Drop what a fork copied: the parent holds the locks, and an open copy would keep them after its death."""
    for fd, _depth in _held.by_path.values():
        os.close(fd)
    _held.by_path.clear()


os.register_at_fork(after_in_child=_forget_in_child)


@contextmanager
def confirmed_by(check: Callable[[], None]) -> Iterator[None]:
    """Let `confirm` ask this too, in this thread. Args: check: raises LockLostError when the lock is lost."""
    _held.checks.append(check)
    try:
        yield
    finally:
        _held.checks.remove(check)


def confirm() -> None:
    """Ask, right before something moves that only its holder may move. Raises LockLostError; nothing was moved then.

    The kernel takes no flock away from a living process, so without other locks there is nothing to ask.
    """
    for check in _held.checks:
        check()


@contextmanager
def store_lock(git_dir: Path, *, timeout_s: float = 10.0) -> Iterator[None]:
    """Hold the store's lock (flock on a file inside git_dir, released by the kernel when the process dies).

    Re-entrant within one thread; excludes other threads and processes.

    Raises:
        LockBusyError: another thread or process held it for the whole timeout (0: one try).
        BaselineError: the git dir is missing or cannot be locked.
    """
    key = os.path.realpath(git_dir)
    fd, depth = _held.by_path.get(key) or (_acquire(Path(key) / LOCK_NAME, timeout_s), 0)
    _held.by_path[key] = (fd, depth + 1)
    try:
        yield
    finally:
        # A child made by fork inside the block has forgotten the lock: it is the parent's to release.
        if key in _held.by_path:
            _leave(key)


def _leave(key: str) -> None:
    fd, depth = _held.by_path[key]
    if depth > 1:
        _held.by_path[key] = (fd, depth - 1)
        return
    del _held.by_path[key]
    # Closing alone would not release it while a child process still has the file open.
    fcntl.flock(fd, fcntl.LOCK_UN)
    os.close(fd)


def _acquire(path: Path, timeout_s: float) -> int:
    started = time.monotonic()
    pause_s = _FIRST_PAUSE_S
    while True:
        fd = _try_lock(path)
        if fd is not None:
            return fd
        waited_s = time.monotonic() - started
        if waited_s >= timeout_s:
            raise LockBusyError(path, waited_s)
        time.sleep(min(pause_s, timeout_s - waited_s))
        pause_s = min(pause_s * 2, _LONGEST_PAUSE_S)


def _try_lock(path: Path) -> int | None:
    """Return the locked open file, None when somebody else has it."""
    try:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise BaselineError(
            f"There is no baseline at “{path.parent}”. The memory folder is unchanged; restore the data folder from a "
            "backup, or adopt the folder anew."
        ) from error
    except OSError as error:
        raise BaselineError(
            f"The store cannot be locked at “{path}”: {error.strerror}. Nothing was changed; run “memoryreview doctor”."
        ) from error
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # The folder may have been removed and made anew while we waited: then this file locks nothing.
        if os.path.samestat(os.fstat(fd), path.stat()):
            return fd
    except (BlockingIOError, FileNotFoundError):
        pass
    except OSError as error:
        os.close(fd)
        raise BaselineError(
            f"The file system of “{path}” refuses locks: {error.strerror}. Nothing was changed; "
            "move the data folder to a local disk."
        ) from error
    os.close(fd)
    return None
