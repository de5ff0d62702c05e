"""What the statements of one store have to do with each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from memoryreview.core.model import FormatName, Tree

from . import declared
from .links import catalogue_of
from .model import Relation, RelationKind
from .pairs import relate
from .statement import Statement
from .store_index import StoreIndex, all_statements

MIN_SERIES = 4
"""So many values of one attribute are a series (log 1, log 2, log 3…), and no disagreement."""


def within(tree: Tree, name: FormatName) -> tuple[Relation, ...]:
    """Return the repeats, near repeats and possible contradictions of a store, as suggestions, by path and line.

    Pair by pair: `here` is the earlier place. Of several earlier repeats the one most alike is told; contradictions
    are told all, unless they are a series. Cost grows with the number of statements, not with its square.
    """
    index = StoreIndex(name)
    for path in sorted(tree):
        index.put(path, tree[path])
    found = _without_series(
        [relation for statement in all_statements([index]) for relation in _earlier(index, statement)]
    )
    found += declared.of(index.documents, catalogue_of(index.documents))
    return tuple(sorted(found, key=_order))


def _earlier(index: StoreIndex, statement: Statement) -> Iterator[Relation]:
    before = [other for other in index.partners(statement) if _is_before(other, statement)]
    related = [relation for other in before if (relation := relate(other, statement))]
    yield from (relation for relation in related if relation.kind is RelationKind.CONTRADICTION)
    yield from _most_alike([relation for relation in related if relation.kind is not RelationKind.CONTRADICTION])


def _without_series(relations: Sequence[Relation]) -> list[Relation]:
    values = [relation for relation in relations if relation.kind is RelationKind.CONTRADICTION]
    partners = Counter(place for relation in values for place in (relation.here, relation.there))
    return [
        relation
        for relation in relations
        if relation.kind is not RelationKind.CONTRADICTION
        or max(partners[relation.here], partners[relation.there]) + 1 < MIN_SERIES
    ]


def _most_alike(relations: Sequence[Relation]) -> Sequence[Relation]:
    best = sorted(relations, key=lambda relation: (-relation.score, *_order(relation)))
    return best[:1]


def _is_before(other: Statement, statement: Statement) -> bool:
    return (other.path, other.line) < (statement.path, statement.line)


def _order(relation: Relation) -> tuple[str, int, str, int]:
    return relation.here.path, relation.here.line or 0, relation.there.path, relation.there.line or 0
