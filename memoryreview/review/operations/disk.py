"""What a commit means for the files: which of them follow it, and which hold a newer text that must stay."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from memoryreview.core.merge import Merged, merge3
from memoryreview.core.model import Delta, Tree


@dataclass(frozen=True, slots=True)
class DiskPlan:
    """What to write: (path, bytes expected on disk, new bytes); and the documents whose disk text cannot be merged."""

    writes: tuple[tuple[str, bytes | None, bytes | None], ...]
    differing: tuple[str, ...]


def disk_plan(
    read: Callable[[str], bytes | None],
    before: Tree,
    delta: Delta,
    *,
    standing: Mapping[str, bytes | None],
    whole: bool,
) -> DiskPlan:
    """Return how the disk follows a commit: newer text there is merged with it, or left as it is.

    Args: read: gives the bytes of a document on disk. before: the tree below the commit. delta: what it changes.
        standing, whole: as in `apply.Landing`.
    """
    writes: list[tuple[str, bytes | None, bytes | None]] = []
    differing: list[str] = []
    for path, new in delta.items():
        disk = read(path)
        if disk == new:
            continue
        if path in standing and disk == standing[path]:
            if whole:
                writes.append((path, disk, new))
            continue
        merged = merge3(before.get(path), disk, new)
        if not isinstance(merged, Merged):
            differing.append(path)
        elif merged.data != disk:
            writes.append((path, disk, merged.data))
    return DiskPlan(tuple(writes), tuple(differing))
