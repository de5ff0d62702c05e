"""What documents a memory folder holds."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from .errors import remedy
from .folder import PinnedFolder, UnreadableError, WorktreeError, read_document, shown, unreadable
from .names import MAX_SEGMENTS, is_reserved

# Codex writes it for itself, consumes it and deletes it.
_TRANSIENT = "phase2_workspace_diff.md"


@dataclass(frozen=True, slots=True)
class Listing:
    """What a scan saw: documents by path, and paths that look like documents but cannot be read safely, with why."""

    documents: Mapping[str, bytes]
    skipped: Mapping[str, str]

    def is_unknown(self, path: str) -> bool:
        """Whether the scan could not see what stands at a path."""
        return is_skipped(path, self.skipped)


def is_skipped(path: str, skipped: Collection[str]) -> bool:
    """Whether a path, or a folder above it, was skipped: missing then does not mean deleted."""
    parts = path.split("/")
    return any("/".join(parts[: n + 1]) in skipped for n in range(len(parts)))


def is_document_name(name: str) -> bool:
    """Whether a file of this name would be a document: `.md` in any case, not hidden, no left-over of a tool."""
    lower = name.lower()
    return lower.endswith(".md") and not name.startswith(".") and lower != _TRANSIENT and ".bak." not in lower


def _is_text(path: str) -> bool:
    """Whether a name can be shown and stored; the file system allows others."""
    return path.isascii() or not any("\udc80" <= char <= "\udcff" for char in path)


def scan_folder(folder: PinnedFolder) -> Listing:
    """Read every document below a folder. Raises WorktreeError when the folder itself cannot be read."""
    scan = _Reading(folder)
    scan.run()
    return Listing(dict(sorted(scan.documents.items())), dict(sorted(scan.skipped.items())))


class FolderScan:
    """One look at every name below a folder. `skipped` says why what looks like a document cannot be one."""

    def __init__(self, folder: PinnedFolder) -> None:
        self.folder = folder
        self.skipped: dict[str, str] = {}

    def run(self) -> None:
        """Visit every folder. Raises WorktreeError when the root cannot be read."""
        waiting: list[tuple[str, ...]] = [()]
        while waiting:
            waiting += self._visit(waiting.pop())

    def take(self, folder_fd: int, entry: os.DirEntry[str], path: str) -> None:
        """Do what is to be done with one document. An UnreadableError leaves it out, with its reason."""
        raise NotImplementedError

    def enter(self, folder_fd: int, segments: tuple[str, ...]) -> list[tuple[str, ...]]:
        """List one folder and return the folders in it that are to be visited."""
        prefix = "".join(f"{segment}/" for segment in segments)
        with os.scandir(folder_fd) as entries:
            return [(*segments, entry.name) for entry in entries if self._leads_on(folder_fd, entry, prefix)]

    def _visit(self, segments: tuple[str, ...]) -> list[tuple[str, ...]]:
        try:
            with self.folder.opened(segments) as fd:
                return self.enter(fd, segments)
        except FileNotFoundError:
            return []
        except OSError as error:
            problem = unreadable(error)
            if not segments or isinstance(problem, WorktreeError):
                raise WorktreeError(
                    f"The memory folder “{shown(str(self.folder.root))}” cannot be read: {error.strerror}. "
                    f"Nothing was changed; {remedy(error)}."
                ) from error
            self.skipped["/".join(segments)] = str(problem)
            return []

    def _leads_on(self, folder_fd: int, entry: os.DirEntry[str], prefix: str) -> bool:
        """Take what one name stands for; return whether it is a folder to visit."""
        name = entry.name
        if name.startswith("."):
            return False
        path = prefix + name
        if entry.is_symlink():
            self._skip_link(entry, path)
            return False
        if entry.is_dir(follow_symlinks=False):
            reason = _why_folder_is_skipped(path)
            if reason:
                self.skipped[path] = reason
            return not reason
        if is_document_name(name):
            self._take(folder_fd, entry, path)
        return False

    def _take(self, folder_fd: int, entry: os.DirEntry[str], path: str) -> None:
        if not _is_text(path):
            self.skipped[shown(path)] = "its name is not UTF-8"
            return
        try:
            self.take(folder_fd, entry, path)
        except UnreadableError as error:
            self.skipped[path] = str(error)

    def _skip_link(self, entry: os.DirEntry[str], path: str) -> None:
        try:
            leads_to_folder = entry.is_dir()
            leads_somewhere = leads_to_folder or entry.is_file()
        except OSError:
            leads_to_folder = leads_somewhere = False
        if not leads_to_folder and not is_document_name(entry.name):
            return
        target = Path(os.path.realpath(self.folder.root / path))
        if not target.is_relative_to(self.folder.root):
            self.skipped[path] = "link that leaves the folder"
        elif not leads_somewhere:
            self.skipped[path] = "link that leads to no file"
        else:
            self.skipped[path] = f"link to {shown(str(target.relative_to(self.folder.root)))} inside the folder"


class _Reading(FolderScan):
    def __init__(self, folder: PinnedFolder) -> None:
        super().__init__(folder)
        self.documents: dict[str, bytes] = {}

    def take(self, folder_fd: int, entry: os.DirEntry[str], path: str) -> None:
        content = read_document(folder_fd, entry.name)
        if content is not None:
            self.documents[path] = content


def _why_folder_is_skipped(path: str) -> str:
    if path.count("/") + 1 >= MAX_SEGMENTS:
        return "too deep"
    if is_reserved(path.rpartition("/")[2]):
        return "name that git keeps for itself"
    return ""
