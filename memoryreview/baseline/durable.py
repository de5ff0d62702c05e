"""Files that survive a power cut: written, fsynced, and their folder fsynced when it matters."""

from __future__ import annotations

import os
from pathlib import Path

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
        path.unlink(missing_ok=True)
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
