"""A digest for each person and day: what waits, what landed by proof, what failed. Counts and names of stores only."""

from __future__ import annotations

import logging
import re
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Count, Q
from django.urls import reverse
from django.utils.text import slugify

from memoryreview.baseline import durable
from memoryreview.core.concerns import HIGH, MEDIUM
from memoryreview.review.models import Change, ChangeKind, Digest, Message, Proposal, Store

from . import notify
from .waiting import oldest, watched

log = logging.getLogger(__name__)

FOLDER = "digests"
_FILE = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})-.+-[0-9]+\.md", re.ASCII)


@dataclass(frozen=True, slots=True)
class StoreDigest:
    """Counts of one store: what waits by risk, what landed by proof since, and how much could not be applied."""

    slug: str
    high: int
    medium: int
    low: int
    applied: int
    failed: int
    is_paused: bool
    push_fails: bool

    @property
    def waiting(self) -> int:
        return self.high + self.medium + self.low


@dataclass(frozen=True, slots=True)
class Told:
    """What a digest tells. Args: since: from when on what landed is counted. oldest: when the oldest proposal came."""

    since: datetime
    oldest: datetime | None
    undelivered: int
    stores: tuple[StoreDigest, ...]

    @property
    def waiting(self) -> int:
        return sum(store.waiting for store in self.stores)

    @property
    def applied(self) -> int:
        return sum(store.applied for store in self.stores)

    @property
    def failed(self) -> int:
        stuck = sum(store.failed + store.is_paused + store.push_fails for store in self.stores)
        return stuck + self.undelivered

    @property
    def is_empty(self) -> bool:
        return not (self.waiting or self.applied or self.failed)

    def as_json(self) -> dict[str, object]:
        stated = asdict(self)
        return {**stated, "since": self.since.isoformat(), "oldest": self.oldest.isoformat() if self.oldest else None}

    @classmethod
    def of(cls, stated: dict[str, Any]) -> Told:
        """Read what `as_json` wrote."""
        return cls(
            since=datetime.fromisoformat(stated["since"]),
            oldest=datetime.fromisoformat(stated["oldest"]) if stated["oldest"] else None,
            undelivered=stated["undelivered"],
            stores=tuple(StoreDigest(**row) for row in stated["stores"]),
        )


def told_now(person: User, now: datetime) -> Told:
    """Return what there is to tell a person, since their last digest or for a day."""
    last = Digest.objects.filter(person=person).order_by("-day").first()
    since = last.made_at if last is not None else now - timedelta(days=1)
    first = oldest(watched(person))
    lost = Message.objects.filter(person=person, arrived_at__isnull=True, attempts__gt=1, created_at__gt=since)
    return Told(since, first.since if first else None, lost.count(), _stores(person, since))


def _stores(person: User, since: datetime) -> tuple[StoreDigest, ...]:
    open_ones = Proposal.objects.visible_to(person).waiting().order_by().values("store")
    waits: dict[int, Any] = {
        row["store"]: row
        for row in open_ones.annotate(
            high=Count("pk", filter=Q(risk__gte=HIGH)),
            medium=Count("pk", filter=Q(risk__lt=HIGH, risk__gte=MEDIUM)),
            low=Count("pk", filter=Q(risk__lt=MEDIUM)),
            failed=Count("pk", filter=~Q(failure="")),
        )
    }
    landed = Change.objects.visible_to(person).filter(kind=ChangeKind.AUTO, at__gt=since).order_by().values("store")
    applied = dict(landed.annotate(count=Count("pk")).values_list("store", "count"))
    stores = Store.objects.visible_to(person).order_by("slug")
    return tuple(
        StoreDigest(
            slug=store.slug,
            **{name: waits.get(store.pk, {}).get(name, 0) for name in ("high", "medium", "low", "failed")},
            applied=applied.get(store.pk, 0),
            is_paused=bool(store.alarm),
            push_fails=bool(store.push_fault),
        )
        for store in stores
    )


