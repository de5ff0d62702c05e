"""`index.sync`: a document that stands approved gets one row, in its own words and the form of the rows around it."""

from __future__ import annotations

import posixpath
import re
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

from memoryreview.core import frontmatter
from memoryreview.core.classify.claim import (
    Claim,
    Clause,
    is_copy,
    is_instruction,
    lines_of,
    loosely,
    rows_of,
)
from memoryreview.core.formats import of
from memoryreview.core.formats.base import IndexRow, stem
from memoryreview.core.markdown import Place, links, outline

_TYPE = re.compile(r"(user|feedback|project|reference)[_-]")


class _Added(NamedTuple):
    """One row that comes: where it comes in the index before, and the row as it is read afterwards, if it is one."""

    path: str
    at: int
    row: IndexRow | None


def _added(claim: Claim) -> Iterator[_Added]:
    for path in claim.paths:
        after = claim.proposed.get(path, b"")
        found = rows_of(after)
        starts = [row.start for row in found]
        coming = [rewrite for rewrite in claim.rewrites(path) if rewrite.start == rewrite.end]
        for rewrite, (start, end) in zip(coming, claim.arrivals(path), strict=True):
            place = bisect_left(starts, start)
            row = found[place] if place < len(found) else None
            is_whole = row and row.start < end and after[start:end].strip(b"\r\n") == after[row.start : row.end]
            yield _Added(path, rewrite.start, row if is_whole else None)


def adds_rows_alone(claim: Claim) -> bool:
    """Each rewrite brings one row of one line into an index, and takes nothing."""
    is_adding = all(rewrite.start == rewrite.end for rewrite in claim.proof.rewrites)
    if not is_adding or not all(of(claim.context.format).is_index(path) for path in claim.paths):
        return False
    for added in _added(claim):
        after = claim.proposed[added.path]
        count = len(lines_of(claim.base[added.path])) + len(claim.proof.rewrites)
        if added.row is None or len(lines_of(after)) != count:
            return False
        inside = [link for link in links(after) if added.row.start <= link.start < added.row.end]
        if added.row.lines[0] != added.row.lines[1] or len(inside) != 1 or added.row.anchor:
            return False
    return True


def _path(added: _Added) -> str:
    place = posixpath.join(posixpath.dirname(added.path), added.row.target if added.row else "")
    return place if added.row and added.row.kind == "inline" else f"{place}.md"


def _head(data: bytes) -> frontmatter.Frontmatter:
    head = frontmatter.read(data)
    return head if isinstance(head, frontmatter.Frontmatter) else frontmatter.Frontmatter(0, (), ())


def points_to_an_approved_document(claim: Claim) -> bool:
    """It stands in the base and stays as it is, is a note of this index and of no nearer one, and no copy."""
    for added in _added(claim):
        path, name = _path(added), posixpath.basename(added.path)
        before = claim.base.get(path)
        if before is None or claim.proposed.get(path) != before or not path.casefold().endswith((".md", ".markdown")):
            return False
        folders = ["", *(path[: slash.start()] for slash in re.finditer("/", path))]
        nearest = [folder for folder in folders if posixpath.join(folder, name) in claim.base][-1:]
        if nearest != [posixpath.dirname(added.path)] or of(claim.context.format).is_index(path):
            return False
        if (
            is_copy(path)
            or is_instruction(path)
            or len(before) > claim.context.limits.file_bytes
            or b"<<<<<<<" in before
        ):
            return False
    return True


def says_what_its_head_says(claim: Claim) -> bool:
    """Title and text are `name` (else the stem) and `description` of a head in which no reader stumbles."""
    for added in _added(claim):
        head, row = _head(claim.base.get(_path(added), b"")), added.row
        values = [x for x in head.fields if x.key in ("name", "description") and not x.parent]
        title = head.name or stem(_path(added))
        if row and row.kind == "wiki" and row.title == row.target:
            title = stem(_path(added))
        if row is None or head.problems or (row.title, row.hook) != (title, head.description):
            return False
        if any(_is_doubtful(x.value, x.raw) for x in values):
            return False
    return True


def _is_doubtful(value: str, raw: str) -> bool:
    """Whether readers may differ about a value, or Markdown may make something of it."""
    written = raw[1:-1] if raw[:1] == raw[-1:] and raw[:1] in "\"'" else raw
    written = written.replace("''", "'") if raw[:1] == "'" else written
    is_word = raw == value and re.fullmatch(r"null|true|false|yes|no|on|off|y|n|[+-]?\.inf|\.nan", value, re.IGNORECASE)
    is_odd = not value.isprintable() or value != value.strip() or re.search(r"[\[\]<>\\|]|  ", value)
    return bool(written != value or is_word or is_odd or not any(map(str.isalpha, value)))


