"""Replay what can be checked: certificates, decisions, git, the database against git, disk against head."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from memoryreview.baseline.history import fsck, log
from memoryreview.baseline.message import trailers
from memoryreview.baseline.repository import BaselineError, Snapshot
from memoryreview.baseline.worktree import WorktreeError
from memoryreview.core.classify.split import apply_proof
from memoryreview.core.classify.verify import verify
from memoryreview.core.errors import MemoryReviewError
from memoryreview.core.model import Delta, FormatName
from memoryreview.core.overlay import Overlay
from memoryreview.review.models import Change, ChangeKind, Intent, Proposal, State, Store, Verb

from . import ledger
from .certificate import UNREADABLE, Certified, digest, read, sha256
from .context import with_history
from .stores import Workshop, baseline_dir, locked

_DECIDED = (ChangeKind.APPROVED, ChangeKind.PROMOTE, ChangeKind.ROLLBACK, ChangeKind.RESTORE)
_DECISION_TRAILER = re.compile(r"^Decision-Id: (\d+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Fault:
    kind: str
    where: str
    message: str


def audit(store: Store | None = None) -> list[Fault]:
    """Return every fault found in one store, or in all and in the chain of decisions. Changes nothing."""
    faults = [Fault("decision", str(pk), f"Decision {pk}: {sentence}.") for pk, sentence in ledger.broken_links()]
    for one in [store] if store is not None else Store.objects.order_by("pk"):
        try:
            with locked(one) as shop:
                faults += _store_faults(shop)
        except MemoryReviewError as error:
            faults.append(Fault("baseline", one.slug, str(error)))
    return faults


def _store_faults(shop: Workshop) -> Iterator[Fault]:
    slug = shop.store.slug
    for complaint in fsck(baseline_dir(shop.store)):
        yield Fault("git", slug, complaint)
    yield from _history_faults(shop)
    for intent in Intent.objects.filter(store=shop.store):
        yield Fault("intent", slug, f"Commit {intent.oid} was begun and neither finished nor taken back.")
    for proposal in Proposal.objects.filter(store=shop.store, state=State.APPLYING):
        yield Fault("proposal", str(proposal.pk), "The proposal was left while it was being applied.")
    for change in Change.objects.filter(store=shop.store, certificate__isnull=False).order_by("pk"):
        yield from _certificate_faults(shop, change)
    for change in (
        Change.objects.filter(store=shop.store, certificate__isnull=True).select_related("decision").order_by("pk")
    ):
        yield from _lost_certificate(shop, change)
    yield from _disk_faults(shop)


def _history_faults(shop: Workshop) -> Iterator[Fault]:
    slug = shop.store.slug
    known = set(Change.objects.filter(store=shop.store).values_list("oid", flat=True))
    seen: set[str] = set()
    try:
        for commit in log(shop.repository):
            seen.add(commit.oid)
            if commit.oid not in known:
                yield Fault(
                    "history", slug, f"Commit {commit.oid} is in the baseline, but no change is recorded for it."
                )
    except BaselineError as error:
        yield Fault("git", slug, str(error))
        return
    for oid in sorted(known - seen):
        yield Fault("history", slug, f"The recorded change {oid} is not part of the baseline's history.")
    yield from _decision_faults(shop, seen)


def _decision_faults(shop: Workshop, seen: set[str]) -> Iterator[Fault]:
    """Each change that a person decided names its own decision, in git and in the database alike."""
    used: set[int] = set()
    decided = Change.objects.filter(store=shop.store, oid__in=seen, kind__in=_DECIDED).select_related("decision")
    for change in decided.order_by("pk"):
        where, decision = f"{shop.store.slug} {change.oid}", change.decision
        named = _DECISION_TRAILER.findall(shop.repository.message(change.oid))
        if decision is None or named != [str(decision.pk)] or decision.pk in used:
            yield Fault("decision", where, "The commit and the record do not name one decision of their own.")
        elif decision.proposal_id != change.proposal_id and decision.change == "":
            yield Fault("decision", where, "The decision is about another proposal.")
        if decision is not None:
            used.add(decision.pk)


def _certificate_faults(shop: Workshop, change: Change) -> Iterator[Fault]:
    where = f"{shop.store.slug} {change.oid}"
    stated = change.certificate or {}
    try:
        certified = read(stated, FormatName(shop.store.format))
        base, after = shop.repository.snapshot(change.parent), shop.repository.snapshot(change.oid)
        delta = {path: after.get(path) for path in change.paths}
        named = trailers(shop.repository.message(change.oid)).get("Proof")
        hashes = {path: sha256(base.get(path)) for path in delta}, {path: sha256(new) for path, new in delta.items()}
    except (*UNREADABLE, BaselineError):
        yield Fault("certificate", where, "The certificate cannot be read, or its commits are gone.")
        return
    if not stated.get("digest") == named == digest(stated):
        yield Fault("certificate", where, "The certificate is not the one that its commit names.")
    elif hashes != (certified.base, certified.result):
        yield Fault("certificate", where, "The documents in git are not those that the certificate names.")
    elif not _replays(shop.store, base, delta, certified):
        yield Fault("certificate", where, f"The proof of {certified.proof.rule} does not hold.")


def _lost_certificate(shop: Workshop, change: Change) -> Iterator[Fault]:
    try:
        named = trailers(shop.repository.message(change.oid)).get("Proof")
    except BaselineError:
        return  # told by git's own check
    where = f"{shop.store.slug} {change.oid}"
    if named:
        yield Fault("certificate", where, "The certificate that its commit names is gone.")
    elif change.kind == ChangeKind.AUTO and (change.decision is None or change.decision.verb != Verb.PASSIVE):
        yield Fault("certificate", where, "Nothing proves this change, and nobody let it land unread.")


def _replays(store: Store, base: Snapshot, delta: Delta, certified: Certified) -> bool:
    """Whether the proof holds as it did then: at the time it names, with what the baseline says up to its parent."""
    try:
        replayed = apply_proof(base, certified.proof)
    except ValueError:
        return False
    context = with_history(certified.context, store, base, delta)
    return dict(replayed) == delta and verify(base, Overlay(base, delta), certified.proof, context)


def _disk_faults(shop: Workshop) -> Iterator[Fault]:
    """A document may differ from the head only while a direct write to it waits, or where a merge was impossible."""
    if shop.store.alarm:
        yield Fault("folder", shop.store.slug, shop.store.alarm)
        return
    tree = shop.tree()
    try:
        listing = shop.worktree().scan()
    except WorktreeError as error:
        yield Fault("folder", shop.store.slug, str(error))
        return
    direct = Proposal.objects.filter(store=shop.store).direct().waiting()
    excused = {path for proposal in direct for path in proposal.paths} | set(shop.store.differing)
    for path in sorted({*tree, *listing.documents}):
        if tree.get(path) != listing.documents.get(path) and path not in excused and not listing.is_unknown(path):
            yield Fault(
                "disk",
                f"{shop.store.slug} {path}",
                "The file differs from what is approved and no proposal holds the difference; run: "
                "memoryreview capture",
            )
