"""What a database keeps of rows that were changed or deleted, and how its files are written anew without it."""

from __future__ import annotations

import re
import time
from typing import Any

from django.apps import apps
from django.db import DEFAULT_DB_ALIAS, OperationalError, connections

from .queue_search import forget_trigrams as forget_queued
from .search import forget_trigrams

_TRIES = 5
_PAUSE_S = 0.2
_LOCK_WAIT = "10s"  # who reads a table for long, as a dump does, must not hold up every writer of the store


def forget() -> bool:
    """Write the database's files anew without what was changed or deleted; False while others read old pages."""
    done = [_forget(alias) for alias in connections]
    return all(done)


def _forget(alias: str) -> bool:
    connection = connections[alias]
    if connection.in_atomic_block:
        return False
    try:
        with connection.cursor() as cursor:
            if connection.vendor == "sqlite":
                if alias == DEFAULT_DB_ALIAS:
                    forget_trigrams()
                    forget_queued()
                cursor.execute("VACUUM")
                return _emptied(cursor)
            if connection.vendor == "postgresql":
                return _rewritten(cursor, connection.connection)
    except OperationalError:
        return False
    return True


def _emptied(cursor: Any) -> bool:
    """Fold the write-ahead log of SQLite into the database and cut it, once nobody reads older pages from it."""
    for _ in range(_TRIES):
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        if cursor.fetchone()[0] == 0:
            return True
        time.sleep(_PAUSE_S)
    return False


def _rewritten(cursor: Any, session: Any) -> bool:
    """Write the tables of PostgreSQL anew, their statistics as well; False when it had to keep rows that are gone.

    It keeps them, and does not call that a failure, while another session looks at the database as it was before.
    """
    tables = [model._meta.db_table for model in apps.get_app_config("review").get_models()]  # noqa: SLF001
    told: list[str] = []

    def hear(notice: Any) -> None:
        told.append(notice.message_detail or "")

    session.add_notice_handler(hear)
    try:
        cursor.execute("SELECT set_config('lock_timeout', %s, false)", [_LOCK_WAIT])
        for table in (*tables, "django_session"):
            cursor.execute(f'VACUUM (FULL, VERBOSE, ANALYZE) "{table}"')
        cursor.execute("VACUUM FULL pg_statistic")  # examples of values; skipped where the role does not own them
    finally:
        session.remove_notice_handler(hear)
        if not session.closed:
            cursor.execute("RESET lock_timeout")
    return not any(map(_kept, told))


def _kept(detail: str) -> int:
    """Return how many dead rows a table still holds: the first number of the detail, in whatever language."""
    found = re.match(r"\D*(\d+)", detail)
    return int(found[1]) if found else 0
