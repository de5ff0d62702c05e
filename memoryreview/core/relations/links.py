"""Which documents lead to which, and what a change would leave without a way to it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
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
        self._catalogue = Catalogue({path: known.head for path, known in documents.items()})
        self._into: defaultdict[str, list[Reference]] = defaultdict(list)
        for path in sorted(documents):
            for reference in self.of(documents[path]):
                self._into[reference.target].append(reference)

    def of(self, document: Known) -> Iterator[Reference]:
        """Yield the links of a document that lead to another one of the store."""
        for link in document.links:
            found = self._catalogue.find_link(document.path, link) if link.kind != "image" and link.target else None
            if found and found.paths and found.paths[0] != document.path:
                yield Reference(document.path, link.lineno, link.text, found.paths[0])

    def into(self, path: str) -> tuple[Reference, ...]:
        return tuple(self._into.get(path, ()))


def around(delta: Delta, links: Links, base: Mapping[str, Known], proposed: Mapping[str, Known]) -> Iterator[Relation]:
    """Yield the links in and out of the documents that change, and the documents that nothing would lead to any more.

    Args:
        base: documents as approved.
        proposed: the changed documents as proposed, without those that go.
    """
    written = [reference for path in sorted(proposed) for reference in links.of(proposed[path])]
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
        document = base.get(path) if is_gone else proposed.get(path)
        targets = dict.fromkeys(reference.target for reference in links.of(document)) if document else {}
        for target in targets:
            if delta.get(target, b"") is not None:
                sentence = f"It leads to {shown(target)}."
                yield Relation(RelationKind.LINKS_OUT, Place(path, None, ""), Place(target, None, ""), sentence)
    yield from _orphans(delta, links, base, written)


def _staying(path: str, links: Links, delta: Delta, written: Iterable[Reference]) -> Iterator[Reference]:
    """Yield the links to a document as they would be after the change."""
    yield from (reference for reference in links.into(path) if reference.source not in delta)
    yield from (reference for reference in written if reference.target == path)


def _orphans(delta: Delta, links: Links, base: Mapping[str, Known], written: list[Reference]) -> Iterator[Relation]:
    told: set[str] = set()
    for path in sorted(delta):
        for reference in links.of(base[path]) if path in base else ():
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
