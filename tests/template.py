"""Databases that are up to date and empty: made once per test run by the product's own first command, then copied."""

from __future__ import annotations

import atexit
import fcntl
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.sqlite3.base import DatabaseWrapper
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from memoryreview.routers import QueueRouter

ROOT = Path(__file__).parent.parent
SHARED = "SHARED_TEMPLATE"
FILES = {"default": "memoryreview.sqlite3", "queue": "queue.sqlite3"}


def own_environment() -> dict[str, str]:
    """Return the environment without what names somebody's installation."""
    return {key: value for key, value in os.environ.items() if not key.startswith(("MEMORYREVIEW_", "DJANGO_"))}


def migrated(home: Path) -> Path:
    """Make a data folder whose databases are up to date but empty: the first command there need not migrate."""
    home.mkdir(mode=0o700)
    copy_databases(home)
    return home


def copy_databases(home: Path) -> None:
    """Put such databases into a data folder that has none."""
    for path in _template().glob("*.sqlite3"):
        shutil.copy2(path, home / path.name)


def fill(connection: BaseDatabaseWrapper, **_: Any) -> None:
    """Fill a new test database in memory, so that Django's `migrate` has nothing left to do there."""
    is_in_memory = isinstance(connection, DatabaseWrapper) and connection.is_in_memory_db()
    if not is_in_memory or connection.introspection.table_names():
        return
    with closing(sqlite3.connect(f"file:{_template() / FILES[connection.alias]}?immutable=1", uri=True)) as source:
        source.backup(connection.connection)
    recorder, router = MigrationRecorder(connection), QueueRouter()
    for app, name in MigrationLoader(None).disk_migrations.keys() - recorder.applied_migrations().keys():
        if not router.allow_migrate(connection.alias, app):  # it would run there without effect
            recorder.record_applied(app, name)


def share() -> None:
    """Let the processes that this one starts use its template."""
    os.environ[SHARED] = str(_folder())


@cache
def _folder() -> Path:
    if SHARED in os.environ:
        return Path(os.environ[SHARED])
    folder = Path(tempfile.mkdtemp(prefix="memoryreview-template-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@cache
def _template() -> Path:
    """Return the data folder that was brought up to date; whoever asks first makes it, and the others wait."""
    home = _folder() / "home"
    with (_folder() / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not home.exists():
            making = home.with_name("making")
            subprocess.run(
                [sys.executable, "-m", "memoryreview", "queue"],
                cwd=ROOT,
                env=own_environment() | {"MEMORYREVIEW_HOME": str(making)},
                stdout=subprocess.DEVNULL,
                check=True,
            )
            making.rename(home)
    return home
