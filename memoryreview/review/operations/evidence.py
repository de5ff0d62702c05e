"""Whether the text that a proposal cites stands where it says: looked up in the folder that the store's owner named."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings

from memoryreview.baseline.folder import PinnedFolder, UnreadableError, WorktreeError, read_document
from memoryreview.core.model import Evidence
from memoryreview.review.models import Store

MAX_FILES = 20
"""Cited files of one proposal that are looked up; with more of them nothing is found."""

MAX_FILE_BYTES = 1024 * 1024
MAX_PLACES = 1000
"""Places in one file at which a text is looked at."""

MIN_CHARS = 3
"""Characters besides blanks that a cited text needs: less stands everywhere."""

_BLANKS = re.compile(r"[^\S\n]+")


@dataclass(frozen=True, slots=True)
class Citation:
    """A text that a proposal says it found. `line` is 1-based, None when it names none."""

    path: str
    line: int | None
    text: str


@dataclass(frozen=True, slots=True)
class Sighting:
    """What the server saw of a citation: the line where the text begins now, None when it is not there."""

    citation: Citation
    line: int | None


def evidence(store: Store, source: Mapping[str, Any]) -> Evidence:
    """Say what is known of the evidence in a proposal's source. Reads the store's evidence folder, if it names one."""
    return weighed(store, source, sightings(store, source))


def weighed(store: Store, source: Mapping[str, Any], seen: Collection[Sighting]) -> Evidence:
    """The same by what was seen of its citations already."""
    cited = citations(source)
    quote = source.get("evidence")
    has_quote = isinstance(quote, str) and bool(quote.strip())
    if not cited and not has_quote:
        return Evidence.NONE
    if not store.evidence_root:
        return Evidence.ATTACHED
    is_found = bool(seen) and all(sighting.line is not None for sighting in seen)
    return Evidence.FOUND if is_found else Evidence.MISSING


def citations(source: Mapping[str, Any]) -> tuple[Citation, ...]:
    """Return the files that a source names. What has no path, or is no file entry at all, cites nothing."""
    files = source.get("files")
    return tuple(_citations(files)) if isinstance(files, list) else ()


def _citations(files: list[Any]) -> Iterator[Citation]:
    for file in files:
        if isinstance(file, dict) and isinstance(file.get("path"), str) and file["path"]:
            line, text = file.get("line"), file.get("text")
            yield Citation(file["path"], line if isinstance(line, int) else None, text if isinstance(text, str) else "")


def sightings(store: Store, source: Mapping[str, Any]) -> tuple[Sighting, ...]:
    """Look up every citation; () where the store names no folder. What cannot be read is not there."""
    cited = citations(source)
    if not store.evidence_root or not cited:
        return ()
    if len(cited) > MAX_FILES:
        return tuple(Sighting(citation, None) for citation in cited)
    try:
        folder = PinnedFolder(Path(store.evidence_root))
    except WorktreeError:
        return tuple(Sighting(citation, None) for citation in cited)
    kept = set(_identities([settings.HOME, *Store.objects.values_list("root", flat=True)]))
    return tuple(Sighting(citation, _line_of(citation, folder, kept)) for citation in cited)


def _identities(paths: Iterable[str | Path]) -> Iterator[tuple[int, int]]:
    """Yield device and inode of those folders that are there: one folder may have several spellings."""
    for path in paths:
        try:
            seen = Path(path).stat()
        except OSError:
            continue
        yield seen.st_dev, seen.st_ino


def _line_of(citation: Citation, folder: PinnedFolder, kept: set[tuple[int, int]]) -> int | None:
    segments = citation.path.split("/")
    wanted = _plain(citation.text).strip("\n")
    if len(re.sub(r"\s", "", wanted)) < MIN_CHARS or any(part in ("", ".", "..") or "\0" in part for part in segments):
        return None
    # A memory that bears itself out is no evidence, wherever it lies.
    if not kept.isdisjoint(_identities(folder.root.joinpath(*segments).parents)):
        return None
    try:
        with folder.opened(segments[:-1]) as fd:
            is_small = os.stat(segments[-1], dir_fd=fd, follow_symlinks=False).st_size <= MAX_FILE_BYTES
            content = read_document(fd, segments[-1]) if is_small else None
    except (OSError, UnreadableError, WorktreeError, ValueError):
        return None
    if content is None:
        return None
    lines = list(_lines_with(_plain(content.decode("utf-8", "replace")), wanted))
    return citation.line if citation.line in lines else next(iter(lines), None)


def _plain(text: str) -> str:
    """Return a text without indents and with single blanks: how a line is laid out does not matter."""
    return "\n".join(_BLANKS.sub(" ", line).strip() for line in text.split("\n"))


def _lines_with(text: str, wanted: str) -> Iterator[int]:
    """Yield the 1-based lines on which a text begins as whole words: “port 54” does not stand in “port 5432”."""
    line, counted, at = 1, 0, text.find(wanted)
    for _ in range(MAX_PLACES):
        if at < 0:
            return
        end = at + len(wanted)
        cuts_in = at > 0 and text[at - 1].isalnum() and wanted[0].isalnum()
        cuts_off = end < len(text) and text[end].isalnum() and wanted[-1].isalnum()
        if not cuts_in and not cuts_off:
            line, counted = line + text.count("\n", counted, at), at
            yield line
        at = text.find(wanted, at + 1)
