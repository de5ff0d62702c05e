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
from django.utils.translation import gettext as _
from django_q.models import OrmQ, Task

from memoryreview.review.models import Change, Store
from memoryreview.review.operations.errors import CannotApplyError
from memoryreview.review.operations.stores import reading
from memoryreview.review.operations.waiting import oldest, watched

from .recorded import in_language
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
        own = _("runs from a checkout, not installed")
    yield HealthFact("memoryreview", own)
    yield HealthFact("Django", django.get_version())


def _databases() -> Iterator[HealthFact]:
    names = {"default": _("proposals and decisions"), "queue": _("background work")}
    for alias, words in names.items():
        name = _("Database of %(words)s") % {"words": words}
        try:
            connection = connections[alias]
            with connection.cursor() as cursor:
                cursor.execute("SELECT 1")
            yield HealthFact(name, _size(connection.settings_dict["NAME"]) or connection.vendor)
        except DatabaseError as error:
            yield HealthFact(
                name,
                _("does not answer"),
                _("%(error)s. Nothing is lost; look at the log and start again.") % {"error": error},
            )


def _size(name: object) -> str:
    path = Path(str(name))
    return _("SQLite, %(size)s") % {"size": size_words(path.stat().st_size)} if path.is_file() else ""


def _baselines(person: User) -> Iterator[HealthFact]:
    for store in Store.objects.visible_to(person).order_by("slug"):
        name = _("Baseline of %(slug)s") % {"slug": store.slug}
        recorded = Change.objects.filter(store=store).order_by("-pk").values_list("oid", flat=True).first()
        try:
            with reading(store) as repository:
                head = repository.head() or ""
        except CannotApplyError as error:
            yield HealthFact(name, _("cannot be read"), in_language(str(error)))
            continue
        if head != recorded:
            yield HealthFact(
                name,
                _("head %(oid)s, last recorded change %(recorded)s")
                % {"oid": short_oid(head), "recorded": short_oid(recorded or "")},
                _("They should be equal. Run: memoryreview verify %(slug)s") % {"slug": store.slug},
            )
        else:
            yield HealthFact(
                name, _("head %(oid)s") % {"oid": short_oid(head)}, in_language(store.alarm or store.push_fault)
            )


def _oldest(person: User, now: datetime) -> HealthFact:
    found = oldest_view(oldest(watched(person)), now)
    if found is None:
        return HealthFact(_("Oldest proposal"), _("nothing waits"))
    late = _("Nobody decided it for more than %(days)s: open the queue.") % {"days": plural(settings.OLD_DAYS, "day")}
    value = _("%(title)s, in %(store)s, waiting for %(age)s (since %(exact)s)") % {
        "title": found.title,
        "store": found.store,
        "age": found.age,
        "exact": found.at.exact,
    }
    return HealthFact(_("Oldest proposal"), value, late if found.is_overdue else "")


def _worker(now: datetime) -> HealthFact:
    """Judge the worker by its latest finished task: capturing runs every minute or so."""
    last = Task.objects.order_by("-stopped").values_list("stopped", flat=True).first()
    queued = _("%(tasks)s queued") % {"tasks": plural(OrmQ.objects.count(), "task")}
    if last is None:
        return HealthFact(
            _("Worker"), _("not seen yet, %(queued)s") % {"queued": queued}, _("Start it with: memoryreview up")
        )
    seen = moment(last, now)
    late = now - last > _LATE_AFTER
    return HealthFact(
        _("Worker"),
        _("last seen %(ago)s (%(exact)s), %(queued)s") % {"ago": seen.ago, "exact": seen.exact, "queued": queued},
        _("Start it with: memoryreview up") if late else "",
    )


def _disk() -> HealthFact:
    usage = shutil.disk_usage(settings.HOME)
    is_low = usage.free < _LOW_DISK_BYTES
    advice = _("Make room: when the disk is full, approving is refused and nothing is lost.") if is_low else ""
    return HealthFact(_("Disk of the data folder"), _("%(size)s free") % {"size": size_words(usage.free)}, advice)
