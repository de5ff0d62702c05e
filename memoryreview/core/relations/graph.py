"""The documents of a store and how they lead to each other, in an order that can be drawn. Deterministic."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from memoryreview.core.formats.base import directory
from memoryreview.core.formats.catalogue import Catalogue, LinkState, joined

from .links import catalogue_of, references
from .store_index import Known


class NodeKind(StrEnum):
    INDEX = "index"
    DOCUMENT = "document"
    ORPHAN = "orphan"  # no other document leads to it
    MISSING = "missing"  # a document leads to it, and it is not there


@dataclass(frozen=True, slots=True)
class Node:
    """`leads_to` and `led_from` are names of nodes, each once, in the order of the nodes."""

    path: str
    kind: NodeKind
    leads_to: tuple[str, ...]
    led_from: tuple[str, ...]


def graph(documents: Mapping[str, Known], is_index: Callable[[str], bool]) -> tuple[Node, ...]:
    """Return the documents and the missing targets of their links: indexes first, then what they lead to, step by step.

    A link of a document to itself is none. What no index leads to comes after that, by path.
    """
    catalogue = catalogue_of(documents)
    leads_to: dict[str, list[str]] = {}
    for path in sorted(documents):
        found = [reference.target for reference in references(documents[path], catalogue)]
        leads_to[path] = list(dict.fromkeys([*found, *_missing(documents[path], catalogue)]))
    led_from: defaultdict[str, list[str]] = defaultdict(list)
    order = _ordered(leads_to, [path for path in leads_to if is_index(path)])
    for path in order:
        for target in leads_to.get(path, ()):
            led_from[target].append(path)
    place = {path: at for at, path in enumerate(order)}
    return tuple(
        Node(
            path=path,
            kind=_kind(path, documents, led_from, is_index),
            leads_to=tuple(sorted(leads_to.get(path, ()), key=place.__getitem__)),
            led_from=tuple(led_from[path]),
        )
        for path in order
    )


def _missing(document: Known, catalogue: Catalogue) -> Iterator[str]:
    for link in document.links:
        if catalogue.state(document.path, link) is LinkState.MISSING:
            target = joined(directory(document.path), link.target)
            if target:
                yield target


def _ordered(leads_to: Mapping[str, Iterable[str]], indexes: Iterable[str]) -> list[str]:
    """Walk breadth first from the indexes, then from whatever was not reached."""
    seen: dict[str, None] = {}
    waiting = deque(indexes)
    starts = iter([*leads_to, None])
    while True:
        while waiting:
            path = waiting.popleft()
            if path not in seen:
                seen[path] = None
                waiting.extend(leads_to.get(path, ()))
        start = next(starts)
        if start is None:
            return list(seen)
        waiting.append(start)


def _kind(
    path: str, documents: Mapping[str, Known], led_from: Mapping[str, list[str]], is_index: Callable[[str], bool]
) -> NodeKind:
    if path not in documents:
        return NodeKind.MISSING
    if is_index(path):
        return NodeKind.INDEX
    return NodeKind.DOCUMENT if led_from.get(path) else NodeKind.ORPHAN
