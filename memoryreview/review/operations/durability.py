"""When the database may answer before its bytes are on the disk: only where a power cut could take nothing back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction


@contextmanager
def relaxed() -> Iterator[None]:
    """Make one transaction that need not be durable by itself.

    Either the journal tells it again after a power cut, or a durable transaction follows before anybody is answered and
    before anything outside the database is changed: that one takes it along. Inside another transaction it is as
    durable as that.
    """
    if connection.in_atomic_block:
        with transaction.atomic():
            yield
    elif connection.vendor == "sqlite":
        _sqlite("NORMAL")
        try:
            with transaction.atomic():
                yield
        finally:
            _sqlite("FULL")
    else:
        with transaction.atomic():
            if connection.vendor == "postgresql":
                with connection.cursor() as cursor:
                    cursor.execute("SET LOCAL synchronous_commit = off")
            yield


def _sqlite(level: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"PRAGMA synchronous={level}")
