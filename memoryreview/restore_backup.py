"""`memoryreview restore-backup`: unpack a backup into an empty data folder and check that all of it holds."""

from __future__ import annotations

import argparse
import os
import secrets
import shutil
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from . import archive
from . import home as data_folder
from .archive import ArchiveError, Manifest
from .baseline import durable
from .baseline.objects import is_oid
from .baseline.refs import BRANCH
from .baseline.repository import Repository
from .connect.console import DONE, REFUSED, complain, run, say
from .connect.console import gettext_noop as _
from .core.errors import MemoryReviewError
from .core.names import shown

if TYPE_CHECKING:
    from .review.models import Store

MIGRATIONS = Path(__file__).resolve().parent / "review" / "migrations"


class RestoreError(MemoryReviewError):
    """The backup cannot be restored here."""


def command(argv: Sequence[str]) -> int:
    """Restore a backup; return the exit code, 1 when something does not hold afterwards.

    Call before Django loads: its settings make keys in a data folder that has none.
    """
    return run(parser(), argv, _restore)


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="memoryreview restore-backup",
        description="Unpack a backup into the data folder (MEMORYREVIEW_HOME), which must be empty or missing.",
    )
    made.add_argument("file", type=Path, help=_("what `backup` wrote"))
    made.add_argument(
        "--root",
        action="append",
        default=[],
        metavar="STORE=FOLDER",
        help=_("where a store's memory folder is on this machine; an empty folder gets the approved documents"),
    )
    return made


def _restore(options: argparse.Namespace) -> int:
    if shutil.which("git") is None:
        raise RestoreError("git is not installed. Nothing was changed; install it (Debian: apt-get install git).")
    if os.environ.get("MEMORYREVIEW_DATABASE_URL"):
        raise RestoreError("A backup holds an SQLite database. Nothing was changed; unset MEMORYREVIEW_DATABASE_URL.")
    home = data_folder.locate()
    _refuse_used(home)
    roots = _roots(options.root)
    with archive.opened(options.file) as (file, manifest):
        _refuse_newer(options.file, manifest)
        _refuse_unknown_stores(roots, manifest)
        staging = home.parent / f".mr-restore-{secrets.token_hex(8)}"
        try:
            staging.mkdir(mode=0o700, parents=True)
            archive.unpack(options.file, file, manifest, staging)
            _lay_out(options.file, staging, manifest)
            _stop_sending(options.file, staging / archive.DATABASE)
            if home.is_dir():
                home.rmdir()
            staging.rename(home)
            durable.sync_folder(home.parent)
        except OSError as error:
            raise RestoreError(
                f"The backup cannot be unpacked to “{home}”: {error.strerror}. Nothing is kept."
            ) from error
        finally:
            shutil.rmtree(staging, ignore_errors=True)
    say(f"Unpacked {options.file} to {home}.")
    return _take_up(roots)


def _refuse_used(home: Path) -> None:
    try:
        is_used = home.is_symlink() or (home.exists() and (not home.is_dir() or any(home.iterdir())))
    except OSError as error:
        raise RestoreError(
            f"The data folder “{home}” cannot be read: {error.strerror}. Nothing was changed."
        ) from error
    if is_used:
        raise RestoreError(
            f"The data folder “{home}” is not empty. Nothing was changed; set MEMORYREVIEW_HOME to a new folder, or "
            "move this one away first."
        )


def _roots(stated: Sequence[str]) -> dict[str, Path]:
    roots: dict[str, Path] = {}
    for one in stated:
        slug, equals, folder = one.partition("=")
        if not slug or not equals or not folder or slug in roots:
            raise RestoreError(f"--root {one!r} is not of the form STORE=FOLDER, once for each. Nothing was changed.")
        roots[slug] = Path(folder).expanduser().absolute()
    return roots


def _refuse_newer(path: Path, manifest: Manifest) -> None:
    known = {file.stem for file in MIGRATIONS.glob("[0-9]*.py")}
    stated = manifest.about.get("migrations")
    if not isinstance(stated, list) or not all(isinstance(name, str) for name in stated):
        raise ArchiveError(path, "has a damaged manifest.")
    if set(stated) - known:
        made_by = shown(str(manifest.about.get("memoryreview", "?"))[:40])
        raise ArchiveError(path, f"was made by a newer memoryreview ({made_by}); install that one.")


def _refuse_unknown_stores(roots: Mapping[str, Path], manifest: Manifest) -> None:
    stores = manifest.about.get("stores")
    slugs = (
        {str(store.get("slug")) for store in stores if isinstance(store, dict)} if isinstance(stores, list) else set()
    )
    for slug in roots:
        if slug not in slugs:
            names = shown(", ".join(sorted(slugs))[:400]) or "none"
            raise RestoreError(f"The backup has no store “{slug}”. Nothing was changed; its stores: {names}.")


