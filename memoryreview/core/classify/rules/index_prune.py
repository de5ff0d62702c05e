"""An index row whose document an approved change deleted leads nowhere, and nothing that stands can be meant by it."""

from __future__ import annotations

import hashlib
import posixpath
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from memoryreview.core import frontmatter
from memoryreview.core.classify.budget import Budget
from memoryreview.core.classify.document import Document, Span
from memoryreview.core.formats.base import IndexRow, directory, is_document, stem
from memoryreview.core.formats.index import pointers
from memoryreview.core.formats.lint import is_bulk
from memoryreview.core.markdown import Place, comments, links
from memoryreview.core.model import Context, Ended, Rewrite, Tree
from memoryreview.core.names import shown
from memoryreview.core.overlay import delta_of
from memoryreview.core.text import fold_name

from .cut import why_not_cut
from .outcome import Declined, Explained, Outcome

VERSION = 1

MAX_ROWS = 3
ROWS_PER_PRUNED = 10
"""Rows of an index for each one that a change may prune; a single one is always allowed."""

TOO_MANY = (
    f"One change may prune {MAX_ROWS} rows and a tenth of an index by itself; more of them are decided by a person."
)

_PLAIN_MARKER = re.compile(r"[ \t]*[-*+][ \t]+(?:\*\*|__|\*|_)?")


class Graveyard:
    """What a store holds and held, as far as the dead rows of one index ask for it: each thing is read once, if at all.

    Args:
        old, new: the index before and after the change.
    """

    def __init__(
        self, old: Document, new: Document, base: Tree, proposed: Tree, context: Context, budget: Budget
    ) -> None:
        self._old, self._new = old, new
        self._base, self._proposed, self._budget = base, proposed, budget
        self.has_history = context.history is not None
        self._ended = context.history.ended if context.history else {}
        self.row_chars = context.limits.index_row_chars

    def holds(self, target: str) -> bool:
        """Whether a document stands where a target leads, before or after the change."""
        return any(place in tree for place in _places(self._old, target) for tree in (self._base, self._proposed))

    def ended(self, target: str) -> tuple[Ended, ...]:
        """Return the documents that are gone and that a target may have meant, by place or by name."""
        found = [self._ended[place] for place in _places(self._old, target) if place in self._ended]
        return tuple(dict.fromkeys([*found, *self._ended_names.get(target, ())]))

    @cached_property
    def _ended_names(self) -> Mapping[str, list[Ended]]:
        found: dict[str, list[Ended]] = defaultdict(list)
        for ended in self._ended.values():
            for name in filter(None, {ended.name, stem(ended.path)}):
                found[name].append(ended)
        return found

    @cached_property
    def kept_targets(self) -> frozenset[str]:
        return frozenset(row.target for row in self._new.rows.values())

    @cached_property
    def inline_starts(self) -> Sequence[int]:
        """Return where the links and comments of the index begin."""
        data = self._old.data
        return sorted([*(link.start for link in links(data)), *(start for start, _ in comments(data))])

    @cached_property
    def bearers(self) -> Mapping[str, str] | None:
        """Documents that stand before or after the change, by everything that they may be meant by: their folded path,
        stem and `name`, and the digest of their bytes. None when there is too much to read."""
        found: dict[str, str] = {}
        for path, content in self._states():
            if not self._budget.pays_searching(content):
                return None
            for name in (*_names(path, content), hashlib.sha256(content).hexdigest()):
                found.setdefault(name, path)
        return found

    def _states(self) -> Iterator[tuple[str, bytes]]:
        for path in sorted(self._base):
            yield path, self._base[path]
        for path, after in sorted(delta_of(self._base, self._proposed).items()):
            if after is not None:
                yield path, after

    @cached_property
    def why_in_doubt(self) -> str:
        """Why the index cannot be trusted about what is missing, "" when it can."""
        if self.bearers is None:
            return "The store is too large to look in all of it for the document that the row points to."
        found = pointers(self._old.data)
        dead = sum(not self._is_answered(pointer.target, self.bearers) for pointer in found)
        if is_bulk(dead, len(found)):
            return f"{dead} of {len(found)} targets of the index are missing: the folder looks incomplete."
        return ""

    def _is_answered(self, target: str, bearers: Mapping[str, str]) -> bool:
        place = _places(self._old, target)[0]
        # A path out of the store may well lead somewhere.
        return place.startswith("../") or _fold(place) in bearers or _fold(target) in bearers


