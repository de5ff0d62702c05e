"""Which document took the place of one that is gone: it bears its bytes after an approved rename, or its name."""

from __future__ import annotations

import hashlib
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from memoryreview.core import frontmatter
from memoryreview.core.classify.budget import Budget
from memoryreview.core.formats import of
from memoryreview.core.formats.base import directory, is_document, leads_elsewhere, stem
from memoryreview.core.formats.catalogue import Catalogue, LinkState, Match, joined
from memoryreview.core.formats.index import is_document_link, pointers
from memoryreview.core.formats.lint import is_bulk
from memoryreview.core.markdown import Link, targets
from memoryreview.core.model import Context, Ended, Tree
from memoryreview.core.names import shown
from memoryreview.core.overlay import delta_of
from memoryreview.core.text import fold_name

from .outcome import Declined

MAX_NAMED = 4
MIN_PREFIX_CHARS = 4

_TOO_LARGE = Declined("The store is too large to look in all of it for the document that the link means.")
_GENERIC = frozenset({"readme", "index", "memory", "agents", "claude", "notes", "note", "todo", "log", "changelog"})
"""File names that tell nothing: such a document is not known again by its name in another folder."""


@dataclass(frozen=True, slots=True)
class Successor:
    """The one document that a dead link can mean now. `catalogue` knows all documents by name."""

    path: str
    catalogue: Catalogue


