"""Replay what can be checked: certificates, decisions, git, the database against git, disk against head."""

from __future__ import annotations

from collections.abc import Iterator

from django.db import DatabaseError, connection

from memoryreview.baseline import surroundings
from memoryreview.baseline.history import fsck
from memoryreview.baseline.repository import Repository
from memoryreview.baseline.worktree import WorktreeError
from memoryreview.core.errors import MemoryReviewError
from memoryreview.review.models import Change, Intent, Proposal, State, Store

from . import ledger
from .audit_history import history_faults
from .fault import Fault
from .stores import Workshop, baseline_dir, locked, packing

__all__ = ["Fault", "audit"]

PACKING_WAIT_S = 60.0


def audit(store: Store | None = None) -> list[Fault]:
    """Return every fault found in one store, or in all, in the databases and in the chain of decisions.

    Changes nothing. A store can be used meanwhile; its history is checked up to the head that it had at the start.
    """
    faults = list(_database_faults())
    if faults:
        return faults  # what a damaged database says about anything else proves nothing
    faults += [Fault("decision", str(pk), f"Decision {pk}: {sentence}.") for pk, sentence in ledger.broken_links()]
    for one in [store] if store is not None else Store.objects.order_by("pk"):
        try:
            faults += _store_faults(one)
        except MemoryReviewError as error:
            faults.append(Fault("baseline", one.slug, str(error)))
    return faults


def _database_faults() -> Iterator[Fault]:
    """Let SQLite check its own file and references. Other databases have tools of their own."""
    if connection.vendor != "sqlite":
        return
    name = str(connection.settings_dict["NAME"])
    try:
        with connection.cursor() as cursor:
            told = [row[0] for row in cursor.execute("PRAGMA integrity_check(20)")]
            dangling = list(cursor.execute("PRAGMA foreign_key_check"))
    except DatabaseError as error:
        told, dangling = [str(error)], []
    for sentence in told:
        if sentence != "ok":
            yield Fault("database", name, f"SQLite finds the file damaged: {sentence}. Restore it from a backup.")
    for table, row, parent, _ in dangling:
        yield Fault("database", name, f"Row {row} of {table} refers to a row of {parent} that is not there.")


def _store_faults(store: Store) -> Iterator[Fault]:
    git_dir, slug = baseline_dir(store), store.slug
    Repository(git_dir).close()
    with locked(store):
        pass  # an erasure that a kill interrupted is finished here, which needs the lock of packing itself
    with packing(store, wait_s=PACKING_WAIT_S):  # packs that are replaced under fsck look damaged to it
        with locked(store) as shop:
            head = shop.head()
            last = Change.objects.filter(store=store).order_by("-pk").values_list("pk", flat=True).first() or 0
            faults = [*_left_faults(shop), *_disk_faults(shop)]
        for sentence in surroundings.oddities(git_dir):
            yield Fault("git", slug, sentence)
        for complaint in fsck(git_dir):
            yield Fault("git", slug, complaint)
        yield from history_faults(store, head, last)
    yield from faults


def _left_faults(shop: Workshop) -> Iterator[Fault]:
    """Yield what a killed process left: nobody else is at work in the store now."""
    slug = shop.store.slug
    for intent in Intent.objects.filter(store=shop.store):
        yield Fault("intent", slug, f"Commit {intent.oid} was begun and neither finished nor taken back.")
    for proposal in Proposal.objects.filter(store=shop.store, state=State.APPLYING):
        yield Fault("proposal", str(proposal.pk), "The proposal was left while it was being applied.")
    git_dir = baseline_dir(shop.store)
    for path in surroundings.left_overs(git_dir):
        yield Fault("left-over", slug, f"“{path}” was left by a process that was killed; run: memoryreview capture")
    for lock in surroundings.foreign_locks(git_dir):
        yield Fault(
            "lock",
            slug,
            f"Another git program left its lock file “{lock.path}” {lock.age_s:.0f} s ago. If no git command is at "
            "work in that folder, remove the file.",
        )
    try:
        for name in shop.worktree().left_overs():
            yield Fault("left-over", f"{slug} {name}", "A temp file was left by a process that was killed; run: "
                        "memoryreview capture")  # fmt: skip
    except WorktreeError:
        return  # told with the disk


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
    direct = Proposal.objects.filter(store=shop.store).direct().undecided()
    excused = {path for proposal in direct for path in proposal.paths} | set(shop.store.differing)
    for path in sorted({*tree, *listing.documents}):
        if path in excused or tree.holds(path, listing.documents.get(path)):  # git checks its own objects
            continue
        if not listing.is_unknown(path):
            yield Fault(
                "disk",
                f"{shop.store.slug} {path}",
                "The file differs from what is approved and no proposal holds the difference; run: "
                "memoryreview capture",
            )
