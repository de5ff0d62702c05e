"""Renames: the same bytes under a new name, together with the links that follow."""

from __future__ import annotations

import posixpath
from bisect import bisect_left
from collections.abc import Mapping, Sequence

from memoryreview.core import frontmatter
from memoryreview.core.formats.base import basename, stem
from memoryreview.core.markdown import Link, targets
from memoryreview.core.model import Delta, Tree

from .document import Document
from .steps import Step


def find(delta: Delta, base: Tree) -> dict[str, str]:
    """Return old name to new name, for each document that goes and comes back elsewhere with the very same bytes."""
    came: dict[bytes, list[str]] = {}
    for path in sorted(delta):
        after = delta[path]
        if after and path not in base:
            came.setdefault(after, []).append(path)
    found: dict[str, str] = {}
    for path in sorted(delta):
        if delta[path] is None and (names := came.get(base[path])):
            found[path] = names.pop(0)
    return found


class Renames:
    """The renamed documents of a change, by everything that a link may call them before and after it."""

    def __init__(self, names: Mapping[str, str], base: Tree) -> None:
        self._old: dict[str, list[str]] = {}
        self._new: dict[str, list[str]] = {}
        self._names = names
        for old, new in names.items():
            name_of = frontmatter.name_of(base[old])
            own = [f"[[{name_of}"] if name_of else []
            for called, name in ((self._old, old), (self._new, new)):
                for way in (name, name.removesuffix(".md"), f"[[{stem(name)}", f"[[{basename(name)}", *own):
                    called.setdefault(way, []).append(old)

    def follows(self, old: Document, new: Document, step: Step) -> tuple[str, ...]:
        """Return the old name of the renamed document for each link that follows it, if a step does nothing else."""
        if not self._names or not step.old_block or not step.new_block or old.is_plain:
            return ()
        old_links, new_links = _links_in(old, step.old), _links_in(new, step.new)
        if len(old_links) != len(new_links) or _around(old, step.old, old_links) != _around(new, step.new, new_links):
            return ()
        followed: list[str] = []
        for before, after in zip(old_links, new_links, strict=True):
            if old.data[before.start : before.end] == new.data[after.start : after.end]:
                continue
            called, called_now = _called(self._old, before, old.path), _called(self._new, after, old.path)
            name = next((name for name in called if name in called_now), "")
            if not name or not self._is_same_link(old.data, before, new.data, after, name):
                return ()
            followed.append(name)
        return tuple(followed)

    def _is_same_link(self, data: bytes, before: Link, new_data: bytes, after: Link, name: str) -> bool:
        """Whether a link differs in its target alone, and in its text where that is the file's name."""
        parts = tuple(zip(_beside_target(data, before), _beside_target(new_data, after), strict=True))
        if before.kind == after.kind and all(part == new for part, new in parts):
            return True
        texts = (before.text, after.text)
        names = [(basename(path), stem(path), path) for path in (name, self._names[name])]
        may_differ = texts in [*zip(*names, strict=True), (before.target, after.target)]
        if before.kind != after.kind or not may_differ:
            return False
        swap = tuple(text.encode() for text in texts)
        return all(part in (new, new.replace(swap[1], swap[0], 1)) for part, new in parts)


def _links_in(document: Document, span: tuple[int, int]) -> list[Link]:
    """Return the links within some lines, without those that stand in another one."""
    start, end = document.lines[span[0]].start, document.lines[span[1] - 1].end
    known = targets(document.data)
    first, stop = (bisect_left(known, offset, key=lambda link: link.target_start) for offset in (start, end))
    found: list[Link] = []
    for link in sorted(known[first:stop], key=lambda link: link.start):
        if start <= link.start and link.end <= end and (not found or found[-1].end <= link.start):
            found.append(link)
    return found


def _around(document: Document, span: tuple[int, int], within: Sequence[Link]) -> list[bytes]:
    """Return the bytes between the links of some lines."""
    edges = [document.lines[span[0]].start]
    for link in within:
        edges += (link.start, link.end)
    edges.append(document.lines[span[1] - 1].end)
    return [document.data[edges[at] : edges[at + 1]] for at in range(0, len(edges), 2)]


def _beside_target(data: bytes, link: Link) -> tuple[bytes, bytes]:
    """Return what stands in a link before its target and after it, the `<>` around targets with blanks left out."""
    before, after = data[link.start : link.target_start], data[link.target_end : link.end]
    if link.kind == "wiki" or not before.endswith(b"<"):
        return before, after
    return before.removesuffix(b"<"), after.replace(b">", b"", 1)


def _called(names: Mapping[str, Sequence[str]], link: Link, path: str) -> list[str]:
    """Return the old names of the documents that a link may mean: by path, a wiki link by stem or `name` as well."""
    ways = [posixpath.normpath(posixpath.join(posixpath.dirname(path), link.target))]
    ways += [f"[[{link.target}"] if link.kind == "wiki" else []
    return [name for way in ways for name in names.get(way, ())]
