"""One file in an open folder: staged beside its place, put there or removed for good, and never by force."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from itertools import islice

from . import aside, durable, steps
from .folder import WorktreeError, shown
from .scan import is_document_name

_TEMP_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_WRITE_BITS = 0o222
_DOCUMENT_BITS = 0o666
_OWNER_BITS = 0o600
_MAX_NEIGHBOURS = 64  # a folder of ten thousand documents must not slow a new one down


def write(folder_fd: int, name: str, expected: bytes | None, new: bytes, *, mode: int) -> bool:
    """Put a new file in the place of the old one; False when the old one changed meanwhile. `mode` as in `stage`."""
    temp = stage(folder_fd, name, expected, new, mode=mode)
    try:
        durable.sync_names([(folder_fd, temp)])
        steps.on_step("document.written")
        if not aside.put(folder_fd, temp, name, expected):
            return False
        _sync(folder_fd, name)
        return True
    finally:
        aside.discard(folder_fd, temp)


def stage(folder_fd: int, name: str, expected: bytes | None, new: bytes, *, mode: int) -> str:
    """Write the new bytes beside the file, and return the temp file's name; nothing is left on failure.

    Args: mode: permission bits that a new document may have; the umask takes more away. One that exists keeps its own.
    """
    old = None if expected is None else os.stat(name, dir_fd=folder_fd, follow_symlinks=False)
    temp = aside.temp_name()
    # Until it has the old file's mode, nobody else may read the new text.
    fd = os.open(temp, _TEMP_FLAGS, _new_mode(mode) if old is None else 0o600, dir_fd=folder_fd)
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


def _new_mode(mode: int) -> int:
    """Return a mode under which the owner can read and write, and nobody runs a document."""
    return mode & _DOCUMENT_BITS | _OWNER_BITS


def shared_mode(folder_fd: int) -> int | None:
    """Return the permission bits that the documents of a folder have in common, None when there are none.

    Of many documents some are asked.
    """
    found: int | None = None
    with os.scandir(folder_fd) as entries:
        for entry in islice((one for one in entries if is_document_name(one.name)), _MAX_NEIGHBOURS):
            with suppress(FileNotFoundError):
                mode = entry.stat(follow_symlinks=False).st_mode
                if stat.S_ISREG(mode):
                    found = stat.S_IMODE(mode) if found is None else found & stat.S_IMODE(mode)
    return found


def make_folder(parent_fd: int, name: str) -> None:
    """Make a folder that nobody may use who may not use the one that it lies in."""
    os.mkdir(name, stat.S_IMODE(os.fstat(parent_fd).st_mode) & 0o777 | 0o700, dir_fd=parent_fd)


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
