"""What must hold after any fault, in one place: an empty list means that it does.

`audit` checks git (fsck), journal, the chain of decisions, rows against commits, certificates, disk against head.
Here is what only a witness of the time before can know: nothing was lost, nothing went backwards, nothing is left over.
"""

from __future__ import annotations

import os
import re
import stat
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.db import connection

from memoryreview.baseline.repository import Repository
from memoryreview.baseline.scan import is_document_name
from memoryreview.review.models import Change, ChangeKind, Proposal, RevisionDocument, State, Store, Verb
from memoryreview.review.operations.audit import audit
from memoryreview.review.operations.keyed import keyed_digest
from memoryreview.review.operations.stores import baseline_dir, reading

_LEFT_OVER = re.compile(r".*\.lock|\.mr-.*|mr-ref-.*|tmp_.*|idx\..*")
_OUR_LOCK = re.compile(r"memoryreview\..*lock")  # held by the kernel, not by being there
_UNASKED = (Verb.AUTO_APPLY, Verb.PASSIVE)


@dataclass(frozen=True, slots=True)
class Witness:
    """What stood before.

    Args:
        heads: commit by store. documents: bytes on disk, in order of sight. modes: (mode, owner, group) by path.
        beside: bytes and mtime of every other file in the memory folders, a `.git` included.
    """

    heads: Mapping[str, str]
    documents: tuple[tuple[str, bytes], ...]
    modes: Mapping[str, tuple[int, int, int]]
    beside: Mapping[str, tuple[bytes, int]]


def witness() -> Witness:
    """Look at every store."""
    stores = list(Store.objects.order_by("pk"))
    heads, documents, modes, beside = {}, [], {}, {}
    for store in stores:
        with reading(store) as repository:
            heads[store.slug] = repository.head() or ""
        for path in _files(Path(store.root)):
            if is_document_name(path.name) and ".git" not in path.parts:
                documents.append((str(path), path.read_bytes()))
                modes[str(path)] = _mode(path)
            elif not _LEFT_OVER.fullmatch(path.name) or ".git" in path.parts:
                beside[str(path)] = path.read_bytes(), path.stat().st_mtime_ns
    return Witness(heads, tuple(documents), modes, beside)


def _files(root: Path) -> Iterator[Path]:
    return (path for path in sorted(root.rglob("*")) if path.is_file() and not path.is_symlink())


def _mode(path: Path) -> tuple[int, int, int]:
    seen = path.stat()
    return stat.S_IMODE(seen.st_mode), seen.st_uid, seen.st_gid


def _commits(repository: Repository) -> list[str]:
    """Return the commits of the branch, newest first, without a process."""
    found: list[str] = []
    here = repository.head()
    while here:
        found.append(here)
        here = next(iter(repository.commit(here).parents), None)
    return found


def broken(*before: Witness, erased: bytes = b"") -> list[str]:
    """Return a sentence for each thing that does not hold now.

    Args: before: looks taken earlier, oldest first. erased: what a person took out of the history, which is anew then.
    """
    found = [f"audit: {fault.kind} {fault.where}: {fault.message}" for fault in audit()]
    found += broken_rows()
    found += _database()
    kept = kept_texts()
    digests = set(RevisionDocument.objects.exclude(digest="").values_list("digest", flat=True))
    for seen in before:
        found += _changed_beside(seen)
        for name, content in seen.documents:
            if content not in kept and not (erased and erased in content) and keyed_digest(content) not in digests:
                found.append(f"lost: {name} as it stood with {len(content)} bytes: {content[-60:]!r}")
        if not erased:
            found += _went_back(seen)
    return found


def broken_rows() -> list[str]:
    """Return the part of it that costs little."""
    return [*_left_over(), *_twice_or_never()]


