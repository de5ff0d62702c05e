"""A file that is being written right now is not what its writer means, so every new write is looked at twice."""

from __future__ import annotations

import time

from memoryreview.baseline import steps
from memoryreview.baseline.worktree import Worktree, WorktreeError
from memoryreview.core.model import Delta, Tree

LOOK_S = 0.05
EMPTY_S = 1.0
"""How long a document may be empty before that is taken for what its writer means; many empty it, then write."""


def moving(worktree: Worktree, fresh: Delta, tree: Tree) -> set[str]:
    """Return those documents of a fresh drift that do not stand still; they are left to the next look.

    Waits LOOK_S between two looks, and EMPTY_S in all while a document that was emptied a moment ago stays empty.
    """
    if not fresh:
        return set()
    steps.on_step("drift.seen")
    time.sleep(LOOK_S)
    found = {path for path, content in fresh.items() if not _is(worktree, path, content)}
    emptied = {path for path, content in fresh.items() if content == b"" and tree.get(path)} - found
    while emptied and min(_age_s(worktree, path) for path in emptied) < EMPTY_S:
        time.sleep(LOOK_S)
        filled = {path for path in emptied if not _is(worktree, path, b"")}
        found |= filled
        emptied -= filled
    return found


def _is(worktree: Worktree, path: str, content: bytes | None) -> bool:
    try:
        return worktree.read(path) == content
    except WorktreeError:
        return False


def _age_s(worktree: Worktree, path: str) -> float:
    """Return how long ago a document was written, EMPTY_S for a time that makes no sense."""
    try:
        age_s = time.time() - (worktree.root / path).lstat().st_mtime
    except OSError:
        return EMPTY_S
    return age_s if age_s >= 0 else EMPTY_S
