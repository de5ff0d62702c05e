"""A memory folder opened so that no link can lead out of it: folder by folder, each name with O_NOFOLLOW."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from memoryreview.core.errors import MemoryReviewError

from .errors import remedy

MAX_DOCUMENT_BYTES = 32 * 1024 * 1024

_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# O_NONBLOCK: a FIFO that takes the file's place must not stop us.
_FILE_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_READ_ATTEMPTS = 3
_CHUNK_BYTES = 1024 * 1024
# The process or the machine is out of something: that says nothing about the file.
_OUT_OF_RESOURCES = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM})


class WorktreeError(MemoryReviewError):
    """The folder or a file cannot be used. `str(error)` is a sentence with the system's reason."""

    problem = "folder-unusable"
    status = 503


class UnreadableError(Exception):
    """A name that cannot be read as a document. `str(error)` is the reason, in words."""


def shown(path: str) -> str:
    """Return a path for people: control characters and undecodable bytes as escapes."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in path)


class PinnedFolder:
    """One folder, known by device and inode: another folder that takes its path is not it."""

    def __init__(self, root: Path) -> None:
        """Raises WorktreeError when the folder is missing or no folder."""
        self.root = Path(os.path.realpath(root))
        try:
            self._identity = self.root.stat()
        except OSError as error:
            raise WorktreeError(
                f"The memory folder “{shown(str(root))}” cannot be used: {error.strerror}. Nothing was changed; "
                f"{remedy(error)}."
            ) from error
        if not stat.S_ISDIR(self._identity.st_mode):
            raise WorktreeError(f"“{shown(str(root))}” is not a folder. Nothing was changed; bring the folder back.")

    @contextmanager
    def opened(self, segments: Sequence[str] = ()) -> Iterator[int]:
        """Open a folder below the root and give its descriptor.

        Raises:
            WorktreeError: the root is gone or another folder stands there.
            OSError: a segment is missing, or is no folder (a link is none).
        """
        fd = self._open_root()
        try:
            for segment in segments:
                below = os.open(segment, _FOLDER_FLAGS, dir_fd=fd)
                os.close(fd)
                fd = below
            yield fd
        finally:
            os.close(fd)

    def _open_root(self) -> int:
        try:
            fd = os.open(self.root, _FOLDER_FLAGS)
        except OSError as error:
            raise WorktreeError(
                f"The memory folder “{shown(str(self.root))}” cannot be opened: {error.strerror}. Nothing was "
                f"changed; {remedy(error)}."
            ) from error
        if os.path.samestat(os.fstat(fd), self._identity):
            return fd
        os.close(fd)
        raise WorktreeError(
            f"Another folder now stands at “{shown(str(self.root))}”. Nothing was changed; put the memory folder back, "
            "or adopt the new one."
        )


def read_document(folder_fd: int, name: str) -> bytes | None:
    """Return the bytes of a regular file, None when there is none (a folder is none).

    A file that changes meanwhile is read again, three times at most.

    Raises:
        UnreadableError: a link, FIFO, socket or device, larger than MAX_DOCUMENT_BYTES, or the system refuses.
        WorktreeError: the process has no descriptor or memory left.
    """
    try:
        mode = os.stat(name, dir_fd=folder_fd, follow_symlinks=False).st_mode
        if stat.S_ISDIR(mode):
            return None
        if not stat.S_ISREG(mode):
            raise UnreadableError("link" if stat.S_ISLNK(mode) else "not a regular file")
        fd = os.open(name, _FILE_FLAGS, dir_fd=folder_fd)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise unreadable(error) from error
    try:
        return _read_steady(fd)
    except OSError as error:
        raise unreadable(error) from error
    finally:
        os.close(fd)


def _read_steady(fd: int) -> bytes:
    before = os.fstat(fd)
    if not stat.S_ISREG(before.st_mode):
        raise UnreadableError("not a regular file")
    _refuse_large(before.st_size)
    for _ in range(_READ_ATTEMPTS):
        content, after = _read_all(fd, before.st_size), os.fstat(fd)
        if _state(before) == _state(after):
            break
        before = after
        os.lseek(fd, 0, os.SEEK_SET)
    return content


def _read_all(fd: int, expected_bytes: int) -> bytes:
    chunks: list[bytes] = []
    size_bytes = 0
    room_bytes = min(_CHUNK_BYTES, expected_bytes + 1)  # room that is not used is memory asked for in vain
    while chunk := os.read(fd, room_bytes):
        size_bytes += len(chunk)
        _refuse_large(size_bytes)
        chunks.append(chunk)
    return b"".join(chunks)


def _refuse_large(size_bytes: int) -> None:
    if size_bytes > MAX_DOCUMENT_BYTES:
        raise UnreadableError(f"larger than {MAX_DOCUMENT_BYTES // 1024**2} MiB")


def _state(seen: os.stat_result) -> tuple[int, int, int]:
    """Return what changes when an open file is written to."""
    return seen.st_ctime_ns, seen.st_mtime_ns, seen.st_size


def unreadable(error: OSError) -> UnreadableError | WorktreeError:
    """Return what a failed read means: for this one name, or for the whole folder."""
    if error.errno in _OUT_OF_RESOURCES:
        return WorktreeError(f"The memory folder cannot be read now: {error.strerror}. Nothing was changed; try again.")
    return UnreadableError("link" if error.errno == errno.ELOOP else error.strerror or "unknown system error")
