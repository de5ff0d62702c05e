"""The one write path: a commit in the baseline and bytes on disk, journalled; a kill at any step loses nothing.

Order: objects durable -> intent row -> compare-and-swap of the ref -> files -> rows. Every step can be
repeated; `reconcile` finishes or undoes by the journal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from memoryreview.baseline import commits, steps
from memoryreview.baseline.message import compose
from memoryreview.baseline.repository import BaselineError, Snapshot
from memoryreview.baseline.worktree import Worktree, WorktreeError
from memoryreview.core import scan
from memoryreview.core.classify import rename
from memoryreview.core.classify.verify import verify
from memoryreview.core.merge import Merged, merge3
from memoryreview.core.model import Context, Delta, Finding, Proof, Scope, Severity, Tree
from memoryreview.core.overlay import Overlay
from memoryreview.review.models import (
    Agent,
    Change,
    ChangedPath,
    ChangeKind,
    Decision,
    Intent,
    Proposal,
    RenamedPath,
    Revision,
    State,
    Store,
    Verb,
)

from . import undone
from .certificate import certificate
from .context import context_of
from .errors import CannotApplyError, SecretDetectedError
from .standing import origin
from .stores import Workshop


@dataclass(frozen=True, slots=True)
class Landing:
    """What one commit does and what is recorded with it.

    Args:
        delta: against the present head.
        after: state of the proposal once it landed, None without a proposal.
        proof: certificate of a safe change; verified again here.
        overridden: a person released what a scanner had blocked.
        standing: bytes of a direct write that this proposal holds and that may stand on disk already.
        whole: the commit carries the whole proposal, so a standing write may be replaced by it.
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
    standing: Mapping[str, bytes | None] = field(default_factory=dict)
    whole: bool = True
    source: str = ""


def land(shop: Workshop, landing: Landing) -> Change:
    """Commit and write to disk, under the store's lock. Effects in order:

    1. Check: scanners on what is new, `verify` on the certificate, write permission for every file on disk.
    2. Store the objects (durable) and the intent row.
    3. Move the ref by compare-and-swap.
    4. Write the files; a document with a newer write on disk is merged or left and listed as differing.
    5. Record the change, the proposal's state and its new base in one transaction.

    Raises: CannotApplyError, SecretDetectedError; nothing is changed then. After step 3 the commit stands.
    """
    head = shop.head()
    tree = shop.repository.snapshot(head)
    context = _check(shop.store, tree, landing)
    try:
        worktree = shop.worktree()
        plan = _disk_plan(worktree, tree, landing)
        with worktree.staged(plan.writes) as files:
            intent = _journal(shop, tree, landing, context)
            steps.on_step("intent.recorded")
            if not commits.advance(shop.repository, expected=head, new=intent.oid):
                intent.delete()
                raise CannotApplyError("The baseline moved under this change. Nothing was changed; try again.")
            unwritten = files.replace()
            steps.on_step("documents.written")
    except (WorktreeError, BaselineError) as error:
        raise CannotApplyError(str(error)) from error
    return complete(intent, {*plan.differing, *unwritten})


def finish(shop: Workshop, intent: Intent) -> Change:
    """Carry on after a kill: the ref moved, files and rows may not have. Harmless when they have."""
    before = shop.repository.snapshot(intent.expected)
    after = shop.repository.snapshot(intent.oid)
    delta = {path: after.get(path) for path in intent.landing["paths"]}
    landing = Landing(
        kind=ChangeKind(intent.kind),
        delta=delta,
        title=intent.landing["title"],
        standing=standing_write(intent.proposal),
        whole=intent.landing["whole"],
    )
    worktree = shop.worktree()
    differing = {path for path in landing.delta if not _finish_file(worktree, before, landing, path)}
    return complete(intent, differing)


