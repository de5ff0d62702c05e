"""Several safe edits at once, in other documents and in each other's way, perhaps beside a change of meaning."""

from __future__ import annotations

from collections.abc import Collection
from random import Random

from .edits import EDITS, Edit
from .judging import Case, inviting
from .mutations import MUTATIONS
from .stores import Store, store

CROWDED = ("repeated entry", "repeated row", "repeated section", "trailing blank", "blank run", "dead row")
"""Edits that only take away, so that several may crowd one document."""


def compound(random: Random, *, crowded: Collection[str] = CROWDED, is_mixed: bool = True) -> Case:
    """Return a case of several edits. Args: is_mixed: whether others than crowded ones, and other changes, join in."""
    start = store(random)
    base = after = start
    used: set[str] = set()
    edits: list[Edit] = []
    for _ in range(random.randint(1, 3) if is_mixed else 0):
        edit = EDITS[random.choice([*EDITS])](random, start)
        paths = _changed(start, edit) if edit else set()
        if edit and not paths & used:
            used |= paths
            edits.append(edit)
            base, after = _laid(base, edit.base, paths), _laid(after, edit.after, paths)
    for _ in range(random.randint(0, 3) if is_mixed else random.randint(1, 5)):
        edit = EDITS[random.choice([*crowded])](random, base)
        if edit:
            edits.append(edit)
            base = edit.base
    if is_mixed and random.random() < 0.7:
        after = MUTATIONS[random.choice([*MUTATIONS])](random, after, frozenset()) or after
    return Case("compound", base.tree(), after.tree(), inviting(random, base.tree(), base.format, edits))


def _changed(start: Store, edit: Edit) -> set[str]:
    sides = (edit.base.pages, edit.after.pages)
    return {path for side in sides for path in side if any(each.get(path) != start.pages.get(path) for each in sides)}


def _laid(below: Store, above: Store, paths: Collection[str]) -> Store:
    return below.with_page(*(above.pages[path] for path in paths if path in above.pages))
