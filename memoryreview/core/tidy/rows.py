"""Gather: index rows that lead nowhere. Whether their documents were deleted on purpose, the history says."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

from memoryreview.core import markdown
from memoryreview.core.formats.base import IndexRow, is_document, stem
from memoryreview.core.formats.catalogue import LinkState
from memoryreview.core.markdown import Link
from memoryreview.core.model import Kind, Rewrite
from memoryreview.core.names import shown

from .consolidate import delta_of_rewrites
from .library import Library
from .model import Candidate, Suggestion, key_of
from .repeats import removal
from .successors import candidates, named

GONE = "which is not there, and no approved deletion says that it is meant to be gone."
DEAD = frozenset({LinkState.MISSING, LinkState.UNRESOLVED})


def gather(library: Library) -> Iterator[Candidate]:
    """Yield the removal of each dead row, unless so many are dead that the folder is incomplete."""
    if library.survey.is_incomplete:
        return
    for path, row, link in dead_rows(library):
        entry = (row.lines[0] - 1, row.lines[1])
        why = "" if candidates(library, path, link) else f"The row points to “{shown(row.target)}”, {GONE}"
        yield Candidate(Kind.INDEX_PRUNE, (removal(library.document(path), entry),), why)


def renamed(library: Library) -> Iterator[Suggestion]:
    """Yield, for each dead row that a document of a like name may have taken over, the row with that target."""
    if library.survey.is_incomplete:
        return
    for path, row, link in dead_rows(library):
        found = candidates(library, path, link)
        if not found:
            continue
        written = library.tree[path][link.target_start : link.target_end].decode("utf-8")
        new = found[0].rpartition("/")[2] if is_document(written) else stem(found[0])
        target = f"{written.rpartition('/')[0]}/{new}".lstrip("/")
        rewrite = Rewrite(path, link.target_start, link.target_end, _written(target, link))
        others = f" {named(found[1:])} may be meant as well: edit the row to choose." if found[1:] else ""
        why = (
            f"The row points to “{shown(row.target)}”, which is not there; {named(found[:1])} has a like name, "
            f"and no row points to it.{others}"
        )
        key = key_of("dead-row", path, row.target, *found)
        yield Suggestion("dead-row", key, delta_of_rewrites(library.tree, [rewrite]), why)


def dead_rows(library: Library) -> Iterator[tuple[str, IndexRow, Link]]:
    """Yield (index, row, its link) of the rows that no document answers to."""
    for path, data in library.texts.items():
        if not library.document_is_index(path):
            continue
        rows = {row.lines[0]: row for row in library.document(path).rows.values()}
        for link in markdown.links(data) if rows else ():
            row = rows.pop(link.lineno, None)
            if row is not None and library.catalogue.state(path, link) in DEAD:
                yield path, row, link


def _written(target: str, link: Link) -> bytes:
    """Return a target as the link's form writes it."""
    return target.encode() if link.kind == "wiki" else quote(target, safe="/").encode()
