"""Files that survive a power cut: written, fsynced, and their folder fsynced when it matters."""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

SYNC_EACH = 8
"""Up to so many files are fsynced one by one: a file system with other writers is slower to flush as a whole."""

_CREATE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def write_all(fd: int, content: bytes) -> None:
    """Write every byte; `os.write` may stop early on a full disk or a signal."""
    view = memoryview(content)
    while view:
        view = view[os.write(fd, view) :]


def write_new_file(path: Path, content: bytes) -> None:
    """Create a file of mode 0600 that must not exist yet, fsynced. A failed write leaves no file behind."""
    fd = os.open(path, _CREATE_FLAGS, 0o600)
    try:
        write_all(fd, content)
        os.fsync(fd)
    except OSError:
        with suppress(OSError):
            path.unlink()
        raise
    finally:
        os.close(fd)


def sync_folder(path: Path) -> None:
    """Make the names in a folder durable."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def sync_names(names: Sequence[tuple[int, str]]) -> None:
    """Make files durable that were written already, each given as (open folder, name); many of them in one go.

    Raises OSError; then none of them may be relied on.
    """
    syncfs = _syncfs() if len(names) > SYNC_EACH else None
    if syncfs is None:
        for folder_fd, name in names:
            fd = os.open(name, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder_fd)
            try:
                os.fsync(fd)
            finally:
                os.close(fd)
        return
    for folder_fd in {os.fstat(folder_fd).st_dev: folder_fd for folder_fd, _ in names}.values():
        if syncfs(folder_fd) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))


@cache
def _syncfs() -> ctypes._NamedFuncPointer | None:
    """Return the system's `syncfs`, None where there is none that reports a failed write (Linux does since 5.8)."""
    version = re.match(r"(\d+)\.(\d+)", os.uname().release)
    if os.uname().sysname != "Linux" or version is None or (int(version[1]), int(version[2])) < (5, 8):
        return None
    return getattr(ctypes.CDLL(None, use_errno=True), "syncfs", None)