def _lay_out(path: Path, staging: Path, manifest: Manifest) -> None:
    """Make baselines of the unpacked objects: config, head and attributes are written anew, never taken over."""
    folder = staging / archive.BASELINES
    folder.mkdir(mode=0o700, exist_ok=True)
    for unpacked in sorted(folder.iterdir()):
        kept = unpacked.rename(unpacked.with_name(f"{unpacked.name}.unpacked"))
        Repository.create(unpacked).close()
        head = (kept / archive.HEAD).read_text(errors="replace").strip()
        if not is_oid(head):
            raise ArchiveError(path, "is damaged: a baseline names no head.")
        for found in sorted((kept / "objects").rglob("*")):
            if found.is_file():
                target = unpacked / found.relative_to(kept)
                target.parent.mkdir(mode=0o700, exist_ok=True)
                found.rename(target)
        durable.write_new_file(unpacked / BRANCH, f"{head}\n".encode())
        shutil.rmtree(kept)
    os.sync()


def _stop_sending(path: Path, database: Path) -> None:
    """Copy no baseline and send no message anywhere until a person says so here. Call before a worker finds it."""
    try:
        with closing(sqlite3.connect(database)) as restored:
            _stop_pushing(restored)
            _stop_telling(restored)
            restored.commit()
    except sqlite3.Error as error:
        raise ArchiveError(path, f"is damaged: its database cannot be read ({error}).") from error


def _has(restored: sqlite3.Connection, table: str, column: str) -> bool:
    """Whether the backup knows a column; it may be older than that."""
    return column in {name for _, name, *_ in restored.execute("SELECT * FROM pragma_table_info(?)", (table,))}


def _stop_pushing(restored: sqlite3.Connection) -> None:
    if not _has(restored, "review_store", "push_to"):
        return
    for pk, target in restored.execute("SELECT id, push_to FROM review_store WHERE push_to <> ''").fetchall():
        ended = (
            f"A backup was restored, so nothing is pushed to “{shown(str(target))}” any more. Turn it on again "
            "on the settings page, or save the address there empty."
        )
        restored.execute(
            "UPDATE review_store SET push_to = '', pushed = '', push_failures = 0, push_after = NULL, "
            "push_fault = ? WHERE id = ?",
            (ended, pk),
        )


def _stop_telling(restored: sqlite3.Connection) -> None:
    if not _has(restored, "review_endpoint", "url"):
        return
    told = restored.execute("SELECT url FROM review_endpoint WHERE url <> ''").fetchall()
    for (url,) in told:
        complain(
            f"A backup was restored, so no webhook tells “{shown(str(url))}” anything any more. Save the address again "
            "on the digest page."
        )
    restored.execute("UPDATE review_endpoint SET url = '', secret = ''")
    restored.execute(
        "UPDATE review_message SET due_at = NULL, fault = ? WHERE due_at IS NOT NULL",
        ("A backup was restored before this was sent.",),
    )


def _take_up(roots: Mapping[str, Path]) -> int:
    """Bring the restored data folder up to date, find the memory folders, and verify everything."""
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryreview.settings")
    django.setup()
    from .review.management.base import migrate
    from .review.models import Decision, Store, Verb
    from .review.operations import ledger
    from .review.operations.audit import audit

    migrate()
    for store in Store.objects.order_by("slug"):
        if store.push_fault and not store.push_to:
            complain(f"{store.slug}: {store.push_fault}")
            ledger.record_now(Decision(store=store, verb=Verb.CONFIGURE, note=store.push_fault))
        _find_folder(store, roots.get(store.slug))
    missing = {store.slug for store in Store.objects.all() if not Path(store.root).is_dir()}
    faults = [fault for fault in audit() if not (fault.kind == "folder" and fault.where in missing)]
    for fault in faults:
        complain(f"{fault.kind}  {fault.where}  {fault.message}")
    say("Everything holds: certificates, decisions, git and database." if not faults else "")
    return REFUSED if faults else DONE


def _find_folder(store: Store, folder: Path | None) -> None:
    from .review.operations.relocate import relocate

    if folder is None:
        if not Path(store.root).is_dir():
            complain(
                f"{store.slug}: the memory folder {store.root} is not on this machine. Its history and its proposals "
                "can be read; say where the folder is on its settings page."
            )
        return
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        say(relocate(store, folder))
    except OSError as error:
        complain(f"{store.slug}: “{folder}” cannot be made: {error.strerror}.")
    except MemoryReviewError as error:
        complain(f"{store.slug}: {error}")
