"""What a change does to the text that an agent has in every session, and what that costs its prompt cache."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

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
    note = _("Nothing that the agent has in every session changes; it reads this only when it looks for it.")
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
        return SeenChange(
            path, _("Nothing changes for it: what differs is hidden from it, or lies past the limit."), None
        )
    where = ngettext(
        "The prompt cache holds up to byte %(byte)s of it; about %(tokens)s from there on is read anew once "
        "(bytes / %(divisor)s), with what the tool loads below.",
        "The prompt cache holds up to byte %(byte)s of it; about %(tokens)s from there on are read anew once "
        "(bytes / %(divisor)s), with what the tool loads below.",
        cost.tokens_after,
    ) % {
        "byte": f"{cost.first_byte:,}",
        "tokens": plural(cost.tokens_after, "token"),
        "divisor": BYTES_PER_TOKEN,
    }
    return SeenChange(path, where, document_diff(path, before, after))
