"""Whether the parts work: versions, databases, baselines, worker, disk. Short checks; `verify` replays everything."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import django
from django.conf import settings
from django.contrib.auth.models import User
from django.db import DatabaseError, connections
from django_q.models import OrmQ, Task

from memoryreview.review.models import Change, Store
from memoryreview.review.operations.errors import CannotApplyError
from memoryreview.review.operations.stores import reading
from memoryreview.review.operations.waiting import oldest, watched

from .waiting import oldest_view
from .words import moment, plural, short_oid, size_words

_LATE_AFTER = timedelta(minutes=5)
_LOW_DISK_BYTES = 200 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class HealthFact:
    """One line of the health page. `trouble` is what to do about it, "" while all is well."""

    name: str
    value: str
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class HealthPage:
    facts: tuple[HealthFact, ...]
    is_well: bool


def health_page(person: User, now: datetime) -> HealthPage:
    facts = (*_versions(), *_databases(), *_baselines(person), _oldest(person, now), _worker(now), _disk())
    return HealthPage(facts, not any(fact.trouble for fact in facts))


def _versions() -> Iterator[HealthFact]:
    try:
        own = version("memoryreview")
    except PackageNotFoundError:
        own = "runs from a checkout, not installed"
    yield HealthFact("memoryreview", own)
    yield HealthFact("Django", django.get_version())


def _databases() -> Iterator[HealthFact]:
    names = {"default": "proposals and decisions", "queue": "background work"}
    for alias, words in names.items():
        name = f"Database of {words}"
        try:
            connection = connections[alias]
            with connection.cursor() as cursor:
                cursor.execute("SELECT 1")
            yield HealthFact(name, _size(connection.settings_dict["NAME"]) or connection.vendor)
        except DatabaseError as error:
            yield HealthFact(name, "does not answer", f"{error}. Nothing is lost; look at the log and start again.")


def _size(name: object) -> str:
    path = Path(str(name))
    return f"SQLite, {size_words(path.stat().st_size)}" if path.is_file() else ""


def _baselines(person: User) -> Iterator[HealthFact]:
    for store in Store.objects.visible_to(person).order_by("slug"):
        name = f"Baseline of {store.slug}"
        recorded = Change.objects.filter(store=store).order_by("-pk").values_list("oid", flat=True).first()
        try:
            with reading(store) as repository:
                head = repository.head() or ""
        except CannotApplyError as error:
            yield HealthFact(name, "cannot be read", str(error))
            continue
        if head != recorded:
            yield HealthFact(
                name,
                f"head {short_oid(head)}, last recorded change {short_oid(recorded or '')}",
                f"They should be equal. Run: memoryreview verify {store.slug}",
            )
        else:
            yield HealthFact(name, f"head {short_oid(head)}", store.alarm or store.push_fault)


def _oldest(person: User, now: datetime) -> HealthFact:
    found = oldest_view(oldest(watched(person)), now)
    if found is None:
        return HealthFact("Oldest proposal", "nothing waits")
    late = f"Nobody decided it for more than {plural(settings.OLD_DAYS, 'day')}: open the queue."
    value = f"{found.title}, in {found.store}, waiting for {found.age} (since {found.at.exact})"
    return HealthFact("Oldest proposal", value, late if found.is_overdue else "")


def _worker(now: datetime) -> HealthFact:
    """Judge the worker by its latest finished task: capturing runs every minute or so."""
    last = Task.objects.order_by("-stopped").values_list("stopped", flat=True).first()
    queued = plural(OrmQ.objects.count(), "task") + " queued"
    if last is None:
        return HealthFact("Worker", f"not seen yet, {queued}", "Start it with: memoryreview up")
    seen = moment(last, now)
    late = now - last > _LATE_AFTER
    return HealthFact(
        "Worker", f"last seen {seen.ago} ({seen.exact}), {queued}", "Start it with: memoryreview up" if late else ""
    )


def _disk() -> HealthFact:
    usage = shutil.disk_usage(settings.HOME)
    is_low = usage.free < _LOW_DISK_BYTES
    advice = "Make room: when the disk is full, approving is refused and nothing is lost." if is_low else ""
    return HealthFact("Disk of the data folder", f"{size_words(usage.free)} free", advice)
