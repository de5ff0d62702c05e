"""What was erased from a history, where its commits are now, and which backups may still hold the text."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone

from memoryreview.review.states import ErasureState

from .constraint import one_of
from .proposal import Decision
from .store import Store


class Erasure(models.Model):
    """A text, or the document `path`, that was taken out of the whole history of a store; and the journal of doing it.

    What the text was is kept nowhere. `head` is the commit on top of the new history. `commits` to `decisions` count
    where the text stood. `withdrawn` names the changes whose certificate went with it; the decision's `shown` is the
    digest of that list. `doubted` names those that did not hold before; they are left as they are. `left` are sentences
    about what could not be reached. `forgotten` is whether the database's files were written anew since.
    """

    store = models.ForeignKey(Store, models.PROTECT, related_name="erasures")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    decision = models.OneToOneField(Decision, models.PROTECT, null=True, related_name="erasure")
    state = models.CharField(max_length=12, default=ErasureState.PREPARING)
    path = models.TextField(default="")
    note = models.TextField(default="")
    head = models.CharField(max_length=40, default="")
    commits = models.PositiveIntegerField(default=0)
    documents = models.PositiveIntegerField(default=0)
    proposals = models.PositiveIntegerField(default=0)
    decisions = models.PositiveIntegerField(default=0)
    moved = models.PositiveIntegerField(default=0)  # commits that have another id since
    withdrawn = models.JSONField(default=list)
    doubted = models.JSONField(default=list)
    left = models.JSONField(default=list)
    forgotten = models.BooleanField(default=False)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [one_of("state", ErasureState, "erasure_state")]


class MovedCommit(models.Model):
    """Where a commit stands since an erasure: `digest` is the keyed digest of the id that it had before."""

    store = models.ForeignKey(Store, models.CASCADE, related_name="+")
    digest = models.CharField(max_length=64)
    oid = models.CharField(max_length=40)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["store", "digest"], name="moved_commit_once")]


class Backup(models.Model):
    """A file that `backup` made, so that erasing can say where old text may still stand. The file may be gone."""

    path = models.TextField()
    sha256 = models.CharField(max_length=64)
    size_bytes = models.PositiveBigIntegerField()
    made_at = models.DateTimeField(default=timezone.now)
