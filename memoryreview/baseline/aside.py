"""Put a document into its place, or take it away, so that a write which comes in between is never lost.

What stood there is moved aside in the same step and looked at afterwards. Until then it bears a name that says what it
should be, so that whoever finds it after a kill can tell a text of ours from somebody else's.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import secrets
from contextlib import suppress

from . import steps
from .exchange import exchange
from .folder import UnreadableError, WorktreeError, read_document

_TEMP_NAME = re.compile(r"\.mr-[0-9a-f]{16}\.tmp")
_ASIDE_NAME = re.compile(r"\.mr-[0-9a-f]{16}-([0-9a-f]{16})-([0-9a-f]{16})(?:-(.+))?\.tmp", re.DOTALL)
_MAX_NAME_BYTES = 140  # every file system takes that much
_NO_HARD_LINKS = frozenset({errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EMLINK, errno.EXDEV})


def temp_name() -> str:
    """Return a fresh name for new bytes that wait beside their document."""
    return f".mr-{secrets.token_hex(8)}.tmp"


def is_temp(name: str) -> bool:
    """Whether a name is one of ours for bytes that wait for their place."""
    return _TEMP_NAME.fullmatch(name) is not None


def is_aside(name: str) -> bool:
    """Whether a name is one of ours for what was moved aside to be looked at."""
    return _ASIDE_NAME.fullmatch(name) is not None


def put(folder_fd: int, temp: str, name: str, expected: bytes | None) -> bool:
    """Put a temp file in the place of a document; False when that is not what was expected (None: absent) by then."""
    if read_document(folder_fd, name) != expected:
        return False
    steps.on_step("document.compared")
    if not _take_place(folder_fd, temp, name, expected):
        return False
    steps.on_step("document.replaced")
    return True


def take_away(folder_fd: int, name: str, expected: bytes | None) -> bool:
    """Remove a document; False when it is not what was expected by then."""
    if read_document(folder_fd, name) != expected:
        return False
    steps.on_step("document.found")
    if not _moved_away(folder_fd, name, expected):
        return False
    steps.on_step("document.removed")
    return True


def discard(folder_fd: int, name: str) -> None:
    """Remove a temp file that is not needed any more; one that the system keeps is swept later."""
    with suppress(OSError):
        os.unlink(name, dir_fd=folder_fd)


def has(folder_fd: int, name: str) -> bool:
    """Whether anything of that name lies in the folder."""
    try:
        os.stat(name, dir_fd=folder_fd, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def settle(folder_fd: int, aside: str) -> None:
    """Deal with what a killed writer of ours moved aside. A text that is neither the one it expected nor its own is
    somebody's write: it goes back to its place, or beside what was written there since. Raises OSError."""
    found = _ASIDE_NAME.fullmatch(aside)
    if found is None:
        return
    ours, expected, name = found.groups()
    if _mark_of(folder_fd, aside) in (ours, expected):
        os.unlink(aside, dir_fd=folder_fd)
    elif name and not has(folder_fd, name):
        _come_back(folder_fd, aside, name)
    elif name and _mark_of(folder_fd, name) == ours and exchange(folder_fd, aside, name):
        if _mark_of(folder_fd, aside) == ours:
            discard(folder_fd, aside)
        else:
            _keep_beside(folder_fd, aside, name)
    else:
        _keep_beside(folder_fd, aside, name or "text.md")
    os.fsync(folder_fd)


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
        os.replace(temp, name, src_dir_fd=folder_fd, dst_dir_fd=folder_fd)
        return True
    ours = read_document(folder_fd, temp) or b""
    aside = _aside_name(name, ours, expected)
    os.rename(temp, aside, src_dir_fd=folder_fd, dst_dir_fd=folder_fd)
    try:
        is_exchanged = exchange(folder_fd, aside, name)
    except OSError as error:
        discard(folder_fd, aside)
        if isinstance(error, FileNotFoundError):
            return False
        raise
    if is_exchanged:
        steps.on_step("document.exchanged")
        return _came_out(folder_fd, aside, name, expected=expected, ours=ours)
    os.replace(aside, name, src_dir_fd=folder_fd, dst_dir_fd=folder_fd)
    return True


def _came_out(folder_fd: int, aside: str, name: str, *, expected: bytes, ours: bytes) -> bool:
    """Drop the old file when it is what was expected; else somebody wrote a moment ago, and theirs takes its place."""
    if _holds(folder_fd, aside, expected):
        discard(folder_fd, aside)
        return True
    try:
        exchange(folder_fd, aside, name)
        if _holds(folder_fd, aside, ours):
            discard(folder_fd, aside)
        else:
            exchange(folder_fd, aside, name)  # and wrote once more: the newest stays in place
            _keep_beside(folder_fd, aside, name)
    except FileNotFoundError:
        _come_back(folder_fd, aside, name)
    return False


def _moved_away(folder_fd: int, name: str, expected: bytes | None) -> bool:
    """Remove a file. It is moved aside first: when it is not what was expected by then, it comes back."""
    aside = _aside_name(name, expected or b"", expected or b"")
    os.rename(name, aside, src_dir_fd=folder_fd, dst_dir_fd=folder_fd)
    steps.on_step("document.aside")
    if expected is not None and _holds(folder_fd, aside, expected):
        discard(folder_fd, aside)
        return True
    _come_back(folder_fd, aside, name)
    return False


def _come_back(folder_fd: int, aside: str, name: str) -> None:
    """Give somebody's text its name back, or one beside it where something new stands there by now."""
    try:
        os.link(aside, name, src_dir_fd=folder_fd, dst_dir_fd=folder_fd, follow_symlinks=False)
    except FileExistsError:
        _keep_beside(folder_fd, aside, name)
    except OSError:  # a folder, or a file system without hard links
        if has(folder_fd, name):
            _keep_beside(folder_fd, aside, name)
        else:
            os.rename(aside, name, src_dir_fd=folder_fd, dst_dir_fd=folder_fd)
    else:
        discard(folder_fd, aside)


def _keep_beside(folder_fd: int, aside: str, name: str) -> None:
    """Keep somebody's text as a document of its own, so that it is captured like any other write."""
    stem = os.fsdecode(os.fsencode(name.removesuffix(".md"))[:_MAX_NAME_BYTES].decode("utf-8", "ignore").encode())
    kept = f"{stem}.recovered-{secrets.token_hex(4)}.md"
    os.rename(aside, kept, src_dir_fd=folder_fd, dst_dir_fd=folder_fd)


def _aside_name(name: str, ours: bytes, expected: bytes) -> str:
    start = f".mr-{secrets.token_hex(8)}-{_mark(ours)}-{_mark(expected)}"
    whole = f"{start}-{name}.tmp"
    return whole if len(os.fsencode(whole)) <= _MAX_NAME_BYTES else f"{start}.tmp"


def _mark(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def _mark_of(folder_fd: int, name: str) -> str:
    """Return the mark of a document's bytes, "" for what is none."""
    try:
        content = read_document(folder_fd, name)
    except (UnreadableError, WorktreeError):
        return ""
    return "" if content is None else _mark(content)


def _holds(folder_fd: int, name: str, content: bytes) -> bool:
    try:
        return read_document(folder_fd, name) == content
    except (UnreadableError, WorktreeError):
        return False
