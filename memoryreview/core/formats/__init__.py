"""The memory formats. `detect` looks at a folder, `of` returns the format by name."""

from __future__ import annotations

from memoryreview.core.model import FormatName, Tree

from . import codex, hermes, index
from .base import Format, basename, is_document
from .catalogue import Catalogue, Found, LinkState, Match
from .claude import INDEX_NAME, Claude, has_head
from .codex import Codex
from .hermes import Hermes
from .markdown import Markdown

__all__ = ["Catalogue", "Format", "Found", "LinkState", "Match", "detect", "of"]

HEADED_SHARE = 1 / 3
"""Share of the documents with a topic file's frontmatter from which on a folder without index rows is Claude's."""

_FORMATS: dict[FormatName, Format] = {
    FormatName.CLAUDE: Claude(),
    FormatName.CODEX: Codex(),
    FormatName.HERMES: Hermes(),
    FormatName.MARKDOWN: Markdown(),
}


def detect(tree: Tree) -> FormatName:
    """Say which format a folder has; sniffed from several signs, never from one character."""
    if codex.has_signs(tree):
        return FormatName.CODEX
    if hermes.has_signs(tree):
        return FormatName.HERMES
    documents = [path for path in tree if is_document(path)]
    if any(basename(path) == INDEX_NAME and index.rows(tree[path]) for path in documents):
        return FormatName.CLAUDE
    headed = sum(1 for path in documents if has_head(tree[path]))
    return FormatName.CLAUDE if headed and headed >= HEADED_SHARE * len(documents) else FormatName.MARKDOWN


def of(name: FormatName) -> Format:
    return _FORMATS[name]
