"""Git objects: read from loose files and packs, written as durable loose files. No process is started."""

from __future__ import annotations

import hashlib
import re
import secrets
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from . import durable, steps
from .errors import BaselineError
from .packs import DAMAGED, Packs, UnknownPackError, deflated, pack

if TYPE_CHECKING:
    from .process import PackReader

FOLDER_MODE = 0o40000
DOCUMENT_MODES = frozenset({0o100644, 0o100755})
# `git prune` and `git fsck` know the first half of the name as a left-over, `sweep` the whole of it as ours.
TEMP_PREFIX = "tmp_obj_mr_"

_OID = re.compile("[0-9a-f]{40}")
_TREE_ROW = re.compile(rb"([0-7]{5,6}) ([^\0]+)\0(.{20})", re.DOTALL)
_TREE_ROW_REST = len(b" \0") + 20
_COMMIT_TIME = re.compile(rb" ([0-9]{1,11}) [+-][0-9]{4}")
PACK_FROM = 40
"""So many objects become durable together as one pack: three fsyncs instead of one for each."""
_MAX_PACK_BYTES = 64 * 1024 * 1024  # of payload; what a pack holds is put together in memory


def is_oid(value: str) -> bool:
    return _OID.fullmatch(value) is not None


class TreeEntry(NamedTuple):
    oid: str
    mode: int

    @property
    def is_folder(self) -> bool:
        return self.mode == FOLDER_MODE


@dataclass(frozen=True, slots=True)
class CommitObject:
    tree: str
    parents: tuple[str, ...]
    at: datetime
    message: str


def object_id(kind: bytes, payload: bytes) -> str:
    """Return the id under which git knows this object."""
    return hashlib.sha1(_framed(kind, payload), usedforsecurity=False).hexdigest()


def in_order(entries: Mapping[bytes, TreeEntry]) -> dict[bytes, TreeEntry]:
    """Return a tree's entries as git sorts them: a folder as if its name ended in a slash."""
    return dict(sorted(entries.items(), key=lambda pair: pair[0] + b"/" if pair[1].is_folder else pair[0]))


def encode_tree(entries: Mapping[bytes, TreeEntry]) -> bytes:
    """Return a tree's bytes."""
    return encode_in_order(in_order(entries))


def encode_in_order(entries: Mapping[bytes, TreeEntry]) -> bytes:
    """Return a tree's bytes. Args: entries: sorted as `in_order` does."""
    return b"".join([b"%o %s\0%s" % (mode, name, bytes.fromhex(oid)) for name, (oid, mode) in entries.items()])


def decode_tree(payload: bytes) -> dict[bytes, TreeEntry]:
    """Return a tree's entries by name. Raises ValueError when the bytes are no tree."""
    rows = _TREE_ROW.findall(payload)
    if sum(len(mode) + len(name) + _TREE_ROW_REST for mode, name, _ in rows) != len(payload):
        raise ValueError("a tree entry is cut")
    return {name: TreeEntry(oid.hex(), int(mode, 8)) for mode, name, oid in rows}


def decode_commit(payload: bytes) -> CommitObject:
    """Return a commit's fields. Raises ValueError when the bytes are no commit."""
    head, _, message = payload.partition(b"\n\n")
    tree, parents, time = "", [], None
    for line in head.split(b"\n"):
        key, _, value = line.partition(b" ")
        match key:
            case b"tree":
                tree = value.decode("ascii")
            case b"parent":
                parents.append(value.decode("ascii"))
            case b"committer":
                time = _COMMIT_TIME.search(value)
    if not is_oid(tree) or not all(map(is_oid, parents)) or time is None:
        raise ValueError("a commit lacks its tree or its time")
    at = datetime.fromtimestamp(int(time[1]), UTC)
    return CommitObject(tree, tuple(parents), at, message.decode("utf-8", "replace"))


