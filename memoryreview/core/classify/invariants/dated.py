"""`date.normalize`: one full date with one reading, in plain prose, becomes the same day in ISO form."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import TypeAlias

from memoryreview.core.classify.claim import Claim, Clause, code_above, code_after, line_at, lines_of, run_starts
from memoryreview.core.markdown import Place, outline

from .days import WEEKDAYS, readings
from .told import is_east_asian, is_relative

_ANY_WEEKDAY = re.compile("|".join(" ".join(WEEKDAYS).split()), re.IGNORECASE)
_SHORT_WEEKDAYS = (
    "Mon Lun",
    "Tue Tues",
    "Wed Mer Mié",
    "Thu Thurs Jeu Jue",
    "Fri Ven Vie",
    "Sat Sam Sáb",
    "Sun Dim Dom",
)


def _dates(claim: Claim) -> Iterator[tuple[str, str, str, str]]:
    """Yield (old text, new text, line before it, line after it) of each rewrite."""
    for rewrite in claim.proof.rewrites:
        data = claim.base[rewrite.path]
        line = line_at(data, rewrite.start)
        pieces = (data[rewrite.start : rewrite.end], rewrite.new, data[line.start : rewrite.start])
        old, new, before = (piece.decode("utf-8", "replace") for piece in pieces)
        yield (
            old,
            new,
            before.removeprefix("\ufeff"),
            data[rewrite.end : line.end].decode("utf-8", "replace").rstrip("\r\n"),
        )


def reads_as_that_day(claim: Claim) -> bool:
    absolute = [(old, new) for old, new, _, _ in _dates(claim) if not is_relative(old)]
    return all([day.isoformat() for day in readings(old)] == [new] for old, new in absolute)


def stands_in_prose(claim: Claim) -> bool:
    prose = (Place.PARAGRAPH, Place.ITEM, Place.ORDERED)
    bases = ((claim.base[rewrite.path], rewrite.start) for rewrite in claim.proof.rewrites)
    return all(outline(data)[line_at(data, start).number - 1].place in prose for data, start in bases)


def stands_alone(claim: Claim) -> bool:
    """Before the date is a blank, bracket or emphasis, after it a blank or the end of a clause, and nowhere a bar."""
    for old, _, before, after in _dates(claim):
        if "|" in before + after:
            return False
        if is_east_asian(old):
            continue
        if before and before[-1] not in " \t(（*，。；：、":
            return False
        if not re.match(r"$|[ \t]|[)*.,;:!?]+(?:[ \t*)]|$)|[，。；：、）！？]", after):
            return False
        if is_relative(old):
            continue
        if re.search(r"(?:[0-9][.,:]?|[=<>+^%|&−/])[ \t]$|\S[ \t]+-[ \t]$", before) and before.strip() != "+":
            return False
        if re.match(r"[ \t](?:[0-9](?![0-9]?:[0-9][0-9])|[=<>+^%|&−/])", after):
            return False
    return True


def is_not_enclosed(claim: Claim) -> bool:
    """No quote, code, bracket or tag that began earlier in the block is open where the date stands."""
    for rewrite in claim.proof.rewrites:
        data = claim.base[rewrite.path]
        line = line_at(data, rewrite.start)
        counts = _sum(_marks_above(data)[line.number - 1], _marks(data[line.start : rewrite.start]))
        nested = 1 + len(_BRACKETS)
        if code_after(code_above(data)[line.number - 1], data[line.start : rewrite.start]):
            return False
        if any(count > 0 for count in counts[:nested]) or any(count % 2 for count in counts[nested:]):
            return False
    return True


_Marks: TypeAlias = tuple[int, ...]
_PAIRS = ('"', "“”„", "«»", "‹›")
_BRACKETS = ("[]", "「」", "『』", "《》", "〈〉")


def _marks(data: bytes) -> _Marks:
    """Count the tags of a text, then the brackets that it opens less those it closes, then marks that come in pairs."""
    text = data.decode("utf-8", "replace")
    tags, singles = (
        len(re.findall(form, text)) for form in (r"<[A-Za-z/!?]", r"(?<![\w'’])['‘](?=\S)|(?<=\S)['’](?!\w)")
    )
    open_brackets = (text.count(pair[0]) - text.count(pair[1]) for pair in _BRACKETS)
    return (tags, *open_brackets, singles, *(sum(map(text.count, marks)) for marks in _PAIRS))


@lru_cache(maxsize=8)
def _marks_above(data: bytes) -> tuple[_Marks, ...]:
    """Return for each line the marks above it in its run."""
    found: list[_Marks] = []
    total = _marks(b"")
    for index, (line, start) in enumerate(zip(lines_of(data), run_starts(data), strict=True)):
        found.append(_marks(b"") if start == index else total)
        total = _sum(found[-1], _marks(line.body))
    return tuple(found)


def _sum(one: _Marks, two: _Marks) -> _Marks:
    return tuple(map(sum, zip(one, two, strict=True)))


def agrees_with_weekday(claim: Claim) -> bool:
    for old, new, before, after in _dates(claim):
        line = unicodedata.normalize("NFC", f"{before}\n{after}")
        beside = re.search(r"(\w+)[ .,(]*$", before)
        named = {
            n
            for n, names in enumerate(WEEKDAYS if _ANY_WEEKDAY.search(line) else ())
            if re.search(rf"\b(?:{names.replace(' ', '|')})s?\b", line, re.I)
        }
        named |= {n for n, names in enumerate(_SHORT_WEEKDAYS) if beside and beside[1] in names.split()}
        days = {day.weekday() for day in readings(old) if day.isoformat() == new}
        if days and not named <= days:
            return False
    return True


CLAUSES: tuple[Clause, ...] = (reads_as_that_day, stands_in_prose, stands_alone, is_not_enclosed, agrees_with_weekday)
