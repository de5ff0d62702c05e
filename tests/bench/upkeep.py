"""`python -m tests.bench upkeep`: what packing costs beside the commits it follows, and how small it keeps `.git`.

The yardstick is a bare durable commit written here, as any program could: blob, trees and commit as loose files, each
fsynced, the ref by fsync and rename, the document by fsync and rename.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import zlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import perf_counter

from memoryreview.baseline import packing
from memoryreview.baseline.repository import Repository

from .timing import verdict

FOLDERS, DOCUMENTS_IN_A_FOLDER = 10, 100
DOCUMENT_BYTES = 2_000
ROUND = 500
"""Commits between two packings, as `review.operations.upkeep` counts them (2,000 loose objects)."""

COLLECT_EVERY = 10
"""Packings between two collections: at 700 commits a day, a week."""

MIB = 1024 * 1024
_WORDS = [f"{a}{b}{c}" for a in "bdfgklmnprst" for b in "aeiou" for c in ("", "n", "r", "sta", "llo", "king")]


def run(*, commits: int, seed: int) -> bool:
    with TemporaryDirectory() as folder:
        return _run(Path(folder), commits, Random(seed))


def _run(folder: Path, commits: int, random: Random) -> bool:
    git_dir = folder / "baseline.git"
    Repository.create(git_dir).close()
    writer = _Writer(git_dir, folder / "memory", random)
    apply_s, upkeep_s = 0.0, 0.0
    for number, start in enumerate(range(0, commits, ROUND), start=1):
        apply_s += _timed(partial(writer.write, min(ROUND, commits - start)))
        upkeep_s += _timed(partial(packing.pack if number % COLLECT_EVERY else packing.collect, git_dir))
        print(f"{min(start + ROUND, commits):,} of {commits:,} commits, {packing.clutter(git_dir).packs} packs")
    size, least = _size(git_dir), _size(_after_gc(git_dir, folder / "gc.git"))
    print(f".git {size / MIB:.1f} MiB, after plain `git gc` {least / MIB:.1f} MiB")
    print(f"bare durable commit {apply_s / commits * 1e3:.2f} ms, upkeep {upkeep_s / commits * 1e3:.2f} ms for each")
    allowed = 4 * least + 15_000_000
    fits = size <= allowed
    print(f"{'.git against 4x + 15 MB of a copy after git gc':64} {size / allowed:6.2f}x (bound 1x): "
          f"{'pass' if fits else 'FAIL'}")  # fmt: skip
    whole = _checked(git_dir, commits)
    return all([verdict("upkeep for each commit against a bare durable commit", upkeep_s / apply_s, 0.6), fits, whole])


def _timed(work: Callable[[], object]) -> float:
    start = perf_counter()
    work()
    return perf_counter() - start


def _size(folder: Path) -> int:
    """Return the room on disk in bytes, which for small files is more than their length."""
    return sum(path.lstat().st_blocks * 512 for path in folder.rglob("*") if path.is_file())


def _git(git_dir: Path, *arguments: str) -> bytes:
    environment = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    return subprocess.run(
        ["git", f"--git-dir={git_dir}", *arguments], env=environment, capture_output=True, check=True
    ).stdout


def _after_gc(git_dir: Path, copy: Path) -> Path:
    shutil.copytree(git_dir, copy)
    _git(copy, "gc", "--quiet")
    return copy


def _checked(git_dir: Path, commits: int) -> bool:
    count = int(_git(git_dir, "rev-list", "--count", "refs/heads/main"))
    _git(git_dir, "fsck", "--full", "--strict")
    holds = count == commits
    print(f"{'git fsck, and all commits there':64} {count:6,} (of {commits:,}): {'pass' if holds else 'FAIL'}")
    return holds


class _Writer:
    """Commits one changed document at a time to a folder of folders, and writes the document."""

    def __init__(self, git_dir: Path, memory: Path, random: Random) -> None:
        self.git_dir, self.memory, self.random = git_dir, memory, random
        self.trees: list[dict[str, str]] = []
        self.head = ""
        for folder in range(FOLDERS):
            (memory / f"{folder:02}").mkdir(parents=True)
            self.trees.append({})
            for number in range(DOCUMENTS_IN_A_FOLDER):
                text = self._text()
                self.trees[folder][f"{number:03}.md"] = self._object(b"blob", text)
                (memory / f"{folder:02}" / f"{number:03}.md").write_bytes(text)
        self.oids = [self._tree(tree, b"100644") for tree in self.trees]

    def write(self, commits: int) -> None:
        for _ in range(commits):
            self._commit()

    def _commit(self) -> None:
        folder, number = self.random.randrange(FOLDERS), self.random.randrange(DOCUMENTS_IN_A_FOLDER)
        path = self.memory / f"{folder:02}" / f"{number:03}.md"
        lines = path.read_bytes().splitlines(keepends=True)
        lines[self.random.randrange(len(lines))] = self._line()
        text = b"".join(lines)
        self.trees[folder][path.name] = self._object(b"blob", text)
        self.oids[folder] = self._tree(self.trees[folder], b"100644")
        root = self._tree({f"{n:02}": oid for n, oid in enumerate(self.oids)}, b"40000")
        parent = f"parent {self.head}\n" if self.head else ""
        person = "bench <bench@localhost> 1780000000 +0000"
        message = f"tree {root}\n{parent}author {person}\ncommitter {person}\n\nEdit {path.name}\n"
        self.head = self._object(b"commit", message.encode())
        _write(self.git_dir / "refs/heads/main", self.head.encode() + b"\n")
        _write(path, text)

    def _line(self) -> bytes:
        return ("- " + " ".join(self.random.choice(_WORDS) for _ in range(12)) + ".\n").encode()

    def _text(self) -> bytes:
        text = b""
        while len(text) < DOCUMENT_BYTES:
            text += self._line()
        return text

    def _tree(self, entries: dict[str, str], mode: bytes) -> str:
        rows = (b"%s %s\0%s" % (mode, name.encode(), bytes.fromhex(oid)) for name, oid in sorted(entries.items()))
        return self._object(b"tree", b"".join(rows))

    def _object(self, kind: bytes, payload: bytes) -> str:
        framed = b"%s %d\0%s" % (kind, len(payload), payload)
        oid = hashlib.sha1(framed, usedforsecurity=False).hexdigest()
        target = self.git_dir / "objects" / oid[:2] / oid[2:]
        if not target.exists():
            target.parent.mkdir(exist_ok=True)
            _write(target, zlib.compress(framed, 1), sync_folder=False)
        return oid


def _write(path: Path, content: bytes, *, sync_folder: bool = True) -> None:
    temp = path.with_name(path.name + ".tmp")
    with temp.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    temp.replace(path)
    if sync_folder:
        fd = os.open(path.parent, os.O_RDONLY)
        os.fsync(fd)
        os.close(fd)
