"""What a person keeps for themselves: filters under a name, and how far they have looked."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone


class SavedView(models.Model):
    """A filter of the queue under a name of one person's; `query` holds the parameters of its address."""

    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="saved_views")
    name = models.CharField(max_length=40)
    query = models.TextField()
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["person", "name"], name="saved_view_once")]


class Looked(models.Model):
    """Up to which change, by its id, a person has looked through what was applied by proof."""

    person = models.OneToOneField(settings.AUTH_USER_MODEL, models.CASCADE, primary_key=True, related_name="+")
    change = models.BigIntegerField(default=0)
    at = models.DateTimeField(default=timezone.now)
