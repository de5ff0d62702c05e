"""Proposals and decisions. Content that is approved lives in git; what is derived here says so."""

from __future__ import annotations

import uuid
from datetime import datetime
from enum import StrEnum

from django.conf import settings
from django.contrib.auth.models import User
from django.db import models
from django.db.models import Q
from django.utils import timezone

from memoryreview.core.model import SAFE_KINDS, FormatName, Guard, Kind, Scope

from .querysets import AgentQuerySet, ChangeQuerySet, ProposalQuerySet, StoreQuerySet
from .states import OPEN_STATES as OPEN_STATES
from .states import UNDECIDED_STATES as UNDECIDED_STATES
from .states import ChangeKind as ChangeKind
from .states import ErasureState as ErasureState
from .states import Reason as Reason
from .states import Role as Role
from .states import State as State
from .states import Verb as Verb


def _one_of(field: str, values: type[StrEnum], name: str) -> models.CheckConstraint:
    return models.CheckConstraint(condition=Q(**{f"{field}__in": [str(value) for value in values]}), name=name)


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
            _one_of("role", Role, "membership_role"),
        ]


class Store(models.Model):
    """One memory folder. `baseline` names its git dir in the data folder.

    `differing` lists documents whose disk text could not be merged with a newer approved text. `alarm` is a sentence
    when the folder looks lost; capturing pauses until it is whole again. `switched_off` to `passive` are what its
    owner or maintainer set: safe rules that wait for a person, the length at which an index row may be trimmed, the
    folder in which evidence is looked up ("" for none), and whether new facts land unread. `tidies` is whether safe
    edits are made by the clock. `push_to` is where the baseline is copied to ("" for nowhere), `pushed` the head that
    arrived there last, and `push_fault` why the newest did not; it is tried again from `push_after` on.
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
            _one_of("format", FormatName, "store_format"),
            _one_of("scope", Scope, "store_scope"),
            _one_of("guard", Guard, "store_guard"),
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


_LOSING_KINDS = frozenset({Kind.FACT_DELETE, Kind.FILE_DELETE, Kind.INDEX_DROP, Kind.MASS_CHANGE})


class Proposal(models.Model):
    """A requested change of one store. From `title` on, everything is derived from the latest revision."""

    store = models.ForeignKey(Store, models.PROTECT, related_name="proposals")
    agent = models.ForeignKey(Agent, models.PROTECT, null=True, related_name="proposals")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="proposals")
    state = models.CharField(max_length=20, default=State.PENDING)
    version = models.PositiveIntegerField(default=1)  # every transition adds one; forms carry it
    created_at = models.DateTimeField(default=timezone.now)
    updated_at = models.DateTimeField(default=timezone.now)

    fingerprint = models.CharField(max_length=64)  # SHA-256 of the store and what changes
    repeats = models.PositiveIntegerField(default=0)
    claimed_title = models.CharField(max_length=300, default="")
    claimed_kind = models.CharField(max_length=80, default="")
    rationale = models.TextField(default="")
    source = models.JSONField(default=dict)
    scores = models.JSONField(default=dict)
    confidence = models.FloatField(null=True)
    rejected_before = models.ForeignKey("self", models.PROTECT, null=True, related_name="+")
    failure = models.TextField(default="")
    masked = models.BooleanField(default=False)  # a secret was masked in what is held; it cannot be approved

    promoted_from = models.ForeignKey(Store, models.PROTECT, null=True, related_name="promotions")
    promoted_path = models.TextField(default="")
    promoted_commit = models.CharField(max_length=40, default="")

    title = models.CharField(max_length=300, default="")
    kinds = models.JSONField(default=list)
    paths = models.JSONField(default=list)
    risk = models.PositiveSmallIntegerField(default=0)  # queue order, highest first
    added = models.PositiveIntegerField(default=0)  # lines
    removed = models.PositiveIntegerField(default=0)  # lines
    deletes = models.BooleanField(default=False)  # text goes: approving asks twice

    objects = ProposalQuerySet.as_manager()

    class Meta:
        constraints = [_one_of("state", State, "proposal_state")]
        indexes = [
            models.Index(
                fields=["-risk", "-id"],
                condition=Q(state__in=[str(state) for state in OPEN_STATES]),
                name="proposal_queue",
            ),
            models.Index(fields=["store", "fingerprint"], name="proposal_fingerprint"),
            models.Index(fields=["state", "updated_at"], name="proposal_state_updated"),
            models.Index(fields=["agent", "state"], name="proposal_by_agent"),
            models.Index(fields=["store", "state"], name="proposal_by_store"),
        ]

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
        """The latest revision."""
        revision = self.revisions.order_by("-number").first()
        assert revision is not None, "a proposal is stored together with its first revision"  # noqa: S101
        return revision

    @property
    def written(self) -> Revision:
        """The latest revision by an agent, apart from what a person made of it."""
        return self.revisions.filter(agent__isnull=False).order_by("-number").first() or self.revision


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
    at = models.DateTimeField(default=timezone.now)
    previous = models.CharField(max_length=64, unique=True)
    mac = models.CharField(max_length=64, unique=True)

    class Meta:
        constraints = [_one_of("verb", Verb, "decision_verb")]


class Change(models.Model):
    """An applied commit. Derived from git and decisions, kept for pages; `certificate` proves a safe change.

    `unread`: it landed by a decision `passive`, and nobody kept it (`read`) or rolled it back since.
    """

    oid = models.CharField(max_length=40)
    parent = models.CharField(max_length=40, default="")
    store = models.ForeignKey(Store, models.PROTECT, related_name="changes")
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
            _one_of("kind", ChangeKind, "change_kind"),
        ]
        indexes = [
            models.Index(fields=["store", "-id"], name="change_by_store"),
            models.Index(fields=["store", "kind", "-id"], name="change_by_kind"),
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
        constraints = [_one_of("state", ErasureState, "erasure_state")]


class MovedCommit(models.Model):
    """Where a commit stands since an erasure: `digest` is the keyed digest of the id that it had before."""

    store = models.ForeignKey(Store, models.CASCADE, related_name="+")
    digest = models.CharField(max_length=64)
    oid = models.CharField(max_length=40)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["store", "digest"], name="moved_commit_once")]


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


class Backup(models.Model):
    """A file that `backup` made, so that erasing can say where old text may still stand. The file may be gone."""

    path = models.TextField()
    sha256 = models.CharField(max_length=64)
    size_bytes = models.PositiveBigIntegerField()
    made_at = models.DateTimeField(default=timezone.now)


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
