"""What a folder looked like when its documents were read and found as approved: the state of their files and folders.

One file beside the baseline: derived, safe to delete, replaced as a whole. It is a git index (version 2), so that git
can compare a large folder with it; the last, optional part holds the tree that was approved, and the folders.
"""

from __future__ import annotations

import hashlib
import os
import stat
import struct
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

NAME = "seen.index"
UNKNOWN = bytes(40)
"""State of a file or folder that must be looked at again."""

_HEADER = struct.Struct(">4sII")
_STATE = struct.Struct(">10I")
_ENTRY = struct.Struct(">40s20sH")
_FOLDER = struct.Struct(">40sH")
_SIZE = struct.Struct(">I")
_PART = struct.Struct(">20sQ")
_PART_NAME = b"MRS2"
_CHECKSUM_BYTES = 20
_EXECUTABLE, _PLAIN = 0o100755, 0o100644


@dataclass(frozen=True, slots=True)
class Seen:
    """What the file says.

    Args:
        tree: id of the git tree that was approved.
        count: how many documents it holds.
        since: when every document was last read, in seconds since 1970.
        folders: state of each folder that held approved documents and nothing else of interest, UNKNOWN of the others.
    """

    tree: str
    count: int
    since: int
    folders: Mapping[str, bytes]
    raw: bytes

    def states(self) -> dict[str, tuple[str, bytes]]:
        """Return blob id and file state of each document that was found as approved."""
        found: dict[str, tuple[str, bytes]] = {}
        at = _HEADER.size
        for _ in range(self.count):
            state, oid, _flags = _ENTRY.unpack_from(self.raw, at)
            end = self.raw.index(b"\0", at + _ENTRY.size)
            if state != UNKNOWN:
                found[os.fsdecode(self.raw[at + _ENTRY.size : end])] = oid.hex(), state
            at += _padded(end - at)
        return found


def state_of(file: os.stat_result) -> bytes:
    """Return what changes with a file's bytes or a folder's names: both times, inode, mode, owner and size."""
    mode = _EXECUTABLE if file.st_mode & stat.S_IXUSR else _PLAIN
    fields = (
        *divmod(file.st_ctime_ns, 1_000_000_000),
        *divmod(file.st_mtime_ns, 1_000_000_000),
        *(0, file.st_ino, mode, file.st_uid, file.st_gid, file.st_size),
    )
    return _STATE.pack(*(field & 0xFFFFFFFF for field in fields))


def is_settled(file: os.stat_result, now_s: float) -> bool:
    """Whether whatever is written from `now_s` on shows in the times: clocks tick, and git compares whole seconds."""
    return int(max(file.st_ctime, file.st_mtime)) < int(now_s)


def load(git_dir: Path) -> Seen | None:
    """Return what was seen last, None when the file is missing, damaged, or not one that `save` wrote."""
    try:
        raw = (git_dir / NAME).read_bytes()
    except OSError:
        return None
    body, checksum = raw[:-_CHECKSUM_BYTES], raw[-_CHECKSUM_BYTES:]
    if hashlib.sha1(body, usedforsecurity=False).digest() != checksum or len(body) < _HEADER.size:
        return None
    size = int.from_bytes(body[-_SIZE.size :], "big")
    part = body[-size:]
    if body[-size - 8 : -size] != _PART_NAME + _SIZE.pack(size):
        return None
    if size < _PART.size + _SIZE.size:
        return None
    tree, since = _PART.unpack_from(part)
    return Seen(tree.hex(), _HEADER.unpack_from(body)[2], since, _folders(part[_PART.size : -_SIZE.size]), body)


def _folders(part: bytes) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    at = 0
    while at < len(part):
        state, size = _FOLDER.unpack_from(part, at)
        at += _FOLDER.size + size
        found[os.fsdecode(part[at - size : at])] = state
    return found


def save(
    git_dir: Path, tree: str, since: int, documents: Mapping[str, tuple[str, bytes]], folders: Mapping[str, bytes]
) -> None:
    """Keep (blob id, state) of every document of a tree, and the state of the folders.

    Never fails: where it cannot be written, the next scan reads more than it has to.
    """
    names = sorted((os.fsencode(path), *known) for path, known in documents.items())
    part = b"".join(
        [
            _PART.pack(bytes.fromhex(tree), since),
            *(_folder(os.fsencode(path), state) for path, state in folders.items()),
        ]
    )
    size = _SIZE.pack(len(part) + _SIZE.size)
    content = b"".join(
        [
            _HEADER.pack(b"DIRC", 2, len(names)),
            *(_entry(name, oid, state) for name, oid, state in names),
            *(_PART_NAME, size, part, size),
        ]
    )
    target = git_dir / NAME
    temp = target.with_suffix(".tmp")
    try:
        temp.unlink(missing_ok=True)  # of a killed writer
        with os.fdopen(os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as file:
            file.write(content + hashlib.sha1(content, usedforsecurity=False).digest())
        # An index of no age tells git to trust the states: no file is listed that could have changed in their second.
        os.utime(temp, (0, 0))
        temp.replace(target)
    except OSError:
        with suppress(OSError):
            temp.unlink()


def _entry(name: bytes, oid: str, state: bytes) -> bytes:
    entry = _ENTRY.pack(state, bytes.fromhex(oid), min(len(name), 0xFFF)) + name
    return entry.ljust(_padded(len(entry)), b"\0")


def _folder(path: bytes, state: bytes) -> bytes:
    return _FOLDER.pack(state, len(path)) + path


def _padded(size: int) -> int:
    """Return the size of an entry with its one to eight NULs."""
    return (size + 8) & ~7
