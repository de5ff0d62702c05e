"""Which document a link means: by path, by file stem, by frontmatter `name`, else loosely."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from dataclasses import dataclass
from enum import StrEnum

from memoryreview.core import frontmatter, markdown
from memoryreview.core.markdown import Link
from memoryreview.core.model import Tree
from memoryreview.core.text import fold_name

from .base import basename, directory, is_document, leads_elsewhere, stem

_OUTSIDE = re.compile(r"(?:[A-Za-z]:)?[/\\]|~")


class Match(StrEnum):
    EXACT = "exact"
    LOOSE = "loose"
    NONE = "none"


class LinkState(StrEnum):
    """What became of a link. Only MISSING and ANCHOR_MISSING are faults; UNRESOLVED may be prose."""

    EXACT = "exact"
    LOOSE = "loose"
    ANCHOR_MISSING = "anchor-missing"  # the document is there, the heading is not
    MISSING = "missing"
    UNRESOLVED = "unresolved"  # a wiki link that no document answers to
    OUTSIDE = "outside"  # a path that leaves the folder: nobody here can tell
    REPOSITORY = "repository"  # relative to the code the note is about: nobody here can tell
    PROSE = "prose"  # no file name at all
    ELSEWHERE = "elsewhere"  # the web, mail, an image


@dataclass(frozen=True, slots=True)
class Found:
    """The documents that a link may mean, those beside its source first; none for Match.NONE."""

    match: Match
    paths: tuple[str, ...] = ()


_NOT_FOUND = Found(Match.NONE)


class Catalogue:
    """The names of all documents of a folder, by which links find them. Reads each document's frontmatter once."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._paths: dict[str, list[str]] = defaultdict(list)
        self._names: dict[str, list[str]] = defaultdict(list)
        self._folded_paths: dict[str, list[str]] = defaultdict(list)
        self._folded_names: dict[str, list[str]] = defaultdict(list)
        self._folders: set[str] = set()
        for path in sorted(tree):
            self._add(path, tree[path])

    def _add(self, path: str, content: bytes) -> None:
        self._paths[_nfc(path)].append(path)
        folder = directory(_nfc(path))
        while folder:
            self._folders.add(folder)
            folder = directory(folder)
        if not is_document(path):
            return
        self._folded_paths[_fold(path)].append(path)
        for name in filter(None, {stem(path), frontmatter.name_of(content)}):
            self._names[_nfc(name)].append(path)
            self._folded_names[_fold(name)].append(path)

    def has_folder(self, folder: str) -> bool:
        return _nfc(folder) in self._folders

    def find(self, source: str, target: str) -> Found:
        """Find what a path or name means in a document of the folder.

        Exact is a path relative to the source, a file stem or a `name`, as it is written; loose is any of these when
        `-`, `_`, blanks, case and `.md` do not count. A file name that resolves by its path is exact as well.
        """
        place = joined(directory(source), target)
        if place is None or not target:
            return _NOT_FOUND
        return (
            self._answer(Match.EXACT, source, self._paths.get(_nfc(place)))
            or self._answer(Match.EXACT, source, self._names.get(_nfc(target)))
            or self._answer(Match.EXACT, source, self._paths.get(_nfc(f"{place}.md")))
            or self._answer(Match.LOOSE, source, self._folded_paths.get(_fold(place)))
            or self._answer(Match.LOOSE, source, self._folded_names.get(_fold(target)))
            or _NOT_FOUND
        )

    def find_link(self, source: str, link: Link) -> Found:
        """Find what a link means; a wiki link is a name, so one that ends in `.md` is loose however well it fits."""
        found = self.find(source, link.target)
        if found.match is Match.NONE and link.raw_target != link.target:
            found = self.find(source, link.raw_target)
        if link.kind == "wiki" and found.match is Match.EXACT and is_document(link.target):
            return Found(Match.LOOSE, found.paths)
        return found

    def bearers(self, name: str) -> Found:
        """Find every document whose stem or `name` is this, loosely; exact when it is this to the letter for each."""
        paths = sorted(set(self._folded_names.get(_fold(name), ())))
        if not paths:
            return _NOT_FOUND
        is_exact = set(self._names.get(_nfc(name), ())).issuperset(paths)
        return Found(Match.EXACT if is_exact else Match.LOOSE, tuple(paths))

    @staticmethod
    def _answer(match: Match, source: str, paths: list[str] | None) -> Found | None:
        if not paths:
            return None
        here = directory(source)
        return Found(match, tuple(sorted(paths, key=lambda path: (directory(path) != here, path))))

    def state(self, source: str, link: Link) -> LinkState:
        """Say what became of a link in a document of the folder."""
        if link.kind == "image" or leads_elsewhere(link.target):
            return LinkState.ELSEWHERE
        if not link.target:
            return self._anchored(source, link) if link.anchor else LinkState.PROSE
        found = self.find_link(source, link)
        if found.match is Match.LOOSE:
            return LinkState.LOOSE
        if found.match is Match.EXACT:
            return self._anchored(found.paths[0], link)
        return LinkState.UNRESOLVED if link.kind == "wiki" else self._unfound(source, link.target)

    def _anchored(self, path: str, link: Link) -> LinkState:
        has_place = not link.anchor or not is_document(path) or markdown.has_anchor(self._tree[path], link.anchor)
        return LinkState.EXACT if has_place else LinkState.ANCHOR_MISSING

    def _unfound(self, source: str, target: str) -> LinkState:
        place = joined(directory(source), target)
        if place is None or _OUTSIDE.match(target):
            return LinkState.OUTSIDE
        if not is_document(target):
            return LinkState.REPOSITORY if set(target) & set("/.") else LinkState.PROSE
        folder, here = directory(place), directory(source)
        if folder in ("", here):
            return LinkState.MISSING
        depth = here.count("/") + 1 if here and folder.startswith(f"{here}/") else 0
        first_step = "/".join(folder.split("/")[: depth + 1])
        return LinkState.MISSING if self.has_folder(first_step) else LinkState.REPOSITORY


def joined(folder: str, target: str) -> str | None:
    """Return what a relative path means as seen from a folder, None when it leaves the store."""
    parts = folder.split("/") if folder else []
    for part in target.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return None if target.startswith("/") else "/".join(parts)


def _nfc(name: str) -> str:
    return unicodedata.normalize("NFC", name)


def _fold(name: str) -> str:
    """Return the form under which loosely equal names are equal."""
    plain = name.strip()
    if is_document(basename(plain)):
        plain = plain[: plain.rindex(".")]
    return fold_name(plain).replace("-", "_").replace(" ", "_")
