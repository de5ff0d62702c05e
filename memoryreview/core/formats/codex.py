"""Codex: `MEMORY.md` as task groups, `memory_summary.md` that begins with `v1`, and files that the tool regenerates."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from memoryreview.core import markdown
from memoryreview.core.markdown import Place
from memoryreview.core.model import FormatName, Problem, Tree
from memoryreview.core.names import shown
from memoryreview.core.text import split_lines

from . import blocks, lint
from .base import Entry, LoadedLine, Meter, basename, directory, is_document
from .catalogue import Catalogue

HANDBOOK_NAME = "MEMORY.md"
SUMMARY_NAME = "memory_summary.md"
RAW_NAME = "raw_memories.md"
SUMMARY_FOLDER = "rollout_summaries"
DIFF_NAME = "phase2_workspace_diff.md"
PROVENANCE_HEADING = "rollout_summary_files"

FORMAT_MARK = b"v1"
SUMMARY_TOKENS = 2_500
BYTES_PER_TOKEN = 4
"""Codex counts with its model's tokenizer; four bytes a token is our estimate."""

_GROUP_LINE = re.compile(rb"^# Task Group: ", re.MULTILINE)
_HEADER_LINES = ("scope:", "applies_to:")
_PROVENANCE = re.compile(rf"{SUMMARY_FOLDER}/[^\s()]+\.md")
_THREAD_LINE = re.compile(rb"^## Thread ", re.MULTILINE)


