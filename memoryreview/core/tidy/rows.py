"""Gather: index rows that lead nowhere. Whether their documents were deleted on purpose, the history says."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from urllib.parse import quote

from memoryreview.core import frontmatter, markdown
from memoryreview.core.classify.budget import Budget
from memoryreview.core.classify.rules.index_sync import Listing, Row
from memoryreview.core.classify.rules.outcome import Declined
from memoryreview.core.formats.base import IndexRow, directory, is_document, stem
from memoryreview.core.formats.catalogue import LinkState
from memoryreview.core.formats.index import append_row
from memoryreview.core.markdown import Link
from memoryreview.core.model import Context, Kind, Rewrite
from memoryreview.core.names import shown

from .consolidate import delta_of_rewrites
from .library import Library
from .model import Candidate, Suggestion, key_of
from .repeats import removal
from .successors import candidates, listed, named

GONE = "which is not there, and no approved deletion says that it is meant to be gone."
ORPHAN = "orphan"
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


def missing(library: Library, context: Context, doubted: Collection[str]) -> Iterator[Candidate]:
    """Yield, for each document that no index lists, the row that its own head makes in the nearest index above it.

    A document that a dead row may mean waits for a person to say so.

    Args: doubted: documents with statements that disagree; a person looks at them before more agents read them.
    """
    meant = {path for index, _, link in dead_rows(library) for path in candidates(library, index, link)}
    for _, path, row in _unlisted(library, context):
        if isinstance(row, Row) and path not in doubted and path not in meant:
            yield Candidate(Kind.INDEX_SYNC, (row.rewrite,))


def orphans(library: Library, context: Context, doubted: Collection[str]) -> Iterator[Suggestion]:
    """Yield rows for the documents that no index lists and that do not get one by proof."""
    for index, path, row in _unlisted(library, context):
        if isinstance(row, Row) and path not in doubted:
            continue
        head = frontmatter.read(library.tree[path])
        title, description = stem(path), ""
        if isinstance(head, frontmatter.Frontmatter):
            title, description = head.name or title, head.description
        target = path.removeprefix(f"{directory(index)}/") if directory(index) else path
        data = library.tree[index]
        new = append_row(data, title=title, target=target, description=description)
        reason = f" {row.reason}" if isinstance(row, Declined) else " Its statements disagree with others."
        why = f"No row of “{shown(index)}” points to “{shown(path)}”, so an agent never finds it.{reason}"
        yield Suggestion("orphan", key_of("orphan", index, path), {index: new}, why)


def _unlisted(library: Library, context: Context) -> Iterator[tuple[str, str, Row | Declined]]:
    """Yield (index, document, its row) of what the format's checks call orphans, where the index has rows at all."""
    budget = Budget()
    listings: dict[str, Listing] = {}
    for path in dict.fromkeys(problem.path for problem in library.survey.problems if problem.kind == ORPHAN):
        index = _index_of(library, path)
        if path not in library.texts or not index or not library.document(index).rows:
            continue
        if index not in listings:
            listings[index] = Listing(library.document(index), library.tree, context, budget)
        if path not in listed(library, index):
            yield index, path, listings[index].row_for(path)


def _index_of(library: Library, path: str) -> str:
    """Return the nearest index at or above the folder of a document that may be edited, "" without one."""
    indexes = [other for other in library.texts if library.document_is_index(other)]
    above = [
        other for other in indexes if not directory(other) or f"{directory(path)}/".startswith(f"{directory(other)}/")
    ]
    return max(above, key=lambda other: len(directory(other)), default="")


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
