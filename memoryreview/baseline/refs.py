"""The one branch of a baseline: read without a process, moved under git's own lock protocol.

A writer makes a file of its own in the git dir, writes the new commit id to it, and hard-links it to `main.lock`. So a
lock that a killed writer of ours left behind has a twin, which tells it from one of a foreign git; that one we never
remove.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from . import durable, steps
from .errors import BaselineError, remedy
from .lock import LockBusyError, confirm, store_lock
from .objects import is_oid

BRANCH = "refs/heads/main"
TEMP_PREFIX = "mr-ref-"
STALE_AFTER_S = 60.0
_PAUSE_S = 0.02


def read_branch(git_dir: Path) -> str | None:
    """Return the commit id that the branch points to, None before the first commit. Raises BaselineError."""
    try:
        value = _read_loose(git_dir)
        packed = _read_packed(git_dir) if value is None else None
    except OSError as error:
        raise BaselineError(
            f"The branch of the baseline at “{git_dir}” cannot be read: {error.strerror}. Nothing was changed; "
            f"{remedy(error)}."
        ) from error
    if value is None:
        if packed is None and not (git_dir / "HEAD").is_file():
            raise BaselineError(
                f"The baseline at “{git_dir}” is gone. The memory folder is unchanged; restore the data folder from a "
                "backup, or adopt the folder anew."
            )
        return packed
    if not is_oid(value):
        raise BaselineError(
            f"The branch file “{git_dir / BRANCH}” is damaged: it names no commit. Nothing was changed; run "
            "“memoryreview verify”, then restore the data folder from a backup, or adopt the folder anew."
        )
    return value


def swap_branch(git_dir: Path, *, expected: str | None, new: str, wait_s: float) -> bool:
    """Point the branch to `new` if it points to `expected`; durable when it returns True, unmoved on False.

    Raises:
        LockBusyError: a foreign git held the branch for the whole wait.
        LockLostError: the store's lock was lost before.
        BaselineError: a foreign git left its lock behind, or the system refuses the write.
    """
    with store_lock(git_dir):
        if read_branch(git_dir) != expected:
            return False
        temp = git_dir / f"{TEMP_PREFIX}{secrets.token_hex(8)}"
        try:
            durable.write_new_file(temp, new.encode("ascii") + b"\n")
            steps.on_step("ref.written")
            return _swap_locked(git_dir, temp, expected, wait_s)
        except OSError as error:
            raise BaselineError(
                f"The branch of the baseline at “{git_dir}” cannot be moved: {error.strerror}. "
                "The memory folder is unchanged; make room or give permission, then try again."
            ) from error
        finally:
            with suppress(OSError):  # swept later; the branch is where it is
                temp.unlink()


def _swap_locked(git_dir: Path, temp: Path, expected: str | None, wait_s: float) -> bool:
    branch = git_dir / BRANCH
    lock = _lock_path(git_dir)
    _take_lock(git_dir, temp, wait_s)
    moved = False
    try:
        steps.on_step("ref.locked")
        # A foreign git may have moved it while we waited for its lock.
        if read_branch(git_dir) != expected:
            return False
        confirm()
        lock.replace(branch)
        moved = True
        steps.on_step("ref.moved")
        _sync(branch)
        steps.on_step("ref.durable")
        return True
    finally:
        if not moved and _is_twin(lock, [temp]):  # whoever got the store's lock may have swept ours
            lock.unlink(missing_ok=True)


def _sync(branch: Path) -> None:
    try:
        durable.sync_folder(branch.parent)
    except OSError as error:
        raise BaselineError(
            f"The branch “{branch}” was moved, so the change is in force, but it may not survive a power cut: "
            f"{error.strerror}. The rest is carried on by itself; check the disk, then run “memoryreview verify”."
        ) from error


def sweep_refs(git_dir: Path) -> list[Path]:
    """Remove what killed writers of ours left, and return it. The caller holds the store's lock."""
    removed = []
    lock = _lock_path(git_dir)
    if _is_left_by_us(git_dir, lock):
        lock.unlink(missing_ok=True)
        removed.append(lock)
    for temp in git_dir.glob(f"{TEMP_PREFIX}*"):
        temp.unlink(missing_ok=True)
        removed.append(temp)
    return removed


def _lock_path(git_dir: Path) -> Path:
    return git_dir / f"{BRANCH}.lock"


def _take_lock(git_dir: Path, temp: Path, wait_s: float) -> None:
    lock = _lock_path(git_dir)
    started = time.monotonic()
    while True:
        try:
            os.link(temp, lock)
        except FileExistsError:
            pass
        else:
            return
        if _is_left_by_us(git_dir, lock):
            lock.unlink(missing_ok=True)
            continue
        _refuse_stale(lock)
        waited_s = time.monotonic() - started
        if waited_s >= wait_s:
            raise LockBusyError(lock, waited_s)
        time.sleep(_PAUSE_S)


def _is_left_by_us(git_dir: Path, lock: Path) -> bool:
    """Whether the lock has a twin. Its writer is dead then: we hold the store's lock, which it would need to live."""
    return _is_twin(lock, git_dir.glob(f"{TEMP_PREFIX}*"))


def _is_twin(lock: Path, temps: Iterable[Path]) -> bool:
    try:
        lock_stat = lock.lstat()
        return any(os.path.samestat(lock_stat, temp.lstat()) for temp in temps)
    except FileNotFoundError:
        return False


def _refuse_stale(lock: Path) -> None:
    try:
        age_s = time.time() - lock.lstat().st_mtime
    except FileNotFoundError:
        return
    if age_s > STALE_AFTER_S:
        raise BaselineError(
            f"Another git program left its lock file “{lock}” {age_s:.0f} s ago. The change waits and nothing was "
            "written. If no git command is at work in that folder, remove the file, then try again."
        )


def _read_loose(git_dir: Path) -> str | None:
    try:
        return (git_dir / BRANCH).read_bytes().strip().decode("ascii", "replace")
    except FileNotFoundError:
        return None


def _read_packed(git_dir: Path) -> str | None:
    try:
        lines = (git_dir / "packed-refs").read_bytes().splitlines()
    except FileNotFoundError:
        return None
    for line in lines:
        oid, _, name = line.partition(b" ")
        value = oid.decode("ascii", "replace")
        if name == BRANCH.encode("ascii") and is_oid(value):
            return value
    return None
