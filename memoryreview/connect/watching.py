"""Hints that something was written to a folder, and writes that follow each other grouped into bursts.

A hint can be missing (an overflow, a file system without notices) or wrong; what is true, a scan says.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import watchfiles

log = logging.getLogger(__name__)

STEP_MS = 10
QUIET_S = 0.4
LONGEST_S = 3.0
MAX_NOTICES = 5_000
"""More at once may be all that the system kept of them."""

PATIENCE_MS = 50
DEBOUNCE_MS = 50

Notices: TypeAlias = Iterator[set[tuple[watchfiles.Change, str]]]


class Bursts:
    """Which stores are due to be captured: quiet for a while, or written to without a pause for too long.

    Times are seconds of a monotonic clock that the caller reads.
    """

    def __init__(self) -> None:
        self._open: dict[int, tuple[float, float]] = {}

    def note(self, store: int, now_s: float) -> None:
        """Record that something was written."""
        first_s, _ = self._open.get(store, (now_s, now_s))
        self._open[store] = first_s, now_s

    def due(self, now_s: float) -> list[int]:
        """Return the stores whose burst is over, and forget the bursts."""
        over = [
            store
            for store, (first_s, last_s) in self._open.items()
            if now_s - last_s >= QUIET_S or now_s - first_s >= LONGEST_S
        ]
        for store in over:
            del self._open[store]
        return over


class FolderWatch:
    """Notices of writes below several folders. A folder that vanishes and returns is another one, and watched anew."""

    def __init__(self) -> None:
        self._followed: dict[int, _Followed] = {}
        self._notices: Notices | None = None

    def follow(self, folders: Mapping[int, Path]) -> set[int]:
        """Watch these folders from now on, by store.

        Returns the stores to be looked at: none when all is as before, else all, since notices may have been missed.
        """
        present = {store: found for store, root in folders.items() if (found := _followed(root)) is not None}
        if present == self._followed:
            return set()
        self._followed, before = present, self._followed
        self._notices = _opened([one.root for one in present.values()])
        return {*present, *before}

    def changed(self) -> set[int]:
        """Wait for notices, PATIENCE_MS at most, and return the stores that they are about."""
        if self._notices is None:
            time.sleep(PATIENCE_MS / 1000)
            return set()
        try:
            notices = next(self._notices)
        except (OSError, RuntimeError, StopIteration) as error:
            log.warning("Watching ended and begins anew: %r", error)
            ended, self._followed, self._notices = set(self._followed), {}, None
            return ended
        if len(notices) >= MAX_NOTICES:
            return set(self._followed)
        return {
            store
            for store, one in self._followed.items()
            if any(_concerns(str(one.root), path) for _change, path in notices)
        }


@dataclass(frozen=True, slots=True)
class _Followed:
    root: Path
    device: int
    inode: int


def _followed(root: Path) -> _Followed | None:
    try:
        found = root.stat()
    except OSError:
        return None
    return _Followed(root, found.st_dev, found.st_ino)


def _concerns(root: str, path: str) -> bool:
    """Whether a notice may be about a document of a folder: no part of its path below the folder is hidden."""
    return f"{path}/".startswith(f"{root}/") and "/." not in path[len(root) :]


def _opened(roots: Sequence[Path]) -> Notices | None:
    """Return the notices of those folders that can be watched, None when the system gives none at all."""
    if not roots:
        return None
    notices = watchfiles.watch(
        *roots,
        watch_filter=None,
        debounce=DEBOUNCE_MS,
        step=STEP_MS,
        rust_timeout=PATIENCE_MS,
        yield_on_timeout=True,
        raise_interrupt=False,
        ignore_permission_denied=True,  # whatever keeps one folder from being watched, the others are
    )
    try:
        next(notices)  # only now are the folders opened
    except (OSError, RuntimeError) as error:
        log.warning("The folders cannot be watched, so they are only scanned: %r", error)
        return None
    return notices
