"""One store's folder, baseline and lock, opened for an operation."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from memoryreview.baseline.lock import LockBusyError, store_lock
from memoryreview.baseline.packing import packing_lock
from memoryreview.baseline.repository import BaselineError, Repository, Snapshot
from memoryreview.baseline.worktree import Worktree, WorktreeError
from memoryreview.review.models import ChangeKind, Intent, Store

from .errors import BusyError, CannotApplyError
from .hostlock import Space, host_lock

LOCK_TIMEOUT_S = 15.0


def baseline_dir(store: Store) -> Path:
    """Return the store's git dir in the data folder."""
    return Path(settings.HOME) / "baselines" / f"{store.baseline}.git"


def aside_dir(store: Store) -> Path:
    """Return where a new history of the store is made while something is erased; nothing is there at other times."""
    return Path(settings.HOME) / "baselines" / f"{store.baseline}.erasing.git"


def worktree_of(store: Store) -> Worktree:
    """Open a store's folder. Raises WorktreeError when it is gone, or a link stands where it was adopted."""
    root = Path(store.root)
    if root.resolve() != root:
        raise WorktreeError(f"“{root}” leads elsewhere by a link now. Nothing was changed; put the folder itself back.")
    return Worktree(root)


def skipped_in(store: Store) -> dict[str, str]:
    """Return why files of the folder are left out of the store, by path; {} when the folder cannot be looked at."""
    try:
        return dict(worktree_of(store).scan().skipped)
    except WorktreeError:
        return {}


def is_being_restored(store: Store) -> bool:
    """Whether a restore of the store is begun and not finished: whoever wants to write waits for it."""
    return Intent.objects.filter(store=store, kind=ChangeKind.RESTORE).exists()


@contextmanager
def reading(store: Store) -> Iterator[Repository]:
    """Open the baseline for reading. Raises CannotApplyError with the sentence of the fault."""
    try:
        with Repository(baseline_dir(store)) as repository:
            yield repository
    except BaselineError as error:
        raise CannotApplyError(str(error)) from error


@dataclass(frozen=True, slots=True)
class Workshop:
    """What a writer holds while it has the store's lock."""

    store: Store
    repository: Repository

    def worktree(self) -> Worktree:
        """Open the memory folder. Raises WorktreeError when it is gone or became another folder's link."""
        return worktree_of(self.store)

    def head(self) -> str:
        head = self.repository.head()
        if head is None:
            raise BaselineError(
                f"The baseline of “{self.store.slug}” has no commit. Nothing was changed; restore the data folder "
                "from a backup, or adopt the folder anew."
            )
        return head

    def tree(self) -> Snapshot:
        return self.repository.snapshot(self.head())


@contextmanager
def locked(store: Store) -> Iterator[Workshop]:
    """Hold the store's lock (between threads, processes and hosts; re-entrant) and open its baseline.

    Never entered inside a database transaction: the lock comes first, transactions are short and inside.

    Raises: BusyError after LOCK_TIMEOUT_S; CannotApplyError when baseline or folder cannot be used; LockLostError when
        the lock between hosts was lost inside the block.
    """
    try:
        with alone(store):
            if aside_dir(store).exists():
                _resume_erasure(store)
            with Repository(baseline_dir(store)) as repository:
                yield Workshop(store, repository)
    except LockBusyError as error:
        raise _busy(store) from error
    except (BaselineError, WorktreeError) as error:
        raise CannotApplyError(str(error)) from error


@contextmanager
def alone(store: Store, *, timeout_s: float = LOCK_TIMEOUT_S) -> Iterator[None]:
    """Hold the store's lock and open nothing. Raises: BusyError after `timeout_s`; LockBusyError; BaselineError."""
    deadline = time.monotonic() + timeout_s
    with (
        store_lock(baseline_dir(store), timeout_s=timeout_s),
        no_other_host(store, timeout_s=max(0.0, deadline - time.monotonic())),
    ):
        yield


@contextmanager
def no_other_host(store: Store, *, timeout_s: float = LOCK_TIMEOUT_S) -> Iterator[None]:
    """Hold the part of the store's lock that needs no baseline, inside the other one. Raises BusyError."""
    with host_lock(Space.STORE, store.pk, timeout_s=timeout_s) as is_ours:
        if not is_ours:
            raise _busy(store)
        yield


@contextmanager
def packing(store: Store, *, wait_s: float = 0.0) -> Iterator[int | None]:
    """Hold off every packing of the store's baseline, on other hosts as well; gives None as `packing_lock` does."""
    with host_lock(Space.PACKING, store.pk, timeout_s=wait_s) as is_ours:
        if not is_ours:
            yield None
            return
        with packing_lock(baseline_dir(store), wait_s=wait_s) as fd:
            yield fd


def _busy(store: Store) -> BusyError:
    return BusyError(store.slug, is_being_restored=is_being_restored(store))


def _resume_erasure(store: Store) -> None:
    """Before anything else is written: rows may name the commits of a new history that the branch does not show yet."""
    from . import erasures  # it needs this module

    erasures.resume(store)
