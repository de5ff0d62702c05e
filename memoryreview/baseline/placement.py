"""One file in an open folder: staged beside its place, compared, and put there by a rename that loses nothing."""

from __future__ import annotations

import errno
import os
import re
import secrets
import stat
from contextlib import suppress

from . import durable, steps
from .exchange import exchange
from .folder import UnreadableError, WorktreeError, read_document, shown

TEMP_NAME = re.compile(r"\.mr-[0-9a-f]{16}\.tmp")
_TEMP_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_WRITE_BITS = 0o222
_NO_HARD_LINKS = frozenset({errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EMLINK, errno.EXDEV})


def write(folder_fd: int, name: str, expected: bytes | None, new: bytes) -> bool:
    """Put a new file in the place of the old one; False when the old one changed meanwhile."""
    temp = stage(folder_fd, name, expected, new)
    try:
        durable.sync_names([(folder_fd, temp)])
        steps.on_step("document.written")
        if not put(folder_fd, temp, name, expected):
            return False
        _sync(folder_fd, name)
        return True
    finally:
        discard(folder_fd, temp)


def stage(folder_fd: int, name: str, expected: bytes | None, new: bytes) -> str:
    """Write the new bytes beside the file, and return the temp file's name; nothing is left on failure."""
    old = None if expected is None else os.stat(name, dir_fd=folder_fd, follow_symlinks=False)
    temp = f".mr-{secrets.token_hex(8)}.tmp"
    # Until it has the old file's mode, nobody else may read the new text.
    fd = os.open(temp, _TEMP_FLAGS, 0o666 if old is None else 0o600, dir_fd=folder_fd)
    try:
        steps.on_step("document.created")
        durable.write_all(fd, new)
        if old is not None:
            _keep_owner_and_mode(fd, old)
    except BaseException:
        discard(folder_fd, temp)
        raise
    finally:
        os.close(fd)
    return temp


def put(folder_fd: int, temp: str, name: str, expected: bytes | None) -> bool:
    """Rename a staged file into its place; False when that does not hold what was expected."""
    if read_document(folder_fd, name) != expected:
        return False
    steps.on_step("document.compared")
    if not _take_place(folder_fd, temp, name, expected):
        return False
    steps.on_step("document.replaced")
    return True


def _take_place(folder_fd: int, temp: str, name: str, expected: bytes | None) -> bool:
    if expected is None:
        # A rename would silently replace a file that appeared a moment ago; a hard link fails then.
        try:
            os.link(temp, name, src_dir_fd=folder_fd, dst_dir_fd=folder_fd, follow_symlinks=False)
        except FileExistsError:
            return False
        except OSError as error:
            if error.errno not in _NO_HARD_LINKS:
                raise
        else:
            discard(folder_fd, temp)
            return True
    else:
        ours = read_document(folder_fd, temp)
        try:
            if exchange(folder_fd, temp, name):
                return _came_out(folder_fd, temp, name, expected=expected, ours=ours)
        except FileNotFoundError:
            return False
    os.replace(temp, name, src_dir_fd=folder_fd, dst_dir_fd=folder_fd)
    return True


def _came_out(folder_fd: int, temp: str, name: str, *, expected: bytes, ours: bytes | None) -> bool:
    """Drop the old file when it is what was expected; else somebody wrote a moment ago, and theirs takes its place."""
    if _holds(folder_fd, temp, expected):
        discard(folder_fd, temp)
        return True
    try:
        exchange(folder_fd, temp, name)
        if ours is not None and not _holds(folder_fd, temp, ours):
            exchange(folder_fd, temp, name)  # and wrote once more: the newest stays
    except FileNotFoundError:
        os.rename(temp, name, src_dir_fd=folder_fd, dst_dir_fd=folder_fd)
    return False


def _holds(folder_fd: int, name: str, content: bytes) -> bool:
    try:
        return read_document(folder_fd, name) == content
    except (UnreadableError, WorktreeError):
        return False


def _moved_away(folder_fd: int, name: str, expected: bytes | None) -> bool:
    """Remove a file. It is moved aside first: when it is not what was expected by then, it comes back."""
    aside = f".mr-{secrets.token_hex(8)}.tmp"
    os.rename(name, aside, src_dir_fd=folder_fd, dst_dir_fd=folder_fd)
    is_expected = expected is not None and _holds(folder_fd, aside, expected)
    if not is_expected and not has(folder_fd, name):
        os.rename(aside, name, src_dir_fd=folder_fd, dst_dir_fd=folder_fd)
        return False
    discard(folder_fd, aside)
    return is_expected


def remove(folder_fd: int, name: str, expected: bytes | None) -> bool:
    """Remove a file for good; False when it is not what was expected."""
    if not take_away(folder_fd, name, expected):
        return False
    _sync(folder_fd, name)
    return True


def take_away(folder_fd: int, name: str, expected: bytes | None) -> bool:
    """Remove a file, not yet durable; False when it is not what was expected."""
    if read_document(folder_fd, name) != expected:
        return False
    steps.on_step("document.found")
    if not _moved_away(folder_fd, name, expected):
        return False
    steps.on_step("document.removed")
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


def has(folder_fd: int, name: str) -> bool:
    """Whether anything of that name lies in the folder."""
    try:
        os.stat(name, dir_fd=folder_fd, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _keep_owner_and_mode(fd: int, old: os.stat_result) -> None:
    new = os.fstat(fd)
    if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
        os.fchown(fd, old.st_uid, old.st_gid)
    os.fchmod(fd, stat.S_IMODE(old.st_mode))


def discard(folder_fd: int, name: str) -> None:
    """Remove a temp file that is not needed any more; one that the system keeps is swept later."""
    with suppress(OSError):
        os.unlink(name, dir_fd=folder_fd)