def explain_removal(document: Document, row: IndexRow, removed: Span, graveyard: Graveyard) -> Outcome:
    """Explain the removal of one index row. Args: removed: lines that go."""
    if graveyard.holds(row.target):
        return None
    if not graveyard.has_history:
        return Declined("Nothing here remembers whether the deletion of its document was approved.")
    ended = graveyard.ended(row.target)
    refusal = (
        _why_not_ended(ended)
        or _why_no_pointer(document, row, graveyard)
        or why_not_cut(document, (row.lines[0] - 1, row.lines[1]), removed)
        or graveyard.why_in_doubt
        or _why_meant(ended[0], graveyard.bearers or {})
    )
    if not refusal and row.target in graveyard.kept_targets:
        refusal = "Another row points to the same place and stays."
    if refusal:
        return Declined(refusal)
    start, end = document.removal(removed)
    return Explained((Rewrite(document.path, start, end, b""),))


def are_few(pruned: Mapping[str, int], row_counts: Mapping[str, int]) -> bool:
    """Whether one change may prune so many rows of each index. Args: row_counts: rows that each index has before."""
    total = sum(pruned.values())
    is_small = all(count * ROWS_PER_PRUNED <= row_counts[path] for path, count in pruned.items())
    return total <= 1 or (total <= MAX_ROWS and is_small)


def _why_not_ended(ended: tuple[Ended, ...]) -> str:
    if not ended:
        return "No approved change deleted the document that the row points to, so it may only be out of place."
    if len(ended) > 1:
        return "Several deleted documents may be the one that the row points to."
    if ended[0].renamed_to:
        return f"The document was not deleted but renamed to “{shown(ended[0].renamed_to)}”; let the row follow it."
    return ""


def _why_no_pointer(document: Document, row: IndexRow, graveyard: Graveyard) -> str:
    """Return what a row is besides a pointer, "" when it is no more: what it says may stand nowhere else."""
    text = document.data[row.start : row.end]
    if document.spots[row.lines[0] - 1].place is not Place.ITEM or not _PLAIN_MARKER.fullmatch(row.marker):
        return "Steps, check boxes and marked rows are more than pointers."
    if row.lines[0] != row.lines[1]:
        return "The row goes on over several lines, and what they say may stand nowhere else."
    if len(text.decode("utf-8")) > graveyard.row_chars:
        return f"The row has more than {graveyard.row_chars} characters, and what it says may stand nowhere else."
    first, stop = (bisect_left(graveyard.inline_starts, offset) for offset in (row.start, row.end))
    if stop - first != 1 or b"`" in text or b"://" in text:
        return "The row holds another link, an address, code or a comment, and that may stand nowhere else."
    return ""


def _why_meant(ended: Ended, bearers: Mapping[str, str]) -> str:
    """Return which document that stands now may be meant by the row."""
    for name in filter(None, map(_fold, (ended.path, stem(ended.path), ended.name))):
        if name in bearers:
            return f"“{shown(bearers[name])}” bears the name of the deleted document, so the row may mean it."
    if ended.digest in bearers:
        return f"“{shown(bearers[ended.digest])}” holds the text of the deleted document, so the row may mean it."
    return ""


def _places(document: Document, target: str) -> tuple[str, str]:
    place = posixpath.normpath(posixpath.join(directory(document.path), target))
    return place, f"{place}.md"


def _names(path: str, content: bytes) -> Iterator[str]:
    yield _fold(path)
    yield _fold(stem(path))
    name = frontmatter.name_of(content)
    if name:
        yield _fold(name)


def _fold(name: str) -> str:
    """Return the form under which two names may mean one document."""
    plain = name.strip()
    if is_document(plain):
        plain = plain.rpartition(".")[0]
    return fold_name(plain).replace("-", "_").replace(" ", "_")
