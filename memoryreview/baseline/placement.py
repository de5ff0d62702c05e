"""One file in an open folder: staged beside its place, put there or removed for good, and never by force."""

from __future__ import annotations

import errno
import os
import stat

from . import aside, durable, steps
from .folder import WorktreeError, shown

_TEMP_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_WRITE_BITS = 0o222


def write(folder_fd: int, name: str, expected: bytes | None, new: bytes) -> bool:
    """Put a new file in the place of the old one; False when the old one changed meanwhile."""
    temp = stage(folder_fd, name, expected, new)
    try:
        durable.sync_names([(folder_fd, temp)])
        steps.on_step("document.written")
        if not aside.put(folder_fd, temp, name, expected):
            return False
        _sync(folder_fd, name)
        return True
    finally:
        aside.discard(folder_fd, temp)


def stage(folder_fd: int, name: str, expected: bytes | None, new: bytes) -> str:
    """Write the new bytes beside the file, and return the temp file's name; nothing is left on failure."""
    old = None if expected is None else os.stat(name, dir_fd=folder_fd, follow_symlinks=False)
    temp = aside.temp_name()
    # Until it has the old file's mode, nobody else may read the new text.
    fd = os.open(temp, _TEMP_FLAGS, 0o666 if old is None else 0o600, dir_fd=folder_fd)
    try:
        steps.on_step("document.created")
        durable.write_all(fd, new)
        if old is not None:
            _keep_owner_and_mode(fd, old)
    except BaseException:
        aside.discard(folder_fd, temp)
        raise
    finally:
        os.close(fd)
    return temp


def remove(folder_fd: int, name: str, expected: bytes | None) -> bool:
    """Remove a file for good; False when it is not what was expected."""
    if not aside.take_away(folder_fd, name, expected):
        return False
    _sync(folder_fd, name)
    return True


def _sync(folder_fd: int, name: str) -> None:
    try:
        os.fsync(folder_fd)
    except OSError as error:
        raise WorktreeError(
            f"“{shown(name)}” was changed, but the change may not survive a power cut: {error.strerror}. "
            "Check the disk."
        ) from error
    steps.on_step("document.durable")


def refuse_read_only(folder_fd: int, name: str) -> None:
    """Raise when the mode forbids writing: the superuser could, but somebody wanted it so."""
    refuse_read_only_folder(folder_fd)
    try:
        mode = os.stat(name, dir_fd=folder_fd, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not mode & _WRITE_BITS or not os.access(name, os.W_OK, dir_fd=folder_fd):
        raise PermissionError(errno.EACCES, f"{os.strerror(errno.EACCES)} (the file is read-only)")


def refuse_read_only_folder(folder_fd: int) -> None:
    """Raise PermissionError when the folder's mode forbids writing."""
    if not os.fstat(folder_fd).st_mode & _WRITE_BITS:
        raise PermissionError(errno.EACCES, f"{os.strerror(errno.EACCES)} (its folder is read-only)")


def _keep_owner_and_mode(fd: int, old: os.stat_result) -> None:
    new = os.fstat(fd)
    if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
        os.fchown(fd, old.st_uid, old.st_gid)
    os.fchmod(fd, stat.S_IMODE(old.st_mode))
