"""A link whose document is gone says the same when it leads to the one document that took its place."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import replace
from urllib.parse import unquote_to_bytes

from memoryreview.core.classify.budget import Budget
from memoryreview.core.classify.document import BLANKS, Document
from memoryreview.core.formats.base import directory, is_document, stem
from memoryreview.core.formats.catalogue import Catalogue, Found, Match
from memoryreview.core.markdown import Link, Place, has_anchor, targets
from memoryreview.core.model import Context, Rewrite, Tree
from memoryreview.core.names import shown

from .outcome import Declined, Explained, Outcome
from .successors import Successor, Successors

VERSION = 1

_OPEN = frozenset({Place.PARAGRAPH, Place.ITEM, Place.ORDERED, Place.TABLE, Place.REFERENCE})
_NEEDLESS_CODE = re.compile(r"%(?:2[DdEeFf]|3[0-9]|4[1-9A-Fa-f]|5[0-9AaFf]|6[1-9A-Fa-f]|7[0-9AaEe])")
"""Percent codes of letters, digits and marks that are written as they are."""
_UNSAFE_IN_BRACKETS = re.compile(r"[\r\n%#<>\\&]")
_MARKS = frozenset(b"[]<")
"""Bytes of which a line with a link, or with the end of one, holds at least one."""
_UNSAFE = re.compile(r"[\x00-\x20\x7f%#<>()\\&\[\]|]")


def explain_line(old: Document, new: Document, lines: tuple[int, int], successors: Successors) -> Outcome:
    """Explain a line in which links lead elsewhere and nothing else changes but trailing blanks.

    Args: lines: 0-based, in old and new.
    """
    if not _MARKS.intersection(old.bodies[lines[0]]):
        return None
    before, after = (_Line(document, index) for document, index in zip((old, new), lines, strict=True))
    if before.rest != after.rest or before.kinds != after.kinds:
        return None
    rewrites: list[Rewrite] = []
    for link, new_link in zip(before.links, after.links, strict=True):
        rewrite = _rewrite(old, new, link, new_link)
        if rewrite is None:
            continue
        place = old.spots[lines[0]].place
        refusal = _why_kept(place) or _why_not(old, link, new, new_link, successors)
        if refusal:
            return Declined(refusal)
        rewrites.append(rewrite)
    return Explained(tuple(rewrites)) if rewrites else None


def candidate(path: str, link: Link, successors: Successors) -> Rewrite | Declined:
    """Return the one rewrite of a document that repairs a dead link in it, or why nobody can tell.

    Args: link: from `markdown.links` or `markdown.definitions` of the document; successors: of a tree on both sides.
    """
    found = successors.of(path, link)
    if isinstance(found, Declined):
        return found
    refusal = _why_no_anchor(found, link, successors)
    written = _form(path, link, found.path, found.catalogue)
    if refusal or not written:
        return Declined(refusal or f"No way to write the link leads to “{shown(found.path)}” alone.")
    if link.kind != "wiki":
        unsafe = _UNSAFE_IN_BRACKETS if _is_angled(successors.base[path], link) else _UNSAFE
        written = unsafe.sub(lambda match: f"%{ord(match.group()):02X}", written)
    return Rewrite(path, link.target_start, link.target_end, written.encode())


def successors_in(tree: Tree, context: Context) -> Successors:
    """Return what `candidate` asks about a store in which nothing changes yet."""
    return Successors(tree, tree, context, Budget())


class _Line:
    """A line cut at the targets of its links. `rest` is all that stands around them, without trailing blanks."""

    def __init__(self, document: Document, index: int) -> None:
        line = document.lines[index]
        known = targets(document.data)
        first, stop = (bisect_left(known, at, key=lambda link: link.target_start) for at in (line.start, line.end))
        self.links = known[first:stop]
        self.kinds = [link.kind for link in self.links]
        self.rest: list[bytes] = []
        at, end = line.start, line.start + len(line.body.rstrip(BLANKS))
        for link in self.links:
            start, stop, anchor = _destination(document.data, link)
            self.rest += (document.data[at:start], anchor)
            at = stop
        self.rest.append(document.data[at : max(at, end)])


def _destination(data: bytes, link: Link) -> tuple[int, int, bytes]:
    """Return the byte span of a target, of what encloses it too, and the anchor that is written in there."""
    if link.kind == "wiki" or not _is_angled(data, link):
        return link.target_start, link.target_end, b""
    close = data.index(b">", link.target_end)
    return link.target_start - 1, close + 1, data[link.target_end : close]


def _is_angled(data: bytes, link: Link) -> bool:
    return data[link.target_start - 1 : link.target_start] == b"<"


def _rewrite(old: Document, new: Document, link: Link, new_link: Link) -> Rewrite | None:
    """Return how the target of a link changes, with the brackets around it when these change, None for no change."""
    spans = ((link.target_start, link.target_end), (new_link.target_start, new_link.target_end))
    if _is_angled(old.data, link) != _is_angled(new.data, new_link):
        spans = (_destination(old.data, link)[:2], _destination(new.data, new_link)[:2])
    after = new.data[slice(*spans[1])]
    return None if old.data[slice(*spans[0])] == after else Rewrite(old.path, *spans[0], after)


def _why_kept(place: Place) -> str:
    return "" if place in _OPEN else f"The link stands in a {place}, which is kept as it is written."


def _why_not(old: Document, link: Link, new: Document, new_link: Link, successors: Successors) -> str:
    """Return why a link may not become another one, "" when it only follows its document."""
    found = successors.of(old.path, link)
    if isinstance(found, Declined):
        return found.reason
    form = _form(old.path, link, found.path, found.catalogue)
    if not form or new_link.target != form:
        written = f"; write “{shown(form)}”" if form else ""
        return f"The document that the link meant is “{shown(found.path)}” now{written}."
    if not _is_plain(new_link, is_angled=_is_angled(new.data, new_link)):
        return "The new target is written with codes or marks that it does not need."
    return _why_no_anchor(found, link, successors)


def _why_no_anchor(found: Successor, link: Link, successors: Successors) -> str:
    if not link.anchor or all(has_anchor(content, link.anchor) for content in successors.states(found.path)):
        return ""
    return f"“{shown(found.path)}” has no heading “#{shown(link.anchor)}”."


def _is_plain(link: Link, *, is_angled: bool) -> bool:
    """Whether a target is written as it is read, but for percent codes of what could not stand there otherwise."""
    if link.kind == "wiki":
        return link.raw_target.strip() == link.target
    if "\\" in link.raw_target or unquote_to_bytes(link.raw_target) != link.target.encode():
        return False
    has_blanks = not is_angled and any(char.isspace() for char in link.raw_target)
    return not has_blanks and not _NEEDLESS_CODE.search(link.raw_target)


def _form(path: str, link: Link, to: str, catalogue: Catalogue) -> str:
    """Return the target, decoded, that leads to a document, and to no other, in the way in which the link did.

    By stem or by path, that is: a link by `name` is not dead while a document bears the name.
    """
    is_stem = link.kind == "wiki" and "/" not in link.target
    form = stem(to) if is_stem else _path(path, link, to)
    is_odd = form != form.strip() or is_document(link.target) or bool(set(form) & set("[]|#\\\r\n"))
    leads = catalogue.find_link(path, replace(link, target=form, raw_target=form))
    return "" if (link.kind == "wiki" and is_odd) or leads != Found(Match.EXACT, (to,)) else form


def _path(path: str, link: Link, to: str) -> str:
    """Return the path from one document to another, with the ending and the `./` that the link has."""
    here, there = directory(path).split("/") if directory(path) else [], to.split("/")
    shared = 0
    while shared < min(len(here), len(there) - 1) and here[shared] == there[shared]:
        shared += 1
    written = "/".join([".."] * (len(here) - shared) + there[shared:])
    if not is_document(link.target) and is_document(to):
        written = written.rpartition(".")[0]
    return f"./{written}" if link.target.startswith("./") and not written.startswith("../") else written
