"""Who shares stores, and who may join."""

from __future__ import annotations

from datetime import datetime

from django.conf import settings
from django.contrib.auth.models import User
from django.db import models
from django.utils import timezone

from memoryreview.review.states import Role

from .constraint import one_of


class Team(models.Model):
    slug = models.SlugField(unique=True)
    name = models.CharField(max_length=120)
    created_at = models.DateTimeField(default=timezone.now)


class Membership(models.Model):
    team = models.ForeignKey(Team, models.CASCADE, related_name="memberships")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=12, default=Role.MEMBER)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["team", "person"], name="membership_once"),
            one_of("role", Role, "membership_role"),
        ]


class SignUpLink(models.Model):
    """A one-time link that makes an account: the owner's at first start, or an invitation to a team."""

    digest = models.CharField(max_length=64, unique=True)
    team = models.ForeignKey(Team, models.CASCADE, null=True, related_name="+")
    role = models.CharField(max_length=12, default=Role.MEMBER)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)

    def is_open(self, now: datetime) -> bool:
        return self.used_at is None and now < self.expires_at


def is_sole_person() -> bool:
    """Whether the installation has one account only, so that nobody else could approve."""
    return User.objects.filter(is_active=True).count() == 1
