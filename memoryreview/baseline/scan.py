"""What documents a memory folder holds. Only changed files are read again when a cache is kept."""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from .folder import (
    MAX_DOCUMENT_BYTES,
    PinnedFolder,
    UnreadableError,
    WorktreeError,
    read_document,
    shown,
    state_of,
    unreadable,
)
from .names import MAX_SEGMENTS, is_reserved

_LEFT_OVER = re.compile(r".*\.bak\..*", re.DOTALL | re.IGNORECASE)
# Codex writes it for itself, consumes it and deletes it.
_TRANSIENT = "phase2_workspace_diff.md"

_FINE_TICK_NS = 100_000_000
_COARSE_TICK_NS = 2_000_000_000
_SECOND_NS = 1_000_000_000


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


@dataclass(slots=True)
class ScanCache:
    """Bytes of documents as last read, with the state of the file then. Keep one per folder; not for two threads."""

    _seen: dict[str, tuple[tuple[int, ...], int, bytes]] = field(default_factory=dict)

    def get(self, path: str, now: os.stat_result) -> bytes | None:
        """Return the bytes when the file cannot have changed since they were read."""
        seen = self._seen.get(path)
        if seen is None or seen[0] != state_of(now):
            return None
        # A write within the same clock tick as the one before leaves no trace in the times (git's "racy" rule).
        times = (now.st_mtime_ns, now.st_ctime_ns)
        is_coarse = all(time_ns % _SECOND_NS == 0 for time_ns in times)
        tick_ns = _COARSE_TICK_NS if is_coarse else _FINE_TICK_NS
        return seen[2] if max(times) + tick_ns <= seen[1] else None

    def put(self, path: str, state: os.stat_result, read_at_ns: int, content: bytes) -> None:
        self._seen[path] = (state_of(state), read_at_ns, content)

    def keep_only(self, paths: Mapping[str, bytes]) -> None:
        for path in self._seen.keys() - paths.keys():
            del self._seen[path]


def is_document_name(name: str) -> bool:
    """Whether a file of this name would be a document: `.md` in any case, not hidden, no left-over of a tool."""
    lower = name.lower()
    return lower.endswith(".md") and not name.startswith(".") and lower != _TRANSIENT and not _LEFT_OVER.fullmatch(name)


def is_document_path(path: str) -> bool:
    """Whether a scan would list a regular file at this path."""
    *folders, name = path.split("/")
    return is_document_name(name) and not any(folder.startswith(".") or is_reserved(folder) for folder in folders)


def _is_text(path: str) -> bool:
    """Whether a name can be shown and stored; the file system allows others."""
    return not any("\udc80" <= char <= "\udcff" for char in path)


def scan_folder(folder: PinnedFolder, cache: ScanCache) -> Listing:
    """Read every document below a folder. Raises WorktreeError when the folder itself cannot be read."""
    scan = _Scan(folder, cache)
    waiting: list[tuple[str, ...]] = [()]
    while waiting:
        waiting += scan.visit(waiting.pop())
    cache.keep_only(scan.documents)
    return Listing(dict(sorted(scan.documents.items())), dict(sorted(scan.skipped.items())))


class _Scan:
    def __init__(self, folder: PinnedFolder, cache: ScanCache) -> None:
        self.folder = folder
        self.cache = cache
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
            self._read(folder_fd, entry, path)
        return False

    def _read(self, folder_fd: int, entry: os.DirEntry[str], path: str) -> None:
        try:
            now = entry.stat(follow_symlinks=False)
            content = self.cache.get(path, now)
            if content is None:
                if stat.S_ISREG(now.st_mode) and now.st_size > MAX_DOCUMENT_BYTES:
                    raise UnreadableError(f"larger than {MAX_DOCUMENT_BYTES // 1024**2} MiB")
                read_at_ns = time.time_ns()
                found = read_document(folder_fd, entry.name)
                if found is None:
                    return
                content = found[0]
                self.cache.put(path, found[1], read_at_ns, content)
            self.documents[path] = content
        except FileNotFoundError:
            return
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


def _why_folder_is_skipped(path: str) -> str:
    if path.count("/") + 1 >= MAX_SEGMENTS:
        return "too deep"
    if is_reserved(path.rpartition("/")[2]):
        return "name that git keeps for itself"
    return ""
