from __future__ import annotations

import platform
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import django
from django.conf import settings

from memoryreview.review.management.base import MemoryCommand
from memoryreview.review.models import Store
from memoryreview.review.operations.stores import baseline_dir

FREE_BYTES = 200 * 1024 * 1024
NETWORK_FILE_SYSTEMS = {"nfs", "nfs4", "cifs", "smb3", "fuse.sshfs", "9p"}


class Command(MemoryCommand):
    help = "Check the environment: versions, permissions, disk, folders; exit 1 and name each fault."

    def handle(self, *args: Any, **options: Any) -> None:
        facts, faults = dict(_facts()), list(_faults())
        if options["json"]:
            self.print_json({"ok": not faults, "facts": facts, "faults": faults})
        else:
            for label, value in facts.items():
                self.stdout.write(f"{label}: {value}")
            for fault in faults:
                self.stdout.write(f"! {fault}")
            self.stdout.write("Nothing looks wrong." if not faults else "")
        if faults:
            sys.exit(1)


def _facts() -> Iterator[tuple[str, str]]:
    git = subprocess.run(["git", "--version"], capture_output=True, text=True, check=False, timeout=10)  # noqa: S607
    yield "memoryreview", version("memoryreview")
    yield "python", platform.python_version()
    yield "django", django.get_version()
    yield "git", git.stdout.strip().removeprefix("git version ")
    yield "sqlite", sqlite3.sqlite_version
    yield "data folder", str(settings.HOME)
    yield "free disk", f"{shutil.disk_usage(settings.HOME).free // 1024**2:,} MiB"
    yield "stores", str(Store.objects.count())


def _faults() -> Iterator[str]:
    if shutil.disk_usage(settings.HOME).free < FREE_BYTES:
        yield "Less than 200 MiB are free where the data folder lies; approving will be refused when it is full."
    if _file_system(Path(settings.HOME)) in NETWORK_FILE_SYSTEMS:
        yield (
            "The data folder lies on a network file system, where SQLite may lose data. Set "
            "MEMORYREVIEW_HOME to a local one."
        )
    for store in Store.objects.order_by("pk"):
        if not Path(store.root).is_dir():
            yield (
                f"{store.slug}: the memory folder {store.root} is gone. Bring it back or mount it; "
                "nothing was recorded as deleted."
            )
        if not baseline_dir(store).is_dir():
            yield f"{store.slug}: the baseline is gone from the data folder. Restore it from a backup."
        if store.alarm:
            yield f"{store.slug}: {store.alarm}"


def _file_system(path: Path) -> str:
    """Return the type of the file system that holds a path, "" where the system does not tell (only Linux does)."""
    mounts = Path("/proc/mounts")
    if not mounts.exists():
        return ""
    best, found = "", ""
    for line in mounts.read_text().splitlines():
        _, point, kind, *_ = line.split(" ")
        if path.is_relative_to(point) and len(point) >= len(best):
            best, found = point, kind
    return found
