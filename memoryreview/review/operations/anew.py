"""A new baseline for a store whose own was lost. What was recorded stays; not a byte of the memory folder changes."""

from __future__ import annotations

import logging
from contextlib import nullcontext
from pathlib import Path

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from memoryreview.baseline import lost, steps
from memoryreview.baseline.lock import store_lock
from memoryreview.baseline.repository import BaselineError, Repository, Snapshot
from memoryreview.baseline.worktree import WorktreeError
from memoryreview.core import formats
from memoryreview.core.errors import MemoryReviewError
from memoryreview.core.model import FormatName, Tree
from memoryreview.review.models import (
    Agent,
    Change,
    ChangedPath,
    ChangeKind,
    Decision,
    Erasure,
    ErasureState,
    Intent,
    Proposal,
    Store,
    Verb,
)

from .adopt import Adopted, AdoptError, begin_history, problems, record_beginning
from .permissions import require_maintainer
from .standing import classification_of, standing
from .stores import LOCK_TIMEOUT_S, Workshop, alone, aside_dir, baseline_dir, no_other_host, worktree_of
from .summary import show, summarise

log = logging.getLogger(__name__)


def loss_of(store: Store, *, thorough: bool = False) -> str:
    """Return why a store needs a new baseline, "" when its own can be gone on with, or nothing is known of it now."""
    if aside_dir(store).exists() and baseline_dir(store).exists():
        return ""  # an erasure is in its middle: rows and branch meet again when it is carried on
    try:
        return lost.loss(baseline_dir(store), _newest(store), thorough=thorough)
    except BaselineError:
        return ""


def adopted_at(folder: Path) -> Store | None:
    """Return the store that a folder is already."""
    path = folder.expanduser().absolute()
    return None if path.is_symlink() else Store.objects.filter(root=str(path.resolve())).first()


def begin_anew(store: Store, *, person: User | None, name: str = "") -> Adopted:
    """Begin a new baseline for a store whose own is missing, has no commit or is damaged. Effects in order:

    1. Read the documents on disk; look whether the baseline is lost.
    2. Move what is left of the old baseline aside, in the data folder. Nothing of it is deleted.
    3. Make an empty baseline; store the first commit, journal it, and move the branch to it.
    4. Record decision and change in one transaction, and look at what waits again.

    A kill before the journal leaves a store without a baseline, for which this is called again; after it `reconcile`
    does the rest. Args: person: who asked, None on the command line; name: of the store, "" for whichever it is.

    Raises: AdoptError with a sentence, also when nothing was lost; NotPermittedError; LockBusyError; BusyError.
    """
    if person is not None:
        require_maintainer(person, store)
    if name and name != store.slug:
        raise AdoptError(f"“{store.root}” is adopted already as “{store.slug}”. Nothing was changed.")
    try:
        listing = worktree_of(store).scan()
        newest = _newest(store)
        why = loss_of(store) or loss_of(store, thorough=True)  # before the lock: a long history takes its time
        if why:
            _check_is_meant(store, listing.documents, person)
            _make_room(store, newest)
        head = _begin(store, listing.documents, person, why) if why else _begun_before(store)
    except (BaselineError, WorktreeError) as error:
        raise AdoptError(str(error)) from error
    except OSError as error:
        raise AdoptError(
            f"The new baseline of “{store.slug}” cannot be written: {error.strerror}. The memory folder is unchanged; "
            "make room or give permission, then try again."
        ) from error
    form = formats.of(FormatName(store.format))
    entries = sum(len(form.entries(path, content)) for path, content in listing.documents.items())
    found = problems(store, listing.documents, dict(listing.skipped))
    return Adopted(store, len(listing.documents), entries, head, found)


def _newest(store: Store) -> str:
    return Change.objects.filter(store=store).order_by("-pk").values_list("oid", flat=True).first() or ""


def _check_is_meant(store: Store, tree: Tree, person: User | None) -> None:
    """A folder that looks lost is no beginning; and what waits for a person is not approved by a command.

    Raises AdoptError.
    """
    if not tree and ChangedPath.objects.filter(store=store).exists():
        raise AdoptError(
            f"“{store.root}” holds no document any more, and its baseline is lost. Nothing was changed; mount or put "
            "back the folder, or restore the data folder from a backup."
        )
    unread = Proposal.objects.filter(store=store, agent__name=Agent.DIRECT).undecided().exists()
    if person is None and (unread or store.alarm):
        seen = "text that waits for a decision" if unread else "fewer documents than were approved"
        raise AdoptError(
            f"The baseline of “{store.slug}” is lost, and its folder holds {seen}. Nothing was changed; sign in and "
            "press “Begin a new baseline” on the page of the store, or restore the data folder from a backup."
        )


