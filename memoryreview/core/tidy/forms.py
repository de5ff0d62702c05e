"""Suggest: entries of one list that say nearly the same, where words alone show which one says more."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

from memoryreview.core.classify.document import Block, Document
from memoryreview.core.formats.blocks import short
from memoryreview.core.model import Rewrite

from .consolidate import delta_of_rewrites
from .library import Library
from .model import Suggestion, key_of
from .repeats import entry_words, list_of, removal

MIN_WORDS_CHARS = 12
"""Below this length an entry is a heading-like word, not a shorter form of anything."""

_CITATIONS = re.compile(r"(?:[ \t]*\[Task [0-9]{1,4}\])+[ \t]*$")
_CITATION = re.compile(r"\[Task [0-9]{1,4}\]")
_GOES_ON = re.compile(r"[.!?。！？;；:：,，、—–(（ \t]")
_END_MARKS = " \t.!?。！？;；"


def cited_twice(library: Library) -> Iterator[Suggestion]:
    """Yield merges of entries that differ in their citations only: what they rest on changes, so a person decides."""
    for path, data in library.texts.items():
        if data.count(b"[Task ") < 2:
            continue
        document = library.document(path)
        groups: dict[tuple[object, ...], list[Block]] = defaultdict(list)
        for block in document.blocks:
            words = entry_words(document, block)
            plain = without_citations(words)
            if words and plain != words:
                groups[(plain, *list_of(document, block))].append(block)
        for blocks in groups.values():
            if len({block.text for block in blocks}) > 1:
                yield _merged(document, blocks)


def without_citations(text: str) -> str:
    """Return an entry without the `[Task n]` at its end."""
    return _CITATIONS.sub("", text)


def _merged(document: Document, blocks: list[Block]) -> Suggestion:
    first, *others = blocks
    text = first.text.decode("utf-8")
    cited = _cited(text)
    added = "".join(dict.fromkeys(one for block in others for one in _cited(block.text.decode()) if one not in cited))
    end = document.body_start(first.span[1] - 1) + len(document.bodies[first.span[1] - 1].rstrip(b" \t"))
    rewrites = [Rewrite(document.path, end, end, added.encode())] if added else []
    rewrites += [removal(document, block.span) for block in others]
    lines = " and ".join(str(block.span[0] + 1) for block in blocks)
    why = f"Lines {lines} say the same and cite different tasks: one line can cite them all. Lines below move up."
    key = key_of("cited-twice", document.path, *(block.text.decode() for block in blocks))
    return Suggestion("cited-twice", key, delta_of_rewrites({document.path: document.data}, rewrites), why)


def _cited(text: str) -> list[str]:
    match = _CITATIONS.search(text)
    return _CITATION.findall(match.group()) if match else []


def shorter(library: Library) -> Iterator[Suggestion]:
    """Yield removals of an entry that is the beginning of another one of the same list."""
    for path in library.texts:
        if not _may_hold_shorter(library.texts[path]):
            continue
        document = library.document(path)
        lists: dict[tuple[int, int], list[tuple[str, Block]]] = defaultdict(list)
        for block in document.blocks:
            words = entry_words(document, block)
            if words and block.span[0] not in document.rows:
                lists[list_of(document, block)].append((words, block))
        for entries in lists.values():
            yield from (_dropped(document, *found) for found in _beginnings(entries))


def _may_hold_shorter(data: bytes) -> bool:
    """Whether one line is the beginning of another: sorted, they then follow each other."""
    lines = sorted({line.strip().lstrip(b"-*+ \t") for line in data.split(b"\n")})
    return any(
        len(line) >= MIN_WORDS_CHARS and following.startswith(line.rstrip(b".!?;"))
        for line, following in pairwise(lines)
    )


def _beginnings(entries: list[tuple[str, Block]]) -> Iterator[tuple[Block, Block]]:
    """Yield (shorter, longer) of neighbours in sorted order: the longest beginnings of each entry are found."""
    ordered = sorted(entries, key=lambda entry: (entry[0].rstrip(_END_MARKS), len(entry[0])))
    for (words, block), (following, longer) in pairwise(ordered):
        plain = words.rstrip(_END_MARKS)
        if len(plain) < MIN_WORDS_CHARS or not following.startswith(plain) or following.rstrip(_END_MARKS) == plain:
            continue
        if _GOES_ON.match(following[len(plain) :]):
            yield block, longer


def _dropped(document: Document, block: Block, longer: Block) -> Suggestion:
    place = "above" if longer.span[0] < block.span[0] else "below"
    told = short(entry_words(document, longer))
    why = (
        f"Line {longer.span[0] + 1} {place} begins with the same words and goes on: “{told.rstrip('.')}”. "
        "The shorter form may be a wider rule, so nobody but you can drop it."
    )
    key = key_of("shorter-form", document.path, entry_words(document, block), entry_words(document, longer))
    delta = delta_of_rewrites({document.path: document.data}, [removal(document, block.span)])
    return Suggestion("shorter-form", key, delta, why)
