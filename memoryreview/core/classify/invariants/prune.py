"""`index.prune`: what goes is a mere pointer to a document that a person let go, and that nothing else is now."""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections import Counter
from collections.abc import Iterator

from memoryreview.core import frontmatter
from memoryreview.core.classify.claim import Claim, Clause, loosely, rows_of
from memoryreview.core.formats import of
from memoryreview.core.formats.base import IndexRow, stem
from memoryreview.core.formats.index import pointers
from memoryreview.core.markdown import Place, links, outline
from memoryreview.core.model import Ended
from memoryreview.core.overlay import delta_of

from .repeat import removes_whole_lines, takes_one_gap


def _pruned(claim: Claim) -> Iterator[tuple[str, list[IndexRow]]]:
    """Yield each rewrite's document with the rows that begin in its span."""
    for rewrite in claim.proof.rewrites:
        found = rows_of(claim.base[rewrite.path])
        yield rewrite.path, [row for row in found if rewrite.start <= row.start < rewrite.end]


def removes_pointers_alone(claim: Claim) -> bool:
    """Each rewrite takes one plain row of one line out of an index: one link, a short text, no code, no address."""
    for rewrite, (path, own) in zip(claim.proof.rewrites, _pruned(claim), strict=True):
        data = claim.base[path]
        if len(own) != 1 or not of(claim.context.format).is_index(path):
            return False
        row, text = own[0], data[rewrite.start : rewrite.end].strip(b"\r\n \t")
        is_plain = re.fullmatch(r"\s*[-*+]\s+[*_]{0,2}", row.marker) and text == data[row.start : row.end].strip(b" \t")
        if not is_plain or outline(data)[row.lines[0] - 1].place is not Place.ITEM:
            return False
        if b"\n" in text or len(data[row.start : row.end].decode("utf-8")) > claim.context.limits.index_row_chars:
            return False
        if re.search(rb"`|://|<!--", text) or sum(row.start <= x.start < row.end for x in links(data)) != 1:
            return False
    return True


def _ended(claim: Claim, path: str, row: IndexRow) -> set[Ended]:
    place = posixpath.normpath(posixpath.join(posixpath.dirname(path), row.target))
    known = claim.context.history.ended.values() if claim.context.history else ()
    names = {place, place + ".md"}
    return {e for e in known if e.path in names or row.target in (e.name, stem(e.path))}


def was_deleted_with_approval(claim: Claim) -> bool:
    """The baseline knows of exactly one document that the row can have meant, and it was deleted, not renamed."""
    for path, own in _pruned(claim):
        for row in own:
            if [ended.renamed_to for ended in _ended(claim, path, row)] != [""]:
                return False
    return True


def is_borne_by_nothing(claim: Claim) -> bool:
    """No document, before or after, has the path, stem, `name` or bytes of the deleted one."""
    ended = {e for path, own in _pruned(claim) for row in own for e in _ended(claim, path, row)}
    names = {loosely(name) for e in ended for name in (e.path, stem(e.path), e.name)} - {""}
    digests = {e.digest for e in ended}
    states = [*claim.base.items(), *delta_of(claim.base, claim.proposed).items()]
    for path, content in states:
        if content is not None and (names & _names(path, content) or hashlib.sha256(content).hexdigest() in digests):
            return False
    return True


def leaves_a_whole_folder(claim: Claim) -> bool:
    """No more than 5 targets of the index, or a fifth of them, are missing: else the folder is incomplete."""
    standing = {name for path, content in claim.base.items() for name in _names(path, content)}
    for path in claim.paths:
        targets = [link.target for link in pointers(claim.base[path])]
        places = [posixpath.normpath(posixpath.join(posixpath.dirname(path), target)) for target in targets]
        dead = sum(
            not place.startswith("../") and standing.isdisjoint((loosely(place), loosely(target)))
            for place, target in zip(places, targets, strict=True)
        )
        if dead > 5 and dead * 5 > len(targets):
            return False
    return True


def prunes_few(claim: Claim) -> bool:
    """A single row, or up to three that are no more than a tenth of their index."""
    counts = Counter(path for path, _ in _pruned(claim))
    is_tenth = all(count * 10 <= len(rows_of(claim.base[path])) for path, count in counts.items())
    return counts.total() == 1 or (counts.total() <= 3 and is_tenth)


def _names(path: str, content: bytes) -> set[str]:
    return {loosely(path), loosely(stem(path)), loosely(frontmatter.name_of(content))} - {""}


CLAUSES: tuple[Clause, ...] = (
    prunes_few,
    removes_whole_lines,
    takes_one_gap,
    removes_pointers_alone,
    was_deleted_with_approval,
    is_borne_by_nothing,
    leaves_a_whole_folder,
)
