"""Memory folders under review, and the agents that may propose to them."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from memoryreview.core.model import FormatName, Guard, Scope
from memoryreview.review.querysets import AgentQuerySet, StoreQuerySet

from .constraint import one_of
from .team import Team


class Store(models.Model):
    """One memory folder. `baseline` names its git dir in the data folder.

    `differing` lists documents whose disk text could not be merged with a newer approved text. `alarm` is a sentence
    when the folder looks lost; capturing pauses until it is whole again. `switched_off` to `passive` are what its
    owner or maintainer set: safe rules that wait for a person, the length at which an index row may be trimmed, the
    folder in which evidence is looked up ("" for none), and whether new facts land unread. `tidies` is whether safe
    edits are made by the clock. `push_to` is where the baseline is copied to ("" for nowhere), `pushed` the head that
    arrived there last, and `push_fault` why the newest did not; it is tried again from `push_after` on. With nowhere to
    push to, `push_fault` says why that ended.
    """

    MIN_ROW_CHARS, MAX_ROW_CHARS = 120, 400

    slug = models.SlugField(unique=True, max_length=60)
    root = models.TextField(unique=True)
    format = models.CharField(max_length=12, default=FormatName.MARKDOWN)
    scope = models.CharField(max_length=8, default=Scope.PRIVATE)
    guard = models.CharField(max_length=8, default=Guard.OBSERVE)
    team = models.ForeignKey(Team, models.PROTECT, null=True, related_name="stores")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="stores")
    baseline = models.UUIDField(default=uuid.uuid4, unique=True)
    switched_off = models.JSONField(default=list)
    index_row_chars = models.PositiveSmallIntegerField(default=200)
    evidence_root = models.TextField(default="")
    passive = models.BooleanField(default=False)
    differing = models.JSONField(default=list)
    alarm = models.TextField(default="")
    tidies = models.BooleanField(default=True)
    tidied_at = models.DateTimeField(null=True)
    push_to = models.TextField(default="")
    pushed = models.CharField(max_length=40, default="")
    push_fault = models.TextField(default="")
    push_failures = models.PositiveIntegerField(default=0)
    push_after = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=timezone.now)

    objects = StoreQuerySet.as_manager()

    class Meta:
        constraints = [
            one_of("format", FormatName, "store_format"),
            one_of("scope", Scope, "store_scope"),
            one_of("guard", Guard, "store_guard"),
            models.CheckConstraint(
                condition=Q(scope=str(Scope.TEAM), team__isnull=False) | Q(scope=str(Scope.PRIVATE), team__isnull=True),
                name="store_team_has_team",
            ),
            models.CheckConstraint(
                condition=Q(index_row_chars__gte=120, index_row_chars__lte=400), name="store_index_row_chars"
            ),
            models.CheckConstraint(
                condition=Q(passive=False) | Q(scope=str(Scope.PRIVATE)), name="store_passive_is_private"
            ),
        ]


class Agent(models.Model):
    """Who proposes. The token is kept as a SHA-256 digest; the webhook secret must be kept to check signatures.

    The agent named `direct` stands for whoever writes files without asking, `tidy` for the server that tidies a store;
    they have no token, and nobody else may have their names.
    """

    DIRECT = "direct"
    TIDY = "tidy"
    RESERVED = (DIRECT, TIDY)

    name = models.CharField(max_length=40, unique=True)
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="agents")
    token_digest = models.CharField(max_length=64, unique=True, null=True)  # noqa: DJ001  # null keeps "no token" unique
    token_hint = models.CharField(max_length=12, default="")
    webhook_secret = models.CharField(max_length=80, default="")
    stores = models.ManyToManyField(Store, related_name="agents")
    created_at = models.DateTimeField(default=timezone.now)
    revoked_at = models.DateTimeField(null=True)

    objects = AgentQuerySet.as_manager()

    @property
    def is_direct(self) -> bool:
        return self.name == Agent.DIRECT

    @property
    def is_reserved(self) -> bool:
        return self.name in Agent.RESERVED
