"""What documents a memory folder holds."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .folder import PinnedFolder, UnreadableError, WorktreeError, read_document, shown, unreadable
from .names import MAX_SEGMENTS, is_reserved

_LEFT_OVER = re.compile(r".*\.bak\..*", re.DOTALL | re.IGNORECASE)
# Codex writes it for itself, consumes it and deletes it.
_TRANSIENT = "phase2_workspace_diff.md"


@dataclass(frozen=True, slots=True)
class Listing:
    """What a scan saw: documents by path, and paths that look like documents but cannot be read safely, with why."""

    documents: Mapping[str, bytes]
    skipped: Mapping[str, str]

    def is_unknown(self, path: str) -> bool:
        """Whether the scan could not see what stands at a path: it, or a folder above it, was skipped.

        A document that is missing here and unknown must not be taken for deleted.
        """
        parts = path.split("/")
        return any("/".join(parts[: n + 1]) in self.skipped for n in range(len(parts)))


def is_document_name(name: str) -> bool:
    """Whether a file of this name would be a document: `.md` in any case, not hidden, no left-over of a tool."""
    lower = name.lower()
    return lower.endswith(".md") and not name.startswith(".") and lower != _TRANSIENT and not _LEFT_OVER.fullmatch(name)


def _is_text(path: str) -> bool:
    """Whether a name can be shown and stored; the file system allows others."""
    return not any("\udc80" <= char <= "\udcff" for char in path)


def scan_folder(folder: PinnedFolder) -> Listing:
    """Read every document below a folder. Raises WorktreeError when the folder itself cannot be read."""
    scan = _Scan(folder)
    waiting: list[tuple[str, ...]] = [()]
    while waiting:
        waiting += scan.visit(waiting.pop())
    return Listing(dict(sorted(scan.documents.items())), dict(sorted(scan.skipped.items())))


class _Scan:
    def __init__(self, folder: PinnedFolder) -> None:
        self.folder = folder
        self.documents: dict[str, bytes] = {}
        self.skipped: dict[str, str] = {}

    def visit(self, segments: tuple[str, ...]) -> list[tuple[str, ...]]:
        """List one folder and return the folders in it that are to be visited."""
        try:
            with self.folder.opened(segments) as fd, os.scandir(fd) as entries:
                return [
                    (*segments, entry.name)
                    for entry in entries
                    if not entry.name.startswith(".") and self._takes(fd, entry, "/".join((*segments, entry.name)))
                ]
        except FileNotFoundError:
            return []
        except OSError as error:
            problem = unreadable(error)
            if not segments or isinstance(problem, WorktreeError):
                raise WorktreeError(
                    f"The memory folder “{shown(str(self.folder.root))}” cannot be read: {error.strerror}. "
                    "Nothing was changed."
                ) from error
            self.skipped["/".join(segments)] = str(problem)
            return []

    def _takes(self, folder_fd: int, entry: os.DirEntry[str], path: str) -> bool:
        """Record what one name stands for; return whether it is a folder to visit."""
        if entry.is_symlink():
            self._skip_link(entry, path)
            return False
        if entry.is_dir(follow_symlinks=False):
            reason = _why_folder_is_skipped(path)
            if reason:
                self.skipped[path] = reason
            return not reason
        if is_document_name(entry.name) and not _is_text(path):
            self.skipped[shown(path)] = "its name is not UTF-8"
        elif is_document_name(entry.name):
            self._read(folder_fd, entry.name, path)
        return False

    def _read(self, folder_fd: int, name: str, path: str) -> None:
        try:
            content = read_document(folder_fd, name)
        except UnreadableError as error:
            self.skipped[path] = str(error)
            return
        if content is not None:
            self.documents[path] = content

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


def _why_folder_is_skipped(path: str) -> str:
    if path.count("/") + 1 >= MAX_SEGMENTS:
        return "too deep"
    if is_reserved(path.rpartition("/")[2]):
        return "name that git keeps for itself"
    return ""
