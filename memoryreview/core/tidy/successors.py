"""Which documents a dead row may mean now, by their names alone: for a person to choose from, never to act on."""

from __future__ import annotations

from rapidfuzz.distance import Indel

from memoryreview.core import markdown
from memoryreview.core.formats.base import directory, is_document, stem
from memoryreview.core.markdown import Link
from memoryreview.core.names import shown
from memoryreview.core.text import fold_name

from .library import Library

MIN_SIMILARITY = 0.75
"""Share of common characters of two names from which one may be the new name of the other."""

MAX_CANDIDATES = 4


def candidates(library: Library, index: str, link: Link) -> tuple[str, ...]:
    """Return the documents beside the missing one that no row of the index points to and that have a like name, the
    likest first."""
    wanted, folder = _folded(link.target), _folder(index, link)
    known = listed(library, index)
    found = [
        (_similarity(wanted, _folded(path)), path)
        for path in library.survey.documents
        if directory(path) == folder and path not in known and path != index
    ]
    ranked = sorted((pair for pair in found if pair[0] >= MIN_SIMILARITY), key=lambda pair: (-pair[0], pair[1]))
    return tuple(path for _, path in ranked[:MAX_CANDIDATES])


def named(paths: tuple[str, ...]) -> str:
    """Return documents as a sentence names them."""
    quoted = [f"“{shown(path)}”" for path in paths]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"


def listed(library: Library, index: str) -> set[str]:
    """Return the documents that anything in an index leads to."""
    return {
        path for link in markdown.links(library.tree[index]) for path in library.catalogue.find_link(index, link).paths
    }


def _similarity(wanted: str, name: str) -> float:
    """Return how alike two names are; one that goes on where the other ends is as good as alike."""
    shorter, longer = sorted((wanted, name), key=len)
    if longer.startswith(f"{shorter}_"):
        return 1.0
    return Indel.normalized_similarity(wanted, name)


def _folded(path: str) -> str:
    plain = stem(path) if is_document(path) else path.rpartition("/")[2]
    return fold_name(plain).replace("-", "_").replace(" ", "_")


def _folder(index: str, link: Link) -> str:
    here, below = directory(index), directory(link.target)
    return "/".join(part for part in (here, below) if part)
