"""Which version a line or an entry comes from. Versions are whole documents, newest first; nothing is remembered.

A line keeps its version when it only moved, when its line end changed or the newline after it came or went. Lines that
say too little to be known again (blank ones, fences) count as moved by nobody: where they are new, they are new.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from .align import Hunk, align
from .formats.base import Entry
from .formats.index import rows
from .pairs import MOVED_CHARS, paired_lines
from .text import BYTE_ORDER_MARK, split_lines
from .words import Budget

__all__ = ["Asked", "Fate", "Touch", "entry_touches", "line_origins"]

_NAMED_BY_TITLE = frozenset({"section", "task", "task-group"})


class Fate(StrEnum):
    """What one version did to an entry."""

    ADDED = "added"
    REWRITTEN = "rewritten"
    MOVED = "moved"
    REMOVED = "removed"
    OLDER = "older"
    """Nothing: it stands as it is in the last version given, and nobody looked further."""


@dataclass(frozen=True, slots=True)
class Touch:
    """One version that did something to an entry. `version` counts from the newest, 0; texts keep their lines.

    Args: before, after: bytes of the entry, line ends as LF, None where it did not exist.
    """

    version: int
    fate: Fate
    before: bytes | None
    after: bytes | None
    entry: Entry


Locate = Callable[[int, bytes], Sequence[Entry]]
"""Locates the entries of a version, given by its number and its bytes."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Which entry is meant: the one on a 1-based line of the newest version, or one that reads like a text.

    By its text it is the one that equals it, else the first that begins with it, else the first that holds it, in the
    newest version that has one.
    """

    lineno: int = 0
    text: str = ""

    @classmethod
    def of(cls, words: str) -> Asked:
        """Read what an address names: a number is a line."""
        is_number = words.isascii() and words.isdecimal() and len(words) < 10
        return cls(lineno=int(words)) if is_number else cls(text=" ".join(words.split()).removesuffix("…"))

    def find(self, version: int, data: bytes, locate: Locate) -> Entry | None:
        if self.lineno:
            return _entry_on(locate(version, data), self.lineno - 1) if version == 0 else None
        words = "".join(self.text.split()).encode("utf-8", "surrogateescape")
        if not words or words not in b"".join(data.split()):
            return None  # without parsing it
        entries = locate(version, data)
        ways = (lambda text: text == self.text, lambda text: text.startswith(self.text), lambda text: self.text in text)
        return next((one for fits in ways for one in entries if fits(one.text)), None)


def line_origins(versions: Iterable[bytes | None], wanted: Collection[int] | None = None) -> dict[int, int]:
    """Return for lines of the newest version the oldest version up to which they stand without a break.

    Args:
        versions: newest first, None where the document did not exist. Read only as far as needed.
        wanted: 0-based lines that are asked for, by default all.
    Returns: line to version, both 0-based. A line that is older than the last version given is left out.
    """
    found: dict[int, int] = {}
    asked: dict[int, int] | None = None
    for number, (newer, older) in enumerate(pairwise(map(_Version.of, versions))):
        if asked is None:
            every = range(len(newer.lines))
            asked = {line: line for line in (every if wanted is None else wanted) if line in every}
        was = _Same.of(older, newer).every()
        found |= {line: number for at, line in asked.items() if at not in was}
        asked = {was[at]: line for at, line in asked.items() if at in was}
        if not asked:
            break
    return found


def entry_touches(versions: Iterable[bytes | None], locate: Locate, asked: Asked) -> Iterator[Touch]:
    """Yield what the versions did to one entry, newest first. The last one added it, or it is older than all of them.

    An entry is known again by its lines, else as a whole elsewhere, else by what its kind is named by (the target of a
    row, the title of a heading), else by its likeness. Versions that leave it and the lines around it are not parsed.
    """
    span: tuple[int, int] | None = None
    number, older = 0, _Version.of(None)
    for number, (newer, older) in enumerate(pairwise(map(_Version.of, versions))):
        if span is None:
            entry = asked.find(number, newer.data, locate)
            if entry is None:
                gone = asked.find(number + 1, older.data, locate)
                if gone is not None:
                    yield Touch(number, Fate.REMOVED, _text(older, gone), None, gone)
                continue
            span = entry.lines
        same = _Same.of(older, newer)
        if (shift := same.shift_of(span, len(newer.lines), len(older.lines))) is not None:
            span = (span[0] + shift, span[1] + shift)
            continue
        entry = _entry_on(locate(number, newer.data), span[0] - 1)
        if entry is None:
            return
        after = _text(newer, entry)
        known = _Known(older, newer, locate(number + 1, older.data), same).again(entry)
        if known is None:
            yield Touch(number, Fate.ADDED, None, after, entry)
            return
        before = _text(older, known.entry)
        if before != after:
            yield Touch(number, Fate.REWRITTEN, before, after, entry)
        elif known.is_moved:
            yield Touch(number, Fate.MOVED, before, after, entry)
        span = known.entry.lines
    left = _entry_on(locate(number + 1, older.data), span[0] - 1) if span is not None else None
    if left is not None:
        yield Touch(number + 1, Fate.OLDER, _text(older, left), _text(older, left), left)


@dataclass(frozen=True, slots=True)
class _Version:
    """One state of a document. Lines come without their ends and the byte order mark: nobody wrote those as words."""

    data: bytes
    lines: tuple[bytes, ...]

    @classmethod
    def of(cls, data: bytes | None) -> _Version:
        content = data or b""
        lines = [line.body for line in split_lines(content)]
        if lines:
            lines[0] = lines[0].removeprefix(BYTE_ORDER_MARK)
        return cls(content, tuple(lines))


@dataclass(frozen=True, slots=True)
class _Same:
    """Lines of a newer version, 0-based, that stand in the older one: in place, or moved."""

    stayed: Mapping[int, int]
    moved: Mapping[int, int]
    hunks: tuple[Hunk, ...]

    @classmethod
    def of(cls, older: _Version, newer: _Version) -> _Same:
        old, new = older.lines, newer.lines
        hunks = align(old, new)
        stayed: dict[int, int] = {}
        old_at, new_at = 0, 0
        for hunk in (*hunks, Hunk(len(old), len(old), len(new), len(new))):
            stayed.update(zip(range(new_at, hunk.new_start), range(old_at, hunk.old_start), strict=True))
            old_at, new_at = hunk.old_end, hunk.new_end
        return cls(stayed, _moved(old, new, hunks), hunks)

    def every(self) -> dict[int, int]:
        return {**self.stayed, **self.moved}

    def shift_of(self, span: tuple[int, int], newer_lines: int, older_lines: int) -> int | None:
        """Return how far lines (1-based, both ends included) stand lower in the older version, if they and their
        neighbours stayed together; None when something happened there."""
        first, last = span[0] - 2, span[1]
        here = range(max(0, first), min(newer_lines, last + 1))
        shifts = {self.stayed[at] - at if at in self.stayed else None for at in here}
        shift = shifts.pop()
        if shifts or shift is None:
            return None
        starts_alike = first >= 0 or shift == 0
        ends_alike = last < newer_lines or newer_lines + shift == older_lines
        return shift if starts_alike and ends_alike else None


def _moved(old: Sequence[bytes], new: Sequence[bytes], hunks: Sequence[Hunk]) -> dict[int, int]:
    """Return which added line is which removed one, word for word; of equal ones the first is the first."""
    removed: defaultdict[bytes, deque[int]] = defaultdict(deque)
    for hunk in hunks:
        for at in range(hunk.old_start, hunk.old_end):
            if len(old[at].strip()) >= MOVED_CHARS:
                removed[old[at]].append(at)
    added = (at for hunk in hunks for at in range(hunk.new_start, hunk.new_end))
    return {at: removed[new[at]].popleft() for at in added if removed.get(new[at])}


@dataclass(frozen=True, slots=True)
class _Found:
    entry: Entry
    is_moved: bool = False


@dataclass(frozen=True, slots=True)
class _Known:
    """Two neighbouring versions with the entries of the older one, to know one of the newer one again."""

    older: _Version
    newer: _Version
    entries: Sequence[Entry]
    same: _Same

    def again(self, entry: Entry) -> _Found | None:
        for lines, is_moved in ((self.same.stayed, False), (self.same.moved, True)):
            sharing = self._voted(entry, lines, self.entries)
            if sharing is not None:
                return _Found(sharing, is_moved)
        free = self._free()
        text = _text(self.newer, entry)
        whole = next((one for one in free if one.kind == entry.kind and _text(self.older, one) == text), None)
        if whole is not None:
            return _Found(whole, is_moved=True)
        name = _name(self.newer, entry)
        named = next((one for one in free if name and _name(self.older, one) == name), None)
        found = named or self._voted(entry, self._alike(), free)
        return _Found(found) if found is not None else None

    def _voted(self, entry: Entry, lines: Mapping[int, int], entries: Sequence[Entry]) -> Entry | None:
        """Return the older entry that holds most of an entry's lines, by a map of newer to older lines."""
        votes: Counter[int] = Counter()
        for at in _filled(self.newer, entry):
            number = _number_on(entries, lines[at]) if at in lines else None
            if number is not None:
                votes[number] += 1
        return entries[max(votes, key=lambda number: (votes[number], -number))] if votes else None

    def _free(self) -> list[Entry]:
        """Return the older entries of which no line stays: only they can have become another text."""
        stayed = set(self.same.stayed.values())
        return [one for one in self.entries if not stayed & set(_filled(self.older, one))]

    def _alike(self) -> dict[int, int]:
        old, new = ([line.decode("utf-8", "replace") for line in one.lines] for one in (self.older, self.newer))
        return {right: left for left, right in paired_lines(old, new, self.same.hunks, Budget()).items()}


