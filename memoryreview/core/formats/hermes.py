"""Hermes: `MEMORY.md` and `USER.md`, entries separated by a line that holds only the section sign."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memoryreview.core.model import FormatName, Problem, Tree
from memoryreview.core.text import BYTE_ORDER_MARK, split_lines

from . import blocks, index, lint
from .base import Entry, LoadedLine, Meter, basename
from .catalogue import Catalogue

MEMORY_NAME, USER_NAME = "MEMORY.md", "USER.md"
CHARACTERS = {MEMORY_NAME: 2_200, USER_NAME: 1_375}
"""Usual limits by document. Settings may differ, and files above them are common; nothing is cut off at reading."""

_DELIMITER = re.compile(rb"\r?\n\xc2\xa7\r?\n")
_BETWEEN = "\n§\n"
_TRIMMED = b" \t\r\n"


class Hermes:
    name: FormatName = FormatName.HERMES

    def entries(self, path: str, data: bytes) -> tuple[Entry, ...]:
        """Return what Hermes calls entries: the texts between `\\n§\\n`, trimmed, the empty ones left out.

        A document of several blocks without any delimiter is plain Markdown and is read as such.
        """
        if not is_memory(path) or is_without_delimiter(data):
            return blocks.document_entry(path, data) + blocks.entries(path, data)
        return tuple(_entry(path, data, start, end) for start, end in _spans(data))

    def meters(self, path: str, data: bytes) -> tuple[Meter, ...]:
        """Count the characters of the joined entries. Hermes refuses to write past the limit but reads all there is."""
        if not is_memory(path):
            return ()
        limit = CHARACTERS[basename(path)]
        joined, past = 0, None
        for start, end in _spans(data):
            joined += len(_BETWEEN) if joined else 0
            room, text = limit - joined, data[start:end].decode("utf-8", "replace")
            joined += len(text)
            if joined > limit and past is None:
                past = data.count(b"\n", 0, start) + 1 + text[: max(0, room)].count("\n")
        return (Meter(path, "characters", joined, limit, None, past),)

    def loads(self, path: str, data: bytes) -> tuple[LoadedLine, ...]:
        """Return the lines of the entries, joined as Hermes joins them."""
        return tuple(_joined(data)) if is_memory(path) else ()

    def lint(self, tree: Tree) -> tuple[Problem, ...]:
        problems = lint.files(tree)
        catalogue = Catalogue(tree)
        for path, data in lint.documents(tree).items():
            problems += lint.body(path, data) + lint.links(path, data, catalogue)
            problems += self.faults(path, data, tree) if is_memory(path) else lint.heads(path, data)
        return lint.ordered(problems)

    def faults(self, path: str, data: bytes, tree: Tree) -> list[Problem]:
        if not is_memory(path):
            return []
        return [no_delimiter(path)] if is_without_delimiter(data) else self._budget(path, data)

    def _budget(self, path: str, data: bytes) -> list[Problem]:
        [meter] = self.meters(path, data)
        if meter.used <= meter.limit:
            return lint.nearly_full([meter])
        sentence = f"The document has {lint.amounts([meter])} that are usual: Hermes refuses to add to it."
        return [Problem("budget-warning", path, None, sentence)]

    def is_index(self, path: str) -> bool:
        return False

    def is_generated(self, path: str) -> bool:
        return False


def is_memory(path: str) -> bool:
    return basename(path) in CHARACTERS


def has_delimiter(data: bytes) -> bool:
    """Whether the three-character sequence separates entries: a section sign in prose or in a list does not."""
    return _DELIMITER.search(data) is not None


def is_without_delimiter(data: bytes) -> bool:
    """Whether a document has several blocks and no delimiter: a person's Markdown, no list of entries."""
    return not has_delimiter(data) and len(blocks.entries("", data)) > 1


def is_single_entry(path: str, data: bytes) -> bool:
    """Whether a document is a store of one entry, which needs no delimiter."""
    return is_memory(path) and not has_delimiter(data) and len(blocks.entries("", data)) == 1


def has_signs(tree: Tree) -> bool:
    """Whether a folder is a Hermes store: real delimiters, and no `MEMORY.md` that is an index."""
    memories = [tree[path] for path in tree if is_memory(path)]
    return any(has_delimiter(data) for data in memories) and not any(index.rows(data) for data in memories)


def no_delimiter(path: str) -> Problem:
    sentence = "There is no entry delimiter (a line with only §), so Hermes would take the whole file for one entry."
    return Problem("no-delimiter", path, None, sentence)


def _spans(data: bytes) -> list[tuple[int, int]]:
    """Return the byte spans of the entries, without the blanks around them."""
    start = len(BYTE_ORDER_MARK) if data.startswith(BYTE_ORDER_MARK) else 0
    spans: list[tuple[int, int]] = []
    for match in [*_DELIMITER.finditer(data, start), None]:
        end = match.start() if match else len(data)
        text = data[start:end]
        first = start + len(text) - len(text.lstrip(_TRIMMED))
        last = first + len(text.strip(_TRIMMED))
        if first < last:
            spans.append((first, last))
        start = match.end() if match else end
    return spans


def _joined(data: bytes) -> Iterator[LoadedLine]:
    spans = _spans(data)
    for start, end in spans:
        first = data.count(b"\n", 0, start) + 1
        *above, last = split_lines(data[start:end])
        yield from (LoadedLine(first + at, line.raw) for at, line in enumerate(above))
        is_last = end == spans[-1][1]
        yield LoadedLine(first + len(above), last.raw if is_last else last.raw + b"\n")
        if not is_last:
            yield LoadedLine(None, _BETWEEN.lstrip("\n").encode())


def _entry(path: str, data: bytes, start: int, end: int) -> Entry:
    text = data[start:end].decode("utf-8", "replace")
    lines = (data.count(b"\n", 0, start) + 1, data.count(b"\n", 0, end) + 1)
    return Entry("entry", path, start, end, lines, blocks.short(text.partition("\n")[0]), blocks.one_line(text))
