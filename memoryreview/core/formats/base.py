"""What a memory format knows: which documents it has, their entries, budgets, and what looks wrong."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Protocol

from memoryreview.core.model import FormatName, Problem, Tree

_ELSEWHERE = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]{1,31}:|//)")


@dataclass(frozen=True, slots=True)
class Entry:
    """A unit of meaning. Byte span is half-open; `text` is the whole entry on one line, `title` a short form of it.

    `kind` is "document" (the frontmatter of a topic file), "row", "bullet", "entry" (a `§` entry), "task-group" and
    "task" (their headings, with the header lines of the group), "section" (a heading) or "paragraph" (any other block).
    """

    kind: str
    path: str
    start: int
    end: int
    lines: tuple[int, int]
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class IndexRow:
    """One row of an index: a list entry whose first thing is a link to a document.

    Args:
        lines: 1-based, both included (a row may be wrapped over several lines). Everything that belongs to the row is
            in it, but no list below it.
        start, end: half-open byte span of the whole row without the last line end.
        marker: text before the link, list marker included ("- ", "- ★ [**" is marker "- ★ ").
        title: link text, bold marks kept.
        target, anchor: decoded as in `markdown.Link`.
        separator: text between link and hook (" — ", ": ", "; ", "").
        hook: the rest of the first line and the wrapped lines, as one string with single spaces.
        hook_start: byte offset of the hook in the document, that of the row's end when there is none.
        kind: "inline" or "wiki", the form of the link.
        depth: 1 for a row of an outermost list.
    """

    lines: tuple[int, int]
    start: int
    end: int
    marker: str
    title: str
    target: str
    anchor: str
    separator: str
    hook: str
    hook_start: int
    list_id: int
    section: int
    kind: str = "inline"
    depth: int = 1


@dataclass(frozen=True, slots=True)
class Meter:
    """How full a budget is.

    Args:
        unit: "lines", "bytes", "characters" or "tokens".
        cut_line: 1-based first line that the agent no longer sees, None while all is seen.
        past_line: the first line past the limit where the agent sees it all the same, but its tool adds no more.
    """

    path: str
    unit: str
    used: int
    limit: int
    cut_line: int | None
    past_line: int | None = None

    @property
    def over_line(self) -> int | None:
        return self.cut_line if self.cut_line is not None else self.past_line


@dataclass(frozen=True, slots=True)
class LoadedLine:
    """A line as a tool loads it: `text` with its line end, without what the tool hides.

    `number` is that of the line in its document, 1-based; None for what the tool itself puts between entries.
    """

    number: int | None
    text: bytes


class Format(Protocol):
    name: FormatName

    def entries(self, path: str, data: bytes) -> tuple[Entry, ...]:
        """Locate the entries of one document, in order, not overlapping. Total on arbitrary bytes."""

    def meters(self, path: str, data: bytes) -> tuple[Meter, ...]:
        """Return the budgets that apply to this document; empty for a document that is not always loaded."""

    def loads(self, path: str, data: bytes) -> tuple[LoadedLine, ...]:
        """Return the lines that are always loaded, as if there were no limit; empty for a document that is not."""

    def lint(self, tree: Tree) -> tuple[Problem, ...]:
        """Return what looks wrong in a folder, by path and line."""

    def faults(self, path: str, data: bytes, tree: Tree) -> list[Problem]:
        """Return what looks wrong in one document by the rules of this format alone."""

    def is_index(self, path: str) -> bool:
        """Whether the document is an index of others in this format."""

    def is_generated(self, path: str) -> bool:
        """Whether a tool rewrites this document by itself (recorded, never queued)."""


def basename(path: str) -> str:
    return path.rpartition("/")[2]


def directory(path: str) -> str:
    """Return the folder of a document, "" at the top."""
    return path.rpartition("/")[0]


def stem(path: str) -> str:
    return basename(path).rpartition(".")[0] or basename(path)


def leads_elsewhere(target: str) -> bool:
    """Whether a link's target is an address of the web, of mail and the like, not a path."""
    return _ELSEWHERE.match(target) is not None


def is_document(path: str) -> bool:
    """Whether a path names a Markdown document."""
    return path.casefold().endswith((".md", ".markdown")) and not basename(path).startswith(".")