def _left_over() -> Iterator[str]:
    roots = [Path(settings.HOME) / "baselines", *(Path(store.root) for store in Store.objects.all())]
    for root in roots:
        for path in root.rglob("*"):
            if _LEFT_OVER.fullmatch(path.name) and not _OUR_LOCK.fullmatch(path.name) and ".git" not in path.parts:
                yield f"left over: {path}"


def _database() -> Iterator[str]:
    if connection.vendor != "sqlite":
        return
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA integrity_check")
        yield from (f"database: {row[0]}" for row in cursor.fetchall() if row[0] != "ok")
        cursor.execute("PRAGMA foreign_key_check")
        yield from (f"foreign key: {row}" for row in cursor.fetchall())


def _twice_or_never() -> Iterator[str]:
    """Each proposal has the state that its changes say, and each decision of a person made one change at most."""
    for proposal in Proposal.objects.order_by("pk"):
        changes = Change.objects.filter(proposal=proposal).select_related("decision")
        by_person = Counter(
            change.decision_id for change in changes if change.decision is None or change.decision.verb not in _UNASKED
        )
        if any(count > 1 for count in by_person.values()):
            yield f"proposal {proposal.pk}: one decision made several changes"
        decided = changes.filter(kind__in=[ChangeKind.APPROVED, ChangeKind.PROMOTE]).count()
        # A rollback that failed names its change and says nothing of the approval.
        own = proposal.decisions.filter(verb__in=[Verb.APPROVE, Verb.INTERRUPT, Verb.FAIL], change="")
        last = own.order_by("-pk").first()
        is_approved = last is not None and last.verb == Verb.APPROVE
        if decided != int(is_approved):
            yield f"proposal {proposal.pk}: {decided} changes, approved: {is_approved}"
        if is_approved and proposal.state not in (State.APPLIED, State.ROLLED_BACK):
            yield f"proposal {proposal.pk}: applied, and yet {proposal.state}"
        if proposal.state == State.APPLIED and not changes.exists() and not proposal.is_direct:
            yield f"proposal {proposal.pk}: applied without a change"


def _changed_beside(seen: Witness) -> Iterator[str]:
    for name, (content, mtime_ns) in seen.beside.items():
        path = Path(name)
        if not path.is_file() or path.read_bytes() != content or path.stat().st_mtime_ns != mtime_ns:
            yield f"touched: {name}"
    for name, mode in seen.modes.items():
        if Path(name).is_file() and _mode(Path(name)) != mode:
            yield f"mode of {name}: {_mode(Path(name))}, was {mode}"


def kept_texts() -> set[bytes]:
    """Return every text that is on disk, in git, or held by a proposal."""
    held = RevisionDocument.objects.exclude(content=None).values_list("content", flat=True)
    kept = {bytes(content) for content in held if content is not None}
    for store in Store.objects.order_by("pk"):
        kept |= {path.read_bytes() for path in _files(Path(store.root))}
        with Repository(baseline_dir(store)) as repository:
            for oid in _commits(repository):
                kept |= set(repository.snapshot(oid).values())
    return kept


def _went_back(seen: Witness) -> Iterator[str]:
    for slug, head in seen.heads.items():
        store = Store.objects.filter(slug=slug).first()
        if store is None:
            yield f"store {slug} is gone"
            continue
        with reading(store) as repository:
            if head and not repository.is_ancestor(head, repository.head() or ""):
                yield f"{slug}: the branch left {head[:9]}"


def history_of(store: Store) -> list[str]:
    """Return the tree ids of a store's commits, oldest first: what it said, without who and when."""
    with reading(store) as repository:
        return [repository.commit(oid).tree for oid in _commits(repository)][::-1]


def on_disk(store: Store) -> dict[str, str]:
    """Return the documents on disk by path, as text that JSON can carry."""
    root = Path(store.root)
    return {
        os.fspath(path.relative_to(root)): path.read_bytes().decode("utf-8", "backslashreplace")
        for path in _files(root)
        if is_document_name(path.name) and ".git" not in path.parts
    }
