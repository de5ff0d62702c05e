"""Claude Code: topic files with frontmatter, and `MEMORY.md` as the index of which only the beginning is loaded."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from memoryreview.core import frontmatter, markdown
from memoryreview.core.frontmatter import Frontmatter
from memoryreview.core.model import FormatName, Problem, Tree
from memoryreview.core.names import shown
from memoryreview.core.text import Line, split_lines

from . import blocks, index, lint, signs, sniff
from .base import Entry, IndexRow, LoadedLine, Meter, basename, directory
from .catalogue import Catalogue

INDEX_NAME = "MEMORY.md"
INDEX_LINES = 200
INDEX_BYTES = 25_000

MAX_LISTED_TITLES = 50
NOTE_SENTENCES = 3
"""Sentences of a hook from which on it is a note and no pointer."""

_SENTENCE_END = re.compile(r"[.!?](?=\s|$)|[。！？]")

_TYPES = frozenset({"user", "feedback", "project", "reference"})


class Claude:
    name: FormatName = FormatName.CLAUDE

    def entries(self, path: str, data: bytes) -> tuple[Entry, ...]:
        """Return the rows and other blocks of an index, or the head of a topic file and the blocks of its body."""
        rows = {row.lines[0]: row for row in index.rows(data)} if self.is_index(path) else {}
        return blocks.document_entry(path, data) + blocks.entries(path, data, rows)

    def meters(self, path: str, data: bytes) -> tuple[Meter, ...]:
        """Measure an index in lines and bytes, without frontmatter and HTML comments, as the loader does.

        Both meters name the same first line that is not loaded: that of whichever limit comes first.
        """
        if not self.is_index(path):
            return ()
        measured = _measured(data)
        cut = min((line for _, line in measured if line is not None), default=None)
        (used_lines, _), (used_bytes, _) = measured
        return (
            Meter(path, "lines", used_lines, INDEX_LINES, cut),
            Meter(path, "bytes", used_bytes, INDEX_BYTES, cut),
        )

    def loads(self, path: str, data: bytes) -> tuple[LoadedLine, ...]:
        return tuple(_loaded(data)) if self.is_index(path) else ()

    def lint(self, tree: Tree) -> tuple[Problem, ...]:
        problems = lint.files(tree)
        documents = lint.documents(tree)
        catalogue = Catalogue(documents | {path: b"" for path in tree if path not in documents})
        foreign = {path: own for path, data in documents.items() if (own := sniff.foreign(path, data, self.name))}
        indexes = [path for path in documents if self.is_index(path) and path not in foreign]
        for path, data in documents.items():
            problems += lint.heads(path, data) + lint.body(path, data)
            pointers = index.pointers(data) if path in indexes else ()
            problems += lint.links(path, data, catalogue, pointers)
            problems += lint.pointers(path, pointers, catalogue)
            problems += foreign.get(path, self).faults(path, data, tree)
        for path in indexes:
            problems += _orphans(path, documents, indexes, catalogue)
        return lint.ordered(problems)

    def faults(self, path: str, data: bytes, tree: Tree) -> list[Problem]:
        return list(self._budgets(path, data)) if self.is_index(path) else []

    def _budgets(self, path: str, data: bytes) -> Iterator[Problem]:
        meters = self.meters(path, data)
        yield from lint.nearly_full(meters)
        for meter in meters:
            if meter.used > meter.limit:
                sentence = f"The index has {lint.amounts(meters)}: from line {meter.cut_line} on nothing is loaded."
                yield Problem(f"index-{meter.unit}", path, meter.cut_line, sentence)
        cut = meters[0].cut_line
        found = index.rows(data)
        lost = [row for row in found if cut is not None and row.lines[0] >= cut]
        if lost:
            (_, by_lines), (_, by_bytes) = _measured(data)
            last = max(by_lines or 0, by_bytes or 0) if by_lines and by_bytes else None
            beyond = sum(1 for row in lost if last is not None and row.lines[0] >= last)
            yield Problem("never-loaded", path, cut, _never_loaded(lost, beyond))
        if cut is not None:
            yield from _spread(path, found)

    def is_index(self, path: str) -> bool:
        return basename(path) == INDEX_NAME

    def is_generated(self, path: str) -> bool:
        return False


def has_head(data: bytes) -> bool:
    """Whether a document opens with the frontmatter of a topic file, of either generation."""
    head = frontmatter.read(data)
    if not isinstance(head, Frontmatter):
        return False
    return head.type in _TYPES or bool(head.name and head.description) or head.get("node_type", "metadata") == "memory"


def _loaded(data: bytes) -> Iterator[LoadedLine]:
    """Yield the lines that the loader counts, without the comments in them."""
    head = frontmatter.read(data)
    first = head.end if isinstance(head, Frontmatter) else 0
    comments = markdown.comments(data)
    place = 0
    for line in split_lines(data):
        while place < len(comments) and comments[place][1] <= line.start:
            place += 1
        after = place
        while after < len(comments) and comments[after][0] < line.end:
            after += 1
        text = _outside(line, comments[place:after])
        is_only_comment = after > place and not text.strip()
        if line.start >= first and not is_only_comment:
            yield LoadedLine(line.number, text)


def _outside(line: Line, comments: Sequence[tuple[int, int]]) -> bytes:
    """Return the text of a line without the comments in it."""
    text = bytearray(line.raw)
    for start, end in reversed(comments):
        del text[max(0, start - line.start) : max(0, end - line.start)]
    return bytes(text)


def _measured(data: bytes) -> tuple[tuple[int, int | None], tuple[int, int | None]]:
    """Return lines and bytes used, each with the first line past its own limit."""
    used_lines = used_bytes = 0
    by_lines: int | None = None
    by_bytes: int | None = None
    for line in _loaded(data):
        used_lines, used_bytes = used_lines + 1, used_bytes + len(line.text)
        if by_lines is None and used_lines > INDEX_LINES:
            by_lines = line.number
        if by_bytes is None and used_bytes > INDEX_BYTES:
            by_bytes = line.number
    return (used_lines, by_lines), (used_bytes, by_bytes)


def _spread(path: str, rows: Sequence[IndexRow]) -> Iterator[Problem]:
    """Report what fills an index that is too long: rows over several lines, and rows that hold a whole note."""
    wrapped = [row for row in rows if row.lines[1] > row.lines[0]]
    if wrapped:
        lines = sum(row.lines[1] - row.lines[0] + 1 for row in wrapped)
        sentence = f"{_count(wrapped)} wrapped over {lines:,} lines, each of which counts against the limit."
        yield Problem("wrapped-rows", path, wrapped[0].lines[0], sentence)
    notes = [row for row in rows if len(_SENTENCE_END.findall(row.hook)) >= NOTE_SENTENCES]
    if notes:
        verb = "holds a whole note" if len(notes) == 1 else "hold whole notes"
        count = "1 row" if len(notes) == 1 else f"{len(notes):,} rows"
        sentence = f"{count} {verb} of {NOTE_SENTENCES} sentences or more; what a document says need not stand here."
        yield Problem("long-rows", path, notes[0].lines[0], sentence)


def _count(rows: Sequence[IndexRow]) -> str:
    return "1 row is" if len(rows) == 1 else f"{len(rows):,} rows are"


def _never_loaded(rows: Sequence[IndexRow], beyond_both: int) -> str:
    """Say which rows lie beyond the limit, newest (lowest) first. Args: beyond_both: those past either limit alone."""
    titles = [row.title.strip("*_") for row in reversed(rows)]
    listed = ", ".join(f"“{shown(title)}”" for title in titles[:MAX_LISTED_TITLES])
    more = f" and {len(titles) - MAX_LISTED_TITLES} older ones" if len(titles) > MAX_LISTED_TITLES else ""
    both = f" {beyond_both} of them lie beyond both limits." if beyond_both else ""
    return f"{_count(rows)} never loaded, newest first: {listed}{more}; move old rows down or out.{both}"


def _orphans(
    path: str, documents: Mapping[str, bytes], indexes: Sequence[str], catalogue: Catalogue
) -> Iterator[Problem]:
    """Report documents under an index, and under no nearer one, that nothing in it points to."""
    if len(documents[path]) > markdown.MAX_PARSED_BYTES:
        return
    listed: set[str] = set()
    for link in markdown.links(documents[path]):
        listed.update(catalogue.find_link(path, link).paths)
    text = documents[path].decode("utf-8", "replace")
    for other in documents:
        if other in indexes or other in listed or _is_named(other, text) or _index_of(other, indexes) != path:
            continue
        if signs.conflict_original(other, documents) is None:
            sentence = (
                f"No row of “{shown(path)}” points to this document, so an agent that reads the index never finds it."
            )
            yield Problem("orphan", other, None, sentence)


def _is_named(path: str, text: str) -> bool:
    """Whether a text names a document by its file name, as in `notes.md`, without a link."""
    name, at = basename(path), text.find(basename(path))
    while at >= 0:
        before, after = text[at - 1 : at], text[at + len(name) : at + len(name) + 1]
        if not (before.isalnum() or before in ("_", "-")) and not after.isalnum():
            return True
        at = text.find(name, at + 1)
    return False


def _index_of(path: str, indexes: Collection[str]) -> str | None:
    """Return the nearest index at or above the folder of a document."""
    folder = directory(path)
    while True:
        candidate = f"{folder}/{INDEX_NAME}" if folder else INDEX_NAME
        if candidate in indexes:
            return candidate
        if not folder:
            return None
        folder = directory(folder)
