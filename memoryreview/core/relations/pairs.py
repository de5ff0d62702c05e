"""Which two statements may be compared at all, and what the reviewer is told of them."""

from __future__ import annotations

from memoryreview.core.formats.base import stem
from memoryreview.core.text import fold_name

from . import words
from .compare import MIN_SHARED, compare
from .model import Place, Relation, RelationKind
from .statement import Statement

_LOOKALIKES = frozenset({RelationKind.DUPLICATE, RelationKind.NEAR_DUPLICATE, RelationKind.SHORTER})


def relate(here: Statement, there: Statement) -> Relation | None:
    """Say how two statements relate, None when they do not or stand under different things."""
    if not is_comparable(here, there):
        return None
    found = compare(here.text, there.text)
    if found is None:
        return None
    kind, sentence = found.kind, found.sentence
    if kind is RelationKind.CONTRADICTION and not _have_one_subject(here, there, found.shared):
        return None
    if kind in _LOOKALIKES and (here.is_instruction or there.is_instruction):
        other = there if there.is_instruction else here
        sentence = f"The rule stands in {other.path} as well, which agents read anyway. {sentence}"
        kind = RelationKind.ELSEWHERE
    elif kind is RelationKind.DUPLICATE and _places_differ(here, there):
        sentence = f"The same words stand in {there.path} as well."
        kind = RelationKind.ELSEWHERE
    return Relation(kind, place_of(here), place_of(there), sentence, found.score)


def _have_one_subject(here: Statement, there: Statement, shared: float) -> bool:
    """Whether a disagreement is about one thing: a word is enough under one heading, and rows have their title."""
    return here.is_row or shared >= MIN_SHARED or not _places_differ(here, there)


def place_of(statement: Statement) -> Place:
    return Place(statement.path, statement.line, statement.text, statement.store)


def is_comparable(here: Statement, there: Statement) -> bool:
    """Whether two statements stand under the same thing, as far as headings and names of documents tell.

    In one document: under the same headings, and not two steps of one ordered list. In two: under headings of the same
    name, or one of them under none; never two days of a log, never a task group (it holds for its own working folder),
    and never documents named for different environments.
    A row of an index is compared with rows of other indexes that have the same title.
    """
    if (here.store, here.path, here.line) == (there.store, there.path, there.line):
        return False
    if here.is_row or there.is_row:
        return here.subject == there.subject and _places_differ(here, there)
    if not _places_differ(here, there):
        is_step_of_same = here.list_id >= 0 and here.list_id == there.list_id
        return (here.group, here.trail) == (there.group, there.trail) and not is_step_of_same
    if here.is_instruction or there.is_instruction:
        return True
    if here.group or there.group or (here.is_log and there.is_log):
        return False
    return (not here.trail or not there.trail or here.trail[-1] == there.trail[-1]) and not _differ_in_scope(
        here, there
    )


def _places_differ(here: Statement, there: Statement) -> bool:
    return (here.store, here.path) != (there.store, there.path)


def _differ_in_scope(here: Statement, there: Statement) -> bool:
    mine, theirs = (
        set(fold_name(f"{stem(s.path)} {' '.join(s.trail)}").replace("_", " ").replace("-", " ").split()) & words.SCOPE
        for s in (here, there)
    )
    return bool(mine) and bool(theirs) and mine != theirs
