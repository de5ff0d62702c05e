"""Which proposals are so alike that one look may do for all of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from .model import Action, Kind

MAX_WORDS = 12
"""Words that may be replaced, old and new together; a longer rewrite is like no other."""

AT_LEAST = 3
"""Fewer are quicker read one by one than as a group."""

_BY_WORDS = frozenset({Kind.FACT_REWRITE, Kind.META_CHANGE})
_BY_PLACE = frozenset({Kind.FACT_ADD, Kind.INDEX_ADD})


def shape(actions: Iterable[Action]) -> str:
    """Return what changes that are alike have in common, "" for one that is looked at by itself.

    Rewrites are alike where they replace the same words by the same, in whichever document; additions of entries where
    they go into the same document. Whatever goes, and whole documents that come or move, are like no other.
    """
    parts = set()
    for action in actions:
        part = _part(action)
        if not part:
            return ""
        parts.add(part)
    return "\n".join(sorted(parts))


def _part(action: Action) -> str:
    if action.kind in _BY_PLACE:
        return f"{action.kind} in {action.path}"
    if action.kind not in _BY_WORDS:
        return ""
    gone, come = replaced(action.old.split(), action.new.split())
    if not 0 < len(gone) + len(come) <= MAX_WORDS:
        return ""
    return f"{action.kind} {' '.join(gone)}\t{' '.join(come)}"  # no word holds a tab


def replaced(old: list[str], new: list[str]) -> tuple[list[str], list[str]]:
    """Return the words between the common beginning and the common end of two texts."""
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    return old[start : len(old) - end], new[start : len(new) - end]


@dataclass(frozen=True, slots=True)
class Likeness:
    """All that must be the same of proposals that are alike: where, by whom, how grave and why, and their shape.

    Args: shape: as `shape` returns it, or a digest of that.
    """

    store: int
    agent: int | None
    person: int | None
    risk: int
    concerns: tuple[str, ...]
    shape: str


def fold(found: Mapping[int, Likeness | None]) -> tuple[tuple[int, ...], ...]:
    """Put the numbers of proposals that are alike together, each group where its first one stands.

    Args: found: by number, in the order of a list; None, or a shape of "", for what is looked at by itself.
    """
    groups: dict[Likeness, list[int]] = {}
    for pk, likeness in found.items():
        if likeness is not None and likeness.shape:
            groups.setdefault(likeness, []).append(pk)
    together = {pk: tuple(ones) for ones in groups.values() if len(ones) >= AT_LEAST for pk in ones}
    return tuple(dict.fromkeys(together.get(pk, (pk,)) for pk in found))