class ObjectStore:
    """The `objects` folder of one repository. Every object is checked against its id when it is read."""

    def __init__(self, git_dir: Path) -> None:
        self.git_dir = git_dir
        self.folder = git_dir / "objects"
        self._packs = Packs(self.folder / "pack")
        self._git: PackReader | None = None
        self._pending: dict[str, tuple[bytes, bytes]] = {}

    def close(self) -> None:
        self._packs.close()
        if self._git is not None:
            self._git.close()
            self._git = None

    def find(self, oid: str) -> tuple[bytes, bytes] | None:
        """Return (kind, payload) of an object, None when there is none. Raises BaselineError for a damaged one."""
        if not is_oid(oid):
            return None
        found = self._pending.get(oid) or self._find_loose(oid) or self._find_packed(oid)
        # A repack may have moved it between the two looks.
        return found or self._find_loose(oid)

    def read(self, oid: str, kind: bytes) -> bytes:
        """Return the payload of an object of that kind. Raises BaselineError when there is none, or it is damaged."""
        found = self.find(oid)
        if not oid:
            raise BaselineError(
                "The baseline has no commit. Nothing was changed; restore the data folder from a backup, or adopt the "
                "folder anew."
            )
        if found is None or found[0] != kind:
            raise BaselineError(
                f"The baseline has no {kind.decode()} {oid[:40]}: its history is not complete. Nothing was changed; "
                "run “memoryreview verify”, then restore the data folder from a backup, or adopt the folder anew."
            )
        return found[1]

    def keep(self, objects: Mapping[str, tuple[bytes, bytes]]) -> None:
        """Hold objects in memory, where this store alone finds them, until `store_pending`.

        Args: objects: (kind, payload) by id, as `object_id` gives it.
        """
        self._pending |= objects

    def forget_pending(self) -> None:
        self._pending.clear()

    def store_pending(self) -> None:
        """Make what is held durable, in the order in which it came: few objects loose, many as packs.

        Raises BaselineError with the system's reason; nothing that is found then dangles.
        """
        if len(self._pending) < PACK_FROM:
            for oid, (kind, payload) in self._pending.items():
                self.write(kind, payload, oid)
        else:
            for objects in _packfuls(self._pending):
                self._write_pack(objects)
        self._pending.clear()

    def _write_pack(self, objects: Mapping[str, tuple[bytes, bytes]]) -> None:
        name, content, index = pack(objects)
        temps = [self.folder / f"{TEMP_PREFIX}{secrets.token_hex(8)}" for _ in range(2)]
        folder = self.folder / "pack"
        try:
            for temp, written in zip(temps, (content, index), strict=True):
                durable.write_new_file(temp, written)
                steps.on_step("object.written")
            folder.mkdir(mode=0o700, exist_ok=True)
            # The index comes last: a pack without one does not count.
            for temp, suffix in zip(temps, ("pack", "idx"), strict=True):
                temp.replace(folder / f"{name}.{suffix}")
                steps.on_step("object.stored")
            durable.sync_folder(folder)
        except OSError as error:
            _discard(*temps)
            raise _cannot_write(folder, error) from error

    def write(self, kind: bytes, payload: bytes, oid: str) -> None:
        """Store an object durably unless it is there; a damaged copy is replaced.

        Raises BaselineError with the system's reason; the store is then as it was.
        """
        if self._is_intact(oid):
            return
        target = self._loose_path(oid)
        temp = self.folder / f"{TEMP_PREFIX}{secrets.token_hex(8)}"
        try:
            durable.write_new_file(temp, deflated(_framed(kind, payload)))
            steps.on_step("object.written")
            _move(temp, target)
        except OSError as error:
            _discard(temp)
            raise _cannot_write(target, error) from error
        steps.on_step("object.stored")

    def _loose_path(self, oid: str) -> Path:
        return Path(f"{self.folder}/{oid[:2]}/{oid[2:]}")

    def _is_intact(self, oid: str) -> bool:
        try:
            return self._find_loose(oid) is not None
        except BaselineError:
            return False

    def _find_loose(self, oid: str) -> tuple[bytes, bytes] | None:
        try:
            framed = zlib.decompress(self._loose_path(oid).read_bytes())
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _unreadable(oid, error) from error
        except zlib.error as error:
            raise _damaged(oid) from error
        if hashlib.sha1(framed, usedforsecurity=False).hexdigest() != oid:
            raise _damaged(oid)
        header, _, payload = framed.partition(b"\0")
        return header.partition(b" ")[0], payload

    def _find_packed(self, oid: str) -> tuple[bytes, bytes] | None:
        try:
            found = self._packs.find(oid)
        except UnknownPackError:
            found = self._ask_git(oid)
        except OSError as error:
            raise _unreadable(oid, error) from error
        except DAMAGED as error:
            raise _damaged(oid) from error
        if found is not None and object_id(*found) != oid:
            raise _damaged(oid)
        return found

    def _ask_git(self, oid: str) -> tuple[bytes, bytes] | None:
        if self._git is None:
            # GitPython takes a tenth of a second to import, and our own packs need no git process.
            from .process import PackReader

            self._git = PackReader(self.git_dir)
        return self._git.find(oid)


def _move(temp: Path, target: Path) -> None:
    try:
        temp.replace(target)
    except FileNotFoundError:
        target.parent.mkdir(mode=0o700, exist_ok=True)
        temp.replace(target)


def _discard(*temps: Path) -> None:
    """Remove temp files that are not needed any more; those that the system keeps are swept later."""
    for temp in temps:
        with suppress(OSError):
            temp.unlink()


def _packfuls(objects: Mapping[str, tuple[bytes, bytes]]) -> Iterator[dict[str, tuple[bytes, bytes]]]:
    chosen: dict[str, tuple[bytes, bytes]] = {}
    size_bytes = 0
    for oid, (kind, payload) in objects.items():
        if chosen and size_bytes + len(payload) > _MAX_PACK_BYTES:
            yield chosen
            chosen, size_bytes = {}, 0
        chosen[oid] = (kind, payload)
        size_bytes += len(payload)
    yield chosen


def _cannot_write(target: Path, error: OSError) -> BaselineError:
    return BaselineError(
        f"The baseline cannot be written at “{target}”: {error.strerror}. "
        "The memory folder is unchanged; make room or give permission, then try again."
    )


def _framed(kind: bytes, payload: bytes) -> bytes:
    return b"%s %d\0%s" % (kind, len(payload), payload)


def _unreadable(oid: str, error: OSError) -> BaselineError:
    return BaselineError(
        f"Object {oid} of the baseline cannot be read: {error.strerror}. Nothing was changed; try again. "
        "If it stays so, look at the disk and at who may read the data folder."
    )


def _damaged(oid: str) -> BaselineError:
    return BaselineError(
        f"Object {oid} of the baseline is damaged. Nothing was changed; run “memoryreview verify”, "
        "then restore the data folder from a backup, or adopt the folder anew."
    )
