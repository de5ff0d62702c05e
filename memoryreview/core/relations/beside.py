"""What memory says already about a change: its statements against all that would stand beside them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from rapidfuzz import fuzz

from memoryreview.core import formats
from memoryreview.core.model import Delta
from memoryreview.core.names import shown
from memoryreview.core.text import normalise

from . import declared
from .compare import compare
from .links import Links, Sides, around, catalogue_of
from .model import Relation, RelationKind
from .pairs import place_of, relate
from .statement import Statement
from .store_index import Known, StoreIndex
from .within import MIN_SERIES

MAX_STATEMENTS = 40
"""Changed statements that are compared; of a larger change the rest is counted only."""

MAX_TOLD = 3
"""Relations told of one statement."""

_REPLACED_RATIO = 50.0
_ALIKE = frozenset({RelationKind.DUPLICATE, RelationKind.NEAR_DUPLICATE, RelationKind.SHORTER, RelationKind.ELSEWHERE})
_ORDER = [
    RelationKind.REJECTED_BEFORE,
    RelationKind.CONTRADICTION,
    RelationKind.DUPLICATE,
    RelationKind.ELSEWHERE,
    RelationKind.SHORTER,
    RelationKind.NEAR_DUPLICATE,
]


@dataclass(frozen=True, slots=True)
class Beside:
    """Args: left_out: changed statements that were not compared, because there are too many of them."""

    relations: tuple[Relation, ...]
    left_out: int = 0


def beside(
    delta: Delta,
    own: StoreIndex,
    known_links: Links,
    *,
    others: Sequence[StoreIndex] = (),
    rejected: Sequence[Statement] = (),
    apart: Iterable[tuple[str, str]] = (),
) -> Beside:
    """Relate a change to what would stand beside it. `here` is what the change says, `there` what memory says.

    Args:
        delta: against what `own` knows.
        own, known_links: the store as approved.
        others: more stores that the reader may see. Nothing of any other store is looked at.
        rejected: what rejected changes of this store wanted to say.
        apart: (store, path) of documents that the change is made from, and so repeats.
    """
    proposed = StoreIndex(own.format, own.store)
    for path in sorted(delta):
        new = delta[path]
        if new is not None:
            proposed.put(path, new)
    come, gone = _changed(own, proposed, delta)
    looked_at = _Around(own, proposed, others, frozenset(delta), frozenset(apart))
    found = [r for statement in come[:MAX_STATEMENTS] for r in _told(statement, looked_at, rejected)]
    found += [r for statement in gone[:MAX_STATEMENTS] for r in _still_standing(statement, come, looked_at)]
    sides = _sides(own, proposed, known_links, delta)
    found += _declared(sides, known_links, delta)
    found = sorted(dict.fromkeys(found), key=lambda relation: _ORDER.index(relation.kind))
    found += around(delta, known_links, sides)
    return Beside(tuple(found), max(0, len(come) - MAX_STATEMENTS) + max(0, len(gone) - MAX_STATEMENTS))


@dataclass(frozen=True, slots=True)
class _Around:
    own: StoreIndex
    proposed: StoreIndex
    others: Sequence[StoreIndex]
    changed: frozenset[str]
    apart: frozenset[tuple[str, str]]

    def partners(self, statement: Statement) -> Iterator[Statement]:
        """Yield what would stand beside a statement once the change is approved."""
        yield from (other for other in self.own.partners(statement) if other.path not in self.changed)
        yield from self.proposed.partners(statement)
        for index in self.others:
            yield from (other for other in index.partners(statement) if (other.store, other.path) not in self.apart)


def _changed(own: StoreIndex, proposed: StoreIndex, delta: Delta) -> tuple[list[Statement], list[Statement]]:
    """Return what the change says that its documents did not say, and what they would not say any more."""
    come: list[Statement] = []
    gone: list[Statement] = []
    for path in sorted(delta):
        old = own.documents[path].statements if path in own.documents else ()
        new = proposed.documents[path].statements if path in proposed.documents else ()
        come += _beyond(new, old)
        gone += _beyond(old, new)
    return come, gone


def _beyond(statements: Sequence[Statement], others: Sequence[Statement]) -> Iterator[Statement]:
    left = Counter(_identity(other) for other in others)
    for statement in statements:
        identity = _identity(statement)
        left[identity] -= 1
        if left[identity] < 0:
            yield statement


def _identity(statement: Statement) -> tuple[object, ...]:
    return normalise(statement.text), statement.trail, statement.group, statement.subject, statement.target


def _told(statement: Statement, looked_at: _Around, rejected: Sequence[Statement]) -> list[Relation]:
    related = [relation for other in looked_at.partners(statement) if (relation := relate(statement, other))]
    values = [relation for relation in related if relation.kind is RelationKind.CONTRADICTION]
    if len(values) + 1 >= MIN_SERIES:
        related = [relation for relation in related if relation.kind is not RelationKind.CONTRADICTION]
    told = sorted(related, key=lambda relation: (_ORDER.index(relation.kind), -relation.score))[:MAX_TOLD]
    return [*_rejected(statement, rejected), *told]


def _rejected(statement: Statement, rejected: Sequence[Statement]) -> Iterator[Relation]:
    """Find the earlier rejection that wanted to say the same, the newest first."""
    for other in rejected:
        if fuzz.ratio(statement.text, other.text) < _REPLACED_RATIO or statement.subject != other.subject:
            continue
        found = compare(statement.text, other.text)
        if found and found.kind in _ALIKE:
            same = "The same" if found.kind is RelationKind.DUPLICATE else "Nearly the same"
            sentence = f"{same} was rejected before."
            here, there = place_of(statement), place_of(other)
            yield Relation(RelationKind.REJECTED_BEFORE, here, there, sentence, found.score)
            return


def _still_standing(statement: Statement, come: Sequence[Statement], looked_at: _Around) -> Iterator[Relation]:
    """Say where a statement that goes would still stand; one that is worded anew or moves does not go."""
    for other in come:
        is_moved = normalise(other.text) == normalise(statement.text)
        if is_moved or (other.path == statement.path and fuzz.ratio(other.text, statement.text) >= _REPLACED_RATIO):
            return
    for other in looked_at.partners(statement):
        found = relate(statement, other)
        if found and found.kind in _ALIKE:
            sentence = f"What goes here would still stand in {shown(other.path)}. {found.sentence}"
            yield replace(found, kind=RelationKind.ELSEWHERE, sentence=sentence)
            return


def _sides(own: StoreIndex, proposed: StoreIndex, known_links: Links, delta: Delta) -> Sides:
    has_new_names = any(path in proposed.documents and not _keeps_name(own, proposed, path) for path in delta)
    catalogue = catalogue_of({**own.documents, **proposed.documents}) if has_new_names else known_links.catalogue
    is_index = formats.of(own.format).is_index
    return Sides(own.documents, proposed.documents, catalogue, frozenset(filter(is_index, delta)))


def _keeps_name(own: StoreIndex, proposed: StoreIndex, path: str) -> bool:
    return path in own.documents and own.documents[path].head == proposed.documents[path].head


def _declared(sides: Sides, known_links: Links, delta: Delta) -> Iterator[Relation]:
    """Yield what the change itself declares: documents it supersedes, rows that belie what they point to."""
    after: dict[str, Known] = {path: known for path, known in sides.base.items() if path not in delta}
    after |= sides.proposed
    before = {_texts(relation) for relation in declared.of(sides.base, known_links.catalogue, delta)}
    yield from (r for r in declared.of(after, sides.catalogue, delta) if _texts(r) not in before)


def _texts(relation: Relation) -> tuple[str, str, str]:
    return relation.here.path, relation.here.text, relation.there.text
