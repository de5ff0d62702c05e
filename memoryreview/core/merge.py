"""Three-way merge by lines. Deterministic; a conflict is a value, and no marker text is ever made."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from operator import itemgetter
from typing import NamedTuple

from .align import Hunk, align
from .text import raw_lines


@dataclass(frozen=True, slots=True)
class Conflict:
    """One region that both sides changed. Line spans are 1-based half-open in base, ours and theirs."""

    base: tuple[int, int]
    ours: tuple[int, int]
    theirs: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Merged:
    """`data` is None where the merged document does not exist."""

    data: bytes | None


@dataclass(frozen=True, slots=True)
class Conflicted:
    conflicts: tuple[Conflict, ...]


def merge3(base: bytes | None, ours: bytes | None, theirs: bytes | None) -> Merged | Conflicted:
    """Merge two changes of one document (None: it does not exist on that side).

    Identities: merge3(b, b, t) = t; merge3(b, o, b) = o; merge3(b, x, x) = x. Line ends and final newline are content.
    Whole-line insertions of both sides at the same place are both kept (ours first; equal ones once; a line without
    final newline stays last). Changes to neighbouring lines that do not overlap merge; a deletion against a change
    conflicts. Where the change of one side is part of what the other side did there, the larger one is the result.
    Text after a last line without newline changes that line: two different such additions conflict.
    """
    if ours == theirs or theirs == base:
        return Merged(ours)
    if ours == base:
        return Merged(theirs)
    if base is None or ours is None or theirs is None:
        return whole(base, ours, theirs)
    return _merge_lines(raw_lines(base), raw_lines(ours), raw_lines(theirs))


def merge_without_base(ours: bytes | None, theirs: bytes | None) -> Merged | Conflicted:
    """Merge two states of one document whose common base is not known: nothing that stands may go by it.

    What theirs adds to ours is taken. Where a line of ours would go or change, it is a conflict.
    """
    if ours is None or ours == theirs:
        return Merged(theirs)
    if theirs is None or any(change.old for change in changes(ours, theirs)):
        return whole(None, ours, theirs)
    return Merged(theirs)


def whole(base: bytes | None, ours: bytes | None, theirs: bytes | None) -> Conflicted:
    """Return the conflict in which every line is in question."""
    return Conflicted((Conflict(_whole(base), _whole(ours), _whole(theirs)),))


@dataclass(frozen=True, slots=True)
class Change:
    """A maximal run of changed lines without context: what a reviewer approves."""

    old_start: int  # 1-based line in the old document
    old: bytes
    new_start: int
    new: bytes


def changes(old: bytes | None, new: bytes | None) -> tuple[Change, ...]:
    """Return the changed runs between two states of one document, in order; minimal by lines, deterministic.

    A pure addition's `old_start` is the line that it comes before. None counts as an empty document.
    """
    old_lines, new_lines = raw_lines(old or b""), raw_lines(new or b"")
    return tuple(
        Change(
            old_start=hunk.old_start + 1,
            old=b"".join(old_lines[hunk.old_start : hunk.old_end]),
            new_start=hunk.new_start + 1,
            new=b"".join(new_lines[hunk.new_start : hunk.new_end]),
        )
        for hunk in align(old_lines, new_lines)
    )


def _whole(data: bytes | None) -> tuple[int, int]:
    return 1, 1 + len(raw_lines(data or b""))


class _Side(Enum):
    OURS = "ours"
    THEIRS = "theirs"


class _Edit(NamedTuple):
    """A hunk of one side and the half-open span of base lines that it claims. The end of a document counts as one more
    line, claimed by text without final newline: nothing can follow that text without changing it."""

    start: int
    end: int
    side: _Side
    hunk: Hunk


class _Region(NamedTuple):
    """Base lines that one side changed, or both in overlapping places, and what each side has there."""

    start: int
    end: int
    ours: tuple[Hunk, ...]
    theirs: tuple[Hunk, ...]


def _merge_lines(base: list[bytes], ours: list[bytes], theirs: list[bytes]) -> Merged | Conflicted:
    edits = [*_edits(base, ours, _Side.OURS), *_edits(base, theirs, _Side.THEIRS)]
    edits.sort(key=lambda edit: (edit.start, edit.end))  # stable: ours first
    out: list[bytes] = []
    conflicts: list[Conflict] = []
    copied = our_shift = their_shift = 0
    for region in _regions(edits):
        end = min(region.end, len(base))
        our_span = (region.start + our_shift, end + our_shift + _growth(region.ours))
        their_span = (region.start + their_shift, end + their_shift + _growth(region.theirs))
        resolved = _resolve(
            region, ours[slice(*our_span)], theirs[slice(*their_span)], (our_span[0], their_span[0]), base
        )
        if resolved is None:
            conflicts.append(Conflict(_shown((region.start, end)), _shown(our_span), _shown(their_span)))
        else:
            out += base[copied : region.start]
            out += resolved
        copied = end
        our_shift += _growth(region.ours)
        their_shift += _growth(region.theirs)
    if conflicts:
        return Conflicted(tuple(conflicts))
    return Merged(b"".join([*out, *base[copied:]]))


def _edits(base: list[bytes], side_lines: list[bytes], side: _Side) -> Iterator[_Edit]:
    for hunk in align(base, side_lines):
        added = side_lines[hunk.new_start : hunk.new_end]
        claims_end = bool(added) and not added[-1].endswith(b"\n")
        yield _Edit(hunk.old_start, hunk.old_end + claims_end, side, hunk)


def _regions(edits: list[_Edit]) -> Iterator[_Region]:
    """Group edits that overlap. Touching is not overlapping, except for two insertions at one place."""
    group: list[_Edit] = []
    start = end = 0
    for edit in edits:
        if group and (edit.start < end or edit[:2] == (start, end)):
            group.append(edit)
            end = max(end, edit.end)
            continue
        if group:
            yield _region(start, end, group)
        group, start, end = [edit], edit.start, edit.end
    if group:
        yield _region(start, end, group)


def _region(start: int, end: int, group: list[_Edit]) -> _Region:
    ours = tuple(edit.hunk for edit in group if edit.side is _Side.OURS)
    theirs = tuple(edit.hunk for edit in group if edit.side is _Side.THEIRS)
    return _Region(start, end, ours, theirs)


def _growth(hunks: tuple[Hunk, ...]) -> int:
    return sum(hunk.new_end - hunk.new_start - (hunk.old_end - hunk.old_start) for hunk in hunks)


def _shown(span: tuple[int, int]) -> tuple[int, int]:
    return span[0] + 1, span[1] + 1


def _resolve(
    region: _Region, ours: list[bytes], theirs: list[bytes], starts: tuple[int, int], base: list[bytes]
) -> list[bytes] | None:
    """Return the merged lines of a region, None where a person has to choose."""
    if not region.theirs or ours == theirs:
        return ours
    if not region.ours:
        return theirs
    if _includes(theirs, ours, region.ours, starts[0], base):
        return theirs
    if _includes(ours, theirs, region.theirs, starts[1], base):
        return ours
    if region.start == region.end:
        return ours + theirs
    return None


def _includes(
    larger: list[bytes], smaller: list[bytes], hunks: tuple[Hunk, ...], start: int, base: list[bytes]
) -> bool:
    """Whether `larger` is a further edit of `smaller` that leaves alone all that the smaller side did.

    Args:
        hunks: what the smaller side did; new lines counted in its document, where its part of the region begins at
            `start`.
    """
    removed = {line for hunk in hunks for line in base[hunk.old_start : hunk.old_end]}
    spans = [(hunk.new_start - start, hunk.new_end - start) for hunk in hunks]
    for further in align(smaller, larger):
        if not removed.isdisjoint(larger[further.new_start : further.new_end]):
            return False
        near = bisect_left(spans, further.old_start, key=itemgetter(1))
        while near < len(spans) and spans[near][0] <= further.old_end:
            if _disturbs(further, *spans[near]):
                return False
            near += 1
    return True


def _disturbs(further: Hunk, start: int, end: int) -> bool:
    if start == end:
        # Lines put where the smaller side removed some may be what became of them.
        return further.new_start < further.new_end and further.old_start <= start <= further.old_end
    if further.old_start == further.old_end:
        return start < further.old_start < end
    return further.old_start < end and start < further.old_end
