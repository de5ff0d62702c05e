"""A history without a text: written anew beside the old one, put in its place, and the old one removed.

Order, each step durable and repeatable: `build` and `seal` make a second repository beside the first, whole and
checked; `bring_in` lays its pack beside the old objects; `switch` moves the branch; `drop_rest` removes everything
else; `discard` removes the second repository. Until `switch` the old history stands and `discard` undoes all; none of
the later steps needs to know the text.
"""

from __future__ import annotations

import os
import shutil
import zlib
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from memoryreview.core.erasure import Eraser

from . import durable, seen, steps
from .errors import BaselineError
from .history import fsck
from .lock import confirm
from .objects import object_id
from .process import every_object, run
from .refs import BRANCH, swap_branch
from .repository import Repository
from .rewalk import Walk, Walked

IDENTITY = b"memoryreview <memoryreview@localhost>"
_PACK_SUFFIXES = (".pack", ".rev", ".idx")  # the index comes last: with it git sees the pack
_LOCK_WAIT_S = 10.0


def survey(repository: Repository, eraser: Eraser) -> Walked:
    """Say what a rewrite would do. Writes nothing. Raises BaselineError when the history cannot be read."""
    return Walk(repository, eraser, lambda _kind, _payload, _oid: None).run()


def build(repository: Repository, aside: Path, eraser: Eraser) -> Walked:
    """Write what differs into a new repository at `aside`, which borrows the rest from this one; see `seal`.

    The caller holds the store's lock. Raises BaselineError; the old history is not touched.
    """
    Repository.create(aside).close()
    objects = aside / "objects"
    _write(objects / "info" / "alternates", os.fsencode(repository.objects.folder) + b"\n")

    def keep(kind: bytes, payload: bytes, oid: str) -> None:
        # Not synced one by one: `seal` packs them, and only the pack is ever used.
        folder = objects / oid[:2]
        folder.mkdir(mode=0o700, exist_ok=True)
        (folder / oid[2:]).write_bytes(zlib.compress(b"%s %d\0%s" % (kind, len(payload), payload), 1))

    try:
        return Walk(repository, eraser, keep).run()
    except OSError as error:
        raise BaselineError(
            f"The new history cannot be written at “{aside}”: {error.strerror}. Nothing was changed; make room, "
            "then try again."
        ) from error


def seal(aside: Path, eraser: Eraser, walked: Walked, *, message: str, at: datetime) -> str:
    """Put a commit without changes on top, pack all that is reachable, durable, and prove it. Return the new head.

    The proof: git finds the repository whole, and no object of it holds the text. Raises BaselineError.
    """
    stamp = b"%s %d +0000" % (IDENTITY, int(at.timestamp()))
    lines = [b"tree " + walked.tree.encode(), b"parent " + walked.head.encode()]
    lines += [role + b" " + stamp for role in (b"author", b"committer")]
    payload = b"\n".join(lines) + b"\n\n" + message.encode("utf-8", "backslashreplace")
    top = object_id(b"commit", payload)
    with Repository(aside) as repository:
        repository.objects.write(b"commit", payload, top)
    swap_branch(aside, expected=None, new=top, wait_s=_LOCK_WAIT_S)
    status, _stdout, stderr = run(
        aside, "repack", "-a", "-d", "-n", "-q", "--no-write-bitmap-index", timeout_s=6 * 3600.0
    )
    if status != 0:
        raise BaselineError(
            f"git cannot pack the new history: {stderr.strip()}. Nothing was changed; make room if the disk is full, "
            "else run “memoryreview verify”."
        )
    (aside / "objects" / "info" / "alternates").unlink()
    durable.sync_folder(aside / "objects" / "info")
    durable.sync_folder(aside / "objects" / "pack")
    complaints = fsck(aside)
    if complaints:
        raise BaselineError(
            f"The new history is not whole ({complaints[0]}). Nothing was changed; run “memoryreview verify”."
        )
    left = still_held(aside, eraser)
    if left:
        raise BaselineError(
            f"The text would still stand in {left} objects of the new history. Nothing was changed; this is a fault of "
            "memoryreview."
        )
    steps.on_step("rewrite.sealed")
    return top


