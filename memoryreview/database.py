"""A database that cannot be used, in a sentence: damaged, full, out of reach, or of a newer version."""

from __future__ import annotations

import sqlite3

from django.conf import settings
from django.db import DatabaseError, InterfaceError, OperationalError

from .core.errors import MemoryReviewError

# What is wrong, and what to do. Source of the codes: sqlite.org/rescode.html.
_SQLITE = {
    sqlite3.SQLITE_BUSY: ("is held by another process", "Try again."),
    sqlite3.SQLITE_CANTOPEN: ("cannot be opened", "Put the file back or give permission, else restore a backup."),
    sqlite3.SQLITE_CORRUPT: ("is damaged", "Check the disk, then restore a backup."),
    sqlite3.SQLITE_FULL: ("has no room on its disk", "Make room, then try again."),
    sqlite3.SQLITE_IOERR: ("cannot be read or written by the system", "Make room or check the disk, then try again."),
    sqlite3.SQLITE_NOTADB: ("is damaged: its file is no SQLite file", "Check the disk, then restore a backup."),
    sqlite3.SQLITE_PERM: ("may not be opened", "Give permission, then try again."),
    sqlite3.SQLITE_READONLY: ("is read-only", "Give permission to write to it, then try again."),
}
_NO_TABLE = ("lacks a table: its file was taken away or is another one", "Stop memoryreview, then put the file back.")
_NO_SERVER = ("does not answer, or refuses", "Look after its server and MEMORYREVIEW_DATABASE_URL, then try again.")

NOTHING_CHANGED = "Nothing was changed."
TAKEN_UP = "Nothing is lost: what was begun is finished or taken back at the next start."


class DatabaseUnusableError(MemoryReviewError):
    """The database cannot be used. `str(error)` says what is wrong, what was not changed and what to do."""

    problem = "database-unusable"
    status = 503


def unusable(error: BaseException | None, *, name: str = "", kept: str = TAKEN_UP) -> DatabaseUnusableError | None:
    """Return the sentence for an error that is a fault of the database's ground, None for every other one.

    Args: name: of the database, by default its folder. kept: what the fault did not change.
    """
    told = _told(error)
    if told is None:
        return None
    wrong, then = told
    return DatabaseUnusableError(f"The database {name or f'in “{settings.HOME}”'} {wrong}. {kept} {then}")


def _told(error: BaseException | None) -> tuple[str, str] | None:
    cause = error.__cause__ if isinstance(error, DatabaseError | InterfaceError) else error
    if isinstance(cause, sqlite3.Error):
        if str(cause).startswith("no such table"):
            return _NO_TABLE
        return _SQLITE.get(getattr(cause, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF)  # the rest says more
    return _NO_SERVER if isinstance(error, OperationalError | InterfaceError) else None
