"""Everything that another machine needs to go on, in one file: databases, keys and baselines."""

from __future__ import annotations

import os
import secrets
import sqlite3
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from hashlib import file_digest
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from django.conf import settings
from django.db import connection, connections
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from memoryreview import archive
from memoryreview.baseline import durable
from memoryreview.baseline.errors import BaselineError
from memoryreview.core.errors import MemoryReviewError
from memoryreview.review.models import Backup, Store

from .stores import baseline_dir, locked, packing

PACKING_WAIT_S = 60.0


class BackupError(MemoryReviewError):
    """No backup can be made. Nothing was written."""


@dataclass(frozen=True, slots=True)
class Made:
    """`left_out` says for each store whose baseline cannot be read why it is not in the file."""

    path: Path
    size_bytes: int
    sha256: str
    stores: int
    left_out: tuple[str, ...]


def back_up(target: Path) -> Made:
    """Write a backup to a file that must not exist yet, mode 0600: it holds secrets. Effects in order:

    1. Hold the packing locks of all stores, then their locks, in one order.
    2. Copy the database with SQLite's own backup, and note each head; then let the writers go on.
    3. Write objects, keys and manifest beside the target. What is added to a baseline meanwhile does no harm.
    4. Record the backup, so that erasing can find it, and put it in its place.

    Raises: BackupError; BusyError when a store is in use for too long.
    """
    if connection.vendor != "sqlite":
        raise BackupError(
            "The database is not SQLite, so its own tools must copy it (pg_dump for PostgreSQL). Nothing was written; "
            f"copy the folders “{Path(settings.HOME) / archive.BASELINES}” and the keys beside it after that."
        )
    target = _checked(target)
    temp = target.with_name(f".mr-backup-{secrets.token_hex(8)}.tmp")
    try:
        with _writer(temp) as writer, ExitStack() as packed:
            heads, left_out = _snapshot(writer, packed, temp)
            for store, head in heads.items():
                _add_baseline(writer, store, head)
            for key in archive.KEYS:
                if (Path(settings.HOME) / key).exists():
                    writer.add(key, Path(settings.HOME) / key)
            writer.close(_about(heads))
        return _place(temp, target, heads, left_out)
    except OSError as error:
        raise BackupError(f"The backup “{target}” cannot be written: {error.strerror}. Nothing was changed.") from error
    finally:
        temp.unlink(missing_ok=True)


def _checked(target: Path) -> Path:
    path = target.expanduser().absolute()
    if path.exists() or path.is_symlink():
        raise BackupError(f"“{path}” exists already. Nothing was written; name a new file.")
    if not path.parent.is_dir():
        raise BackupError(f"The folder “{path.parent}” does not exist. Nothing was written; make it first.")
    real = path.parent.resolve()
    if any(real.is_relative_to(root) for root in Store.objects.values_list("root", flat=True)):
        raise BackupError(f"“{real}” is memory that agents read. Nothing was written; keep backups elsewhere.")
    return path


@contextmanager
def _writer(temp: Path) -> Iterator[archive.Writer]:
    fd = os.open(temp, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(fd, "w+b") as file, zipfile.ZipFile(file, "w", allowZip64=True) as made:
        yield archive.Writer(made)
        file.flush()
        os.fsync(file.fileno())


def _snapshot(writer: archive.Writer, packed: ExitStack, temp: Path) -> tuple[dict[Store, str], list[str]]:
    """Add the database as it is while no store moves; return each store's head at that moment."""
    heads: dict[Store, str] = {}
    left_out: list[str] = []
    with ExitStack() as locks:
        for store in Store.objects.order_by("pk"):
            try:
                packed.enter_context(packing(store, wait_s=PACKING_WAIT_S))
                heads[store] = locks.enter_context(locked(store)).head()
            except (BaselineError, MemoryReviewError) as error:
                left_out.append(f"{store.slug}: {error}")
        copy = temp.with_suffix(".sqlite3")
        try:
            _copy_database(copy)
            locks.close()
            writer.add(archive.DATABASE, copy)
        finally:
            copy.unlink(missing_ok=True)
    return heads, left_out


def _copy_database(copy: Path) -> None:
    """Copy the database without its sessions: whoever opens the backup signs in anew."""
    os.close(os.open(copy, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    name = connections["default"].settings_dict["NAME"]
    try:
        with closing(sqlite3.connect(name)) as source, closing(sqlite3.connect(copy)) as target:
            source.backup(target)
            target.execute("DELETE FROM django_session")
            target.commit()
            target.execute("PRAGMA journal_mode = DELETE")
            target.execute("VACUUM")
    except sqlite3.Error as error:
        raise BackupError(f"The database cannot be copied: {error}. Nothing was written.") from error


def _add_baseline(writer: archive.Writer, store: Store, head: str) -> None:
    folder = f"{archive.BASELINES}/{store.baseline}.git"
    git_dir = baseline_dir(store)
    writer.add_text(f"{folder}/{archive.HEAD}", head)
    for path in sorted((git_dir / "objects").rglob("*")):
        name = path.relative_to(git_dir).as_posix()
        if archive.is_object(name) and path.is_file() and not path.is_symlink():
            writer.add(f"{folder}/{name}", path)


def _about(heads: dict[Store, str]) -> dict[str, object]:
    try:
        own = version("memoryreview")
    except PackageNotFoundError:
        own = "checkout"
    applied = MigrationRecorder(connection).applied_migrations()
    return {
        "memoryreview": own,
        "made_at": timezone.now().isoformat(),
        "migrations": sorted(name for app, name in applied if app == "review"),
        "stores": [
            {"slug": store.slug, "root": store.root, "baseline": str(store.baseline), "head": head}
            for store, head in heads.items()
        ],
    }


def _place(temp: Path, target: Path, heads: dict[Store, str], left_out: list[str]) -> Made:
    with temp.open("rb") as file:
        digest = file_digest(file, "sha256").hexdigest()
    size = temp.stat().st_size
    row = Backup.objects.create(path=str(target), sha256=digest, size_bytes=size)
    try:
        os.link(temp, target)  # unlike a rename it never takes the place of another file
        durable.sync_folder(target.parent)
    except FileExistsError as error:
        row.delete()
        raise BackupError(f"“{target}” exists already. Nothing was written; name a new file.") from error
    except OSError:
        row.delete()
        raise
    return Made(target, size, digest, len(heads), tuple(left_out))