def still_held(git_dir: Path, eraser: Eraser) -> int:
    """Return in how many objects of a repository the text stands, reachable or not."""
    return sum(1 for _oid, _kind, payload in every_object(git_dir) if eraser.holds(payload))


def bring_in(aside: Path, git_dir: Path) -> None:
    """Lay the new pack beside the old objects. Nothing refers to it yet. Raises BaselineError."""
    packs = git_dir / "objects" / "pack"
    try:
        packs.mkdir(mode=0o700, exist_ok=True)
        for source in sorted(_pack_files(aside), key=lambda path: _PACK_SUFFIXES.index(path.suffix)):
            target = packs / source.name
            if not target.exists():
                os.link(source, target)
        durable.sync_folder(packs)
    except OSError as error:
        raise BaselineError(
            f"The new history cannot be laid into “{git_dir}”: {error.strerror}. The old one was not touched; make "
            "room or give permission, then try again."
        ) from error
    steps.on_step("rewrite.brought_in")


def switch(git_dir: Path, *, expected: str | None, new: str) -> None:
    """Move the branch to the new history by compare-and-swap. Raises BaselineError, also when it points elsewhere."""
    if not swap_branch(git_dir, expected=expected, new=new, wait_s=_LOCK_WAIT_S):
        raise BaselineError(
            f"Another git program moved the branch of “{git_dir}” just now. The old history was not removed; try again."
        )


def drop_rest(aside: Path, git_dir: Path) -> None:
    """Remove every object, reference and note of git but for the branch and the new pack.

    Raises: BaselineError; LockLostError before anything was removed.
    """
    confirm()
    kept = {path.name for path in _pack_files(aside)}
    if not kept:
        raise BaselineError(f"“{aside}” holds no new history, so the old one stays. Run “memoryreview verify”.")
    try:
        objects = git_dir / "objects"
        for path in list(_files_below(objects)):
            if path.parent.name != "pack" or path.name not in kept:
                path.unlink(missing_ok=True)
        for folder in objects.iterdir():
            if len(folder.name) == 2:
                folder.rmdir()
            elif folder.is_dir():
                durable.sync_folder(folder)
        for path in list(_files_below(git_dir / "refs")):
            if path != git_dir / BRANCH:
                path.unlink(missing_ok=True)
        for name in ("packed-refs", "ORIG_HEAD", "FETCH_HEAD", "shallow", seen.NAME):
            (git_dir / name).unlink(missing_ok=True)
        shutil.rmtree(git_dir / "logs", ignore_errors=True)
        durable.sync_folder(objects)
        durable.sync_folder(git_dir)
    except OSError as error:
        raise BaselineError(
            f"The old history in “{git_dir}” cannot be removed: {error.strerror}. The new one is in force; give "
            "permission, then it is removed by itself."
        ) from error
    steps.on_step("rewrite.rest_dropped")


def discard(aside: Path, git_dir: Path, *, keep_pack: bool) -> None:
    """Remove the second repository. Args: keep_pack: its pack is in force; else it leaves the first one, too.

    Raises BaselineError with the system's reason; what is left does no harm, and can be removed later.
    """
    try:
        if not aside.exists():
            return
        if not keep_pack:
            for path in reversed(_pack_files(aside)):
                (git_dir / "objects" / "pack" / path.name).unlink(missing_ok=True)
        shutil.rmtree(aside)
        durable.sync_folder(aside.parent)
    except OSError as error:
        raise BaselineError(
            f"What erasing left at “{aside}” cannot be removed: {error.strerror}. No history was changed by that; give "
            "permission, then it is removed by itself."
        ) from error


def _pack_files(aside: Path) -> list[Path]:
    return [path for path in (aside / "objects" / "pack").glob("pack-*") if path.suffix in _PACK_SUFFIXES]


def _files_below(folder: Path) -> Iterator[Path]:
    """Yield what is no folder. Raises OSError for a folder that cannot be listed: what it hides would stay."""
    for here, _folders, names in os.walk(folder, onerror=_raise):
        yield from (Path(here) / name for name in names)


def _raise(error: OSError) -> None:
    raise error


def _write(path: Path, content: bytes) -> None:
    try:
        durable.write_new_file(path, content)
    except OSError as error:
        raise BaselineError(
            f"“{path}” cannot be written: {error.strerror}. Nothing was changed; make room, then try again."
        ) from error
