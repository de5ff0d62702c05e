"""One document cut into blocks: the pieces that a reviewer decides on and a rule may explain."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from memoryreview.core.formats import hermes, of_document
from memoryreview.core.formats.base import IndexRow
from memoryreview.core.formats.index import rows
from memoryreview.core.markdown import Place, Spot, outline
from memoryreview.core.model import Context, FormatName
from memoryreview.core.text import BYTE_ORDER_MARK, Line, split_lines

DELIMITER = "§".encode()
BLANKS = b" \t"

Span: TypeAlias = tuple[int, int]
"""0-based half-open range of lines."""

# Lines of these places that follow each other in the same entry are one block; of the others each line is its own.
_RUNNING = frozenset({Place.PARAGRAPH, Place.ITEM, Place.ORDERED, Place.CODE, Place.HTML, Place.QUOTE, Place.HEADING})


@dataclass(frozen=True, slots=True)
class Block:
    """A bullet, paragraph, row, heading, fence, frontmatter line or `§` entry: consecutive lines without a gap.

    Args:
        span: lines of the block.
        place: of its first line; PARAGRAPH for a `§` entry.
        entry: number of the entry that it belongs to: equal for the parts of one list item.
        text: its lines joined by LF, without line ends and byte order mark.
    """

    span: Span
    place: Place
    entry: int
    text: bytes


@dataclass(frozen=True, slots=True)
class Document:
    """A state of one document.

    Args:
        spots: one per line; empty when the document is `plain`.
        bodies: lines without line end, the first one without byte order mark.
        blocks: in order; what lies between them are gaps: blank lines, or `§` rules in a delimited document.
        rows: index rows by their first line; empty unless the document is an index.
        is_delimited: whether `§` rules separate the entries (Hermes).
        is_plain: whether it is too large to be parsed: each line is a block.
        keeps_line_count: whether other documents cite its lines (Codex).
        has_sections: whether there is more than the one part below its title.
    """

    path: str
    data: bytes
    lines: tuple[Line, ...]
    bodies: tuple[bytes, ...]
    spots: tuple[Spot, ...]
    blocks: tuple[Block, ...]
    rows: dict[int, IndexRow]
    is_index: bool
    is_delimited: bool
    is_plain: bool
    keeps_line_count: bool
    has_sections: bool

    @property
    def has_mark(self) -> bool:
        return self.data.startswith(BYTE_ORDER_MARK)

    @property
    def has_final_newline(self) -> bool:
        return self.data.endswith(b"\n")

    @property
    def has_format_mark(self) -> bool:
        """Whether a reader regenerates the document when its first line is not what it was (Codex)."""
        return self.keeps_line_count and self.path.rpartition("/")[2] == "memory_summary.md"

    def block_at(self, index: int) -> Block | None:
        """Return the block that holds a line, None for a gap."""
        place = bisect_right(self.blocks, index, key=lambda block: block.span[0]) - 1
        return self.blocks[place] if place >= 0 and index < self.blocks[place].span[1] else None

    def text(self, span: Span) -> str:
        """Return the lines of a span as text, for people: undecodable bytes are replaced."""
        first, stop = span
        return b"".join(line.raw for line in self.lines[first:stop]).decode("utf-8", "replace")

    def body_start(self, index: int) -> int:
        """Return the byte offset of the text of a line, after a byte order mark."""
        line = self.lines[index]
        return line.start + len(line.body) - len(self.bodies[index])

    def removal(self, span: Span) -> Span:
        """Return the byte span to cut so that these lines go and the rest, final newline included, stays as it is.

        Without a final newline each line goes with the line end before it, so that cuts next to each other never
        overlap, the last one included.
        """
        first, stop = span
        last = self.lines[stop - 1]
        if first and not self.has_final_newline:
            before = self.lines[first - 1]
            if last.eol in (b"", before.eol):
                return before.start + len(before.body), last.start + len(last.body)
        return self.lines[first].start, last.end


def read(path: str, data: bytes, context: Context, *, is_delimited: bool, is_plain: bool) -> Document:
    """Cut a document into blocks. Total on arbitrary bytes."""
    lines = split_lines(data)
    bodies = tuple(line.body for line in lines)
    if data.startswith(BYTE_ORDER_MARK):
        bodies = (bodies[0].removeprefix(BYTE_ORDER_MARK), *bodies[1:])
    own = of_document(context.format, path, data)
    is_index = own.is_index(path)
    spots = () if is_plain else outline(data)
    if is_plain:
        blocks = tuple(_plain(bodies))
    elif is_delimited:
        blocks = tuple(_delimited(bodies))
    else:
        blocks = tuple(_outlined(bodies, spots))
    has_rows = is_index and not is_plain and not is_delimited
    return Document(
        path=path,
        data=data,
        lines=lines,
        bodies=bodies,
        spots=spots,
        blocks=blocks,
        rows={row.lines[0] - 1: row for row in rows(data)} if has_rows else {},
        is_index=is_index,
        is_delimited=is_delimited,
        is_plain=is_plain,
        keeps_line_count=_keeps_line_count(path, bodies, context),
        has_sections=len({spot.headings[0] for spot in spots if spot.headings}) > 1,
    )


def has_delimiter(data: bytes) -> bool:
    """Whether a line holds nothing but the `§` sign."""
    return DELIMITER in data and any(line.body == DELIMITER for line in split_lines(data))


def is_section_file(path: str, before: bytes, after: bytes, context: Context) -> bool:
    """Whether `§` rules divide a document (Hermes), or would divide its one entry from others."""
    if of_document(context.format, path, before).name is not FormatName.HERMES:
        return False
    return has_delimiter(before) or has_delimiter(after) or hermes.is_single_entry(path, before)


def is_blank(body: bytes) -> bool:
    return not body.strip(BLANKS)


def _keeps_line_count(path: str, bodies: Sequence[bytes], context: Context) -> bool:
    name = path.rpartition("/")[2]
    if name not in ("MEMORY.md", "memory_summary.md"):
        return False
    if context.format is FormatName.CODEX:
        return True
    if name == "memory_summary.md":
        return bodies[:1] == (b"v1",)
    return any(body.startswith(b"# Task Group:") for body in bodies)


def _block(bodies: Sequence[bytes], first: int, stop: int, place: Place, entry: int) -> Block:
    return Block((first, stop), place, entry, b"\n".join(bodies[first:stop]))


def _plain(bodies: Sequence[bytes]) -> Iterator[Block]:
    for index, body in enumerate(bodies):
        if not is_blank(body):
            yield _block(bodies, index, index + 1, Place.PARAGRAPH, index)


def _delimited(bodies: Sequence[bytes]) -> Iterator[Block]:
    first = 0
    for index in range(len(bodies) + 1):
        if index < len(bodies) and bodies[index] != DELIMITER:
            continue
        if not all(is_blank(body) for body in bodies[first:index]):
            yield _block(bodies, first, index, Place.PARAGRAPH, first)
        first = index + 1


def _outlined(bodies: Sequence[bytes], spots: Sequence[Spot]) -> Iterator[Block]:
    first = 0
    for index, spot in enumerate(spots):
        if index and _continues(spots[index - 1], spot):
            continue
        if index > first:
            yield from _outlined_block(bodies, spots, first, index)
        first = index
    if spots:
        yield from _outlined_block(bodies, spots, first, len(spots))


def _outlined_block(bodies: Sequence[bytes], spots: Sequence[Spot], first: int, stop: int) -> Iterator[Block]:
    spot = spots[first]
    if spot.place is not Place.BLANK:
        yield _block(bodies, first, stop, spot.place, spot.item_start - 1 if spot.item_start else first)


def _continues(before: Spot, spot: Spot) -> bool:
    if spot.place is not before.place or spot.place not in _RUNNING:
        return False
    if spot.place is Place.HEADING and spot.section != before.section:
        return False
    return spot.item_start == before.item_start
