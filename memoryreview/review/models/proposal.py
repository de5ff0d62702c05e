"""What is asked for, and what was decided about it."""

from __future__ import annotations

from datetime import datetime
from operator import attrgetter
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models
from django.db.models import ExpressionWrapper, F, Q
from django.utils import timezone

from memoryreview.core.model import SAFE_KINDS, Kind
from memoryreview.review.querysets import ProposalQuerySet
from memoryreview.review.states import LIVE_STATES, OPEN_STATES, State, Verb

from .constraint import one_of
from .store import Agent, Store

if TYPE_CHECKING:
    from .latest import Latest

_LOSING_KINDS = frozenset({Kind.FACT_DELETE, Kind.FILE_DELETE, Kind.INDEX_DROP, Kind.MASS_CHANGE})


_QUEUE_ORDER = ("-risk", "-id")
_IS_OPEN = Q(state__in=[str(state) for state in OPEN_STATES])
_IS_LIVE = Q(state__in=[str(state) for state in LIVE_STATES])


def _listed(name: str, *fields: str, condition: Q) -> models.Index:
    """One order of one part of what waits, store by store: what `operations.listing` walks along.

    It ends with the time until which something is put aside, so that counting reads nothing but the index.
    """
    return models.Index(fields=[*fields, "snoozed_until"], condition=condition, name=name)


class Proposal(models.Model):
    """A requested change of one store. From `title` on, everything is derived from the latest revision."""

    store = models.ForeignKey(Store, models.PROTECT, related_name="proposals")
    agent = models.ForeignKey(Agent, models.PROTECT, null=True, related_name="proposals")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="proposals")
    state = models.CharField(max_length=20, default=State.PENDING)
    version = models.PositiveIntegerField(default=1)  # every transition adds one; forms carry it
    created_at = models.DateTimeField(default=timezone.now)
    updated_at = models.DateTimeField(default=timezone.now)

    fingerprint = models.CharField(max_length=64)  # SHA-256 of the store and what changes; of what was dropped, if so
    repeats = models.PositiveIntegerField(default=0)
    claimed_title = models.CharField(max_length=300, default="")
    claimed_kind = models.CharField(max_length=80, default="")
    rationale = models.TextField(default="")
    source = models.JSONField(default=dict)
    scores = models.JSONField(default=dict)
    confidence = models.FloatField(null=True)
    dropped = models.PositiveIntegerField(default=0)  # actions that a person left out when approving the rest
    rejected_before = models.ForeignKey("self", models.PROTECT, null=True, related_name="+")
    duplicate_of = models.ForeignKey("self", models.PROTECT, null=True, related_name="duplicates")  # as a person said
    failure = models.TextField(default="")
    masked = models.BooleanField(default=False)  # a secret was masked in what is held; it cannot be approved

    promoted_from = models.ForeignKey(Store, models.PROTECT, null=True, related_name="promotions")
    promoted_path = models.TextField(default="")
    promoted_commit = models.CharField(max_length=40, default="")

    title = models.CharField(max_length=300, default="")
    kinds = models.JSONField(default=list)
    paths = models.JSONField(default=list)
    concerns = models.JSONField(default=list)  # why it deserves a close look, the gravest first
    risk = models.PositiveSmallIntegerField(default=0)  # queue order, highest first
    added = models.PositiveIntegerField(default=0)  # lines
    removed = models.PositiveIntegerField(default=0)  # lines
    deletes = models.BooleanField(default=False)  # text goes: approving asks twice
    alike = models.CharField(max_length=16, default="")  # equal for changes of the same shape; a keyed digest of it
    lead_kind = models.CharField(max_length=24, default="")  # the gravest of its kinds, "" when nothing waits

    # A person put it aside, for everybody. It stays when that time has come, so that it is known to be back.
    snoozed_until = models.DateTimeField(null=True)

    # Kept by the database, so that the indexes below hold only what can be listed. A list of states would not do:
    # SQLite uses a partial index where a question names its condition word by word, which bound values never do.
    is_open = models.GeneratedField(
        expression=ExpressionWrapper(_IS_OPEN, models.BooleanField()),
        output_field=models.BooleanField(),
        db_persist=True,
    )
    is_live = models.GeneratedField(
        expression=ExpressionWrapper(Q(state__in=[str(state) for state in LIVE_STATES]), models.BooleanField()),
        output_field=models.BooleanField(),
        db_persist=True,
    )
    has_failed = models.GeneratedField(  # approving it did not work, and it waits again
        expression=ExpressionWrapper(_IS_OPEN & ~Q(failure=""), models.BooleanField()),
        output_field=models.BooleanField(),
        db_persist=True,
    )

    searched = models.IntegerField(default=0)  # the version that was read for searching, 0 for none, OUTDATED
    is_unsearched = models.GeneratedField(  # what is searched of it is not what it says now, or ought to be gone
        expression=ExpressionWrapper(
            (_IS_LIVE & ~Q(searched=F("version"))) | (~_IS_LIVE & ~Q(searched=0)), models.BooleanField()
        ),
        output_field=models.BooleanField(),
        db_persist=True,
    )

    latest: Latest | None = None
    """Where it was read together with its latest revision, see `operations.opened`."""

    OUTDATED = -1
    """`searched` of one that says something else since it was read, in the same version."""

    objects = ProposalQuerySet.as_manager()

    class Meta:
        constraints = [
            one_of("state", State, "proposal_state"),
            models.CheckConstraint(condition=Q(snoozed_until__isnull=True) | _IS_OPEN, name="proposal_snoozed"),
        ]
        indexes = [
            _listed("proposal_queue", "store", *_QUEUE_ORDER, condition=Q(is_open=True)),
            _listed("proposal_queue_agent", "store", "agent", *_QUEUE_ORDER, condition=Q(is_open=True)),
            _listed("proposal_queue_kind", "store", "lead_kind", *_QUEUE_ORDER, condition=Q(is_open=True)),
            _listed("proposal_queue_state", "store", "state", *_QUEUE_ORDER, condition=Q(is_live=True)),
            _listed("proposal_queue_failed", "store", *_QUEUE_ORDER, condition=Q(has_failed=True)),
            _listed("proposal_queue_age", "store", "created_at", "id", condition=Q(is_open=True)),
            _listed("proposal_oldest", "store", "id", condition=Q(is_open=True)),
            models.Index(fields=["id"], condition=Q(is_unsearched=True), name="proposal_unsearched"),
            models.Index(
                fields=["store", *_QUEUE_ORDER], condition=Q(snoozed_until__isnull=False), name="proposal_snoozed_queue"
            ),
            models.Index(fields=["store", "fingerprint"], name="proposal_fingerprint"),
            models.Index(fields=["state", "updated_at"], name="proposal_state_updated"),
            models.Index(fields=["agent", "state"], name="proposal_by_agent"),
            models.Index(fields=["store", "state"], name="proposal_by_store"),
        ]

    def is_snoozed(self, now: datetime) -> bool:
        """Whether a person put it aside until a time that has not come."""
        return self.snoozed_until is not None and self.snoozed_until > now

    @property
    def label_disagrees(self) -> bool:
        """Whether the agent's own label is not what the server found, or hides that something goes as well."""
        claimed, others = self.claimed_kind, set(self.kinds) - {self.claimed_kind}
        if not claimed or not self.kinds:
            return False
        return claimed not in self.kinds or (bool(others) and (claimed in SAFE_KINDS or bool(others & _LOSING_KINDS)))

    @property
    def is_direct(self) -> bool:
        """Whether it holds a write that was made on disk without asking."""
        return self.agent is not None and self.agent.is_direct

    @property
    def revision(self) -> Revision:
        """The latest revision. There are few, and whoever reads many proposals fetches them along."""
        return max(self.revisions.all(), key=attrgetter("number"))

    @property
    def written(self) -> Revision:
        """The latest revision by an agent, apart from what a person made of it."""
        revisions = self.revisions.all()
        by_agents = [revision for revision in revisions if revision.agent_id is not None]
        return max(by_agents or revisions, key=attrgetter("number"))


