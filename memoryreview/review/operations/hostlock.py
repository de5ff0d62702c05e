"""A lock between hosts, where the database is PostgreSQL; elsewhere there is one host, and flock is enough.

It is an advisory lock of the very session that writes the rows. So rows and lock are lost together: when the session
dies (the server restarts, the network goes, somebody ends it), the database frees the lock at once, and nothing can be
written by the one who held it, for nobody reconnects inside the block. What is left to guard is what the database does
not see, the branch and the documents: `baseline.lock.confirm` asks, right before each of them moves, whether this
session still holds the lock. It asks the server, because only there a lost session shows.

Between that question and the rename there is a moment that no lock closes. If the lock goes to another host in it,
nothing is lost all the same: the branch moves by compare-and-swap under git's own lock file, which lies on the shared
storage, a document is compared at the moment it is exchanged, and the journal, whose row was there before, lets the
next holder finish or forget what was begun.

The order is the same for everybody, so that two can never wait for each other: the lock of packing, the store's flock,
the store's lock here, the chain of decisions. Whoever takes them in another order does not wait.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum
from typing import Any

from django.db import Error, connection

from memoryreview.baseline.lock import LockLostError, confirmed_by

log = logging.getLogger(__name__)

_FIRST_PAUSE_S = 0.001
_LONGEST_PAUSE_S = 0.05
_HELD = """
    SELECT EXISTS (
        SELECT FROM pg_locks
        WHERE locktype = 'advisory' AND objsubid = 2 AND granted
          AND pid = pg_backend_pid() AND classid = %s AND objid = %s
    )
"""


class Space(IntEnum):
    """What is locked: the first key of the lock. Arbitrary, and apart from the one key of the chain of decisions."""

    STORE = 7_265_119  # second key: the store's
    PACKING = 7_265_120  # second key: the store's
    ADOPTING = 7_265_121
    MIGRATING = 7_265_122


@contextmanager
def host_lock(space: Space, key: int = 0, *, timeout_s: float = 0.0) -> Iterator[bool]:
    """Hold off every other session of the database; gives False when the lock was not free in time (0: one try).

    Re-entrant within one thread: a session may take its lock again. Left with the session at the latest.

    Raises: LockLostError, in place of what the database says, when the session died inside the block.
    """
    if connection.vendor != "postgresql":
        yield True
        return
    if not _acquired(space, key, timeout_s):
        yield False
        return
    session, owner = connection.connection, os.getpid()
    try:
        with confirmed_by(lambda: _confirm(session, space, key)):
            yield True
    except Error as error:
        if _is_lost(session):
            raise _lost() from error
        raise
    finally:
        if os.getpid() == owner:  # a child made by fork shares the parent's session: it is the parent's to leave
            _release(session, space, key)


def _acquired(space: Space, key: int, timeout_s: float) -> bool:
    """Ask again and again: a wait inside the database would need a setting of the session, and end a transaction."""
    deadline = time.monotonic() + timeout_s
    pause_s = _FIRST_PAUSE_S
    while True:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_try_advisory_lock(%s, %s)", [space, key])
            if cursor.fetchone()[0]:
                return True
        left_s = deadline - time.monotonic()
        if left_s <= 0:
            return False
        time.sleep(min(pause_s, left_s))
        pause_s = min(pause_s * 2, _LONGEST_PAUSE_S)


def _confirm(session: Any, space: Space, key: int) -> None:
    """Raise LockLostError when this session, or what a pooler makes of it, does not hold the lock any more."""
    if _is_lost(session):
        raise _lost()
    try:
        with connection.cursor() as cursor:
            cursor.execute(_HELD, [space, key])
            is_held = cursor.fetchone()[0]
    except Error as error:
        raise _lost() from error
    if not is_held:
        raise _lost()


def _is_lost(session: Any) -> bool:
    """Whether the session is known to have ended, or another one took its place."""
    return connection.connection is not session or session.closed


def _release(session: Any, space: Space, key: int) -> None:
    if _is_lost(session):
        log.warning("the session ended while it held the lock (%s, %s)", space.name, key)
        return
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_unlock(%s, %s)", [space, key])
    except Error as error:
        # Its session would hold it for as long as it lives, and it may live long.
        log.warning("the lock (%s, %s) is left with its session: %s", space.name, key, error)
        connection.close()


def _lost() -> LockLostError:
    return LockLostError(
        "The connection to the database was lost while this was written, and its lock with it. Whatever was begun is "
        "finished or taken back at the next use of the store; look how it stands, then try again."
    )
