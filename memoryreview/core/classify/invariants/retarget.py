"""`link.retarget`: a link that leads nowhere leads to the one document that took the place of its own."""

from __future__ import annotations

import hashlib
import posixpath
import re
import unicodedata
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple
from urllib.parse import unquote

from memoryreview.core import frontmatter
from memoryreview.core.classify.claim import Claim, Clause, line_at
from memoryreview.core.formats import of
from memoryreview.core.formats.base import is_document, leads_elsewhere
from memoryreview.core.formats.base import stem as file_stem
from memoryreview.core.formats.catalogue import LinkState, Match
from memoryreview.core.formats.index import is_document_link, pointers
from memoryreview.core.markdown import Link, Place, has_anchor, outline, targets
from memoryreview.core.model import Ended

_OPEN = (Place.PARAGRAPH, Place.ITEM, Place.ORDERED, Place.TABLE, Place.REFERENCE)
_TELLS_NOTHING = re.compile(r"[\W\d_]*|readme|index|memory|agents|claude|notes?|todo|(?:change)?log", re.IGNORECASE)


class _Move(NamedTuple):
    """A link before and after; `to` is the document that it leads to now, "" unless it is one and no other."""

    path: str
    old: Link
    new: Link
    to: str


def _moves(claim: Claim) -> Iterator[_Move]:
    for path in claim.paths:
        before, after = claim.base[path], claim.proposed.get(path, b"")
        for old, new in zip(targets(before), targets(after), strict=False):
            if before[old.target_start : old.target_end] != after[new.target_start : new.target_end]:
                found = claim.names().find_link(path, new)
                is_one = found.match is Match.EXACT and len(found.paths) == 1
                yield _Move(path, old, new, found.paths[0] if is_one else "")


def changes_targets_alone(claim: Claim) -> bool:
    """Without the targets of their links, and the `<>` around these, both states are the same text."""
    for path in claim.paths:
        before, after = claim.base[path], claim.proposed.get(path, b"")
        if [link.kind for link in targets(before)] != [link.kind for link in targets(after)]:
            return False
        spans = [_span(before, link) for link in targets(before)]
        if _around(before) != _around(after):
            return False
        for rewrite in claim.rewrites(path):
            start, end = spans[max(bisect_right(spans, (rewrite.start, len(before))) - 1, 0)] if spans else (0, 0)
            if not start <= rewrite.start < rewrite.end <= end:
                return False
    return True


def _span(data: bytes, link: Link) -> tuple[int, int]:
    start, end = link.target_start, link.target_end
    is_enclosed = link.kind != "wiki" and data[start - 1 : start] == b"<" and data[end : end + 1] == b">"
    return start - is_enclosed, end + is_enclosed


def _around(data: bytes) -> list[bytes]:
    edges = [0, *(edge for link in targets(data) for edge in _span(data, link)), len(data)]
    return [data[edges[at] : edges[at + 1]] for at in range(0, len(edges), 2)]


def stands_in_the_open(claim: Claim) -> bool:
    """Quoted text and images stay as they are."""
    return all(
        move.old.kind != "image" and outline(data)[line_at(data, move.old.target_start).number - 1].place in _OPEN
        for move in _moves(claim)
        if (data := claim.base[move.path])
    )


def led_nowhere(claim: Claim) -> bool:
    """No document answered to the link, however loosely, and it led to no place outside the store."""
    return all(
        bool(move.old.target)
        and not leads_elsewhere(move.old.target)
        and claim.names().find_link(move.path, move.old).match is Match.NONE
        for move in _moves(claim)
    )


def leads_to_the_one_successor(claim: Claim) -> bool:
    """A rename left the bytes there, or it alone bears the name of what is gone; nothing else may be meant."""
    known = _known(claim)
    for move in _moves(claim):
        gone = _gone(known, move)
        state = claim.names().state(move.path, replace(move.old, anchor=""))
        if not move.to or len(gone) > 1 or not (gone or state is LinkState.MISSING):
            return False
        ended = next(iter(gone), None)
        stem = file_stem(ended.path if ended else move.old.target)
        name = ended.name if ended and ended.name else stem
        meant = {*claim.names().bearers(name).paths, *(_renamed(claim, ended) if ended else ())}
        format_ = of(claim.context.format)
        if meant != {move.to} or move.to == move.path or format_.is_index(move.to) or format_.is_generated(move.to):
            return False
        borne = [frontmatter.name_of(claim.base[move.to])]
        if not ended or not ended.name:
            borne = [] if _TELLS_NOTHING.fullmatch(name) else [*borne, file_stem(move.to)]
        is_same = bool(ended and move.to in _renamed(claim, ended))
        if not is_same and _nfc(name) not in map(_nfc, borne):
            return False
    return True


