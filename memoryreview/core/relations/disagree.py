"""Whether a change disagrees with what its own documents go on saying: cheap enough for each change that comes in."""

from __future__ import annotations

from memoryreview.core.model import Delta, FormatName, Tree

from .beside import beside
from .links import Links
from .model import RelationKind
from .store_index import StoreIndex

MAX_BYTES = 32_000
"""Documents of a change that are larger together are not compared."""


def disagrees(tree: Tree, delta: Delta, name: FormatName) -> bool:
    """Whether something that a change says may contradict what still stands in the documents that it touches.

    No other document is read, so the answer follows from the change alone; the page of a proposal compares with all.
    """
    before = {path: tree[path] for path in delta if path in tree}
    if sum(len(text) for text in (*before.values(), *filter(None, delta.values()))) > MAX_BYTES:
        return False
    own = StoreIndex(name)
    for path, text in before.items():
        own.put(path, text)
    return any(relation.kind is RelationKind.CONTRADICTION for relation in beside(delta, own, Links({})).relations)
