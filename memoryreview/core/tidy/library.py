"""The documents of a run, parsed once each, however many searches ask for them."""

from __future__ import annotations

from collections.abc import Mapping

from memoryreview.core.classify.document import Document, Span, has_delimiter, is_blank, read
from memoryreview.core.formats import of
from memoryreview.core.formats.catalogue import Catalogue
from memoryreview.core.model import Context, FormatName, Tree

from .model import Survey


class Library:
    """What may be tidied, as it stands at one point of a run.

    Args:
        tree: everything, also what is not edited: links lead there.
    """

    def __init__(self, tree: Tree, survey: Survey) -> None:
        self.tree = tree
        self.survey = survey
        self._context = Context(format=survey.format)
        self._read: dict[str, Document] = {}
        self._catalogue: Catalogue | None = None

    def after(self, tree: Tree) -> Library:
        """Return the library of a later tree; what did not change is not parsed again."""
        later = Library(tree, self.survey)
        later._read = {path: read for path, read in self._read.items() if tree.get(path) == read.data}
        return later

    @property
    def texts(self) -> Mapping[str, bytes]:
        return {path: self.tree[path] for path in self.survey.documents if path in self.tree}

    @property
    def catalogue(self) -> Catalogue:
        if self._catalogue is None:
            self._catalogue = Catalogue(self.tree)
        return self._catalogue

    def document_is_index(self, path: str) -> bool:
        return of(self.survey.format).is_index(path)

    def document(self, path: str) -> Document:
        if path not in self._read:
            data = self.tree[path]
            is_delimited = self.survey.format is FormatName.HERMES and has_delimiter(data)
            self._read[path] = read(path, data, self._context, is_delimited=is_delimited, is_plain=False)
        return self._read[path]


def reread(document: Document, data: bytes) -> Document:
    """Return a document as it would be read with another text."""
    context = Context(format=FormatName.CODEX if document.keeps_line_count else FormatName.CLAUDE)
    return read(document.path, data, context, is_delimited=document.is_delimited, is_plain=False)


def cut_lines(document: Document, entry: Span) -> Span:
    """Return the lines that go with an entry: itself, and the `§` rule or the gap before it where one is left over."""
    first, stop = entry
    if document.is_delimited:
        return (first - 1, stop) if first else (first, min(stop + 1, len(document.bodies)))
    start = first
    while start and is_blank(document.bodies[start - 1]):
        start -= 1
    ends_apart = stop == len(document.bodies) or is_blank(document.bodies[stop])
    return (start if start and ends_apart else first), stop
