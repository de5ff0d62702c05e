"""Capture direct writes soon after they happen. The scan by the clock stays what is relied on."""

from __future__ import annotations

import logging
import time
from pathlib import Path
from threading import Event

from django.db import close_old_connections

from memoryreview.connect.watching import Bursts, FolderWatch
from memoryreview.core.errors import MemoryReviewError
from memoryreview.review.models import Store

from .capture import capture
from .errors import BusyError

log = logging.getLogger(__name__)

LOOK_S = 1.0
"""How soon a new store, or a folder that came back, is watched."""


def watch(stop: Event) -> None:
    """Follow the folders of all stores until `stop` is set. Effects in order, again and again:

    1. Follow new stores and folders that came back; every store is captured when that changed anything, so at start.
    2. Wait for notices; writes that follow each other closely are one burst of their store.
    3. Capture each store whose burst is over.
    """
    folders, bursts = FolderWatch(), Bursts()
    next_look_s = 0.0
    while not stop.is_set():
        if time.monotonic() >= next_look_s:
            close_old_connections()
            for store in folders.follow({pk: Path(root) for pk, root in Store.objects.values_list("pk", "root")}):
                bursts.note(store, time.monotonic())
            next_look_s = time.monotonic() + LOOK_S
        for store in folders.changed():
            bursts.note(store, time.monotonic())
        for store in bursts.due(time.monotonic()):
            if not _captured(store):
                bursts.note(store, time.monotonic())


def _captured(pk: int) -> bool:
    """Capture one store; False when it was busy, so that it must be tried again."""
    store = Store.objects.filter(pk=pk).first()
    if store is None:
        return True
    try:
        capture(store)
    except BusyError:
        return False
    except MemoryReviewError as error:
        log.warning("capture %s: %s", store.slug, error)
    except Exception:  # the fault of one store must not end the watch over the others
        log.exception("capture %s", store.slug)
    return True
