"""Gather: links whose document is gone and that can mean one other now."""

from __future__ import annotations

from collections.abc import Iterator

from memoryreview.core import markdown
from memoryreview.core.classify.rules import link_retarget
from memoryreview.core.formats.catalogue import LinkState
from memoryreview.core.markdown import Link
from memoryreview.core.model import Delta, Kind, Rewrite

from .library import Library
from .model import Candidate, ContextOf

_DEAD = frozenset({LinkState.MISSING, LinkState.UNRESOLVED})


def gather(library: Library, context_of: ContextOf) -> Iterator[Candidate]:
    """Yield the repair of each dead link that has one, unless so many are dead that the folder is incomplete."""
    dead = [] if library.survey.is_incomplete else list(_dead(library))
    if not dead:
        return
    successors = link_retarget.successors_in(library.tree, context_of(library.tree, _without(library, dead)))
    for path, link in dead:
        found = link_retarget.candidate(path, link, successors)
        if isinstance(found, Rewrite):
            yield Candidate(Kind.LINK_RETARGET, (found,))


def _dead(library: Library) -> Iterator[tuple[str, Link]]:
    for path, data in library.texts.items():
        if b"](" in data or b"[[" in data or b"]:" in data:
            links = (*markdown.links(data), *markdown.definitions(data))
            yield from ((path, link) for link in links if library.catalogue.state(path, link) in _DEAD)


def _without(library: Library, dead: list[tuple[str, Link]]) -> Delta:
    """Return a change that lets a context look up what the links meant: each of their lines goes."""
    gone: dict[str, set[int]] = {}
    for path, link in dead:
        gone.setdefault(path, set()).add(link.lineno)
    return {
        path: b"".join(line.raw for line in library.document(path).lines if line.number not in numbers)
        for path, numbers in gone.items()
    }
