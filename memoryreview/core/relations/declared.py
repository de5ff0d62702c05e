"""Disagreements that a store declares itself: a note that supersedes another, a row that belies its document."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping

from memoryreview.core.formats import Catalogue, Match
from memoryreview.core.markdown import Link
from memoryreview.core.names import shown

from .compare import other_value
from .model import Place, Relation, RelationKind
from .pairs import place_of
from .statement import Statement
from .store_index import Known

_REPLACES = re.compile(
    r"\b(?:supersed(?:es|ed|ing)|replac(?:es|ed)|obsolet(?:es|ed)|deprecat(?:es|ed)|overrid(?:es|den)|ersetzt|abgelöst|"
    r"remplac(?:e|é|ée)|reemplaza(?:do|da)?|sustituye|sustituid[oa])\b|取代|替代|代替|置き換え|廃止|대체",
    re.IGNORECASE,
)


def of(documents: Mapping[str, Known], catalogue: Catalogue, among: Container[str] | None = None) -> Iterator[Relation]:
    """Yield the disagreements that a store declares itself.

    Args: among: one of the two documents of each must be of these; None for any.
    """
    for path in sorted(documents):
        yield from _superseded(documents[path], documents, catalogue, among)
        yield from _belied(documents[path], documents, catalogue, among)


def _superseded(
    known: Known, documents: Mapping[str, Known], catalogue: Catalogue, among: Container[str] | None
) -> Iterator[Relation]:
    """Yield each document that this one says to supersede, or to be superseded by, while both stand."""
    by_line = {statement.line: statement for statement in known.statements if not statement.is_row}
    told: set[str] = set()
    for link in known.links:
        other = _target(documents, catalogue, known.path, link)
        if other is None or other.path in {known.path, *told} or not _is_among(among, known, other):
            continue
        statement = _around(by_line, link)
        if statement is None or not other.statements or _REPLACES.search(statement.text) is None:
            continue
        told.add(other.path)
        sentence = f"One is said to supersede the other, and both still stand: “{_first(statement)}”"
        yield Relation(RelationKind.CONTRADICTION, place_of(statement), _start(other), sentence, 0)


def _belied(
    known: Known, documents: Mapping[str, Known], catalogue: Catalogue, among: Container[str] | None
) -> Iterator[Relation]:
    """Yield each row of this index that says something else than the description of the document it points to."""
    for row in known.statements:
        if not row.is_row:
            continue
        found = catalogue.find(known.path, row.target)
        other = documents.get(found.paths[0]) if found.match is Match.EXACT else None
        if other is None or not other.description or not _is_among(among, known, other):
            continue
        differs = other_value(row.text, other.description)
        if differs:
            there = Place(other.path, other.description_line, other.description, row.store)
            sentence = f"The row says something else than the description of {shown(other.path)}: {differs}"
            yield Relation(RelationKind.CONTRADICTION, place_of(row), there, sentence, 0)


def _is_among(among: Container[str] | None, *documents: Known) -> bool:
    return among is None or any(document.path in among for document in documents)


def _around(by_line: Mapping[int, Statement], link: Link) -> Statement | None:
    """Return the statement that a link stands in: the last one that begins at or above its line and holds it."""
    line = max((number for number in by_line if number <= link.lineno), default=None)
    if line is None:
        return None
    statement = by_line[line]
    return statement if link.raw_target in statement.text or link.target in statement.text else None


def _target(documents: Mapping[str, Known], catalogue: Catalogue, source: str, link: Link) -> Known | None:
    if link.kind == "image" or not link.target:
        return None
    found = catalogue.find_link(source, link)
    return documents.get(found.paths[0]) if found.paths else None


def _start(known: Known) -> Place:
    first = next((statement for statement in known.statements if not statement.is_row), known.statements[0])
    return place_of(first)


def _first(statement: Statement) -> str:
    text = shown(statement.text)
    return text if text.endswith((".", "…", "!", "?", "。")) else f"{text}."
