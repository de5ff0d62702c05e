"""The history of one store as git tells it against what is recorded of it, commit by commit."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from memoryreview.baseline.errors import BaselineError
from memoryreview.baseline.message import trailers
from memoryreview.baseline.repository import Repository, Snapshot
from memoryreview.baseline.walk import Walked, walk
from memoryreview.core.classify.split import apply_proof
from memoryreview.core.classify.verify import verify
from memoryreview.core.model import Delta, FormatName
from memoryreview.core.overlay import Overlay
from memoryreview.review.models import Change, ChangedPath, ChangeKind, Decision, Erasure, Store, Verb

from .certificate import UNREADABLE, Certified, digest, is_erased, read, sha256
from .context import with_history
from .erase_rows import withdrawn_digest
from .fault import Fault
from .stores import baseline_dir

_DECIDED = (ChangeKind.APPROVED, ChangeKind.PROMOTE, ChangeKind.ROLLBACK, ChangeKind.RESTORE, ChangeKind.ERASE)
_DECISION_TRAILER = re.compile(r"^Decision-Id: (\d+)$", re.MULTILINE)
_READ_AT_ONCE = 500
"""Changes whose documents are read through one repository: it keeps every tree that it has read."""


def history_faults(store: Store, head: str, last: int) -> Iterator[Fault]:
    """Yield what is wrong with the history up to `head`, and with the changes recorded up to the row `last`."""
    slug = store.slug
    rows = Change.objects.filter(store=store, pk__lte=last).select_related("decision").defer("certificate")
    record = _Record({change.oid: change for change in rows}, _recorded_paths(store, last))
    seen: dict[str, str] = {}
    try:
        with Repository(baseline_dir(store)) as repository:
            for commit in walk(repository, head):
                seen[commit.oid] = trailers(commit.message).get("Proof", "")
                yield from record.faults(slug, commit)
    except BaselineError as error:
        yield Fault("git", slug, str(error))
        return
    for change in record.missing(seen, next(iter(seen), "")):
        yield Fault(
            "history",
            f"{slug} {change.oid}",
            f"The recorded change {change.oid} (“{change.title}”) is not part of the baseline's history: the baseline "
            "is older than the database, or was changed from outside. Its record stays readable; what the folder holds "
            "of it is proposed again by: memoryreview capture",
        )
    yield from _certificate_faults(store, seen, last)


def _recorded_paths(store: Store, last: int) -> Mapping[int, set[str]]:
    found: defaultdict[int, set[str]] = defaultdict(set)
    for change, path in ChangedPath.objects.filter(store=store, change__lte=last).values_list("change_id", "path"):
        found[change].add(path)
    return found


@dataclass(slots=True)
class _Record:
    """What the database says of a history. `used` are decisions that a commit has named, `newest` the last row met."""

    changes: Mapping[str, Change]
    paths: Mapping[int, set[str]]
    used: set[int] = field(default_factory=set)
    newest: int = 0

    def faults(self, slug: str, commit: Walked) -> Iterator[Fault]:
        change = self.changes.get(commit.oid)
        where = f"{slug} {commit.oid}"
        if change is None:
            yield Fault(
                "history",
                slug,
                f"Commit {commit.oid} is in the baseline, but no change is recorded for it. Record it as history with: "
                f"memoryreview verify {slug} --rebuild",
            )
            return
        if change.parent != commit.parent or change.pk < self.newest:
            yield Fault("history", where, "The record does not stand where its commit stands in the history.")
        self.newest = max(self.newest, change.pk)
        yield from _trailer_faults(where, change, trailers(commit.message))
        if not commit.paths <= set(change.paths):
            yield Fault("history", where, "The commit changes documents that the record does not name.")
        if self.paths.get(change.pk, set()) != set(change.paths):
            yield Fault(
                "derived", where, "The index of changed documents does not fit; run: memoryreview verify --rebuild"
            )
        yield from self._decision_faults(where, change, commit)

    def _decision_faults(self, where: str, change: Change, commit: Walked) -> Iterator[Fault]:
        """Each change that a person decided names its own decision, in git and in the database alike."""
        decision = change.decision
        if change.kind not in _DECIDED or is_import(change, decision):
            return
        named = _DECISION_TRAILER.findall(commit.message)
        if decision is None or named != [str(decision.pk)] or decision.pk in self.used:
            yield Fault("decision", where, "The commit and the record do not name one decision of their own.")
        elif decision.proposal_id != change.proposal_id and decision.change == "":
            yield Fault("decision", where, "The decision is about another proposal.")
        if decision is not None:
            self.used.add(decision.pk)

    def missing(self, seen: Mapping[str, str], root: str) -> Sequence[Change]:
        """Return the changes that git should know. Those of before a baseline that began anew, as its first commit and
        a decision of its own say, are records only."""
        began = self.changes.get(root)
        decision = began.decision if began is not None and began.kind == ChangeKind.ADOPT else None
        is_told = began is not None and decision is not None and (decision.verb, decision.change) == (Verb.ADOPT, root)
        since = began.pk if began is not None and is_told else 0
        return [change for oid, change in self.changes.items() if oid not in seen and change.pk > since]


def is_import(change: Change, decision: Decision | None) -> bool:
    """Whether a change was recorded anew from git alone, after its own record was lost."""
    return decision is not None and decision.verb == Verb.IMPORT and decision.change == change.oid


def _trailer_faults(where: str, change: Change, stated: Mapping[str, str]) -> Iterator[Fault]:
    kind = stated.get("Change-Kind", "")
    if kind != change.kind and not (kind == "" and is_import(change, change.decision)):
        yield Fault("history", where, f"The record says “{change.kind}”, its commit says “{kind or 'nothing'}”.")
    proposal = str(change.proposal_id or "")
    if stated.get("Proposal-Id", "") != proposal and not is_import(change, change.decision):
        yield Fault("history", where, "The commit and the record do not name the same proposal.")


def _certificate_faults(store: Store, seen: Mapping[str, str], last: int) -> Iterator[Fault]:
    """Replay every certificate, and miss those that are gone. `seen` maps a commit to the proof that it names."""
    rows = Change.objects.filter(store=store, pk__lte=last).select_related("decision").order_by("pk")
    asked = [pk for pk, oid in rows.values_list("pk", "oid") if oid in seen]
    for start in range(0, len(asked), _READ_AT_ONCE):
        chunk = rows.filter(pk__in=asked[start : start + _READ_AT_ONCE])
        with Repository(baseline_dir(store)) as repository:
            for change in chunk:
                if change.certificate is None:
                    yield from _lost_certificate(store, change, seen[change.oid])
                else:
                    yield from _replayed(store, repository, change, seen[change.oid])


def unproved(store: Store, oids: Collection[str]) -> list[Change]:
    """Return which of these commits have a certificate that does not hold."""
    certified = Change.objects.filter(store=store, certificate__isnull=False).order_by("pk")
    asked = [pk for pk, oid in certified.values_list("pk", "oid") if oid in oids]
    found: list[Change] = []
    for start in range(0, len(asked), _READ_AT_ONCE):
        with Repository(baseline_dir(store)) as repository:
            for change in certified.filter(pk__in=asked[start : start + _READ_AT_ONCE]):
                named = trailers(repository.message(change.oid)).get("Proof", "")
                if any(_replayed(store, repository, change, named)):
                    found.append(change)
    return found


def _replayed(store: Store, repository: Repository, change: Change, named: str) -> Iterator[Fault]:
    where = f"{store.slug} {change.oid}"
    stated = change.certificate or {}
    if is_erased(stated):
        yield from _withdrawn_faults(store, change, named)
        return
    try:
        certified = read(stated, FormatName(store.format))
        base, after = repository.snapshot(change.parent), repository.snapshot(change.oid)
        delta = {path: after.get(path) for path in change.paths}
        hashes = {path: sha256(base.get(path)) for path in delta}, {path: sha256(new) for path, new in delta.items()}
    except (*UNREADABLE, BaselineError):
        yield Fault("certificate", where, "The certificate cannot be read, or its commits are gone.")
        return
    if not stated.get("digest") == named == digest(stated):
        yield Fault("certificate", where, "The certificate is not the one that its commit names.")
    elif hashes != (certified.base, certified.result):
        yield Fault("certificate", where, "The documents in git are not those that the certificate names.")
    elif not _holds(store, base, delta, certified):
        yield Fault("certificate", where, f"The proof of {certified.proof.rule} does not hold.")


def _withdrawn_faults(store: Store, change: Change, named: str) -> Iterator[Fault]:
    """A certificate may be gone only where a later erasure names it: the list is a part of that keyed decision."""
    where = f"{store.slug} {change.oid}"
    stated = change.certificate or {}
    erasure = Erasure.objects.filter(store=store, decision=stated["erased"]).select_related("decision").first()
    decision = erasure.decision if erasure is not None else None
    if erasure is None or decision is None or decision.verb != Verb.ERASE or change.pk not in erasure.withdrawn:
        yield Fault("certificate", where, "The certificate is gone, and no erasure says that it withdrew it.")
    elif decision.shown != withdrawn_digest(erasure.withdrawn):
        yield Fault("certificate", where, "What the erasure withdrew is not what its decision names.")
    elif named != stated.get("digest"):
        yield Fault("certificate", where, "The certificate is not the one that its commit names.")


def _lost_certificate(store: Store, change: Change, named: str) -> Iterator[Fault]:
    where = f"{store.slug} {change.oid}"
    if is_import(change, change.decision):
        return
    if named:
        yield Fault("certificate", where, "The certificate that its commit names is gone.")
    elif change.kind == ChangeKind.AUTO and (change.decision is None or change.decision.verb != Verb.PASSIVE):
        yield Fault("certificate", where, "Nothing proves this change, and nobody let it land unread.")


def _holds(store: Store, base: Snapshot, delta: Delta, certified: Certified) -> bool:
    """Whether the proof holds as it did then: at the time it names, with what the baseline says up to its parent."""
    try:
        replayed = apply_proof(base, certified.proof)
    except ValueError:
        return False
    context = with_history(certified.context, store, base, delta)
    return dict(replayed) == delta and verify(base, Overlay(base, delta), certified.proof, context)
