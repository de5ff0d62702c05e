"""Renames: the same bytes under a new name, together with the links that follow."""

from __future__ import annotations

import posixpath
from bisect import bisect_left
from collections.abc import Mapping

from memoryreview.core.formats.base import basename, stem
from memoryreview.core.markdown import Link, links
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


def follows(old: Document, new: Document, step: Step, renames: Mapping[str, str]) -> str:
    """Return the old name of a renamed document when a step does nothing but let links follow it, else ""."""
    if not renames or not step.old_block or not step.new_block or old.is_plain:
        return ""
    old_links, new_links = _links_in(old, step.old), _links_in(new, step.new)
    if len(old_links) != len(new_links) or _around(old, step.old, old_links) != _around(new, step.new, new_links):
        return ""
    followed = ""
    for before, after in zip(old_links, new_links, strict=True):
        if old.data[before.start : before.end] == new.data[after.start : after.end]:
            continue
        name = _renamed_target(before, renames, old.path)
        if not name or not _is_same_link(before, after, name, renames[name], old.path):
            return ""
        followed = followed or name
    return followed


def _links_in(document: Document, span: tuple[int, int]) -> list[Link]:
    start, end = document.lines[span[0]].start, document.lines[span[1] - 1].end
    found = links(document.data)
    first, stop = (bisect_left(found, offset, key=lambda link: link.start) for offset in (start, end))
    return [link for link in found[first:stop] if link.end <= end]


def _around(document: Document, span: tuple[int, int], within: list[Link]) -> list[bytes]:
    """Return the bytes between the links of some lines."""
    edges = [document.lines[span[0]].start]
    for link in within:
        edges += (link.start, link.end)
    edges.append(document.lines[span[1] - 1].end)
    return [document.data[edges[at] : edges[at + 1]] for at in range(0, len(edges), 2)]


def _is_same_link(before: Link, after: Link, old_name: str, new_name: str, path: str) -> bool:
    if (before.kind, before.anchor) != (after.kind, after.anchor) or not _points_to(after, new_name, path):
        return False
    names = [(basename(name), stem(name)) for name in (old_name, new_name)]
    renamed_texts = [*zip(*names, strict=True), (before.target, after.target)]
    return before.text == after.text or (before.text, after.text) in renamed_texts


def _renamed_target(link: Link, renames: Mapping[str, str], path: str) -> str:
    target = _resolved(link, path)
    return next((name for name in renames if _names(link, target, name)), "")


def _points_to(link: Link, name: str, path: str) -> bool:
    return _names(link, _resolved(link, path), name)


def _resolved(link: Link, path: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), link.target))


def _names(link: Link, target: str, name: str) -> bool:
    if target in (name, name.removesuffix(".md")):
        return True
    return link.kind == "wiki" and link.target in (stem(name), basename(name))
