"""Upkeep of baselines by the clock: pack what is loose, and now and then drop what nobody can reach any more."""

from __future__ import annotations

import time
from enum import StrEnum
from functools import partial

from memoryreview.baseline import packing
from memoryreview.baseline.errors import BaselineError
from memoryreview.baseline.history import log
from memoryreview.baseline.lock import LockBusyError
from memoryreview.baseline.packing import Clutter
from memoryreview.review.models import Change, Intent, Store

from .errors import BusyError, CannotApplyError
from .hostlock import Space, host_lock
from .reconcile import reconcile_within
from .stores import alone, baseline_dir, locked

MAX_LOOSE = 2_000
"""Loose objects, about 500 commits: each one costs a look-up in a folder and 4 KiB of disk."""

MAX_LOOSE_BYTES = 8 * 1024 * 1024
MAX_PACKS = 20
SOME_LOOSE = 100
"""From this many on, loose objects are packed once a day, and a baseline is worth collecting."""

DAY_S = 24 * 60 * 60
COLLECT_AFTER_S = 7 * DAY_S


class Round(StrEnum):
    PACK = "pack"
    COLLECT = "collect"


def due(found: Clutter, *, packed_ago_s: float, collected_ago_s: float) -> Round | None:
    """Return what it is time for.

    Args: packed_ago_s, collected_ago_s: since each was last done; below zero when the clock was set back.
    """
    is_grown = found.loose >= SOME_LOOSE or found.packs > 1
    if is_grown and not 0 <= collected_ago_s < COLLECT_AFTER_S:
        return Round.COLLECT
    if found.loose >= MAX_LOOSE or found.loose_bytes >= MAX_LOOSE_BYTES or found.packs > MAX_PACKS:
        return Round.PACK
    if found.loose >= SOME_LOOSE and not 0 <= packed_ago_s < DAY_S:
        return Round.PACK
    return None


def upkeep(store: Store) -> Round | None:
    """Pack or collect a store's baseline if it is time for it; return what was done. It stays in use meanwhile.

    Raises: CannotApplyError with the sentence of what is wrong; BusyError.
    """
    git_dir = baseline_dir(store)
    try:
        now, (packed, collected) = time.time(), packing.done_at(git_dir)
        wanted = due(packing.clutter(git_dir), packed_ago_s=now - packed, collected_ago_s=now - collected)
        if wanted is Round.COLLECT and not _is_whole(store):
            wanted = Round.PACK
        with host_lock(Space.PACKING, store.pk) as is_free:
            if wanted is None or not is_free:
                return None
            if wanted is Round.COLLECT:
                return wanted if packing.collect(git_dir, alone=partial(alone, store)) else None
            return wanted if packing.pack(git_dir) else None
    except BaselineError as error:
        raise CannotApplyError(str(error)) from error
    except LockBusyError as error:
        raise BusyError(store.slug) from error


def _is_whole(store: Store) -> bool:
    """Whether nothing that the database knows depends on objects which no branch reaches.

    A commit of the journal, or one that somebody took off the branch, may be all that is left of a text.
    """
    with locked(store) as shop:
        reconcile_within(shop)
        if Intent.objects.filter(store=store).exists():
            return False
        recorded = set(Change.objects.filter(store=store).values_list("oid", flat=True))
        return recorded <= {commit.oid for commit in log(shop.repository)}
