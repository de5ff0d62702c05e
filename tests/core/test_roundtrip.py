"""Nothing is lost by reading: the parts of every sample document, put together again, are its bytes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from memoryreview.core import formats, frontmatter
from memoryreview.core.classify.document import Document, has_delimiter, read
from memoryreview.core.formats import index
from memoryreview.core.markdown import comments, links, outline
from memoryreview.core.model import Context, FormatName
from memoryreview.core.text import split_lines
from tests.core.folders import CORPORA

FOLDERS = sorted(path.name for path in CORPORA.iterdir())


def documents(folder: str) -> Iterator[tuple[str, bytes]]:
    """Yield name and bytes of all files of a sample folder, whatever they are."""
    for path in sorted((CORPORA / folder).rglob("*")):
        if path.is_file():
            yield path.name, path.read_bytes()


def pieced(data: bytes, spans: list[tuple[int, int]]) -> bytes:
    """Return the document out of its spans and the gaps between them. Fails on spans that overlap or lie outside."""
    pieces: list[bytes] = []
    at = 0
    for start, end in spans:
        assert at <= start <= end <= len(data)
        pieces += (data[at:start], data[start:end])
        at = end
    return b"".join((*pieces, data[at:]))


@pytest.mark.parametrize("folder", FOLDERS)
def test_entries_and_gaps_make_the_document(folder: str) -> None:
    for path, data in documents(folder):
        for name in FormatName:
            entries = formats.of(name).entries(path, data)
            assert pieced(data, [(entry.start, entry.end) for entry in entries]) == data, (path, name)


@pytest.mark.parametrize("folder", FOLDERS)
def test_lines_rows_links_and_comments_lie_in_the_document(folder: str) -> None:
    for path, data in documents(folder):
        lines = split_lines(data)
        assert b"".join(line.raw for line in lines) == data
        assert [spot.lineno for spot in outline(data)] == [line.number for line in lines]
        assert pieced(data, [(row.start, row.end) for row in index.rows(data)]) == data
        assert pieced(data, list(comments(data))) == data
        assert pieced(data, [(link.start, link.end) for link in links(data)]) == data
        head = frontmatter.read(data)
        assert isinstance(head, frontmatter.NoFrontmatter) or data[: head.end].rstrip().endswith(b"---"), path


@pytest.mark.parametrize("folder", FOLDERS)
def test_blocks_and_gaps_make_the_lines(folder: str) -> None:
    for path, data in documents(folder):
        for name in FormatName:
            is_delimited = name is FormatName.HERMES and has_delimiter(data)
            document = read(path, data, Context(format=name), is_delimited=is_delimited, is_plain=False)
            assert tuple(laid_out(document)) == document.bodies, (path, name)


def laid_out(document: Document) -> Iterator[bytes]:
    """Yield the lines of the blocks and of the gaps between them, which hold blank lines and `§` rules alone."""
    at = 0
    for block in document.blocks:
        first, stop = block.span
        assert at <= first < stop
        assert all(not body.strip(b" \t") or body == "§".encode() for body in document.bodies[at:first])
        yield from document.bodies[at:first]
        yield from block.text.split(b"\n")
        at = stop
    yield from document.bodies[at:]
