"""Gather: index rows over the limit whose last words stand in the document that they point to."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from memoryreview.core.formats.base import IndexRow
from memoryreview.core.formats.index import rows
from memoryreview.core.model import Kind, Rewrite, Tree
from memoryreview.core.text import normalise

from .library import Library
from .model import Candidate

ELLIPSIS = "…"
MAX_CUTS = 40
"""Ends of clauses that are tried in one row, the last ones first."""

_CLAUSE_END = re.compile(r"[.;:,)!?](?=[ \t\r\n])|[ \t]+[—–](?=[ \t])|[。；：，、）！？]")
_MARKS = " \t\r\n.;:,!?—–。；：，、！？"
_WHY = "The end of this row stands in the document it points to, so the row can be shorter; the words that go hold"
WHY = f"{_WHY} something that must not get lost unread."


def gather(library: Library, limit_chars: int) -> Iterator[Candidate]:
    """Yield one candidate per row, with the longest beginning that fits."""
    for path, data in library.texts.items():
        if not library.document_is_index(path) or not _has_long_line(data, limit_chars):
            continue
        for row in rows(data):
            cut = _cut(data, row, path, library.tree, limit_chars)
            if cut is not None:
                yield Candidate(Kind.INDEX_TRIM, (cut,), WHY)


def _has_long_line(data: bytes, limit_chars: int) -> bool:
    return any(len(line) > limit_chars // 2 for line in data.split(b"\n"))


def _cut(data: bytes, row: IndexRow, path: str, tree: Tree, limit_chars: int) -> Rewrite | None:
    """Return the rewrite that ends the row at the last clause that fits, where the target says the rest."""
    text = data[row.start : row.end].decode("utf-8")
    hook_at = len(data[row.start : row.hook_start].decode("utf-8"))
    target = posixpath.normpath(posixpath.join(posixpath.dirname(path), row.target))
    if len(text) <= limit_chars or hook_at >= len(text) or target == path or target not in tree:
        return None
    said = normalise(" ".join(tree[target].decode("utf-8", "replace").split())).casefold()
    ends = [match for match in _CLAUSE_END.finditer(text, hook_at + 1) if match.start() < limit_chars]
    for match in list(reversed(ends))[:MAX_CUTS]:
        kept, lost = text[: match.start()], " ".join(text[match.end() :].split()).strip(_MARKS)
        if kept.rstrip() == kept and lost and normalise(lost).casefold() in said:
            start = row.start + len(kept.encode())
            return Rewrite(path, start, row.end, ELLIPSIS.encode())
    return None
