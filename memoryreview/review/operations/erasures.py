"""The journal of erasing: what was begun is taken back, what is in force is carried on. Neither needs the text."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from hashlib import file_digest
from pathlib import Path
from typing import Any

from django.db import transaction

from memoryreview.baseline import durable, rewrite, steps
from memoryreview.baseline.errors import BaselineError
from memoryreview.baseline.repository import Repository
from memoryreview.baseline.worktree import Worktree, WorktreeError
from memoryreview.core.erasure import Eraser
from memoryreview.core.errors import MemoryReviewError, first_sentence
from memoryreview.core.names import shown
from memoryreview.review.models import Backup, Decision, Erasure, ErasureState, MovedCommit, Store, Verb

from . import erase_rows, ledger
from .audit_history import unproved
from .errors import BusyError
from .forget import forget
from .keyed import keyed_digest
from .stores import aside_dir, baseline_dir, packing, worktree_of

_OPEN = (ErasureState.PREPARING, ErasureState.IN_FORCE)

log = logging.getLogger(__name__)


def resume(store: Store) -> None:
    """Bring an erasure to its end that a kill interrupted. The caller holds the store's lock. Harmless to repeat.

    Raises: BaselineError with the system's reason; BusyError while the baseline is being packed.
    """
    with packing(store) as fd:
        if fd is None:
            raise BusyError(store.slug)
        for erasure in Erasure.objects.filter(store=store, state__in=_OPEN).order_by("pk"):
            if erasure.state == ErasureState.PREPARING:
                drop(erasure)
            else:
                finish(erasure)
        last = Erasure.objects.filter(store=store).order_by("-pk").first()
        is_in_force = last is not None and last.state == ErasureState.DONE
        _discard(store, keep_pack=is_in_force)


def tidy_up(store: Store) -> None:
    """Take back an erasure that wrote nothing yet, and let the database forget where it could not before."""
    for erasure in Erasure.objects.filter(store=store, state=ErasureState.PREPARING):
        drop(erasure)
    waiting = Erasure.objects.filter(store=store, state=ErasureState.DONE, forgotten=False)
    if waiting.exists() and forget():
        waiting.update(forgotten=True)


def drop(erasure: Erasure) -> None:
    """Take back an erasure that is not in force: history, rows and folder are as they were."""
    with transaction.atomic():
        is_first = Erasure.objects.filter(pk=erasure.pk, state=ErasureState.PREPARING).update(
            state=ErasureState.DROPPED, forgotten=True
        )
        if is_first and erasure.decision is not None:
            note = "The erasure stopped before it was in force. Nothing was changed; press again."
            ledger.record(Decision(store=erasure.store, verb=Verb.INTERRUPT, person=erasure.person, note=note))
    _discard(erasure.store, keep_pack=False)


def _discard(store: Store, *, keep_pack: bool) -> None:
    """Remove what lies beside the history; what the system keeps does no harm, and the next lock of the store tries."""
    try:
        rewrite.discard(aside_dir(store), baseline_dir(store), keep_pack=keep_pack)
    except BaselineError as error:
        log.warning("%s: %s", store.slug, error)


def finish(erasure: Erasure) -> None:
    """Carry an erasure to its end that is in force. The caller holds the locks of packing and store. Effects in order:

    1. Move the branch to the new history and remove the old one.
    2. Put the documents on disk in their new form; one that was written meanwhile is named in `left`.
    3. Replay the certificates that are left; those that do not hold any more are withdrawn.
    4. Let the database forget: its files are written anew.
    5. Remove the backups that we made before; those that cannot be are named in `left`.

    Raises: BaselineError that says so, with the system's reason; the next lock of the store carries on.
    """
    try:
        _finish(erasure)
    except MemoryReviewError as error:
        what = first_sentence(str(error))
        raise BaselineError(
            f"The erasure in “{erasure.store.slug}” is in force, but not finished: {what}. It is carried on by itself, "
            "and until then nothing else is written to this store; make room or give permission if it stays so."
        ) from error


def _finish(erasure: Erasure) -> None:
    store = erasure.store
    git_dir, aside = baseline_dir(store), aside_dir(store)
    rewrite.bring_in(aside, git_dir)
    with Repository(git_dir) as repository:
        head = repository.head()
    if head != erasure.head:
        rewrite.switch(git_dir, expected=head, new=erasure.head)
    rewrite.drop_rest(aside, git_dir)
    left = [*erasure.left, *_replace_on_disk(store, aside / "disk")]
    _replay(erasure)
    steps.on_step("erasure.replayed")
    forgotten = forget()
    steps.on_step("erasure.forgotten")
    backups = list(Backup.objects.order_by("pk"))
    left += filter(None, [_remove_backup(backup) for backup in backups])
    steps.on_step("erasure.backups_removed")
    with transaction.atomic():
        Backup.objects.filter(pk__in=[backup.pk for backup in backups]).delete()
        Erasure.objects.filter(pk=erasure.pk).update(
            state=ErasureState.DONE, left=list(dict.fromkeys(left)), forgotten=forgotten
        )
    _discard(store, keep_pack=True)
    steps.on_step("erasure.done")


def stage(aside: Path, worktree: Worktree, eraser: Eraser) -> int:
    """Prepare what is to stand on disk, durable, so that it can be put there without the text; return how many.

    Raises: WorktreeError when the folder is gone, or refuses one of the writes; nothing is changed.
    """
    folder, plan = aside / "disk", []
    writes: list[tuple[str, bytes | None, bytes | None]] = []
    folder.mkdir(mode=0o700)
    for number, (path, content) in enumerate(sorted(worktree.scan().documents.items())):
        change = on_disk(eraser, path, content)
        if change is None:
            continue
        to, new = change
        durable.write_new_file(folder / str(number), new or b"")
        plan.append({"key": _key(path), "digest": keyed_digest(content), "to": to, "file": str(number)})
        writes += [(path, content, new)] if to in (None, path) else [(path, content, None), (to, None, new)]
    durable.write_new_file(folder / "plan.json", json.dumps(plan).encode())
    durable.sync_folder(folder)
    with worktree.staged(writes):
        pass  # the system would let us write them all
    return len(plan)


def on_disk(eraser: Eraser, path: str, content: bytes) -> tuple[str | None, bytes | None] | None:
    """Return (path, bytes) of a document without the text, (None, None) where it goes, None where nothing differs."""
    if path == eraser.path:
        return None, None
    to, new = eraser.place(path), eraser.document(content)
    return None if (to, new) == (path, content) else (to, new)


def put(worktree: Worktree, path: str, content: bytes, to: str | None, new: bytes | None) -> bool:
    """Replace, rename or remove one document; False when it is not `content` any more, or the new name is taken."""
    if to is None or to == path:
        return worktree.replace(path, expected=content, new=new)
    if worktree.read(to) != new and not worktree.replace(to, expected=None, new=new):
        return False
    return worktree.replace(path, expected=content, new=None)


def _replace_on_disk(store: Store, folder: Path) -> Iterator[str]:
    """Put the staged documents in place; yield a sentence for each that has to be looked at by a person.

    Raises BaselineError when what was staged cannot be read.
    """
    plan: list[dict[str, Any]] = json.loads(_staged(folder / "plan.json"))
    wanted = {one["key"]: one for one in plan}
    if not wanted:
        return
    try:
        worktree = worktree_of(store)
        worktree.sweep()  # what a kill left aside may hold the text
        documents = worktree.scan().documents
    except WorktreeError as error:
        yield f"{error} The text may still stand in the folder: erase again when it is back."
        return
    for path, content in documents.items():
        one = wanted.get(_key(path))
        if one is None:
            continue
        new = None if one["to"] is None else _staged(folder / one["file"])
        if one["to"] == path and content == new:
            continue
        name = shown(one["to"] or path)
        try:
            if keyed_digest(content) != one["digest"] or not put(worktree, path, content, one["to"], new):
                yield f"“{name}” was written while the text was being erased. Look whether it still stands there."
        except WorktreeError as error:
            yield f"The text may still stand in “{name}” on disk; erase again. {error}"


def _staged(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise BaselineError(
            f"“{path}”, which is to stand on disk, cannot be read: {error.strerror}. Try again."
        ) from error


def _key(path: str) -> str:
    return keyed_digest(path.encode("utf-8", "surrogateescape"))


def _replay(erasure: Erasure) -> None:
    """Withdraw the certificates that depended on what is gone, as a text that stood in another document."""
    store, decision = erasure.store, erasure.decision
    assert decision is not None, "an erasure in force has its decision"  # noqa: S101
    keyed = Decision.objects.values_list("shown", flat=True).get(pk=decision.pk)
    if keyed != erase_rows.withdrawn_digest(erasure.withdrawn):
        return  # somebody changed the row: nothing of it is given a key, and `verify` tells
    moved = set(MovedCommit.objects.filter(store=store).values_list("oid", flat=True))
    left_alone = {*erasure.doubted, *erasure.withdrawn}
    failing = [change for change in unproved(store, moved) if change.pk not in left_alone]
    if not failing:
        return
    gone = [*erasure.withdrawn, *(change.pk for change in failing)]
    with transaction.atomic():
        for change in failing:
            erase_rows.withdraw(change, decision.pk)
        Erasure.objects.filter(pk=erasure.pk).update(withdrawn=gone)

        def mend(one: Decision) -> bool:
            if one.pk != decision.pk:
                return False
            one.shown = erase_rows.withdrawn_digest(gone)
            return True

        ledger.rekey(mend)


def _remove_backup(backup: Backup) -> str:
    """Remove what `backup` wrote: it holds the old history. Return "" or why it is still somewhere."""
    name = f"The backup of {backup.made_at:%Y-%m-%d}, “{shown(backup.path)}”,"
    path = Path(backup.path)
    try:
        with path.open("rb") as file:
            is_ours = file_digest(file, "sha256").hexdigest() == backup.sha256
        if not is_ours:
            return f"{name} was changed since. If it holds the old history still, remove it."
        path.unlink()
        durable.sync_folder(path.parent)
    except FileNotFoundError:
        return f"{name} is not there any more. If it was moved, remove it: it holds the old history."
    except OSError as error:
        return f"{name} cannot be removed ({error.strerror}). It holds the old history."
    return ""