def make_due(now: datetime) -> int:
    """Make the digests of today once it is DIGEST_HOUR where this machine is; return how many were made."""
    if now.astimezone(ZoneInfo(settings.MACHINE_ZONE)).hour < settings.DIGEST_HOUR:
        return 0
    people = User.objects.filter(is_active=True).order_by("pk")
    return sum(make(person, now) is not None for person in people)


def forget_files(now: datetime) -> int:
    """Remove the files of digests older than DIGEST_DAYS; return how many. The digests themselves stay on record.

    They are found by their names: a person whose account is gone, or a restored database, leaves files as well.
    """
    today = now.astimezone(ZoneInfo(settings.MACHINE_ZONE)).date()
    first = today - timedelta(days=settings.DIGEST_DAYS - 1)
    removed = 0
    for path in (Path(settings.HOME) / FOLDER).glob("*.md"):
        found = _FILE.fullmatch(path.name)
        if found is None or found[1] >= first.isoformat():
            continue
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            log.warning("digest: the file “%s” cannot be removed: %s.", path, error.strerror)
            continue
        removed += 1
    Digest.objects.filter(day__lt=first).exclude(path="").update(path="")
    return removed


def make(person: User, now: datetime) -> Digest | None:
    """Make a person's digest of today, None when there is one. Effects in order:

    1. Record it: the row is the ticket, of two workers one gets it.
    2. Write it as a file and queue `digest.ready`, as the person wants it, when there is something to tell.
    """
    day = now.astimezone(ZoneInfo(settings.MACHINE_ZONE)).date()
    if Digest.objects.filter(person=person, day=day).exists():
        return None
    told = told_now(person, now)
    try:
        with transaction.atomic():
            digest = Digest.objects.create(person=person, day=day, made_at=now, told=told.as_json())
            if not told.is_empty:
                notify.post(person, notify.Event.DIGEST_READY, _thin(digest, told), now)
    except IntegrityError:
        return None
    if not told.is_empty and notify.endpoint_of(person).writes_file:
        _write(digest, told)
    return digest


def _thin(digest: Digest, told: Told) -> dict[str, object]:
    return {
        "day": digest.day.isoformat(),
        "waiting": told.waiting,
        "applied": told.applied,
        "failed": told.failed,
        "url": settings.PUBLIC_URL + reverse("digest"),
    }


def _write(digest: Digest, told: Told) -> None:
    """Write the file of a digest. One that cannot be written is said on its page; the digest stands all the same."""
    name = slugify(digest.person.get_username()) or "person"
    path = Path(settings.HOME) / FOLDER / f"{digest.day.isoformat()}-{name}-{digest.person_id}.md"
    try:
        path.parent.mkdir(mode=0o700, exist_ok=True)
        path.unlink(missing_ok=True)
        durable.write_new_file(path, markdown(digest, told).encode())
        digest.path = str(path)
    except OSError as error:
        digest.fault = f"The file “{path}” cannot be written: {error.strerror}."
        log.warning("digest: %s", digest.fault)
    digest.save(update_fields=["path", "fault"])


def markdown(digest: Digest, told: Told) -> str:
    """Return a digest as a Markdown document."""
    lines = [f"# memoryreview, {digest.day.isoformat()}", ""]
    lines += [f"{told.waiting} waiting, {told.applied} applied by proof, {told.failed} failed.", ""]
    if told.oldest is not None:
        lines += [f"The oldest proposal waits since {told.oldest:%Y-%m-%d %H:%M} UTC.", ""]
    lines += ["| store | high risk | medium | low | applied by proof | failed |", "|---|---|---|---|---|---|"]
    for store in told.stores:
        failed = store.failed + store.is_paused + store.push_fails
        lines.append(f"| {store.slug} | {store.high} | {store.medium} | {store.low} | {store.applied} | {failed} |")
    return "\n".join([*lines, "", f"Decide: {settings.PUBLIC_URL}/", ""])