def _finish_file(worktree: Worktree, before: Tree, landing: Landing, path: str) -> bool:
    """Write one file of a commit that stands already; False when the disk keeps something else."""
    try:
        plan = _disk_plan(worktree, before, replace(landing, delta={path: landing.delta[path]}))
        return not plan.differing and all(
            worktree.replace(name, expected=expected, new=new) for name, expected, new in plan.writes
        )
    except WorktreeError:
        return False


def complete(intent: Intent, differing: Iterable[str]) -> Change:
    """Record the change and everything that follows from it, once: the intent row is the ticket."""
    record = intent.landing
    with transaction.atomic():
        if not Intent.objects.filter(pk=intent.pk).delete()[0]:
            return Change.objects.get(store=intent.store, oid=intent.oid)
        change = Change.objects.create(
            oid=intent.oid,
            parent=intent.expected,
            store=intent.store,
            kind=intent.kind,
            proposal=intent.proposal,
            decision=intent.decision,
            agent_id=record["agent"],
            person_id=record["person"],
            title=record["title"],
            paths=record["paths"],
            certificate=record["certificate"],
            unread=intent.decision is not None and intent.decision.verb == Verb.PASSIVE and not record["certificate"],
            at=timezone.now(),
        )
        ChangedPath.objects.bulk_create(
            ChangedPath(change=change, store=intent.store, path=path) for path in record["paths"]
        )
        RenamedPath.objects.bulk_create(
            RenamedPath(change=change, store=intent.store, path=new, was=old)
            for old, new in record.get("renames", {}).items()
        )
        change.rolls_back.set(record["rolls_back"])
        undone.follow(record["rolls_back"])
        if intent.proposal is not None:
            _advance_proposal(intent.proposal, intent.oid, State(record["after"]))
        note_differing(intent.store, record["paths"], differing)
    steps.on_step("change.recorded")
    return change


def _advance_proposal(proposal: Proposal, oid: str, after: State) -> None:
    latest = proposal.revision
    Revision.objects.filter(pk=latest.pk).update(base=oid)
    proposal.refresh_from_db(fields=["version"])
    proposal.state, proposal.version, proposal.failure = after, proposal.version + 1, ""
    proposal.updated_at = timezone.now()
    proposal.save(update_fields=["state", "version", "failure", "updated_at"])


def note_differing(store: Store, paths: Iterable[str], differing: Iterable[str]) -> None:
    fresh = Store.objects.only("differing").get(pk=store.pk)
    kept = [path for path in fresh.differing if path not in set(paths)]
    store.differing = sorted({*kept, *differing})
    Store.objects.filter(pk=store.pk).update(differing=store.differing)


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
    found = blocking(tree, landing.delta, store)
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
    )
    if not verify(tree, Overlay(tree, landing.delta), landing.proof, context):
        raise CannotApplyError("The proof does not hold against what is approved now. Nothing was changed.")
    return context


@dataclass(frozen=True, slots=True)
class DiskPlan:
    """What to write: (path, bytes expected on disk, new bytes); and the documents whose disk text cannot be merged."""

    writes: tuple[tuple[str, bytes | None, bytes | None], ...]
    differing: tuple[str, ...]


def _disk_plan(worktree: Worktree, before: Tree, landing: Landing) -> DiskPlan:
    writes: list[tuple[str, bytes | None, bytes | None]] = []
    differing: list[str] = []
    for path, new in landing.delta.items():
        disk = worktree.read(path)
        if disk == new:
            continue
        if path in landing.standing and disk == landing.standing[path]:
            if landing.whole:
                writes.append((path, disk, new))
            continue
        merged = merge3(before.get(path), disk, new)
        if not isinstance(merged, Merged):
            differing.append(path)
        elif merged.data != disk:
            writes.append((path, disk, merged.data))
    return DiskPlan(tuple(writes), tuple(differing))


def _journal(shop: Workshop, tree: Snapshot, landing: Landing, context: Context | None) -> Intent:
    proved = certificate(landing.proof, tree, landing.delta, context) if landing.proof and context else None
    oid = commits.write_commit(
        shop.repository,
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
    }
    return Intent.objects.create(
        store=shop.store,
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
