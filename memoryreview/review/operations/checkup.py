"""What `doctor` looks at: the machine, the data folder, every store and its folder. Looks only."""

from __future__ import annotations

import os
import re
import shutil
import stat
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

from django.conf import settings
from django.db import DatabaseError
from django.db.models import Max
from django.utils import timezone
from django_q.models import Schedule, Task

from memoryreview.baseline import surroundings
from memoryreview.baseline.errors import BaselineError
from memoryreview.baseline.repository import Repository
from memoryreview.core.errors import MemoryReviewError
from memoryreview.core.names import shown
from memoryreview.review.models import Change, Decision, Store

from .capture import unusable_folder
from .stores import baseline_dir, worktree_of

FREE_BYTES = 200 * 1024 * 1024
LATE_AFTER = timedelta(minutes=5)
"""Capturing runs every minute; one long task may hold the others up for a while."""

CLOCKS_DIFFER_BY = timedelta(minutes=2)
OLDEST_GIT = (2, 37)
NETWORK_FILE_SYSTEMS = {"nfs", "nfs4", "cifs", "smb3", "fuse.sshfs", "9p"}


def checkup(git_version: str) -> Iterator[str]:
    """Yield one sentence for everything that looks wrong: what it is, what comes of it, what to do."""
    now = timezone.now()
    yield from _git_faults(git_version)
    yield from _home_faults(Path(settings.HOME))
    yield from _worker_faults(now)
    yield from _clock_faults(now)
    for store in Store.objects.order_by("slug"):
        for sentence in _store_faults(store):
            yield f"{store.slug}: {sentence}"


def _git_faults(stated: str) -> Iterator[str]:
    found = re.match(r"(\d+)\.(\d+)", stated)
    if found is None or (int(found[1]), int(found[2])) < OLDEST_GIT:
        wanted = ".".join(map(str, OLDEST_GIT))
        yield f"git is {stated or 'not there'}; packing needs {wanted} or newer. All else works; update git."


def _home_faults(home: Path) -> Iterator[str]:
    if shutil.disk_usage(home).free < FREE_BYTES:
        yield "Less than 200 MiB are free where the data folder lies; approving is refused when it is full. Make room."
    if _file_system(home) in NETWORK_FILE_SYSTEMS:
        yield (
            "The data folder lies on a network file system, where SQLite may lose data. Set MEMORYREVIEW_HOME to a "
            "local one."
        )
    for path in (home, home / "baselines", *home.glob("*.sqlite3*"), *home.glob("*.key")):
        try:
            found = path.stat()
        except FileNotFoundError:
            continue
        if found.st_mode & 0o077:
            mode = "700" if stat.S_ISDIR(found.st_mode) else "600"
            yield f"Other users may read {path} (mode {stat.S_IMODE(found.st_mode):04o}); run: chmod {mode} {path}"
        if not os.access(path, os.W_OK):
            yield f"{path} is not writable, so nothing can be recorded. Give the permission back."


def _worker_faults(now: datetime) -> Iterator[str]:
    """Judge the worker by what is overdue. Before `up` was ever run there is no schedule, and nothing is late."""
    try:
        overdue = Schedule.objects.filter(next_run__lt=now - LATE_AFTER).order_by("name")
        late = list(overdue.values_list("name", flat=True))
        seen = Task.objects.aggregate(at=Max("stopped"))["at"]
    except DatabaseError as error:
        yield f"The database of background work does not answer: {error}. Nothing is lost; start memoryreview again."
        return
    if late:
        last = f"it was last seen {seen:%Y-%m-%d %H:%M} UTC" if seen is not None else "it was never seen"
        yield f"The worker does not run ({last}), so this waits: {', '.join(late)}. Start it: memoryreview up"


def _clock_faults(now: datetime) -> Iterator[str]:
    newest = max(
        filter(None, (Change.objects.aggregate(at=Max("at"))["at"], Decision.objects.aggregate(at=Max("at"))["at"])),
        default=None,
    )
    if newest is not None and newest > now + CLOCKS_DIFFER_BY:
        yield (
            f"The clock was set back: it says {now:%Y-%m-%d %H:%M} UTC, and something was recorded at "
            f"{newest:%Y-%m-%d %H:%M} UTC. The order is kept, since it does not go by the time; set the clock right."
        )


def _store_faults(store: Store) -> Iterator[str]:
    folder = list(_folder_faults(store))
    yield from folder
    yield from _baseline_faults(store)
    if store.alarm and store.alarm not in folder:
        yield store.alarm
    if store.push_fault:
        yield store.push_fault
    if store.differing:
        names = ", ".join(f"“{shown(path)}”" for path in store.differing[:5])
        more = f" and {len(store.differing) - 5} more" if len(store.differing) > 5 else ""
        yield f"On disk {names}{more} could not be merged with what was approved since; open the store's page."


def _folder_faults(store: Store) -> Iterator[str]:
    root = Path(store.root)
    try:
        listing = worktree_of(store).scan()
    except MemoryReviewError as error:
        yield unusable_folder(error)
        return
    if not os.access(root, os.W_OK) or not root.stat().st_mode & 0o222:
        yield f"The memory folder “{root}” is read-only, so approving is refused. Give the permission back."
    read_only = [path for path in listing.documents if not (root / path).stat().st_mode & 0o222]
    if read_only:
        names = ", ".join(f"“{shown(path)}”" for path in read_only[:5])
        yield f"{len(read_only)} documents are read-only ({names}), so approving a change of them is refused."
    if shutil.disk_usage(root).free < FREE_BYTES:
        yield f"Less than 200 MiB are free where “{root}” lies; approving will be refused when it is full. Make room."


def _baseline_faults(store: Store) -> Iterator[str]:
    git_dir = baseline_dir(store)
    try:
        with Repository(git_dir) as repository:
            head = repository.head()
            if head is None:
                yield (
                    "The baseline has no commit. Nothing was changed; restore the data folder from a backup, or adopt "
                    "the folder anew."
                )
            else:
                repository.tree(repository.commit(head).tree)
    except BaselineError as error:
        yield str(error)
        return
    recorded = Change.objects.filter(store=store).order_by("-pk").values_list("oid", flat=True).first()
    if head is not None and recorded != head:
        yield f"The head of the baseline is not the last recorded change. Run: memoryreview verify {store.slug}"
    if git_dir.stat().st_mode & 0o077:
        yield f"Other users may read the baseline; run: chmod 700 {git_dir}"
    yield from surroundings.oddities(git_dir)
    for lock in surroundings.foreign_locks(git_dir):
        yield (
            f"Another git program holds or left the lock file “{lock.path}” ({lock.age_s:.0f} s old). If no git "
            "command is at work in that folder, remove the file."
        )


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
