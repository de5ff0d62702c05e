"""What was applied, the journal of applying it, and what a rollback stopped. The text itself lives in git."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from memoryreview.review.querysets import ChangeQuerySet
from memoryreview.review.states import ChangeKind

from .constraint import one_of
from .proposal import Decision, Proposal
from .store import Agent, Store


class Change(models.Model):
    """An applied commit. Derived from git and decisions, kept for pages; `certificate` proves a safe change.

    `unread`: it landed by a decision `passive`, and nobody kept it (`read`) or rolled it back since.
    """

    oid = models.CharField(max_length=40)
    parent = models.CharField(max_length=40, default="")
    # the indexes below begin with it
    store = models.ForeignKey(Store, models.PROTECT, related_name="changes", db_index=False)
    kind = models.CharField(max_length=12)
    proposal = models.ForeignKey(Proposal, models.PROTECT, null=True, related_name="changes")
    decision = models.ForeignKey(Decision, models.PROTECT, null=True, related_name="changes")
    agent = models.ForeignKey(Agent, models.PROTECT, null=True, related_name="changes")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="changes")
    title = models.CharField(max_length=300)
    paths = models.JSONField(default=list)
    certificate = models.JSONField(null=True)
    unread = models.BooleanField(default=False)
    rolls_back = models.ManyToManyField("self", symmetrical=False, related_name="rolled_back_by")
    at = models.DateTimeField(default=timezone.now)

    objects = ChangeQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["store", "oid"], name="change_once"),
            one_of("kind", ChangeKind, "change_kind"),
        ]
        indexes = [
            # with the time, days are told apart without a look at each row
            models.Index(fields=["store", "-id", "at"], name="change_by_store"),
            models.Index(fields=["store", "kind", "-id"], name="change_by_kind"),
            models.Index(fields=["store", "agent", "-id"], name="change_by_agent"),
            models.Index(fields=["store", "person", "-id"], name="change_by_person"),
            models.Index(fields=["store"], condition=Q(unread=True), name="change_unread"),
        ]


class ChangedPath(models.Model):
    """Which change touched which document, for the history of one file."""

    change = models.ForeignKey(Change, models.CASCADE, related_name="changed_paths")
    store = models.ForeignKey(Store, models.CASCADE, related_name="+")
    path = models.TextField()

    class Meta:
        indexes = [models.Index(fields=["store", "path", "-change"], name="changed_path_history")]


class RenamedPath(models.Model):
    """A change that gave a document another name, for the history of one file. Derived from git."""

    change = models.ForeignKey(Change, models.CASCADE, related_name="renames")
    store = models.ForeignKey(Store, models.CASCADE, related_name="+")
    path = models.TextField()
    was = models.TextField()

    class Meta:
        indexes = [
            models.Index(fields=["store", "path", "-change"], name="rename_by_path"),
            models.Index(fields=["store", "was"], name="rename_by_old_path"),
        ]


class Intent(models.Model):
    """Journal: a commit that is about to become the head. Done or undone by `operations.reconcile`, never left."""

    store = models.ForeignKey(Store, models.PROTECT, related_name="intents")
    expected = models.CharField(max_length=40, default="")
    oid = models.CharField(max_length=40)
    proposal = models.ForeignKey(Proposal, models.PROTECT, null=True, related_name="+")
    decision = models.ForeignKey(Decision, models.PROTECT, null=True, related_name="+")
    kind = models.CharField(max_length=12)
    landing = models.JSONField()  # operations.apply.Landing without its bytes
    created_at = models.DateTimeField(default=timezone.now)


class TidyStop(models.Model):
    """Tidying of one store by one rule stopped, until a person switches it on again.

    `change` is the tidy change that a person rolled back, when that is why.
    """

    store = models.ForeignKey(Store, models.CASCADE, related_name="tidy_stops")
    rule = models.CharField(max_length=24)
    sentence = models.TextField()
    change = models.OneToOneField(Change, models.CASCADE, null=True, related_name="tidy_stop")
    at = models.DateTimeField(default=timezone.now)
    lifted_at = models.DateTimeField(null=True)
    lifted_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")

    class Meta:
        indexes = [models.Index(fields=["store", "rule"], name="tidy_stop_by_rule")]
