"""Messages to webhooks of people: signed, tried again with growing pauses, and never a word of what memory says."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import F
from django.utils import timezone

from memoryreview.connect.deliver import DeliveryError, TargetError, deliver, target_of
from memoryreview.core.signing import serialised_secret, signed_headers
from memoryreview.review.models import Endpoint, Message

from .configure import may_name_folder
from .errors import NotPermittedError

PAUSES = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 30, 2 * 60, 5 * 60, 10 * 60, 14 * 60, 18 * 60, 23 * 60))
"""Between attempts, three days in all; then it is given up."""

_KEPT = timedelta(days=90)


class Event(StrEnum):
    DIGEST_READY = "digest.ready"


def endpoint_of(person: User) -> Endpoint:
    """Return how a person wants to be told: by file alone until they say otherwise."""
    return Endpoint.objects.filter(person=person).first() or Endpoint(person=person)


def set_webhook(person: User, url: str) -> str:
    """Say where a person's events go, "" for nowhere. Return the new secret, "" for none; an old one ends.

    The caller asked for the password. What waits for the old address is dropped.
    Raises: NotPermittedError, TargetError; nothing is saved then.
    """
    if not may_name_folder(person):
        raise NotPermittedError("Only the owner of this installation says what leaves it. Nothing was saved.")
    stated = url.strip()
    if stated:
        target_of(stated, allowed=settings.WEBHOOK_LOOPBACK)
    secret = serialised_secret(secrets.token_bytes(32)) if stated else ""
    Endpoint.objects.update_or_create(person=person, defaults={"url": stated, "secret": secret})
    Message.objects.filter(person=person, due_at__isnull=False).update(due_at=None, fault="The address was changed.")
    return secret


def post(person: User, event: Event, told: Mapping[str, object], at: datetime) -> Message | None:
    """Queue an event for a person's webhook, None without one; `send_due` sends it. Args: told: the body's `data`."""
    if not endpoint_of(person).url:
        return None
    body = json.dumps({"type": event, "timestamp": at.isoformat(timespec="seconds"), "data": told})
    return Message.objects.create(person=person, event=event, body=body)


def redeliver(message: Message) -> None:
    """Try a message again from the beginning, also one that arrived. Its id stays, so a receiver may drop it."""
    Message.objects.filter(pk=message.pk).update(due_at=timezone.now(), attempts=0, fault="")


def send_due(now: datetime) -> int:
    """Send what is due; return how much arrived. What arrived or was given up long ago is forgotten."""
    Message.objects.filter(due_at__isnull=True, created_at__lt=now - _KEPT).delete()
    due = Message.objects.filter(due_at__lte=now).select_related("person__endpoint").order_by("due_at")
    return sum(_send(message, now) for message in list(due[:100]))


def _send(message: Message, now: datetime) -> bool:
    """Try once. The attempt is taken before it is made, so that two workers never make the same one."""
    after = now + PAUSES[message.attempts] if message.attempts < len(PAUSES) else None
    ours = Message.objects.filter(pk=message.pk, attempts=message.attempts, due_at=message.due_at)
    if not ours.update(attempts=F("attempts") + 1, due_at=after, fault="It was begun and not heard of since."):
        return False
    endpoint, body = message.person.endpoint, message.body.encode()
    mine = Message.objects.filter(pk=message.pk, attempts=message.attempts + 1)
    try:
        target = target_of(endpoint.url, allowed=settings.WEBHOOK_LOOPBACK)
        deliver(target, body, signed_headers(endpoint.secret, str(message.pk), body, now_s=int(now.timestamp())))
    except TargetError as error:
        mine.update(fault=str(error), due_at=None)
        return False
    except DeliveryError as error:
        is_gone = error.answered == 410  # the receiver wants no more of them
        mine.update(fault=str(error), **({"due_at": None} if is_gone else {}))
        return False
    mine.update(fault="", due_at=None, arrived_at=timezone.now())
    return True
