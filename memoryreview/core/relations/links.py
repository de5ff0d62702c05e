"""Which documents lead to which, and what a change would leave without a way to it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from memoryreview.core.formats import Catalogue
from memoryreview.core.model import Delta
from memoryreview.core.names import shown

from .model import Place, Relation, RelationKind
from .store_index import Known


@dataclass(frozen=True, slots=True)
class Reference:
    """One link that found its document. `line` is 1-based, in `source`."""

    source: str
    line: int
    text: str
    target: str


class Links:
    """The links of a store, by the document they lead to. Links of a document to itself lead nowhere else."""

    def __init__(self, documents: Mapping[str, Known]) -> None:
        self.catalogue = catalogue_of(documents)
        self._into: defaultdict[str, list[Reference]] = defaultdict(list)
        for path in sorted(documents):
            for reference in references(documents[path], self.catalogue):
                self._into[reference.target].append(reference)

    def into(self, path: str) -> tuple[Reference, ...]:
        return tuple(self._into.get(path, ()))


def catalogue_of(documents: Mapping[str, Known]) -> Catalogue:
    """Return the names of documents, by which links find them. Anchors cannot be asked for."""
    return Catalogue({path: known.head for path, known in documents.items()})


def references(document: Known, catalogue: Catalogue) -> Iterator[Reference]:
    """Yield the links of a document that lead to another one."""
    for link in document.links:
        found = catalogue.find_link(document.path, link) if link.kind != "image" and link.target else None
        if found and found.paths and found.paths[0] != document.path:
            yield Reference(document.path, link.lineno, link.text, found.paths[0])


@dataclass(frozen=True, slots=True)
class Sides:
    """The documents of a store before and after a change.

    Args:
        base: documents as approved.
        proposed: the changed documents as proposed, without those that go.
        catalogue: the names of both.
        listed: changed documents that are indexes: they lead everywhere.
    """

    base: Mapping[str, Known]
    proposed: Mapping[str, Known]
    catalogue: Catalogue
    listed: Container[str] = ()


def around(delta: Delta, links: Links, sides: Sides) -> Iterator[Relation]:
    """Yield the links in and out of what changes, and the documents that nothing would lead to any more."""
    written = [each for path in sorted(sides.proposed) for each in references(sides.proposed[path], sides.catalogue)]
    for path in sorted(delta):
        is_gone = delta[path] is None
        for reference in _staying(path, links, delta, written):
            where = f"{shown(reference.source)}, line {reference.line}"
            sentence = f"{where} would lead nowhere." if is_gone else f"{where} leads here."
            yield Relation(
                RelationKind.LINKS_IN,
                Place(path, None, ""),
                Place(reference.source, reference.line, reference.text),
                sentence,
            )
        document = (sides.base if is_gone else sides.proposed).get(path)
        if document is None or path in sides.listed or (is_gone and _is_renamed(document, sides)):
            continue
        for target in dict.fromkeys(reference.target for reference in references(document, sides.catalogue)):
            if delta.get(target, b"") is not None:
                sentence = f"It leads to {shown(target)}."
                yield Relation(RelationKind.LINKS_OUT, Place(path, None, ""), Place(target, None, ""), sentence)
    yield from _orphans(delta, links, sides, written)


def _is_renamed(document: Known, sides: Sides) -> bool:
    """Whether a document that goes comes back under another name, frontmatter and links alike."""
    same = document.head, [link.target for link in document.links]
    new = (known for path, known in sides.proposed.items() if path not in sides.base)
    return any((known.head, [link.target for link in known.links]) == same for known in new)


def _staying(path: str, links: Links, delta: Delta, written: Iterable[Reference]) -> Iterator[Reference]:
    """Yield the links to a document as they would be after the change."""
    yield from (reference for reference in links.into(path) if reference.source not in delta)
    yield from (reference for reference in written if reference.target == path)


def _orphans(delta: Delta, links: Links, sides: Sides, written: Sequence[Reference]) -> Iterator[Relation]:
    told: set[str] = set()
    for path in sorted(delta):
        for reference in references(sides.base[path], links.catalogue) if path in sides.base else ():
            target = reference.target
            if target in told or delta.get(target, b"") is None or any(_staying(target, links, delta, written)):
                continue
            told.add(target)
            yield Relation(
                RelationKind.ORPHAN,
                Place(path, reference.line, reference.text),
                Place(target, None, ""),
                f"Nothing would lead to {shown(target)} any more.",
            )
