"""Folders of which one says nothing that the other does not: the same agent wrote to two places."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from enum import StrEnum

from memoryreview.core.model import Problem, Tree
from memoryreview.core.names import shown
from memoryreview.core.text import normalise

from . import blocks
from .base import basename, directory, is_document

_NO_STATEMENT = frozenset({"section", "document"})
_GENERIC = frozenset({"memory", "memories", "memory-bank", ""})
_KEPT_BY_AGENTS = frozenset({"MEMORY.md", "USER.md"})
MAX_FOLDERS = 200


class Relation(StrEnum):
    EQUAL = "equal"
    INSIDE = "inside"
    AROUND = "around"


def statements(tree: Tree) -> frozenset[str]:
    """Return what the documents of a folder say, entry by entry, headings left out."""
    return frozenset(
        normalise(entry.text)
        for path, data in tree.items()
        if is_document(path)
        for entry in blocks.entries(path, data)
        if entry.kind not in _NO_STATEMENT and entry.text
    )


def relation(one: frozenset[str], other: frozenset[str]) -> Relation | None:
    """Say how what one folder says lies to what another says; None where each says something of its own."""
    if not one or not other or not (one <= other or other <= one):
        return None
    if one == other:
        return Relation.EQUAL
    return Relation.INSIDE if one < other else Relation.AROUND


def problems(tree: Tree) -> Iterator[Problem]:
    """Report folders of the same name of which one is contained in the other."""
    folders: dict[str, dict[str, bytes]] = defaultdict(dict)
    for path in tree:
        if is_document(path):
            folders[directory(path)][path] = tree[path]
    alike: dict[str, list[str]] = defaultdict(list)
    for folder in sorted(folders)[:MAX_FOLDERS]:
        if basename(folder) not in _GENERIC and any(basename(path) in _KEPT_BY_AGENTS for path in folders[folder]):
            alike[basename(folder)].append(folder)
    for names in alike.values():
        said = {folder: statements(folders[folder]) for folder in names} if len(names) > 1 else {}
        for index, folder in enumerate(said):
            for other in names[index + 1 :]:
                found = relation(said[folder], said[other])
                if found is not None:
                    small, large = (other, folder) if found is Relation.AROUND else (folder, other)
                    yield Problem("contained", min(folders[small]), None, sentence(small, large, found))


def sentence(small: str, large: str, found: Relation) -> str:
    one, other = f"“{shown(small)}”", f"“{shown(large)}”"
    if found is Relation.EQUAL:
        return f"{one} and {other} say the same: one agent seems to keep two stores."
    return f"All that {one} says stands in {other} too: one agent seems to keep two stores, and this is the older copy."