def _make_room(store: Store, newest: str) -> None:
    """Move a lost baseline aside, unless somebody else wrote to it or began anew meanwhile. Raises AdoptError."""
    git_dir = baseline_dir(store)
    with store_lock(git_dir, timeout_s=LOCK_TIMEOUT_S) if git_dir.is_dir() else nullcontext(), no_other_host(store):
        if _newest(store) != newest:
            raise AdoptError(f"Somebody wrote to “{store.slug}” meanwhile. Nothing was changed; try again.")
        now = timezone.now()
        lost.set_aside(aside_dir(store), now)  # an erasure that cannot be carried on without it
        lost.set_aside(git_dir, now)
        steps.on_step("anew.set_aside")


def _begun_before(store: Store) -> str:
    """Finish what a killed process began, and return its commit. Raises AdoptError when nothing was begun."""
    begun = Intent.objects.filter(store=store, kind=ChangeKind.ADOPT).order_by("-pk").first()
    with alone(store), Repository(baseline_dir(store)) as repository:
        head = repository.head()
        if begun is None or head is None or not repository.is_ancestor(begun.oid, head):
            raise AdoptError(
                f"“{store.root}” is adopted already as “{store.slug}”, and its baseline is whole. Nothing was changed."
            )
        finish(Workshop(store, repository), begun)
    return begun.oid


def _begin(store: Store, tree: Tree, person: User | None, why: str) -> str:
    git_dir = baseline_dir(store)
    git_dir.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    earlier = Change.objects.filter(store=store).count()
    decider = person or User.objects.filter(is_superuser=True).order_by("pk").first()
    intent = Intent(
        store=store,
        kind=ChangeKind.ADOPT,
        landing={
            "title": f"Begin a new baseline of {store.slug}: {len(tree)} documents",
            "note": f"{'' if person else 'On the command line. '}The earlier baseline was lost. {why}"[:500],
            "person": decider.pk if decider is not None else None,
            "paths": sorted(tree),
        },
    )

    def journal(head: str) -> None:
        intent.oid = head
        intent.save(force_insert=True)
        steps.on_step("intent.recorded")

    with Repository.create(git_dir) as repository, alone(store):
        head = begin_history(
            repository,
            tree,
            subject=f"Begin a new baseline of {store.slug}",
            body=f"{len(tree)} documents as they stood in the folder. {earlier} earlier changes are records only.",
            journal=journal,
        )
        finish(Workshop(store, repository), intent)
    return head


def finish(shop: Workshop, intent: Intent) -> Change:
    """Record a new baseline that the branch shows, and look at what waits again. Harmless to repeat."""
    store = shop.store
    with transaction.atomic():
        change = Change.objects.filter(store=store, oid=intent.oid).first()
        if change is None:
            stated = intent.landing
            person = User.objects.filter(pk=stated["person"]).first()
            decision = Decision(store=store, change=intent.oid, verb=Verb.ADOPT, person=person, note=stated["note"])
            change = record_beginning(decision, stated["title"], stated["paths"])
            _end_erasures(store)
            store.differing, store.alarm = [], ""
            store.save(update_fields=["differing", "alarm"])
        Intent.objects.filter(store=store, kind=ChangeKind.ADOPT).delete()  # also of beginnings that were cut short
    steps.on_step("change.recorded")
    _look_again(shop)
    return change


def _end_erasures(store: Store) -> None:
    """An erasure that was in its middle cannot be carried on: the history that it was making is moved aside."""
    open_ones = Erasure.objects.filter(store=store)
    open_ones.filter(state=ErasureState.PREPARING).update(state=ErasureState.DROPPED)
    for erasure in open_ones.filter(state=ErasureState.IN_FORCE):
        erasure.left = [
            *erasure.left,
            "The baseline was lost before the erasing ended: look whether the text still stands.",
        ]
        erasure.state = ErasureState.DONE
        erasure.save(update_fields=["left", "state"])


def _look_again(shop: Workshop) -> None:
    """Summarise what waits against the new head. One that cannot be judged keeps its summary and its words."""
    tree: Snapshot = shop.tree()
    for proposal in Proposal.objects.filter(store=shop.store, masked=False).live().order_by("pk"):
        try:
            revision = proposal.revision
            view = standing(revision, shop.repository, tree)
            if view.delta and not view.conflicts:
                summary = summarise(shop.store, classification_of(proposal, view), tree, view.delta)
                show(proposal, revision, summary)
        except MemoryReviewError as error:
            log.warning("judge proposal %s against a new baseline: %s", proposal.pk, error)
