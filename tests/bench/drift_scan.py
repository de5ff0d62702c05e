"""Looking for direct writes in 10,000 documents against `git status --porcelain` of the same folder.

The yardstick is git itself on a repository of its own in that folder, its index fresh. Ours opens the baseline and
compares the whole folder with the head, as each scan does. Both work on warm caches and take turns.
"""

from __future__ import annotations

import random
import subprocess
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from memoryreview.baseline.commits import advance, write_commit
from memoryreview.baseline.drift import Drift, compare
from memoryreview.baseline.folder import PinnedFolder
from memoryreview.baseline.repository import Repository

from .timing import interleaved, verdict

FOLDERS, DOCUMENTS = 100, 100
DOCUMENT_BYTES = 2_000
CHANGED = 10
BOUND = 1.1


def run(*, rounds: int, seed: int) -> bool:
    choose = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="memoryreview-bench-") as folder:
        root, git_dir = Path(folder, "memory"), Path(folder, "baseline.git")
        paths = _fill(root, choose)
        _adopt(root, git_dir, paths)
        time.sleep(1.1)  # git, too, reads again what was written in the second of its look
        _status(root)
        start = time.perf_counter()
        _look(root, git_dir)
        print(f"{len(paths):,} documents; the first look, which reads all, took {time.perf_counter() - start:.1f} s")
        holds = _measured("nothing changed", root, git_dir, rounds, expected=0)
        for path in choose.sample(paths, CHANGED):
            (root / path).write_bytes(choose.randbytes(DOCUMENT_BYTES))
        return _measured(f"{CHANGED} changed", root, git_dir, rounds, expected=CHANGED) and holds


def _measured(name: str, root: Path, git_dir: Path, rounds: int, *, expected: int) -> bool:
    found = len(_look(root, git_dir).documents), len(_status(root).splitlines())
    assert found == (expected, expected), found
    ours_s, git_s = interleaved([lambda: _look(root, git_dir), lambda: _status(root)], rounds, clock=time.perf_counter)
    print(f"  {name}: ours {ours_s * 1000:.1f} ms, git status {git_s * 1000:.1f} ms")
    return verdict(f"full scan, {name}, against git status", ours_s / git_s, BOUND)


def _look(root: Path, git_dir: Path) -> Drift:
    with Repository(git_dir) as repository:
        return compare(PinnedFolder(root), repository.snapshot(repository.head() or ""))


def _status(root: Path) -> bytes:
    return _git(root, "status", "--porcelain")


def _git(root: Path, *arguments: str) -> bytes:
    # A collection in the background would run into the measurement.
    settings = ("-c", "user.name=bench", "-c", "user.email=bench@localhost", "-c", "gc.auto=0")
    return subprocess.run(["git", *settings, *arguments], cwd=root, check=True, stdout=subprocess.PIPE).stdout


def _fill(root: Path, choose: random.Random) -> list[str]:
    paths = [f"topic{folder:03}/note{number:03}.md" for folder in range(FOLDERS) for number in range(DOCUMENTS)]
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(choose.randbytes(DOCUMENT_BYTES // 2).hex().encode())
    return paths


def _adopt(root: Path, git_dir: Path, paths: list[str]) -> None:
    _git(root, "init", "--quiet")
    _git(root, "add", "--all")
    _git(root, "commit", "--quiet", "--message", "All")
    with Repository.create(git_dir) as repository:
        delta = {path: (root / path).read_bytes() for path in paths}
        at = datetime.now(UTC)
        oid = write_commit(repository, parent=None, delta=delta, subject="All", body="", trailers={}, at=at)
        advance(repository, expected=None, new=oid)
