"""What a person is told without asking: a digest each day, and messages to a webhook of theirs."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone


class Digest(models.Model):
    """What waited, landed by proof and failed, for one person and day. `told` holds counts and names of stores only.

    `path` is the file that it was written to, "" for none; `fault` says why that failed.
    """

    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="digests")
    day = models.DateField()
    made_at = models.DateTimeField(default=timezone.now)
    told = models.JSONField(default=dict)
    path = models.TextField(default="")
    fault = models.TextField(default="")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["person", "day"], name="digest_once_a_day")]


class Endpoint(models.Model):
    """Where a person wants to be told, and the key that signs what is sent. `writes_file`: digests become files too."""

    person = models.OneToOneField(settings.AUTH_USER_MODEL, models.CASCADE, related_name="endpoint")
    writes_file = models.BooleanField(default=True)
    url = models.TextField(default="")
    secret = models.CharField(max_length=80, default="")


class Message(models.Model):
    """One event on its way to a webhook, and what came of it: the log of deliveries.

    `id` is the webhook-id, the same at each attempt. It is tried at `due_at`, None once it arrived or was given up.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="messages")
    event = models.CharField(max_length=40)
    body = models.TextField()
    created_at = models.DateTimeField(default=timezone.now)
    attempts = models.PositiveSmallIntegerField(default=0)
    due_at = models.DateTimeField(null=True, default=timezone.now)
    arrived_at = models.DateTimeField(null=True)
    fault = models.TextField(default="")

    class Meta:
        indexes = [models.Index(fields=["due_at"], condition=Q(due_at__isnull=False), name="message_due")]