class Codex:
    name: FormatName = FormatName.CODEX

    def entries(self, path: str, data: bytes) -> tuple[Entry, ...]:
        """Return task groups (with their header lines), tasks, bullets and the rest of the handbook as blocks."""
        found = blocks.document_entry(path, data) + blocks.entries(path, data)
        return tuple(_grouped(found, data)) if basename(path) == HANDBOOK_NAME else found

    def meters(self, path: str, data: bytes) -> tuple[Meter, ...]:
        """Measure the injected summary in tokens, estimated as bytes / 4: Codex's own tokenizer may differ."""
        if basename(path) != SUMMARY_NAME:
            return ()
        limit_bytes = SUMMARY_TOKENS * BYTES_PER_TOKEN
        cut = next((line.number for line in split_lines(data) if line.end > limit_bytes), None)
        return (Meter(path, "tokens", -(-len(data) // BYTES_PER_TOKEN), SUMMARY_TOKENS, cut),)

    def loads(self, path: str, data: bytes) -> tuple[LoadedLine, ...]:
        if basename(path) != SUMMARY_NAME:
            return ()
        return tuple(LoadedLine(line.number, line.raw) for line in split_lines(data))

    def lint(self, tree: Tree) -> tuple[Problem, ...]:
        problems = lint.files(tree)
        catalogue = Catalogue(tree)
        for path, data in lint.documents(tree).items():
            if not self.is_generated(path):
                problems += lint.heads(path, data) + lint.body(path, data) + lint.links(path, data, catalogue)
                problems += self.faults(path, data, tree)
        return lint.ordered([*problems, *_without_handbook(tree)])

    def faults(self, path: str, data: bytes, tree: Tree) -> list[Problem]:
        if basename(path) == HANDBOOK_NAME:
            return _missing_summaries(path, data, tree)
        return list(_summary(path, data, self.meters(path, data))) if basename(path) == SUMMARY_NAME else []

    def is_index(self, path: str) -> bool:
        return False

    def is_generated(self, path: str) -> bool:
        return is_session_summary(path) or basename(path) in (RAW_NAME, DIFF_NAME)


def has_signs(tree: Tree) -> bool:
    """Whether a folder looks like a Codex store, of either generation, also before its handbook is written."""
    return any(
        is_handbook(path, tree[path])
        or is_summary(path, tree[path])
        or basename(path) == RAW_NAME
        or is_session_summary(path)
        for path in tree
    )


def is_session_summary(path: str) -> bool:
    return f"/{directory(path)}".endswith(f"/{SUMMARY_FOLDER}")


def is_handbook(path: str, data: bytes) -> bool:
    return basename(path) == HANDBOOK_NAME and _GROUP_LINE.search(data) is not None


def is_summary(path: str, data: bytes) -> bool:
    return basename(path) == SUMMARY_NAME and has_format_mark(data)


def has_format_mark(data: bytes) -> bool:
    """Whether the first line is exactly `v1`; of any other summary Codex rewrites the whole."""
    lines = split_lines(data[:64])
    return bool(lines) and lines[0].body == FORMAT_MARK


def _grouped(entries: Sequence[Entry], data: bytes) -> Iterator[Entry]:
    """Name the headings of groups and tasks, and join a group's heading with the header lines below it."""
    position = 0
    while position < len(entries):
        entry = entries[position]
        position += 1
        if entry.kind != "section":
            yield entry
            continue
        heading = data[entry.start : entry.end]
        if heading.startswith(b"## Task "):
            yield _renamed(entry, "task", entry)
            continue
        if not heading.startswith(b"# Task Group:"):
            yield entry
            continue
        last = entry
        while position < len(entries) and entries[position].text.startswith(_HEADER_LINES):
            last = entries[position]
            position += 1
        yield _renamed(entry, "task-group", last)


def _renamed(entry: Entry, kind: str, last: Entry) -> Entry:
    lines = (entry.lines[0], last.lines[1])
    title = entry.title.partition(":")[2].strip() or entry.title
    text = entry.text if last is entry else f"{entry.text} {last.text}"
    return Entry(kind, entry.path, entry.start, last.end, lines, title, text)


def _missing_summaries(path: str, data: bytes, tree: Tree) -> list[Problem]:
    """Report rows of provenance whose rollout summary is not there, or that the folder is incomplete."""
    folder = f"{directory(path)}/" if directory(path) else ""
    lines = split_lines(data)
    cited = [
        (spot.lineno, match.group())
        for spot in markdown.outline(data)
        if spot.place is Place.ITEM and spot.headings[-1:] == (PROVENANCE_HEADING,)
        if (match := _PROVENANCE.search(lines[spot.lineno - 1].body.decode("utf-8", "replace")))
    ]
    missing = [(lineno, summary) for lineno, summary in cited if folder + summary not in tree]
    if lint.is_bulk(len(missing), len(cited)):
        return [lint.bulk(path, len(missing), len(cited))]
    return [
        Problem(
            "missing-summary",
            path,
            lineno,
            f"The summary “{shown(summary)}” is missing, so nothing shows how this is known.",
        )
        for lineno, summary in missing
    ]


def _summary(path: str, data: bytes, meters: Sequence[Meter]) -> Iterator[Problem]:
    if not has_format_mark(data):
        sentence = "Line 1 is a format mark and must be exactly “v1”; without it Codex rewrites the whole summary."
        yield Problem("format-mark", path, 1, sentence)
    yield from lint.nearly_full(meters)
    for meter in meters:
        if meter.used > meter.limit:
            sentence = (
                f"The summary has about {lint.amounts(meters)} (estimated as bytes / {BYTES_PER_TOKEN}): "
                f"from line {meter.cut_line} on Codex does not read it."
            )
            yield Problem("budget-warning", path, meter.cut_line, sentence)


def _without_handbook(tree: Tree) -> Iterator[Problem]:
    for path in tree:
        folder = directory(path)
        handbook = f"{folder}/{HANDBOOK_NAME}" if folder else HANDBOOK_NAME
        if is_document(path) and basename(path) == RAW_NAME and handbook not in tree:
            threads = len(_THREAD_LINE.findall(tree[path]))
            count = "1 raw thread" if threads == 1 else f"{threads} raw threads"
            sentence = f"No MEMORY.md yet: 0 task groups, {count}; Codex has not consolidated them."
            yield Problem("no-index", path, None, sentence)
