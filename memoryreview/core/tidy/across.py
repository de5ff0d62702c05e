"""Report where shared memory says something else than a store that the same people read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memoryreview.core.formats.base import is_document
from memoryreview.core.model import FormatName, Problem, Scope, Tree
from memoryreview.core.names import shown
from memoryreview.core.relations import RelationKind, StoreIndex
from memoryreview.core.relations.pairs import relate
from memoryreview.core.relations.store_index import all_statements

MAX_REPORTED = 20
"""Disagreements with other stores that are told of one store."""


@dataclass(frozen=True, slots=True)
class Shelf:
    """One store as others see it."""

    slug: str
    scope: Scope
    format: FormatName
    tree: Tree


def across(own: Shelf, others: Sequence[Shelf]) -> tuple[Problem, ...]:
    """Return where one store and a team's disagree. Nothing is ever edited because of that."""
    shared = [other for other in others if Scope.TEAM in (own.scope, other.scope)]
    return tuple([problem for other in shared for problem in _disagreeing(own, other)][:MAX_REPORTED])


def _disagreeing(own: Shelf, other: Shelf) -> Iterator[Problem]:
    index = _indexed(other)
    for statement in all_statements([_indexed(own)]):
        for partner in index.partners(statement) if not statement.is_row else ():
            relation = relate(statement, partner)
            if relation is not None and relation.kind is RelationKind.CONTRADICTION:
                place = f"“{shown(partner.path)}” line {partner.line} in the store “{other.slug}”"
                sentence = f"This disagrees with {place}: {relation.sentence}"
                yield Problem("contradiction", statement.path, statement.line, sentence)


def _indexed(shelf: Shelf) -> StoreIndex:
    index = StoreIndex(shelf.format, shelf.slug)
    for path in sorted(shelf.tree):
        if is_document(path):
            index.put(path, shelf.tree[path])
    return index
