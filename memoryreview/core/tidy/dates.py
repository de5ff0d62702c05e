"""Gather: dates that have one reading and are not in ISO form. Report and suggest those that have more."""

from __future__ import annotations

from collections.abc import Iterator

from memoryreview.core.classify import dates as remarks
from memoryreview.core.classify.document import Document
from memoryreview.core.classify.rules import date_normalize, relative
from memoryreview.core.classify.rules.calendar_form import DATE_LIKE, readings
from memoryreview.core.model import Delta, Kind, Problem, Rewrite, Tree

from .consolidate import delta_of_rewrites
from .library import Library, reread
from .model import Candidate, ContextOf, Suggestion, key_of

RELATIVE = (
    "The heading above is a full date, so the word can be dated by it, but nothing proves that the line was written on "
    "that day."
)
_ASKING = b"1970-01-01 (asked)"
"""Stands for a line of which a context is to know the first day; it is never part of a proposal."""


def gather(library: Library) -> Iterator[Candidate]:
    """Yield one candidate per line, so that two dates of one sentence are taken together."""
    for path, data in library.texts.items():
        if not _may_hold_dates(data):
            continue
        document = library.document(path)
        for index, body in enumerate(document.bodies):
            rewrites = date_normalize.provable(document, index) if _may_hold_dates(body) else ()
            if rewrites:
                why = RELATIVE if relative.is_mentioned(body) else ""
                yield Candidate(Kind.DATE_NORMALIZE, rewrites, why)


def problems(library: Library, context_of: ContextOf) -> Iterator[Problem]:
    """Yield what a person may want to write out, by document and line."""
    for path in library.texts:
        document = library.document(path)
        asked = remarks.asked(document)
        if not asked:
            continue
        context = context_of(library.tree, _asking(document, [body for _, body in asked]))
        for line, sentence in remarks.suggestions(document, context):
            yield Problem("date", path, line, sentence)


def ambiguous(library: Library, *, months_first: bool) -> Iterator[Suggestion]:
    """Yield, for each date whose day and month may change places, the reading that other dates of the store speak
    for."""
    for path, data in library.texts.items():
        if b"/" not in data or not DATE_LIKE.search(data.decode("utf-8")):
            continue
        document = library.document(path)
        for index, body in enumerate(document.bodies):
            yield from _of_line(document, index, body.decode("utf-8"), months_first=months_first)


def _of_line(document: Document, index: int, text: str, *, months_first: bool) -> Iterator[Suggestion]:
    for token in DATE_LIKE.finditer(text):
        shown = token.group()
        meant = sorted({day.isoformat() for day in readings(shown)})
        if len(meant) != 2 or not _is_prose(document, index, text, token.start(), token.end()):
            continue
        first = int(shown.partition("/")[0])
        by_month = next((day for day in meant if int(day[5:7]) == first), meant[0])
        by_day = next(day for day in meant if day != by_month)
        chosen, other = (by_month, by_day) if months_first else (by_day, by_month)
        start = document.body_start(index) + len(text[: token.start()].encode())
        rewrite = Rewrite(document.path, start, start + len(shown.encode()), chosen.encode())
        kind = "month first, as other dates here" if months_first else "day first"
        why = f"“{shown}” is {chosen} or {other}. This takes the {kind}; edit it if it is the other one."
        delta = delta_of_rewrites({document.path: document.data}, [rewrite])
        yield Suggestion("date", key_of("date", document.path, text, shown), delta, why)


def _is_prose(document: Document, index: int, text: str, start: int, end: int) -> bool:
    """Whether the rule would take a date at that place if it had one reading: asked with one that has."""
    asked = f"{text[:start]}31/12/2001{text[end:]}".encode()
    data = document.data.replace(document.bodies[index], asked, 1)
    probe = reread(document, data)
    at = document.body_start(index) + len(text[:start].encode())
    proved = date_normalize.provable(probe, index) if index < len(probe.bodies) else ()
    return any(rewrite.start == at for rewrite in proved)


def puts_months_first(tree: Tree) -> bool:
    """Whether the slashed dates of a store that have one reading put the month first more often than the day."""
    days = months = 0
    for data in tree.values():
        if b"/" not in data:
            continue
        for token in DATE_LIKE.finditer(data.decode("utf-8", "replace")):
            meant = set(readings(token.group())) if "/" in token.group() else set()
            head = token.group().partition("/")[0]
            if len(meant) == 1 and len(head) <= 2:
                is_day = int(head) == next(iter(meant)).day
                days, months = days + is_day, months + (not is_day)
    return months > days


def _may_hold_dates(text: bytes) -> bool:
    return relative.is_mentioned(text) or DATE_LIKE.search(text.decode("utf-8", "replace")) is not None


def _asking(document: Document, bodies: list[bytes]) -> Delta:
    """Return a change that lets a context look up the first day of these lines."""
    wanted = set(bodies)
    lines = [_ASKING + line.eol if line.body in wanted else line.raw for line in document.lines]
    return {document.path: b"".join(lines)}
