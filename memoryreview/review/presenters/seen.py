"""What a change does to the text that an agent has in every session, and what that costs its prompt cache."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from memoryreview.core.diff import DocumentDiff, document_diff
from memoryreview.core.formats import LOADED_NAMES
from memoryreview.core.formats.base import basename
from memoryreview.core.formats.codex import BYTES_PER_TOKEN
from memoryreview.core.loaded import cache_cost, loaded
from memoryreview.core.model import Delta, FormatName, Limits, Tree

from .words import plural


@dataclass(frozen=True, slots=True)
class SeenChange:
    """One always-loaded document. `diff` is of what the agent sees of it, None where that stays as it is."""

    path: str
    sentence: str
    diff: DocumentDiff | None


@dataclass(frozen=True, slots=True)
class SeenView:
    """`note` says that nothing always loaded changes, "" otherwise or where no tool loads anything by itself."""

    changes: tuple[SeenChange, ...]
    note: str


def seen_view(name: FormatName, tree: Tree, delta: Delta) -> SeenView:
    changes = tuple(_changes(name, tree, delta))
    is_apart = bool(delta) and not changes and name is not FormatName.MARKDOWN
    note = "Nothing that the agent has in every session changes; it reads this only when it looks for it."
    return SeenView(changes, note if is_apart else "")


def _changes(name: FormatName, tree: Tree, delta: Delta) -> Iterator[SeenChange]:
    """Yield what changes for the agent. Documents over the size to which anything is proved are left out."""
    for path in sorted(delta):
        if basename(path) not in LOADED_NAMES:
            continue
        old, new = tree.get(path), delta[path]
        if max(len(old or b""), len(new or b"")) > Limits().file_bytes:
            continue
        before = loaded(path, old, name) if old is not None else None
        after = loaded(path, new, name) if new is not None else None
        if before is not None or after is not None:
            yield _change(path, before.text if before else None, after.text if after else None)


def _change(path: str, before: bytes | None, after: bytes | None) -> SeenChange:
    cost = cache_cost(before or b"", after or b"")
    if cost is None:
        return SeenChange(path, "Nothing changes for it: what differs is hidden from it, or lies past the limit.", None)
    tokens = f"about {plural(cost.tokens_after, 'token')} from there on"
    again = f"{tokens} {'is' if cost.tokens_after == 1 else 'are'} read anew once (bytes / {BYTES_PER_TOKEN})"
    where = f"The prompt cache holds up to byte {cost.first_byte:,} of it; {again}, with what the tool loads below."
    return SeenChange(path, where, document_diff(path, before, after))