def _known(claim: Claim) -> Mapping[tuple[str, str], set[Ended]]:
    """Return the approved documents that are gone by path, and by what a wiki link may call them."""
    found: dict[tuple[str, str], set[Ended]] = defaultdict(set)
    for ended in claim.context.history.ended.values() if claim.context.history else ():
        for way in (("path", ended.path), ("wiki", ended.name), ("wiki", file_stem(ended.path))):
            found[way[0], _nfc(way[1])].add(ended)
    return found


def _gone(known: Mapping[tuple[str, str], set[Ended]], move: _Move) -> set[Ended]:
    """Return the approved documents that the link can have meant."""
    place = _nfc(posixpath.normpath(posixpath.join(posixpath.dirname(move.path), move.old.target)))
    ways = [("path", place), ("path", place if is_document(place) else place + ".md")]
    ways += [("wiki", _nfc(move.old.target))] if move.old.kind == "wiki" else []
    return {ended for way in ways for ended in known.get(way, ())}


def _renamed(claim: Claim, ended: Ended) -> list[str]:
    """Return where the bytes of a document stand after renames that were approved one after the other."""
    known = claim.context.history.ended if claim.context.history else {}
    at, passed = ended, [ended.path]
    while at.renamed_to in known and at.renamed_to not in claim.base and at.renamed_to not in passed:
        at = known[at.renamed_to]
        passed.append(at.path)
        if at.digest != ended.digest:
            return []
    content = claim.base.get(at.renamed_to)
    return [at.renamed_to] if content is not None and hashlib.sha256(content).hexdigest() == ended.digest else []


def has_its_anchor(claim: Claim) -> bool:
    return all(not x.old.anchor or (x.to and has_anchor(claim.base[x.to], x.old.anchor)) for x in _moves(claim))


def is_written_as_before(claim: Claim) -> bool:
    """A path stays a path with the ending and `./` that it has, a stem a stem; codes stand for signs alone."""
    for path, old, new, to in _moves(claim):
        written = _path(posixpath.dirname(path), to, old.target)
        if old.target.startswith("./") and not written.startswith("../"):
            written = f"./{written}"
        if old.kind == "wiki":
            if is_document(old.target) or new.target != (written if "/" in old.target else file_stem(to)):
                return False
            continue
        if new.target != written or unquote(new.raw_target) != written:
            return False
        if _LETTER_CODE.search(new.raw_target):
            return False
        is_enclosed = _span(claim.proposed[path], new)[0] < new.target_start
        if not is_enclosed and re.search(r"\s", new.raw_target):
            return False
    return True


_LETTER_CODE = re.compile(r"%(?:3[0-9]|[46][1-9a-f]|[57][0-9a]|2[def]|5f|7e)", re.IGNORECASE)


def _path(folder: str, to: str, like: str) -> str:
    """Return the path from a folder to a document, with an ending if `like` has one."""
    here, there = [part for part in folder.split("/") if part], to.split("/")
    while here and there[1:] and here[0] == there[0]:
        del here[0], there[0]
    written = "/".join([".."] * len(here) + there)
    return written if is_document(like) or not is_document(to) else posixpath.splitext(written)[0]


def stands_in_a_whole_folder(claim: Claim) -> bool:
    """Neither in the document nor in an index above it more than 5 links, and a fifth of them, lead nowhere."""
    is_index = of(claim.context.format).is_index
    folders = {path: posixpath.dirname(path) for path in claim.base if is_index(path)}
    above = {source for source, folder in folders.items() if any(_is_in(path, folder) for path in claim.paths)}
    for source in above.union(claim.paths):
        data = claim.base[source]
        own = pointers(data) if is_index(source) else [link for link in targets(data) if is_document_link(link)]
        states = [claim.names().state(source, replace(link, anchor="")) for link in own]
        dead = sum(state in (LinkState.MISSING, LinkState.UNRESOLVED) for state in states)
        if dead > 5 and dead * 5 > len(own):
            return False
    return True


def _is_in(path: str, folder: str) -> bool:
    return not folder or path.startswith(f"{folder}/")


def _nfc(name: str) -> str:
    return unicodedata.normalize("NFC", name)


CLAUSES: tuple[Clause, ...] = (
    changes_targets_alone,
    stands_in_the_open,
    led_nowhere,
    leads_to_the_one_successor,
    has_its_anchor,
    is_written_as_before,
    stands_in_a_whole_folder,
)