class Revision(models.Model):
    """What is proposed, as whole documents against `base`. After a split `base` is the commit of the safe part."""

    proposal = models.ForeignKey(Proposal, models.CASCADE, related_name="revisions")
    number = models.PositiveIntegerField(default=1)
    base = models.CharField(max_length=40)
    submitted_base = models.CharField(max_length=40)
    agent = models.ForeignKey(Agent, models.PROTECT, null=True, related_name="+")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    verdict = models.CharField(max_length=12, default="")
    actions = models.JSONField(default=list)  # as in the API answer; what already landed included
    findings = models.JSONField(default=list)
    pack_version = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["proposal", "number"], name="revision_once")]

    def delta(self) -> dict[str, bytes | None]:
        """Return the documents as proposed, by path."""
        return {document.path: document.held() for document in self.documents.all()}


class RevisionDocument(models.Model):
    """One document as proposed; `content` is NULL where it goes. `digest` keys the bytes of a masked write."""

    revision = models.ForeignKey(Revision, models.CASCADE, related_name="documents")
    path = models.TextField()
    content = models.BinaryField(null=True)
    digest = models.CharField(max_length=64, default="")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["revision", "path"], name="revision_document_once")]

    def held(self) -> bytes | None:
        return None if self.content is None else bytes(self.content)


class Decision(models.Model):
    """Who did what to which revision, why, and what came of it. Append-only, chained by `mac` over `previous`."""

    proposal = models.ForeignKey(Proposal, models.PROTECT, null=True, related_name="decisions")
    store = models.ForeignKey(Store, models.PROTECT, related_name="decisions")
    revision = models.PositiveIntegerField(default=0)
    change = models.CharField(max_length=40, default="")  # what a rollback undoes, or a restore goes back to
    verb = models.CharField(max_length=12)
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="decisions")
    agent = models.ForeignKey(Agent, models.PROTECT, null=True, related_name="decisions")
    reason = models.CharField(max_length=24, default="")
    note = models.TextField(default="")
    shown = models.CharField(max_length=64, default="")  # hash of what the person saw
    carried_over = models.BooleanField(default=False)
    sole_person = models.BooleanField(default=False)  # approved one's own: the installation has one person only
    batch = models.CharField(max_length=32, default="")  # decided in one act with others that bear the same
    at = models.DateTimeField(default=timezone.now)
    previous = models.CharField(max_length=64, unique=True)
    mac = models.CharField(max_length=64, unique=True)

    class Meta:
        constraints = [one_of("verb", Verb, "decision_verb")]
        indexes = [models.Index(fields=["batch"], condition=~Q(batch=""), name="decision_batch")]


class Delivery(models.Model):
    """An idempotency key that was used: the same key with the same body gives the same answer, for good."""

    agent = models.ForeignKey(Agent, models.CASCADE, related_name="deliveries")
    door = models.CharField(max_length=8)  # "api" or "webhook"
    key = models.CharField(max_length=255)
    body_hash = models.CharField(max_length=64)
    proposal = models.ForeignKey(Proposal, models.CASCADE, null=True, related_name="deliveries")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["agent", "door", "key"], name="delivery_once")]
