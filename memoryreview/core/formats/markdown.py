"""Plain Markdown: daily logs, memory banks, and whatever has no format of its own."""

from __future__ import annotations

from memoryreview.core import markdown
from memoryreview.core.markdown import Place
from memoryreview.core.model import FormatName, Problem, Tree

from . import blocks, hermes, index, lint, sniff
from .base import Entry, LoadedLine, Meter, basename
from .catalogue import Catalogue

INDEX_NAMES = frozenset({"memory.md", "index.md"})


class Markdown:
    name: FormatName = FormatName.MARKDOWN

    def entries(self, path: str, data: bytes) -> tuple[Entry, ...]:
        """Return the frontmatter, headings, bullets and other blocks of a document; the rows of an index as rows."""
        rows = {row.lines[0]: row for row in index.rows(data)} if self.is_index(path) else {}
        return blocks.document_entry(path, data) + blocks.entries(path, data, rows)

    def meters(self, path: str, data: bytes) -> tuple[Meter, ...]:
        """Return nothing: no agent loads these documents by itself."""
        return ()

    def loads(self, path: str, data: bytes) -> tuple[LoadedLine, ...]:
        return ()

    def lint(self, tree: Tree) -> tuple[Problem, ...]:
        problems = lint.files(tree)
        catalogue = Catalogue(tree)
        documents = lint.documents(tree)
        for path, data in documents.items():
            found = index.pointers(data) if self.is_index(path) else ()
            problems += lint.heads(path, data) + lint.body(path, data)
            problems += lint.links(path, data, catalogue, found) + lint.pointers(path, found, catalogue)
            problems += (sniff.foreign(path, data, self.name) or self).faults(path, data, tree)
        if documents and all(hermes.is_memory(path) and _is_untitled(data) for path, data in documents.items()):
            problems += [hermes.no_delimiter(path) for path, data in documents.items()]
        return lint.ordered(problems)

    def faults(self, path: str, data: bytes, tree: Tree) -> list[Problem]:
        return []

    def is_index(self, path: str) -> bool:
        return basename(path).casefold() in INDEX_NAMES

    def is_generated(self, path: str) -> bool:
        return False


def _is_untitled(data: bytes) -> bool:
    """Whether a document may be a hand-written Hermes store: several blocks, but no delimiter, title or rows."""
    if not hermes.is_without_delimiter(data) or index.rows(data):
        return False
    first = next((spot for spot in markdown.outline(data) if spot.place is not Place.BLANK), None)
    return first is not None and first.place is not Place.FRONTMATTER and not data.lstrip().startswith(b"# ")
