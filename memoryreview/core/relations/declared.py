"""Disagreements that a store declares itself: a note that supersedes another, a row that belies its document."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

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


def superseded(documents: Mapping[str, Known], catalogue: Catalogue) -> Iterator[Relation]:
    """Yield each pair of documents of which one is said to supersede the other while both stand, once."""
    told: set[frozenset[str]] = set()
    for path in sorted(documents):
        known = documents[path]
        by_line = {statement.line: statement for statement in known.statements if not statement.is_row}
        for link in known.links:
            statement = _around(by_line, link)
            other = _target(documents, catalogue, path, link)
            if statement is None or other is None or other.path == path or frozenset((path, other.path)) in told:
                continue
            if _REPLACES.search(statement.text) is None or not other.statements:
                continue
            told.add(frozenset((path, other.path)))
            sentence = f"One is said to supersede the other, and both still stand: “{_first(statement)}”"
            yield Relation(RelationKind.CONTRADICTION, place_of(statement), _start(other), sentence, 0)


def belied_rows(documents: Mapping[str, Known], catalogue: Catalogue) -> Iterator[Relation]:
    """Yield each row of an index that says something else than the description of the document it points to."""
    for path in sorted(documents):
        for row in documents[path].statements:
            if not row.is_row:
                continue
            found = catalogue.find(path, row.target)
            other = documents.get(found.paths[0]) if found.match is Match.EXACT else None
            if other is None or not other.description:
                continue
            differs = other_value(row.text, other.description)
            if differs:
                there = Place(other.path, other.description_line, other.description, row.store)
                sentence = f"The row says something else than the description of {shown(other.path)}: {differs}"
                yield Relation(RelationKind.CONTRADICTION, place_of(row), there, sentence, 0)


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
