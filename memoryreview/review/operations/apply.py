"""The one write path: a commit in the baseline and bytes on disk, journalled; a kill at any step loses nothing.

Order: objects durable -> intent rows -> compare-and-swap of the ref -> files -> rows. Every step can be
repeated; `reconcile` finishes or undoes by the journal. Several commits can share one barrier."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone

from memoryreview.baseline import commits, steps
from memoryreview.baseline.lock import LockBusyError
from memoryreview.baseline.message import compose
from memoryreview.baseline.repository import BaselineError, Snapshot
from memoryreview.baseline.worktree import StagedWrites, Worktree, WorktreeError
from memoryreview.core import scan
from memoryreview.core.classify import rename
from memoryreview.core.classify.questions import questions
from memoryreview.core.classify.verify import verify
from memoryreview.core.model import Context, Delta, Finding, Kind, Proof, Scope, Severity, Tree
from memoryreview.core.overlay import Overlay
from memoryreview.review.models import (
    Agent,
    Change,
    ChangeKind,
    Decision,
    Intent,
    Proposal,
    State,
    Store,
    Verb,
)

from .certificate import certificate
from .context import Told, context_of, without_history
from .disk import disk_plan
from .errors import BranchHeldError, CannotApplyError, SecretDetectedError
from .record import complete
from .standing import origin
from .stores import Workshop


@dataclass(frozen=True, slots=True)
class Landing:
    """What one commit does and what is recorded with it.

    Args:
        delta: against the present head; in a burst, against the tree after the landings before.
        after: state of the proposal once it landed, None without a proposal.
        lands: kinds of those actions of the proposal that this commit carries, in the documents of the delta.
        proof: certificate of a safe change; verified again here.
        overridden: a person released what a scanner had blocked.
        scanned: the scanners of today saw this text in these documents already, and stopped nothing.
        standing: bytes of a direct write that this proposal holds and that may stand on disk already.
        whole: the commit carries the whole proposal, so a standing write may be replaced by it.
        told: what the history said when the certificate was made.
        partial: {"actions", "dropped", "fingerprint"}: what the proposal says where a person left out a part of it.
    """

    kind: ChangeKind
    delta: Delta
    title: str
    body: str = ""
    proposal: Proposal | None = None
    decision: Decision | None = None
    agent: Agent | None = None
    person: User | None = None
    proof: Proof | None = None
    after: State | None = None
    rolls_back: tuple[int, ...] = ()
    overridden: bool = False
    scanned: bool = False
    standing: Mapping[str, bytes | None] = field(default_factory=dict)
    whole: bool = True
    source: str = ""
    lands: frozenset[Kind] = frozenset()
    told: Told | None = None
    partial: Mapping[str, Any] = field(default_factory=dict)


def land(shop: Workshop, landing: Landing) -> Change:
    """Commit and write to disk, under the store's lock. Effects in order:

    1. Check: scanners on what is new, `verify` on the certificate, write permission for every file on disk.
    2. Store the objects (durable) and the intent row.
    3. Move the ref by compare-and-swap.
    4. Write the files; a document with a newer write on disk is merged or left and listed as differing.
    5. Record the change, the proposal's state and its new base in one transaction.

    Raises: CannotApplyError, SecretDetectedError; nothing is changed then. After step 3 the commit stands.
    """
    with burst(shop) as together:
        together.add(landing)
        return together.land()[0]


@contextmanager
def burst(shop: Workshop) -> Iterator[Burst]:
    """Begin a group of landings, under the store's lock. Leaving it forgets what was added and not landed.

    Raises: CannotApplyError.
    """
    try:
        worktree = shop.worktree()
        with commits.Batch(shop.repository) as batch, worktree.staged() as files:
            yield Burst(shop, worktree, batch, files)
    except LockBusyError as error:
        raise BranchHeldError(str(error)) from error
    except (WorktreeError, BaselineError) as error:
        raise CannotApplyError(str(error)) from error


class Burst:
    """Landings that share one barrier: each is a commit of its own on the tree after the ones before.

    All that was added lands by one move of the ref, or nothing of it does.
    """

    def __init__(self, shop: Workshop, worktree: Worktree, batch: commits.Batch, files: StagedWrites) -> None:
        self.tree = shop.tree()
        self._shop, self._worktree, self._batch, self._files = shop, worktree, batch, files
        self._head = self.tree.oid
        self._disk: dict[str, tuple[bytes | None, bytes | None]] = {}  # what stands there, what will
        self._intents: list[Intent] = []
        self._differing: set[str] = set()
        self._changes: list[Change] = []

    def add(self, landing: Landing) -> None:
        """Check one more change against `tree`, and prepare its commit and its files. `tree` moves on.

        Raises: CannotApplyError, SecretDetectedError; what was added before can land all the same.
        """
        if self._intents and landing.proof is not None and self._asks_history(landing):
            self.land()  # the past of a commit is known once it is recorded
        try:
            context = _check(self._shop.store, self.tree, landing)
            plan = disk_plan(self._read, self.tree, landing.delta, standing=landing.standing, whole=landing.whole)
            writes = [(path, self._disk.get(path, (disk,))[0], new) for path, disk, new in plan.writes]
            self._files.add(writes)
            intent = _intent(self._shop.store, self._batch, self.tree, landing, context)
        except (WorktreeError, BaselineError) as error:
            raise CannotApplyError(str(error)) from error
        self._disk |= {path: (disk, new) for path, disk, new in writes}
        self._differing = {*self._differing.difference(landing.delta), *plan.differing}
        self._intents.append(intent)
        self.tree = self._shop.repository.snapshot(intent.oid)

    def _asks_history(self, landing: Landing) -> bool:
        return bool(questions(self.tree, landing.delta, without_history(self._shop.store)))

    def _read(self, path: str) -> bytes | None:
        return self._disk[path][1] if path in self._disk else self._worktree.read(path)

    def land(self) -> tuple[Change, ...]:
        """Land what was added, and return every change of this group in order. Effects as in `land`.

        Raises: CannotApplyError; nothing that was added since the last time is changed then.
        """
        intents, self._intents = self._intents, []
        if not intents:
            return tuple(self._changes)
        self._files.sync()
        self._batch.store()
        Intent.objects.bulk_create(intents)
        steps.on_step("intent.recorded")
        if not commits.advance(self._shop.repository, expected=self._head, new=intents[-1].oid):
            Intent.objects.filter(pk__in=[intent.pk for intent in intents]).delete()
            raise CannotApplyError("The baseline moved under this change. Nothing was changed; try again.")
        unwritten = self._files.replace()
        steps.on_step("documents.written")
        self._changes += complete(intents, {*self._differing, *unwritten})
        self._head, self._disk, self._differing = intents[-1].oid, {}, set()
        return tuple(self._changes)


def stands(shop: Workshop) -> bool:
    """Whether the commit that was begun became the head although landing it ended in an error: `reconcile` goes on."""
    return Intent.objects.filter(store=shop.store, oid=shop.head()).exists()


def finish(shop: Workshop, intent: Intent) -> None:
    """Carry on after a kill: the ref moved, files and rows may not have. Harmless when they have."""
    before = shop.repository.snapshot(intent.expected)
    after = shop.repository.snapshot(intent.oid)
    standing, whole = standing_write(intent.proposal), intent.landing["whole"]
    worktree = shop.worktree()
    differing: set[str] = set()
    for path in intent.landing["paths"]:
        try:
            plan = disk_plan(worktree.read, before, {path: after.get(path)}, standing=standing, whole=whole)
            is_written = all(worktree.replace(name, expected=disk, new=new) for name, disk, new in plan.writes)
        except WorktreeError:
            is_written = False
        if not is_written or plan.differing:
            differing.add(path)
    complete([intent], differing)


def blocking(before: Tree, delta: Delta, store: Store) -> list[Finding]:
    """Return what the scanners would block in the new text of a delta."""
    found: list[Finding] = []
    for path, new in delta.items():
        if new is None:
            continue
        old_text = (before.get(path) or b"").decode("utf-8", "replace")
        findings = scan.new_findings(old_text, new.decode("utf-8", "replace"), path=path, scope=Scope(store.scope))
        found += [finding for finding in findings if finding.severity is Severity.BLOCK]
    return found


def _check(store: Store, tree: Snapshot, landing: Landing) -> Context | None:
    """Scan, and verify the certificate by what holds now. Returns what the proof depended on, None without a proof."""
    found = [] if landing.scanned else blocking(tree, landing.delta, store)
    secrets = [finding for finding in found if finding.is_blocked_secret]
    if secrets:
        raise SecretDetectedError(secrets)
    if found and not landing.overridden:
        raise CannotApplyError(f"A scan at apply time stops this: {found[0].message} Nothing was changed.")
    if landing.proof is None:
        return None
    proposal = landing.proposal
    context = context_of(
        store,
        tree,
        landing.delta,
        promoted_from=origin(proposal) if proposal else "",
        source=proposal.source if proposal else None,
        told=landing.told,
    )
    if not verify(tree, Overlay(tree, landing.delta), landing.proof, context):
        raise CannotApplyError("The proof does not hold against what is approved now. Nothing was changed.")
    return context


def _intent(store: Store, batch: commits.Batch, tree: Snapshot, landing: Landing, context: Context | None) -> Intent:
    """Make the commit in its batch, and return its row of the journal, not yet stored."""
    proved = certificate(landing.proof, tree, landing.delta, context) if landing.proof and context else None
    oid = batch.commit(
        parent=tree.oid,
        delta=landing.delta,
        subject=landing.title,
        body=landing.body,
        trailers=_trailers(landing, proved),
        at=timezone.now(),
    )
    record = {
        "title": landing.title[:300],
        "paths": sorted(landing.delta),
        "renames": rename.find(landing.delta, tree),
        "certificate": proved,
        "agent": landing.agent.pk if landing.agent else None,
        "person": landing.person.pk if landing.person else None,
        "after": landing.after,
        "rolls_back": list(landing.rolls_back),
        "whole": landing.whole,
        "lands": sorted(landing.lands),
        "partial": dict(landing.partial),
    }
    return Intent(
        store=store,
        expected=tree.oid,
        oid=oid,
        proposal=landing.proposal,
        decision=landing.decision,
        kind=landing.kind,
        landing=record,
    )


def commit_message(landing: Landing) -> str:
    """Return the message of a commit, without the trailers that are known only when it is made."""
    return compose(landing.title, landing.body, _trailers(landing, None))


def _trailers(landing: Landing, proved: dict[str, Any] | None) -> dict[str, str]:
    stated = {
        "Change-Kind": str(landing.kind),
        "Proposal-Id": str(landing.proposal.pk) if landing.proposal else "",
        "Decision-Id": str(landing.decision.pk) if landing.decision else "",
        "Agent": landing.agent.name if landing.agent else "",
        "Person": landing.person.get_username() if landing.person else "",
        "Verdict": _verdict(landing),
        "Proof": proved["digest"] if proved else "",
        "Source": landing.source,
    }
    return {token: value for token, value in stated.items() if value}


def _verdict(landing: Landing) -> str:
    if landing.proof:
        return "safe"
    if landing.person:
        return "reviewed"
    return "unread" if landing.decision is not None and landing.decision.verb == Verb.PASSIVE else "recorded"


def standing_write(proposal: Proposal | None) -> dict[str, bytes | None]:
    """Return the bytes that a direct write left on disk; {} for a proposal that came through a door.

    A person's later wording of it is another revision and does not stand on disk.
    """
    return proposal.written.delta() if proposal is not None and proposal.is_direct else {}
