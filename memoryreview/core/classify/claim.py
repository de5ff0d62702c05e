"""A proof next to the trees it speaks of: what the clauses of `verify` look at."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from memoryreview.core.formats import of_document
from memoryreview.core.formats.base import IndexRow
from memoryreview.core.formats.catalogue import Catalogue
from memoryreview.core.formats.index import rows
from memoryreview.core.model import Context, FormatName, Proof, Rewrite, Tree
from memoryreview.core.text import Line, fold_name, split_lines

SECTION = "§".encode()

_TAIL = r"(?:[ .(~][^/]*)?\.mdc?$"
_INSTRUCTION = re.compile(
    rf"(?i:(?:^|/)\.?(?:agents?|claude|gemini|qwen|copilot-instructions|global_rules|instructions|skill){_TAIL})"
    rf"|(?:^|/)(?:SOUL|IDENTITY|BOOTSTRAP|HEARTBEAT|TOOLS|CONVENTIONS|WARP|CRUSH|OPENCODE|JULES|CODEX){_TAIL}"
    r"|(?i:\.mdc$|\.(?:instructions|prompt|chatmode|agent)\.md$)"
    r"|(?i:(?:^|/)\.(?:cursor|windsurf|cline|roo|goose)(?:rules|hints))"
    r"|(?i:(?:^|/)\.[^/]+/(?:rules|instructions|prompts|commands|skills|agents|workflows|steering)/)"
)
_COPY = re.compile(r"conflic|konflik|conflit|конфликт|冲突|衝突|競合|충돌", re.IGNORECASE)
_DOUBLE = re.compile(
    r"(?: \(\d{1,3}\)| copy(?: \d{1,3})?| - (?:cop|kopi|копия|コピー|副本)[^./]*|(?: |的|の)(?:副本|コピー)|~)\.[^.]+$"
    r"|_(?-i:BACKUP|BASE|LOCAL|REMOTE)_\d+\.|\.(?:orig|mine|theirs|ours|(?-i:BACKUP|BASE|LOCAL|REMOTE))\.[^.]+$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Claim:
    """A proof, or the part of it that speaks of one document. `named` and `changed` are paths of all of it.

    `names` reads what the documents of the base are called, once for all clauses.
    """

    base: Tree
    proposed: Tree
    proof: Proof
    context: Context
    named: frozenset[str]
    changed: frozenset[str]
    names: Callable[[], Catalogue]

    @property
    def paths(self) -> list[str]:
        return sorted({rewrite.path for rewrite in self.proof.rewrites})

    def rewrites(self, path: str) -> list[Rewrite]:
        return [rewrite for rewrite in self.proof.rewrites if rewrite.path == path]

    def arrivals(self, path: str) -> list[tuple[int, int]]:
        """Return the spans of the proposed document that come into it without taking the place of anything."""
        found: list[tuple[int, int]] = []
        shift = 0
        for rewrite in self.rewrites(path):
            start = rewrite.start + shift
            if rewrite.start == rewrite.end:
                found.append((start, start + len(rewrite.new)))
            shift += len(rewrite.new) - (rewrite.end - rewrite.start)
        return found

    @property
    def pairs(self) -> Iterator[tuple[bytes, bytes]]:
        """Base and proposed bytes of each document that the proof names."""
        for path in self.paths:
            yield self.base[path], self.proposed.get(path, b"")

    @property
    def states(self) -> Iterator[bytes]:
        for pair in self.pairs:
            yield from pair

    def has_entries(self, path: str) -> bool:
        """Whether `§` lines divide the document into entries."""
        own = of_document(self.context.format, path, self.base[path]).name
        return own is FormatName.HERMES and any(line.body == SECTION for line in lines_of(self.base[path]))

    def is_cited(self, path: str) -> bool:
        """Whether other documents cite lines of this one by number."""
        name, data = path.rsplit("/", 1)[-1], self.base[path]
        if name == "memory_summary.md":
            return self.context.format is FormatName.CODEX or data.split(b"\n", 1)[0].rstrip(b"\r") == b"v1"
        if name != "MEMORY.md":
            return False
        return self.context.format is FormatName.CODEX or b"\n# Task Group:" in b"\n" + data


Clause: TypeAlias = Callable[[Claim], bool]
"""One thing that must hold, each needed by at least one lie that the others let pass."""


@lru_cache(maxsize=8)
def lines_of(data: bytes) -> tuple[Line, ...]:
    return split_lines(data)


@lru_cache(maxsize=8)
def rows_of(data: bytes) -> tuple[IndexRow, ...]:
    return rows(data)


def line_at(data: bytes, offset: int) -> Line:
    """Return the line that holds an offset; the last one at the end of the document."""
    return lines_of(data)[bisect_right(lines_of(data), offset, key=lambda line: line.start) - 1]


def lines_in(data: bytes, start: int, end: int) -> list[Line]:
    """Return the lines that begin in a byte span and whose text ends in it."""
    lines = lines_of(data)
    first, stop = (bisect_left(lines, offset, key=lambda line: line.start) for offset in (start, end))
    return [line for line in lines[first:stop] if line.start + len(line.body) <= end]


@lru_cache(maxsize=8)
def run_starts(data: bytes) -> tuple[int, ...]:
    """Return for each line the index of the first line of its run: what stands between blank lines and `§` lines."""
    starts: list[int] = []
    goes_on = False
    for index, line in enumerate(lines_of(data)):
        starts.append(starts[-1] if goes_on else index)
        goes_on = not is_blank(line) and line.body != SECTION
    return tuple(starts)


@lru_cache(maxsize=8)
def code_above(data: bytes) -> tuple[int, ...]:
    """Return for each line how many backticks opened a code span above it in its run that none closed, 0 for none."""
    found: list[int] = []
    opened = 0
    for index, (line, start) in enumerate(zip(lines_of(data), run_starts(data), strict=True)):
        found.append(0 if start == index else opened)
        opened = code_after(found[-1], line.body)
    return tuple(found)


def code_after(opened: int, text: bytes) -> int:
    """Return how many backticks opened the code span that no other run as long has closed at the end of a text."""
    for slashes, ticks in re.findall(rb"(\\*)(`+)", text):
        length = len(ticks) - (len(slashes) % 2 if opened == 0 else 0)
        if opened in (0, length):
            opened = length - opened
    return opened


def is_blank(line: Line) -> bool:
    return not line.body.strip(b" \t")


def is_copy(path: str) -> bool:
    """Whether a sync or merge tool made a document. A note about conflicts may say so in its name; a copy carries a
    mark or a number with it."""
    name = path.rpartition("/")[2]
    is_marked = re.search(r"\d|[(（\[~]|conflicted copy|kopi|copi[ea]|副本|コピー|копия", name, re.IGNORECASE)
    return bool((is_marked and _COPY.search(name)) or _DOUBLE.search(name))


def is_instruction(path: str) -> bool:
    """Whether people write a document for agents."""
    return bool(_INSTRUCTION.search(path))


def loosely(name: str) -> str:
    """Return a name as loose links see it: case, `.md`, dashes and blanks do not count."""
    return re.sub(r"[- ]", "_", re.sub(r"\.(?:md|markdown)$", "", fold_name(name.strip())))
