"""The memory folder on disk: safe reads, atomic writes, scans. Knows nothing of git; never touches a `.git` in it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import reduce
from operator import and_
from pathlib import Path

from . import aside, durable, placement, steps
from .errors import remedy
from .folder import PinnedFolder, UnreadableError, WorktreeError, read_document, shown
from .lock import confirm
from .names import is_reserved
from .scan import Listing, scan_folder

__all__ = ["Listing", "StagedWrites", "Worktree", "WorktreeError"]

ANY_MODE = 0o777
"""Permission bits that take nothing away: the umask decides."""


@dataclass(frozen=True, slots=True)
class StagedWrite:
    """One file that waits for its rename; `temp` is None where the file is to go."""

    path: str
    name: str
    folder_fd: int
    temp: str | None
    expected: bytes | None

    def place(self) -> bool:
        """Rename into place if the file still is what was expected; False when it is not, or the system refuses."""
        try:
            if self.temp is None:
                return aside.take_away(self.folder_fd, self.name, self.expected)
            return aside.put(self.folder_fd, self.temp, self.name, self.expected)
        except (OSError, UnreadableError, WorktreeError):
            return False


class StagedWrites:
    """New bytes of several files beside them, so that only renames are left to do."""

    def __init__(self, worktree: Worktree, stack: ExitStack) -> None:
        self._worktree, self._stack = worktree, stack
        self._folders: dict[str, int] = {}
        self._writes: dict[str, StagedWrite] = {}
        self._unsynced: list[StagedWrite] = []

    def add(self, writes: Sequence[tuple[str, bytes | None, bytes | None]]) -> None:
        """Write the new bytes of files beside them, not yet durable. For a file that was added before, the last counts.

        Args: writes: (path, bytes expected on disk or None without a file, new bytes or None to remove it).
        Raises WorktreeError as `Worktree.replace` does; then only what was added before is left to do.
        """
        before = dict(self._writes), list(self._unsynced)
        try:
            # A document that is renamed must not be read by more people than before.
            going = [
                self._worktree.mode(path) for path, expected, new in writes if expected is not None and new is None
            ]
            mode = reduce(and_, going, ANY_MODE)
            for path, expected, new in writes:
                self._writes.pop(path, None)
                if expected != new:
                    staged = self._worktree.stage(self._stack, self._folders, path, expected, new, mode=mode)
                    self._writes[path] = staged
                    self._unsynced += [staged] if staged.temp is not None else []
        except WorktreeError:
            self._writes, self._unsynced = before
            raise

    def sync(self) -> None:
        """Make what was added durable. Raises WorktreeError, before anything changed."""
        try:
            durable.sync_names([(one.folder_fd, one.temp) for one in self._unsynced if one.temp is not None])
        except OSError as error:
            paths = ", ".join(f"“{shown(one.path)}”" for one in self._unsynced[:3])
            raise _cannot(f"{paths} cannot be written", error) from error
        for _ in self._unsynced:
            steps.on_step("document.written")
        self._unsynced.clear()

    def replace(self) -> tuple[str, ...]:
        """Put every file in its place; return the paths that could not be.

        Raises nothing that the system says, since the commit stands by now; LockLostError before anything changed.
        """
        if self._writes:
            confirm()
        unwritten: list[str] = []
        touched: dict[int, list[str]] = {}
        for write in self._writes.values():
            if write.place():
                touched.setdefault(write.folder_fd, []).append(write.path)
            else:
                unwritten.append(write.path)
        self._writes.clear()
        for folder_fd, paths in touched.items():
            try:
                os.fsync(folder_fd)
            except OSError:
                unwritten += paths
            else:
                steps.on_step("document.durable")
        return tuple(unwritten)


class Worktree:
    def __init__(self, root: Path) -> None:
        """Pin the folder by device and inode. Raises WorktreeError when the folder is missing or no folder."""
        self.folder = PinnedFolder(root)

    @property
    def root(self) -> Path:
        """The folder's real path."""
        return self.folder.root

    def scan(self) -> Listing:
        """Read every `.md` document below the root (dot-folders, links, temp and lock files left out).

        Raises WorktreeError when the folder is gone, was replaced or cannot be read: never an empty listing instead.
        """
        return scan_folder(self.folder)

    def read(self, path: str) -> bytes | None:
        """Return the bytes of one document, None when there is none (a folder is none).

        Raises WorktreeError for an unsafe path, a link that leaves the root, and what is no readable regular file.
        """
        *parents, name = self._resolved(path)
        try:
            with self.folder.opened(parents) as fd:
                return read_document(fd, name)
        except FileNotFoundError:
            return None
        except NotADirectoryError:
            self._refuse_swapped_link(path, parents)
            return None
        except OSError as error:
            raise _cannot(f"“{shown(path)}” cannot be read", error) from error
        except UnreadableError as error:
            raise _cannot(f"“{shown(path)}” cannot be read", str(error)) from error

    def resolve(self, path: str) -> str:
        """Return the real path of a document (an inside link's target).

        Raises WorktreeError when it leaves the root, or is no path inside the folder at all.
        """
        return "/".join(self._resolved(path))

    def replace(self, path: str, *, expected: bytes | None, new: bytes | None) -> bool:
        """Make the file `new` (None: remove it) if it still is `expected` (None: absent); False when it is not.

        Same-folder temp file, fsync, atomic replace, folder fsync; mode and owner kept; an inside link stays and its
        target changes. A new document gets what the mode of those beside it and the umask allow. Missing folders are
        made for it; emptied ones stay. The file is compared again right before it is replaced, and a new document never
        takes the place of one that appeared meanwhile.

        Raises WorktreeError with the system's reason (disk full, permission), and for a file or folder without write
        permission, which is never forced; the old bytes are then intact, no temp file. One failure comes after
        the change and says so: a folder that cannot be fsynced. Raises LockLostError before anything changed.
        """
        if self.read(path) != expected:
            return False
        if expected == new:
            return True
        *parents, name = self._resolved(path)
        with self._made(path, parents if expected is None else []):
            try:
                with self.folder.opened(parents) as fd:
                    placement.refuse_read_only(fd, name)
                    confirm()
                    if new is None:
                        return placement.remove(fd, name, expected)
                    mode = ANY_MODE if expected is not None else self._mode_beside(parents)
                    return placement.write(fd, name, expected, new, mode=mode)
            except OSError as error:
                raise _cannot(f"“{shown(path)}” cannot be written", error) from error
            except UnreadableError as error:
                raise _cannot(f"“{shown(path)}” cannot be written", str(error)) from error

    @contextmanager
    def staged(self, writes: Sequence[tuple[str, bytes | None, bytes | None]] = ()) -> Iterator[StagedWrites]:
        """Write the new bytes of several files beside them, durable, so that later only renames are left to do.

        Args: writes: (path, bytes expected on disk or None, new bytes or None to remove the file).
        Raises WorktreeError as `replace` does, before anything changed. Leaving the block removes what was not placed.
        """
        with ExitStack() as stack:
            staged = StagedWrites(self, stack)
            staged.add(writes)
            staged.sync()
            yield staged

    def mode(self, path: str) -> int:
        """Return the permission bits of a document, ANY_MODE where there is none. Raises WorktreeError as `read`."""
        *parents, name = self._resolved(path)
        try:
            with self.folder.opened(parents) as fd:
                return stat.S_IMODE(os.stat(name, dir_fd=fd, follow_symlinks=False).st_mode)
        except OSError:
            return ANY_MODE

    def _mode_beside(self, folders: Sequence[str]) -> int:
        """Return the bits that all documents of a folder have, or of the next one above it that has documents."""
        for depth in range(len(folders), -1, -1):
            with suppress(OSError), self.folder.opened(folders[:depth]) as fd:
                mode = placement.shared_mode(fd)
                if mode is not None:
                    return mode
        return ANY_MODE

    def stage(
        self,
        stack: ExitStack,
        folders: dict[str, int],
        path: str,
        expected: bytes | None,
        new: bytes | None,
        *,
        mode: int,
    ) -> StagedWrite:
        """Write the new bytes of one file beside it, for `StagedWrites`, which makes it durable.

        Args: mode: permission bits that a new document may have at most.
        """
        *parents, name = self._resolved(path)
        folder = "/".join(parents)
        try:
            if expected is None and folder not in folders:
                stack.enter_context(self._made(path, parents))
            if folder not in folders:
                folders[folder] = stack.enter_context(self.folder.opened(parents))
            fd = folders[folder]
            placement.refuse_read_only(fd, name)
            if expected is None:
                mode &= self._mode_beside(parents)
            temp = None if new is None else placement.stage(fd, name, expected, new, mode=mode)
        except OSError as error:
            raise _cannot(f"“{shown(path)}” cannot be written", error) from error
        if temp is not None:
            stack.callback(aside.discard, fd, temp)
        return StagedWrite(path, name, fd, temp, expected)

    def sweep(self) -> tuple[str, ...]:
        """Remove temp files that a killed writer of ours left, and return their paths. A write of somebody else that
        was moved aside at that moment is kept, at its place or beside it.

        Call it under the store's lock: a live writer's temp file looks the same. Raises LockLostError.
        """
        confirm()
        removed: list[str] = []
        for fd, segments, name in self._temp_files():
            # A folder that we may not change cannot hold a file of ours that matters.
            with suppress(OSError):
                if aside.is_aside(name):
                    aside.settle(fd, name)
                else:
                    os.unlink(name, dir_fd=fd)
                removed.append("/".join((*segments, name)))
        return tuple(sorted(removed))

    def left_overs(self) -> tuple[str, ...]:
        """Return the paths of temp files that a killed writer of ours left. Call it under the store's lock."""
        return tuple(sorted("/".join((*segments, name)) for _, segments, name in self._temp_files()))

    def _temp_files(self) -> Iterator[tuple[int, tuple[str, ...], str]]:
        """Yield (open folder, its segments, name) of every temp file of ours; folders that cannot be read have none."""
        waiting: list[tuple[str, ...]] = [()]
        while waiting:
            segments = waiting.pop()
            with suppress(OSError), self.folder.opened(segments) as fd:
                with os.scandir(fd) as entries:
                    listed = list(entries)
                for entry in listed:
                    if aside.is_aside(entry.name):
                        yield fd, segments, entry.name
                    elif entry.is_dir(follow_symlinks=False) and entry.name != ".git":
                        waiting.append((*segments, entry.name))
                    elif aside.is_temp(entry.name) and entry.is_file(follow_symlinks=False):
                        yield fd, segments, entry.name

    def _resolved(self, path: str) -> list[str]:
        """Return the real segments below the root. What is opened later is opened link by link again, so that a swap
        between the two is refused and not followed."""
        segments = path.split("/")
        if any(part in {"", ".", ".."} or "\0" in part or is_reserved(part) for part in segments):
            raise _cannot(f"“{shown(path)}” is not used", "it is not a path inside the folder")
        try:
            if not self._has_link(segments):
                return segments
            real = os.path.realpath(f"{self.root}/{path}")
        except (OSError, ValueError) as error:
            raise _cannot(f"“{shown(path)}” is not used", str(error)) from error
        prefix = f"{self.root}/".replace("//", "/")
        if not real.startswith(prefix):
            raise _cannot(f"“{shown(path)}” is not used", "it is a link that leaves the folder")
        resolved = real.removeprefix(prefix).split("/")
        if any(is_reserved(part) for part in resolved):
            raise _cannot(f"“{shown(path)}” is not used", "it leads to files that git keeps for itself")
        return resolved

    def _has_link(self, segments: Sequence[str]) -> bool:
        """Whether a link stands on the way to a document: only then is there anything to resolve. Raises ValueError."""
        way = str(self.root)
        for segment in segments:
            way = f"{way}/{segment}"
            try:
                if stat.S_ISLNK(os.lstat(way).st_mode):
                    return True
            except OSError:
                return False
        return False

    def _refuse_swapped_link(self, path: str, parents: Sequence[str]) -> None:
        """Raise when a folder on the way became a link while we looked; a plain file there only means "no document"."""
        for depth in range(len(parents)):
            if self.root.joinpath(*parents[: depth + 1]).is_symlink():
                raise _cannot(f"“{shown(path)}” is not used", "a folder on its way was replaced by a link just now")

    @contextmanager
    def _made(self, path: str, folders: Sequence[str]) -> Iterator[None]:
        """Make missing folders, and take those away again when the write in them fails."""
        made: list[Sequence[str]] = []
        try:
            for depth in range(len(folders)):
                with self.folder.opened(folders[:depth]) as fd:
                    if aside.has(fd, folders[depth]):
                        continue
                    placement.refuse_read_only_folder(fd)
                    placement.make_folder(fd, folders[depth])
                    made.append(folders[: depth + 1])
                    os.fsync(fd)
            yield
        except OSError as error:
            self._unmake(made)
            raise _cannot(f"The folder of “{shown(path)}” cannot be made", error) from error
        except BaseException:
            self._unmake(made)
            raise

    def _unmake(self, made: Sequence[Sequence[str]]) -> None:
        for folders in reversed(made):
            try:
                with self.folder.opened(folders[:-1]) as fd:
                    os.rmdir(folders[-1], dir_fd=fd)
            except OSError:
                return


def _cannot(what: str, reason: OSError | str) -> WorktreeError:
    if isinstance(reason, OSError):
        return WorktreeError(f"{what}: {reason.strerror}. Nothing was changed; {remedy(reason)}.")
    return WorktreeError(f"{what}: {reason}. Nothing was changed; mend that, then try again.")
