"""Suggest, and report, what the statements of a store have to do with each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from memoryreview.core.classify.document import Block, Document, Span
from memoryreview.core.model import FormatName, Problem
from memoryreview.core.relations import Relation, RelationKind, within

from .consolidate import delta_of_rewrites
from .forms import without_citations
from .library import Library
from .model import Suggestion, key_of
from .repeats import entry_words, list_of, removal

_REPORTED = {RelationKind.CONTRADICTION: "contradiction", RelationKind.NEAR_DUPLICATE: "near-duplicate"}


MAX_STORE_BYTES = 256 * 1024
"""Text of a store whose statements are compared across documents; in a larger one each document is taken alone."""

MAX_DOCUMENT_BYTES = 64 * 1024
MAX_COMPARED_BYTES = 512 * 1024
"""Of a larger store: text of one document, and of all, whose statements are compared at all."""


def relations(library: Library) -> tuple[Relation, ...]:
    """Return what is worth telling: contradictions anywhere, near repeats within one document.

    Notes about like things are written alike: across documents a near repeat is most often a look-alike.
    """
    texts, name = library.texts, library.survey.format
    if sum(map(len, texts.values())) <= MAX_STORE_BYTES:
        found = list(within(texts, name))
    else:
        found = [one for path, data in _affordable(texts) for one in _in_one(path, data, name)]
    return tuple(
        one
        for one in found
        if one.kind is RelationKind.CONTRADICTION
        or (one.kind is RelationKind.NEAR_DUPLICATE and one.here.path == one.there.path)
    )


@lru_cache(maxsize=1024)
def _in_one(path: str, data: bytes, name: FormatName) -> tuple[Relation, ...]:
    """Compare one document with itself; what a run does not change is compared once."""
    return within({path: data}, name)


def _affordable(texts: Mapping[str, bytes]) -> Iterator[tuple[str, bytes]]:
    left = MAX_COMPARED_BYTES
    for path, data in texts.items():
        if len(data) <= min(left, MAX_DOCUMENT_BYTES):
            left -= len(data)
            yield path, data


def doubted(found: Sequence[Relation]) -> frozenset[str]:
    """Return the documents whose statements disagree with others."""
    pairs = [(one.here.path, one.there.path) for one in found if one.kind is RelationKind.CONTRADICTION]
    return frozenset(path for pair in pairs for path in pair)


def problems(found: Sequence[Relation]) -> Iterator[Problem]:
    for one in found:
        other = one.here if one.here.path != one.there.path else None
        place = f"{other.path} line {other.line}" if other else f"line {one.here.line}"
        verb = "disagrees with" if one.kind is RelationKind.CONTRADICTION else "says nearly the same as"
        yield Problem(_REPORTED[one.kind], one.there.path, one.there.line, f"This {verb} {place}: {one.sentence}")


def suggestions(library: Library, found: Sequence[Relation]) -> Iterator[Suggestion]:
    """Yield, for two entries of one section that disagree or repeat each other, the removal of one of them.

    Of two that disagree it is the earlier one: people write corrections below. Nothing is decided by that.
    """
    for one in found:
        if one.here.path != one.there.path or one.here.line is None or one.there.line is None:
            continue
        document = library.document(one.here.path)
        pair = [document.block_at(line - 1) for line in (one.here.line, one.there.line)]
        here, there = pair
        if here is None or there is None or not _are_of_one_section(document, here, there):
            continue
        if one.kind is RelationKind.CONTRADICTION:
            yield _without(document, one, here, there)
        elif without_citations(one.here.text) != without_citations(one.there.text):
            yield _without(document, one, *_less_first(here, there))


def _are_of_one_section(document: Document, here: Block, there: Block) -> bool:
    if document.is_delimited:
        return here is not there
    spots = document.spots[here.span[0]], document.spots[there.span[0]]
    return here is not there and spots[0].section == spots[1].section and not _are_unlike(document, here, there)


def _are_unlike(document: Document, here: Block, there: Block) -> bool:
    """Whether one is an entry of a list and the other is not: then they are no alternatives."""
    entries = [bool(entry_words(document, block)) for block in (here, there)]
    return entries[0] != entries[1] or (entries[0] and list_of(document, here) != list_of(document, there))


def _less_first(here: Block, there: Block) -> tuple[Block, Block]:
    return (here, there) if len(here.text) < len(there.text) else (there, here)


def _without(document: Document, one: Relation, goes: Block, stays: Block) -> Suggestion:
    kind = _REPORTED[one.kind]
    gone, kept = (block.span[0] + 1 for block in (goes, stays))
    if one.kind is RelationKind.CONTRADICTION:
        why = (
            f"Lines {one.here.line} and {one.there.line} disagree: {one.sentence} This removes line {gone} and keeps "
            f"line {kept}. Edit the wording if it is the other way round; reject it if both hold."
        )
    else:
        why = (
            f"Lines {one.here.line} and {one.there.line} say nearly the same. {one.sentence} This removes line {gone}; "
            f"edit line {kept} if something of it should stay."
        )
    key = key_of(kind, document.path, *sorted((one.here.text, one.there.text)))
    delta = delta_of_rewrites({document.path: document.data}, [removal(document, _lines(document, goes))])
    return Suggestion(kind, key, delta, why)


def _lines(document: Document, block: Block) -> Span:
    """Return the lines of a block with what is nested below it."""
    if document.is_delimited or not document.spots[block.span[0]].item_start:
        return block.span
    stop = block.span[1]
    depth = document.spots[block.span[0]].depth
    for other in document.blocks:
        if other.span[0] >= stop:
            if document.spots[other.span[0]].depth <= depth:
                break
            stop = other.span[1]
    return block.span[0], stop
