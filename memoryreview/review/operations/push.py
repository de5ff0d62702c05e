"""A copy of a store's baseline on a git remote, where its owner wants one. Never part of an apply."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from memoryreview.baseline import mirror
from memoryreview.baseline.errors import BaselineError
from memoryreview.core import scan
from memoryreview.core.errors import MemoryReviewError
from memoryreview.core.names import shown
from memoryreview.review.models import Decision, Store, Verb

from . import ledger
from .configure import may_name_folder
from .errors import CannotApplyError, NotPermittedError
from .permissions import require_maintainer
from .stores import baseline_dir, reading

FIRST_PAUSE = timedelta(minutes=1)
LONGEST_PAUSE = timedelta(hours=6)
MAX_TARGET_CHARS = 500


class PushTargetError(MemoryReviewError):
    """What was named is nothing to push to."""


def set_push(store: Store, target: str, *, person: User) -> str:
    """Say where a store's baseline is copied to after each change, "" for nowhere; return a sentence of what was done.

    The caller asked for the person's password: what is copied leaves this machine, private memory included.

    Raises: NotPermittedError, PushTargetError; nothing is saved then.
    """
    require_maintainer(person, store)
    if not may_name_folder(person):
        raise NotPermittedError("Only the owner of this installation says what leaves it. Nothing was saved.")
    target = _checked(target.strip())
    done = (
        f"The baseline is pushed to {shown(target)} after each change." if target else "The baseline is pushed nowhere."
    )
    if target == store.push_to and (target or not store.push_fault):
        return done
    with transaction.atomic():
        Store.objects.filter(pk=store.pk).update(
            push_to=target, pushed="", push_fault="", push_failures=0, push_after=None
        )
        ledger.record(Decision(store=store, verb=Verb.CONFIGURE, person=person, note=done))
    return done


def _checked(target: str) -> str:
    if len(target) > MAX_TARGET_CHARS:
        raise PushTargetError(f"The address is longer than {MAX_TARGET_CHARS} characters. Nothing was saved.")
    if any(finding.is_blocked_secret for finding in scan.scan(target)):
        raise PushTargetError("The address holds a secret. Nothing was saved; use a key that ssh knows.")
    if not target or mirror.is_remote(target):
        return target
    if mirror.holds_sign_in(target):
        raise PushTargetError(
            "The address holds what one signs in with, and it would be shown and recorded. Nothing was saved; leave "
            "out the password, and all that follows “?”, and use a key that ssh knows."
        )
    path = Path(target)
    if not path.is_absolute() or "\0" in target or "://" in target:
        raise PushTargetError(
            "Name a repository by its full path, or by an https or ssh address without a password. Nothing was saved."
        )
    real = path.resolve()
    kept = [Path(settings.HOME).resolve(), *map(Path, Store.objects.values_list("root", flat=True))]
    if any(real.is_relative_to(one) for one in kept):
        raise PushTargetError("A memory folder or the data folder is no place for a copy. Nothing was saved.")
    return str(real)


def push(store: Store) -> bool:
    """Copy the head of a store's baseline if it is new and it is time; return whether something was pushed.

    Raises: CannotApplyError with the sentence that the store's page shows until a later try succeeds.
    """
    now = timezone.now()
    # A pause that is longer than any we set comes of a clock that was set back.
    if not store.push_to or (store.push_after is not None and now < store.push_after <= now + LONGEST_PAUSE):
        return False
    try:
        with reading(store) as repository:
            head = repository.head() or ""
        if not head or head == store.pushed:
            return False
        mirror.push(baseline_dir(store), store.push_to, head)
    except (BaselineError, CannotApplyError) as error:
        pause = min(FIRST_PAUSE * 2 ** min(store.push_failures, 10), LONGEST_PAUSE)
        _note(store, push_fault=str(error), push_failures=store.push_failures + 1, push_after=now + pause)
        raise CannotApplyError(str(error)) from error
    _note(store, pushed=head, push_fault="", push_failures=0, push_after=None)
    return True


def _note(store: Store, **fields: object) -> None:
    """Save what came of a push, unless somebody named another target meanwhile."""
    Store.objects.filter(pk=store.pk, push_to=store.push_to).update(**fields)