def _filled(version: _Version, entry: Entry) -> Iterator[int]:
    """Yield the 0-based lines of an entry that are not blank."""
    return (
        at for at in range(entry.lines[0] - 1, min(entry.lines[1], len(version.lines))) if version.lines[at].strip()
    )


def _number_on(entries: Sequence[Entry], at: int) -> int | None:
    """Return the place of the entry that covers a 0-based line."""
    return next((n for n, one in enumerate(entries) if one.lines[0] <= at + 1 <= one.lines[1]), None)


def _entry_on(entries: Sequence[Entry], at: int) -> Entry | None:
    number = _number_on(entries, at)
    return None if number is None else entries[number]


def _text(version: _Version, entry: Entry) -> bytes:
    return version.data[entry.start : entry.end].removeprefix(BYTE_ORDER_MARK).replace(b"\r\n", b"\n")


def _name(version: _Version, entry: Entry) -> str:
    """Return what an entry of its kind is called whatever it says, "" for one that is only its words."""
    if entry.kind == "document":
        return entry.kind
    if entry.kind in _NAMED_BY_TITLE:
        return f"{entry.kind} {entry.title}"
    if entry.kind == "row":
        [*found] = rows(version.data[entry.start : entry.end])
        return f"row {found[0].target}#{found[0].anchor}" if found else ""
    return ""
