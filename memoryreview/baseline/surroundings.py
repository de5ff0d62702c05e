"""What stands in a git dir that we did not put there, or that a killed writer left. Looks only."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from . import packing
from .objects import TEMP_PREFIX
from .refs import BRANCH
from .refs import TEMP_PREFIX as REF_PREFIX
from .repository import OWN_FILES

_FOREIGN_LOCKS = ("index.lock", "HEAD.lock", "packed-refs.lock", "config.lock", f"{BRANCH}.lock")
# Any of them would make git read objects from elsewhere, or leave some of a history out.
_REDIRECTIONS = ("objects/info/alternates", "info/grafts", "shallow", "commondir", "config.worktree")


@dataclass(frozen=True, slots=True)
class Lock:
    """A lock file of another git program, and how old it is."""

    path: Path
    age_s: float


def foreign_locks(git_dir: Path) -> tuple[Lock, ...]:
    """Return the lock files that another git program holds or left. None of ours outlives the store's lock."""
    found = []
    for name in _FOREIGN_LOCKS:
        try:
            age_s = time.time() - (git_dir / name).lstat().st_mtime
        except OSError:
            continue
        found.append(Lock(git_dir / name, max(0.0, age_s)))
    return tuple(found)


def left_overs(git_dir: Path) -> tuple[Path, ...]:
    """Return the temp files that killed writers of ours left. Call it under the store's lock."""
    found = [*git_dir.glob(f"{REF_PREFIX}*"), *(git_dir / "objects").glob(f"{TEMP_PREFIX}*")]
    return (*found, *git_dir.glob(packing.MARK_NAME))


def oddities(git_dir: Path) -> Iterator[str]:
    """Yield a sentence for everything in a git dir that is not as we made it and could mislead git."""
    for name, content in OWN_FILES.items():
        try:
            if (git_dir / name).read_bytes() == content:
                continue
        except OSError as error:
            yield f"“{git_dir / name}” cannot be read: {error.strerror}. Copy the file of another baseline."
            continue
        if name == "HEAD":
            yield (
                f"HEAD of the baseline at “{git_dir}” was pointed elsewhere. memoryreview goes by {BRANCH}, so nothing "
                f"is lost; write “ref: {BRANCH}” into “{git_dir / name}” again."
            )
        else:
            yield f"“{git_dir / name}” is not the one that memoryreview wrote. Restore the file from a backup."
    for name in _REDIRECTIONS:
        if (git_dir / name).exists():
            yield f"“{git_dir / name}” sends git elsewhere for its objects. Find out who made it, then remove it."
    own = git_dir / BRANCH
    for path in sorted((git_dir / "refs").rglob("*")):
        if path.is_file() and path != own and path.suffix != ".lock":
            ref = path.relative_to(git_dir)
            yield f"The baseline has a ref “{ref}” that memoryreview did not make. It has no effect; find out who did."
