"""The statements of a document: entries that say something by themselves, with what they stand under."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from memoryreview.core import formats, markdown
from memoryreview.core.formats import index
from memoryreview.core.formats.base import Entry, IndexRow, basename, is_document
from memoryreview.core.formats.hermes import has_delimiter, is_memory
from memoryreview.core.markdown import Place
from memoryreview.core.model import FormatName
from memoryreview.core.text import fold_name

INSTRUCTIONS = frozenset(
    {"claude.md", "claude.local.md", "agents.md", "agent.md", "gemini.md", "copilot-instructions.md"}
)
"""Documents that a person writes for agents. They are read, compared, and never edited by a suggestion."""

_SPEAKING = frozenset({"bullet", "paragraph", "entry"})
_SILENT_PLACES = frozenset(
    {Place.TABLE, Place.CODE, Place.HTML, Place.REFERENCE, Place.RULE, Place.FRONTMATTER, Place.QUOTE}
)
_CHECK_BOX = re.compile(r"\[.?\](?:\s|$)")
_STRUCK = re.compile(r"~~.{1,2000}~~[\s.]*")
_REFERENCES = re.compile(
    r"[*_#\s]*(?:related|see also|keywords?|tags|rollout_summary_files|siehe auch|verwandt|stichw|voir aussi|connexe|"
    r"véase también|ver también|relacionad|相关|相關|参见|參見|关键词|関連|参照|관련|참고)",
    re.IGNORECASE,
)
_ONLY_LINKS = re.compile(r"(?:\[\[[^\[\]]*\]\]|\[[^\[\]]*\]\([^()]*\)|[\s,;:.·|*_-])*")
_LINKS_CHARS = 2_000
_LOG_NAME = re.compile(r"(?:^|[/_.-])[0-9]{4}[-_]?[0-9]{2}[-_]?[0-9]{2}")


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement and what it stands under.

    Args:
        text: on one line; of a row of an index its hook.
        trail: headings above it, folded, the document's title left out.
        group: number of the task group of Codex that it stands in, 0 outside of one.
        list_id: the list it is an ordered step of, else -1.
        subject, target: of a row: its folded title, and what it points to as it is written.
        is_log: it stands in a document that is named by a day.
    """

    path: str
    line: int
    text: str
    trail: tuple[str, ...]
    store: str = ""
    group: int = 0
    list_id: int = -1
    subject: str = ""
    target: str = ""
    is_log: bool = False

    @property
    def is_instruction(self) -> bool:
        return basename(self.path).casefold() in INSTRUCTIONS

    @property
    def is_row(self) -> bool:
        return self.subject != ""


def statements(path: str, data: bytes, name: FormatName, store: str = "") -> tuple[Statement, ...]:
    """Return what a document says, in order. Total on arbitrary bytes.

    Left out are headings, tables, code, quotes, check boxes, lists of related notes and keywords, struck-out text,
    separators, and documents that a tool rewrites by itself.
    """
    form = formats.of(name)
    if not is_document(path) or form.is_generated(path):
        return ()
    entries = form.entries(path, data)
    if name is FormatName.HERMES and is_memory(path) and has_delimiter(data):
        return tuple(Statement(path, entry.lines[0], entry.text, (), store) for entry in entries if _speaks(entry.text))
    rows = {row.lines[0]: row for row in index.rows(data)} if form.is_index(path) else {}
    return tuple(_read(path, data, entries, store, rows))


def _read(
    path: str, data: bytes, entries: Sequence[Entry], store: str, rows: Mapping[int, IndexRow]
) -> Iterator[Statement]:
    spots = markdown.outline(data)
    title = _title(spots)
    is_log = _LOG_NAME.search(path) is not None
    group = 0
    for entry in entries:
        group += entry.kind == "task-group"
        spot = spots[entry.lines[0] - 1]
        row = rows.get(entry.lines[0])
        if row is not None:
            yield Statement(path, row.lines[0], row.hook, (), store, subject=_subject(row), target=row.target)
            continue
        if entry.kind not in _SPEAKING or spot.place in _SILENT_PLACES or not _speaks(entry.text):
            continue
        if any(map(_REFERENCES.match, spot.headings[-1:])):
            continue
        trail = tuple(fold_name(heading) for heading in spot.headings)
        yield Statement(
            path=path,
            line=entry.lines[0],
            text=entry.text,
            trail=trail[1:] if trail[:1] == title else trail,
            store=store,
            group=group,
            list_id=spot.list_id if spot.place is Place.ORDERED else -1,
            is_log=is_log,
        )


def _title(spots: Sequence[markdown.Spot]) -> tuple[str, ...]:
    """Return the heading under which everything stands, () where there is none: it says no more than the path."""
    first = next((spot.headings[0] for spot in spots if spot.headings), None)
    if first is None or any(spot.headings[0] != first for spot in spots if spot.headings):
        return ()
    return (fold_name(first),)


def _subject(row: IndexRow) -> str:
    return fold_name(row.title.strip("*_ ")) or row.target


def _speaks(text: str) -> bool:
    """Whether an entry states something: no separator, check box, struck-out text, or list of other notes."""
    if not any(char.isalnum() for char in text) or _CHECK_BOX.match(text) or _STRUCK.fullmatch(text):
        return False
    return not _REFERENCES.match(text) and not _ONLY_LINKS.fullmatch(text[:_LINKS_CHARS])