class Successors:
    """What stands in a store and what stood there, as far as dead links ask for it: all of it is read once, if at all.

    Args:
        base, proposed: the trees of the change; the same one twice when nothing changes yet.
    """

    def __init__(self, base: Tree, proposed: Tree, context: Context, budget: Budget) -> None:
        self.base, self.proposed, self._context, self._budget = base, proposed, context, budget
        self._doubts: dict[str, str] = {}

    @cached_property
    def catalogue(self) -> Catalogue | None:
        """The names of the documents before the change, None when there is too much to read."""
        if not self._budget.pays_searching(*(self.base[path] for path in self.base)):
            return None
        return Catalogue(self.base)

    @cached_property
    def _changed(self) -> Mapping[str, bytes]:
        """The documents that the change adds or changes, as it leaves them."""
        delta = delta_of(self.base, self.proposed)
        return {path: content for path, content in delta.items() if content is not None}

    @cached_property
    def _arriving(self) -> Catalogue:
        return Catalogue(self._changed)

    @cached_property
    def _ended(self) -> Mapping[str, list[Ended]]:
        """Documents that are gone, by path, and by what a wiki link may call them behind a `[[`."""
        found: dict[str, list[Ended]] = defaultdict(list)
        for ended in self._context.history.ended.values() if self._context.history else ():
            found[_nfc(ended.path)].append(ended)
            for name in filter(None, {ended.name, stem(ended.path)}):
                found[f"[[{_nfc(name)}"].append(ended)
        return found

    def of(self, path: str, link: Link) -> Successor | Declined:
        """Return the one document that a dead link in a document means now, or why nobody can tell."""
        if link.kind == "image" or not link.target or leads_elsewhere(link.target):
            return Declined("Only a link to a document of the store can follow it to another place.")
        if self.catalogue is None:
            return _TOO_LARGE
        for catalogue in (self.catalogue, self._arriving):
            found = catalogue.find_link(path, link)
            if found.match is not Match.NONE:
                return Declined(f"“{shown(link.target)}” leads to {_named(found.paths)}, so the link is not dead.")
        ended = self._meant(path, link)
        if len(ended) > 1:
            return Declined(f"The link may have meant {_named(each.path for each in ended)}, which are gone.")
        if not ended and self.catalogue.state(path, replace(link, anchor="")) is not LinkState.MISSING:
            return Declined(f"Nothing shows that “{shown(link.target)}” ever was a document of this store.")
        doubt = self._why_incomplete(path)
        if doubt:
            return Declined(doubt)
        found_one = self._one(path, link, ended[0] if ended else None)
        return found_one if isinstance(found_one, Declined) else Successor(found_one, self.catalogue)

    def states(self, path: str) -> list[bytes]:
        """Return a document as it stands before the change, and as the change leaves it."""
        return [tree[path] for tree in (self.base, self.proposed) if path in tree]

    def _meant(self, path: str, link: Link) -> list[Ended]:
        """Return the documents that are gone and that a link can have meant: by path, a wiki link by name as well."""
        place = joined(directory(path), link.target)
        if place is None:
            return []
        keys = [_nfc(place), *([] if is_document(place) else [_nfc(f"{place}.md")])]
        keys += [f"[[{_nfc(link.target)}"] if link.kind == "wiki" else []
        return list(dict.fromkeys(ended for key in keys for ended in self._ended.get(key, ())))

    def _one(self, path: str, link: Link, ended: Ended | None) -> str | Declined:
        name = (ended.name if ended else "") or stem(ended.path if ended else link.target)
        found = self._candidates(name, ended)
        if len(found) > 1:
            return Declined(f"{_named(found)} may both be meant, so a person chooses.")
        if not found:
            return Declined(self._near(stem(ended.path if ended else link.target), link))
        (candidate,) = found
        if not self._is_proved(candidate, name, ended):
            return Declined(f"{_named(found)} may be meant, but has neither the name nor the text of what is gone.")
        format_ = of(self._context.format)
        if candidate == path or format_.is_index(candidate) or format_.is_generated(candidate):
            return Declined(f"{_named(found)} is no document that takes the place of another one.")
        if candidate not in self.proposed:
            return Declined(f"{_named(found)} goes in the same change.")
        return candidate

    def _candidates(self, name: str, ended: Ended | None) -> set[str]:
        """Return the documents, before or after the change, that may be meant however loosely."""
        catalogues = filter(None, (self.catalogue, self._arriving))
        found = {path for catalogue in catalogues for path in catalogue.bearers(name).paths}
        return found | ({self._renamed(ended)} - {""} if ended else set())

    def _renamed(self, ended: Ended) -> str:
        """Return where approved renames left the bytes of a document, "" when they are not there any more."""
        history = self._context.history
        known = history.ended if history else {}
        passed: set[str] = set()
        at: Ended | None = ended
        while at and at.renamed_to and at.path not in passed:
            passed.add(at.path)
            if at.renamed_to in self.base:
                is_same = hashlib.sha256(self.base[at.renamed_to]).hexdigest() == ended.digest
                return at.renamed_to if is_same else ""
            following = known.get(at.renamed_to)
            at = following if following and following.digest == ended.digest else None
        return ""

    def _is_proved(self, candidate: str, name: str, ended: Ended | None) -> bool:
        if candidate not in self.base:
            return False
        if ended and candidate == self._renamed(ended):
            return True
        has_name = _nfc(frontmatter.name_of(self.base[candidate])) == _nfc(name)
        if ended and ended.name:
            return has_name
        is_telling = any(char.isalpha() for char in name) and name.casefold() not in _GENERIC
        return is_telling and (has_name or _nfc(stem(candidate)) == _nfc(name))

    def _near(self, gone: str, link: Link) -> str:
        """Return the reason why nothing took the place of a document, with those that a person might think of."""
        folded = _plain(gone)
        near = [path for path in sorted({*self.base, *self._changed}) if is_document(path) and _is_near(folded, path)]
        if near:
            return f"Nothing proves what took the place of “{shown(link.target)}”; {_named(near)} come near."
        return f"Nothing took the place of “{shown(link.target)}”: no approved rename, and no document of its name."

    def _why_incomplete(self, path: str) -> str:
        """Return why a folder cannot be trusted about what is missing, "" when it can."""
        above = (index for index in self._indexes if _is_above(directory(index), directory(path)))
        for source in (path, *above):
            doubt = self._why_bulk(source)
            if doubt:
                return doubt
        return ""

    @cached_property
    def _indexes(self) -> Sequence[str]:
        return [path for path in self.base if of(self._context.format).is_index(path)]

    def _why_bulk(self, source: str) -> str:
        if source not in self._doubts:
            self._doubts[source] = self._counted(source)
        return self._doubts[source]

    def _counted(self, source: str) -> str:
        data = self.base.get(source, b"")
        if self.catalogue is None or not self._budget.pays_parsing(data):
            return _TOO_LARGE.reason
        is_index = of(self._context.format).is_index(source)
        found = pointers(data) if is_index else [x for x in targets(data) if is_document_link(x)]
        states = [self.catalogue.state(source, replace(link, anchor="")) for link in found]
        dead = sum(state in (LinkState.MISSING, LinkState.UNRESOLVED) for state in states)
        if not is_bulk(dead, len(found)):
            return ""
        return f"{dead} of {len(found)} targets in “{shown(source)}” are missing: the folder looks incomplete."


def _named(paths: Iterable[str]) -> str:
    names = [f"“{shown(path)}”" for path in sorted(paths)]
    listed = names[:MAX_NAMED] + ([f"{len(names) - MAX_NAMED} more"] if len(names) > MAX_NAMED else [])
    return " and ".join([", ".join(listed[:-1]), listed[-1]] if len(listed) > 1 else listed)


def _is_near(folded: str, path: str) -> bool:
    """Whether one of two names begins with the other. Args: folded: see `_plain`."""
    other = _plain(stem(path))
    shorter = min(len(folded), len(other))
    return shorter >= MIN_PREFIX_CHARS and folded[:shorter] == other[:shorter]


def _plain(name: str) -> str:
    return fold_name(name).replace("-", "_").replace(" ", "_")


def _is_above(folder: str, other: str) -> bool:
    return not folder or folder == other or other.startswith(f"{folder}/")


def _nfc(name: str) -> str:
    return unicodedata.normalize("NFC", name)