def looks_like_most_rows(claim: Claim) -> bool:
    """Its bullet, kind of link and separator are the commonest of the outermost rows, without a tie."""
    for added in _added(claim):
        top = [row for row in rows_of(claim.base[added.path]) if row.depth == 1]
        row = added.row
        if row is None or row.marker != _commonest(x.marker for x in top):
            return False
        if row.marker.strip(" \t") not in ("-", "*", "+"):
            return False
        if (row.kind, False) != _commonest((x.kind, x.title.startswith(("*", "_"))) for x in top):
            return False
        if row.separator != _commonest(x.separator for x in top if x.hook):
            return False
        labels = [x.title != x.target for x in top if x.kind == "wiki"]
        if row.kind == "wiki" and _commonest(labels) is not (row.title != row.target):
            return False
    return True


def _commonest(values: Iterable[Hashable]) -> Hashable:
    counts = Counter(values)
    first = max(counts.values(), default=0)
    found = [value for value, count in counts.items() if count == first]
    return found[0] if len(found) == 1 else None


def follows_the_last_row(claim: Claim) -> bool:
    """It comes right after the last row: of the one list that holds all rows, or all rows of its type."""
    for added in _added(claim):
        before, after = claim.base[added.path], claim.proposed[added.path]
        near = list(rows_of(before))
        if len({row.section for row in near}) > 1:
            own = _TYPE.match(posixpath.basename(_path(added)).casefold())
            types = [(row.section, _TYPE.match(posixpath.basename(row.target).casefold())) for row in near]
            of_type = {section for section, other in types if own and other and own[1] == other[1]}
            near = [row for row in near if of_type == {row.section}]
        if not near or near[-1].depth > 1 or len({row.list_id for row in near if row.depth == 1}) != 1:
            return False
        if added.at != lines_of(before)[near[-1].lines[1] - 1].end or added.row is None:
            return False
        own_spot, last_spot = (outline(after)[number - 1] for number in (added.row.lines[0], near[-1].lines[0]))
        if own_spot.place is not Place.ITEM or own_spot.list_id != last_spot.list_id:
            return False
    return True


def is_the_only_row_for_it(claim: Claim) -> bool:
    """No link and no row of the index may mean the document before, loosely taken; new rows come by path, each once."""
    found = list(_added(claim))
    if any(one.at == two.at and _path(one) >= _path(two) for one, two in pairwise(found)):
        return False
    index = claim.paths[0]
    before = claim.base[index]
    names = {loosely(row.title.strip("*_ ")) for row in rows_of(before)}
    for link in links(before):
        place = posixpath.normpath(posixpath.join(posixpath.dirname(index), link.target))
        names |= {loosely(link.target), loosely(place)}
    standing = _names(claim) if any(added.row and added.row.kind == "wiki" for added in found) else Counter()
    for added in found:
        path = _path(added)
        if names & {loosely(path), loosely(stem(path)), loosely(added.row.title if added.row else "")}:
            return False
        if added.row and added.row.kind == "wiki" and standing[loosely(added.row.target)] != 1:
            return False
    return True


def looks_like_no_other(claim: Claim) -> bool:
    """Its title cannot be taken for that of another row, and the index does not name the file already."""
    for added in _added(claim):
        before, title = claim.base[added.path], added.row.title if added.row else ""
        if _letters(title) in {_letters(row.title) for row in rows_of(before)} or re.search(r"[*`]|~~|://", title):
            return False
        if posixpath.basename(_path(added)).encode() in before:
            return False
    return True


def _letters(title: str) -> str:
    return re.sub(r"[\W_]", "", unicodedata.normalize("NFKC", title).casefold()) or title


def _names(claim: Claim) -> Counter[str]:
    """Count the documents that answer to each name."""
    named = ({loosely(stem(path)), loosely(frontmatter.name_of(data))} for path, data in claim.base.items())
    return Counter(name for names in named for name in names)


def fits_what_is_loaded(claim: Claim) -> bool:
    """The row is within its limit, and an agent still loads the whole index."""
    limit = claim.context.limits.index_row_chars
    for path in claim.paths:
        after = claim.proposed.get(path, b"")
        meters = of(claim.context.format).meters(path, after)
        if not 120 <= limit <= 400 or any(meter.used > meter.limit for meter in meters):
            return False
    rows = [(claim.proposed[added.path], added.row) for added in _added(claim) if added.row]
    return all(len(after[row.start : row.end].decode("utf-8")) <= limit for after, row in rows)


CLAUSES: tuple[Clause, ...] = (
    fits_what_is_loaded,
    adds_rows_alone,
    points_to_an_approved_document,
    says_what_its_head_says,
    looks_like_most_rows,
    follows_the_last_row,
    is_the_only_row_for_it,
    looks_like_no_other,
)
