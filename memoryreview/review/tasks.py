"""Scheduled work, run by django-q2. Each task delegates; arguments are ids and primitives; all may run twice."""

from __future__ import annotations

import logging

from django.core.management import call_command
from django.utils import timezone

from memoryreview.core.errors import MemoryReviewError

from .models import Store
from .operations import queue_search
from .operations.capture import capture
from .operations.digest import forget_files, make_due
from .operations.expire import expire
from .operations.notify import send_due
from .operations.push import push
from .operations.search import bring_up
from .operations.tidy import tidy
from .operations.upkeep import upkeep

log = logging.getLogger(__name__)


def capture_stores() -> int:
    """Capture direct writes in every store; return how many proposals came of it."""
    made = 0
    for store in Store.objects.order_by("pk"):
        try:
            made += len(capture(store))
        except MemoryReviewError as error:
            log.warning("capture %s: %s", store.slug, error)
    return made


def tidy_stores() -> int:
    """Tidy every store whose owner lets the clock do it; return how many commits came of it."""
    made = 0
    for store in Store.objects.filter(tidies=True).order_by("pk"):
        try:
            made += len(tidy(store).applied)
        except MemoryReviewError as error:
            log.warning("tidy %s: %s", store.slug, error)
    return made


def pack_baselines() -> int:
    """Pack the baselines that grew; return how many."""
    done = 0
    for store in Store.objects.order_by("pk"):
        try:
            done += upkeep(store) is not None
        except MemoryReviewError as error:
            log.warning("upkeep %s: %s", store.slug, error)
    return done


def push_baselines() -> int:
    """Copy new heads to where their owners want them; return how many."""
    done = 0
    for store in Store.objects.exclude(push_to="").order_by("pk"):
        try:
            done += push(store)
        except MemoryReviewError as error:
            log.warning("push %s: %s", store.slug, error)
    return done


def read_for_search() -> int:
    """Read what changed in every store for searching; return how many documents and proposals it was."""
    done = 0
    for store in Store.objects.order_by("pk"):
        try:
            done += bring_up(store)
        except MemoryReviewError as error:
            log.warning("search %s: %s", store.slug, error)
    while read := queue_search.bring_up():
        done += read
    return done


def expire_proposals() -> int:
    return expire()


def make_digests() -> int:
    now = timezone.now()
    forget_files(now)
    return make_due(now)


def send_messages() -> int:
    return send_due(timezone.now())


def clear_sessions() -> None:
    """Remove sessions that ended: everybody who sees the sign-in page without a cookie begins one."""
    call_command("clearsessions")
