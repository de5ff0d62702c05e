"""The yardstick of applying: one file changed, as one durable commit. Shares no code with the product.

Own loose objects, each fsynced (blob, three trees, commit), the branch and its folder, the file and its folder: nine
fsyncs and no process. Nothing is checked, scanned, journalled or recorded.
"""

from __future__ import annotations

import hashlib
import os
import zlib
from collections.abc import Mapping
from pathlib import Path

Tree = dict[bytes, tuple[bytes, str]]
"""Entries of one folder by name: mode and id."""


class Yardstick:
    def __init__(self, folder: Path, documents: Mapping[str, bytes]) -> None:
        """Write the documents and their first commit into an empty folder."""
        self._root, self._git = folder / "memory", folder / "yardstick.git"
        (self._git / "refs" / "heads").mkdir(parents=True)
        (self._git / "HEAD").write_bytes(b"ref: refs/heads/main\n")
        (self._git / "config").write_bytes(b"[core]\n\trepositoryFormatVersion = 0\n\tbare = true\n")
        self._branch = self._git / "refs" / "heads" / "main"
        for path, content in documents.items():
            (self._root / path).parent.mkdir(parents=True, exist_ok=True)
            (self._root / path).write_bytes(content)
        self._move(self._commit(self._tree_of(documents), None))

    @property
    def git_dir(self) -> Path:
        return self._git

    def apply(self, path: str, new: bytes) -> None:
        """Commit new bytes of one document and write them to disk, durable on return."""
        head = self._branch.read_text().strip()
        root = self._read(head).split(b"\n", 1)[0].removeprefix(b"tree ").decode()
        self._move(self._commit(self._replaced(root, path.encode().split(b"/"), new), head))
        target = self._root / path
        _write(target, new)
        _sync_folder(target.parent)

    def _replaced(self, tree: str, segments: list[bytes], new: bytes) -> str:
        entries = self._entries(tree)
        mode, oid = entries[segments[0]]
        below = self._replaced(oid, segments[1:], new) if len(segments) > 1 else self._store(b"blob", new)
        return self._store_tree({**entries, segments[0]: (mode, below)})

    def _tree_of(self, documents: Mapping[str, bytes]) -> str:
        folders: dict[str, dict[str, bytes]] = {}
        entries: Tree = {}
        for path, content in documents.items():
            name, _, rest = path.partition("/")
            if rest:
                folders.setdefault(name, {})[rest] = content
            else:
                entries[name.encode()] = (b"100644", self._store(b"blob", content))
        entries |= {name.encode(): (b"40000", self._tree_of(below)) for name, below in folders.items()}
        return self._store_tree(entries)

    def _commit(self, tree: str, parent: str | None) -> str:
        lines = [f"tree {tree}", *([f"parent {parent}"] if parent else [])]
        lines += [f"{role} bench <bench@localhost> 1800000000 +0000" for role in ("author", "committer")]
        return self._store(b"commit", "\n".join([*lines, "", "Change one file", ""]).encode())

    def _move(self, commit: str) -> None:
        _write(self._branch, commit.encode() + b"\n")
        _sync_folder(self._branch.parent)

    def _store(self, kind: bytes, payload: bytes) -> str:
        framed = b"%s %d\0%s" % (kind, len(payload), payload)
        oid = hashlib.sha1(framed, usedforsecurity=False).hexdigest()
        target = self._loose(oid)
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            _write(target, zlib.compress(framed, 1))
        return oid

    def _store_tree(self, entries: Tree) -> str:
        ordered = sorted(entries.items(), key=lambda one: one[0] + b"/" if one[1][0] == b"40000" else one[0])
        return self._store(b"tree", b"".join(b"%s %s\0%s" % (m, n, bytes.fromhex(oid)) for n, (m, oid) in ordered))

    def _entries(self, tree: str) -> Tree:
        payload, entries, at = self._read(tree), Tree(), 0
        while at < len(payload):
            space, end = payload.index(b" ", at), payload.index(b"\0", at)
            entries[payload[space + 1 : end]] = (payload[at:space], payload[end + 1 : end + 21].hex())
            at = end + 21
        return entries

    def _read(self, oid: str) -> bytes:
        return zlib.decompress(self._loose(oid).read_bytes()).partition(b"\0")[2]

    def _loose(self, oid: str) -> Path:
        return self._git / "objects" / oid[:2] / oid[2:]


def _write(target: Path, content: bytes) -> None:
    temp = target.with_name(f"{target.name}.tmp")
    fd = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    try:
        os.write(fd, content)
        os.fsync(fd)
    finally:
        os.close(fd)
    temp.replace(target)


def _sync_folder(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
