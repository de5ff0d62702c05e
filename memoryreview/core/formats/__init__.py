"""The memory formats. `detect` looks at a folder, `of` returns the format by name."""

from __future__ import annotations

from collections import defaultdict

from memoryreview.core.model import FormatName, Tree

from . import codex, hermes, index, sniff
from .base import Format, basename, is_document
from .catalogue import Catalogue, Found, LinkState, Match
from .claude import INDEX_NAME, Claude, has_head
from .codex import Codex
from .hermes import Hermes
from .markdown import Markdown
from .sniff import is_instruction

__all__ = [
    "LOADED_NAMES",
    "Catalogue",
    "Format",
    "Found",
    "LinkState",
    "Match",
    "detect",
    "is_instruction",
    "of",
    "of_document",
]

LOADED_NAMES = frozenset({INDEX_NAME, *hermes.CHARACTERS, codex.SUMMARY_NAME})
"""Names of all documents that some tool always loads; whether one does in a store, its format's `meters` say."""

HEADED_SHARE = 1 / 3
"""Share of the documents with a topic file's frontmatter from which on a folder without index rows is Claude's."""

_FORMATS: dict[FormatName, Format] = {
    FormatName.CLAUDE: Claude(),
    FormatName.CODEX: Codex(),
    FormatName.HERMES: Hermes(),
    FormatName.MARKDOWN: Markdown(),
}


def detect(tree: Tree) -> FormatName:
    """Say which format a folder has; sniffed from several signs, never from one character.

    The signs next to the top decide: what was imported into a folder below makes no other store of it.
    """
    levels: dict[int, dict[str, bytes]] = defaultdict(dict)
    for path in tree:
        levels[path.count("/") - codex.is_session_summary(path)][path] = tree[path]
    for _, level in sorted(levels.items()):
        if codex.has_signs(level):
            return FormatName.CODEX
        if hermes.has_signs(level):
            return FormatName.HERMES
        if any(basename(path) == INDEX_NAME and index.rows(level[path]) for path in level):
            return FormatName.CLAUDE
    documents = [path for path in tree if is_document(path)]
    headed = sum(1 for path in documents if has_head(tree[path]))
    return FormatName.CLAUDE if headed and headed >= HEADED_SHARE * len(documents) else FormatName.MARKDOWN


def of(name: FormatName) -> Format:
    return _FORMATS[name]


def of_document(name: FormatName, path: str, data: bytes) -> Format:
    """Return the format of one document of a store: a `§` file or a Codex handbook may lie in any folder."""
    return sniff.foreign(path, data, name) or of(name)
