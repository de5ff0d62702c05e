"""A full date with one reading says the same in ISO form; everything that has two readings, or none, stays."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from datetime import date
from functools import lru_cache

from memoryreview.core.classify.document import Document
from memoryreview.core.markdown import Place
from memoryreview.core.model import Rewrite

from . import enclosed
from .calendar_words import (
    FRENCH_MONTHS,
    MONTH_ABBREVIATIONS,
    MONTHS,
    SPANISH_MONTHS,
    WEEKDAY_ABBREVIATIONS,
    WEEKDAYS,
)
from .outcome import Declined, Explained, Outcome

VERSION = 1

MAX_LEAD_BYTES = 2_000
"""Text of its block above a line that is searched for quotes and code; below more of it no date is proved."""

MAX_LINE_CHARS = 2_000
MAX_DATES = 10
"""Dates of one line that are proved together."""

_PROSE = frozenset({Place.PARAGRAPH, Place.ITEM, Place.ORDERED})
_MONTH = rf"(?<![^\W\d_])(?i:{'|'.join(sorted({*MONTHS, *MONTH_ABBREVIATIONS}, key=len, reverse=True))})(?![^\W\d_])"

# The forms that have one reading (where the numbers allow it), strict in blanks and marks.
_SLASHED = re.compile(r"([0-9]{1,2})/([0-9]{1,2})/([0-9]{4})")
_DOTTED = re.compile(r"([0-9]{2})\.([0-9]{2})\.([0-9]{4})")
_YEAR_FIRST = re.compile(r"([0-9]{4})([/.])([0-9]{2})\2([0-9]{2})")
_MONTH_FIRST = re.compile(rf"({_MONTH})(\.?) ([0-9]{{1,2}}), ([0-9]{{4}})")
_DAY_FIRST = re.compile(rf"([0-9]{{1,2}})\.? ({_MONTH})(\.?) ([0-9]{{4}})")
# The same as Spanish writes it out, and as French writes the first day of a month.
_DAY_DE = re.compile(rf"([0-9]{{1,2}}) de ({_MONTH}) de ([0-9]{{4}})")
_FIRST_DAY = re.compile(rf"(1)er ({_MONTH}) ([0-9]{{4}})")

# Whatever a writer may have replaced by an ISO date, so that a refusal can say why.
_DATE_LIKE = re.compile(
    rf"{_MONTH}\.? [0-9]{{1,2}}(?:st|nd|rd|th|\.)?,? [0-9]{{4}}"
    rf"|[0-9]{{1,2}}(?:st|nd|rd|th|er|\.|º)?(?: de)? {_MONTH}\.?,?(?: del?)? [0-9]{{4}}"
    rf"|{_MONTH}\.? [0-9]{{1,2}}(?:st|nd|rd|th)?\b|[0-9]{{1,2}}\.? {_MONTH}\b\.?"
    r"|[0-9]{1,4}\s?[年년]\s?[0-9]{1,2}\s?[月월]\s?[0-9]{1,2}\s?[日일]"
    r"|[0-9]{1,4}([/.-])[0-9]{1,2}\1[0-9]{1,4}|[0-9]{1,2}[/.][0-9]{1,2}\.?|[0-9]{8}"
)
_ISO = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?![0-9])")

_BEFORE = re.compile(r"(?:^|[ \t(（*，。；：、])$")
_AFTER = re.compile(r"$|[ \t]|[)*.,;:!?]+(?:[ \t*)]|$)|[，。；：、）！？]")
_NUMBER_BEFORE = re.compile(r"[0-9.,:/-]*[0-9][.,:]?[ \t]$")
_NUMBER_AFTER = re.compile(r"[ \t][0-9](?![0-9]?:[0-9][0-9])")
_FORMULA_BEFORE = re.compile(r"[=<>+^%|&−/≤≥~-][ \t]$")
_FORMULA_AFTER = re.compile(r"[ \t][=<>+^%|&−/≤≥]")
_VERSION_BEFORE = re.compile(r"\b(?:v|version|versions|release|tag|build|rev|revision)[ \t]$", re.IGNORECASE)
_LETTERS = re.compile(r"[^\W\d_]+")


def explain_line(document: Document, index: int, new_body: bytes) -> Outcome:
    """Explain a line in which nothing but date tokens changed. Args: index: 0-based; new_body: what becomes of it."""
    old, new = document.bodies[index].decode("utf-8"), new_body.decode("utf-8")
    replaced = _replaced(old, new)
    if not replaced:
        return None
    place = document.spots[index].place
    if place not in _PROSE:
        return Declined(f"Dates in {place} are kept as they are written.")
    if "|" in old:
        return Declined("Dates between bars, as in a table, are kept as they are written.")
    block = document.block_at(index)
    first = block.span[0] if block else index
    lead_bytes = document.lines[index].start - document.lines[first].start
    if lead_bytes > MAX_LEAD_BYTES or len(old) > MAX_LINE_CHARS or len(replaced) > MAX_DATES:
        return Declined("The dates stand in a text too long, or are too many, to prove that none of them is quoted.")
    lead = b"\n".join((*document.bodies[first:index], b"")).decode("utf-8")
    kept = enclosed.spans(lead + old)
    rewrites: list[Rewrite] = []
    for token, iso in replaced:
        if declined := _why_not(old, token, iso):
            return declined
        if enclosed.is_inside(kept, len(lead) + token.start()):
            return Declined("The date stands in a quote, code, link or tag, where text is kept as it is written.")
        start = document.body_start(index) + len(old[: token.start()].encode())
        rewrites.append(Rewrite(document.path, start, start + len(token.group().encode()), iso.encode()))
    return Explained(tuple(rewrites))


def _replaced(old: str, new: str) -> list[tuple[re.Match[str], str]]:
    """Return the date-like tokens of `old` that are ISO dates in `new`; none when anything else differs as well."""
    found: list[tuple[re.Match[str], str]] = []
    old_at = new_at = 0
    for token in _DATE_LIKE.finditer(old):
        between = old[old_at : token.start()]
        if not new.startswith(between, new_at):
            return []
        new_at += len(between)
        iso = _ISO.match(new, new_at)
        if new.startswith(token.group(), new_at):
            new_at += len(token.group())
        elif iso:
            found.append((token, iso.group()))
            new_at = iso.end()
        else:
            return []
        old_at = token.end()
    return found if old[old_at:] == new[new_at:] else []


def _why_not(line: str, token: re.Match[str], iso: str) -> Declined | None:
    """Return why the token does not read as that date."""
    shown = token.group()
    readings = list(_readings(shown))
    if not readings:
        return Declined(f"“{shown}” is no full date in a form with one sure reading.")
    if len(readings) > 1:
        either = " or ".join(sorted({day.isoformat() for day in readings}))
        if " or " not in either:
            return Declined(f"“{shown}” has two readings, day or month first, and says by neither which is meant.")
        return Declined(f"“{shown}” has two readings, day or month first: {either}.")
    (day,) = readings
    if day.isoformat() != iso:
        return Declined(f"“{shown}” is {day.isoformat()}, not {iso}.")
    weekday = _disagreeing_weekday(line, token, day)
    if weekday:
        return Declined(f"“{shown}” is not the weekday that the line names (“{weekday}”).", "weekday-disagrees")
    if not _stands_alone(line, token):
        return Declined(f"“{shown}” touches other text or numbers, so it may be part of a name, path or formula.")
    return None


def _readings(token: str) -> Iterator[date]:
    """Yield every date that a token can mean; two equal ones where day and month are the same number."""
    if match := _SLASHED.fullmatch(token):
        first, second, year = (int(part) for part in match.groups())
        yield from _dates((year, second, first), (year, first, second))
    elif match := _DOTTED.fullmatch(token):
        day, month, year = (int(part) for part in match.groups())
        if day > 12:
            yield from _dates((year, month, day))
    elif match := _YEAR_FIRST.fullmatch(token):
        yield from _dates((int(match[1]), int(match[3]), int(match[4])))
    elif match := _MONTH_FIRST.fullmatch(token):
        yield from _dates((int(match[4]), _month(match[1], match[2]), int(match[3])))
    elif match := _DAY_FIRST.fullmatch(token):
        yield from _dates((int(match[4]), _month(match[2], match[3]), int(match[1])))
    for form, months in ((_DAY_DE, SPANISH_MONTHS), (_FIRST_DAY, FRENCH_MONTHS)):
        if (match := form.fullmatch(token)) and _folded(match[2]) in months:
            yield from _dates((int(match[3]), _month(match[2], ""), int(match[1])))


def _dates(*parts: tuple[int, int, int]) -> Iterator[date]:
    for year, month, day in parts:
        if not 1900 <= year <= 2199:
            continue
        try:
            yield date(year, month, day)
        except ValueError:
            continue


def _month(word: str, dot: str) -> int:
    folded = _folded(word)
    if folded in MONTH_ABBREVIATIONS:
        return MONTH_ABBREVIATIONS[folded]
    return 0 if dot else MONTHS.get(folded, 0)


def _folded(word: str) -> str:
    return unicodedata.normalize("NFC", word).casefold()


def _disagreeing_weekday(line: str, token: re.Match[str], day: date) -> str:
    """Return a weekday on the line that is not that of `day`: any full name, or a short one beside the date."""
    for match, named, is_short in _weekdays(line):
        if named != day.weekday() and (not is_short or _is_beside(line, match, token)):
            return match.group()
    return ""


@lru_cache(maxsize=2)
def _weekdays(line: str) -> tuple[tuple[re.Match[str], int, bool], ...]:
    """Return the words of a line that may name a weekday, with its number, and whether it is a short form."""
    found: list[tuple[re.Match[str], int, bool]] = []
    for match in _LETTERS.finditer(line):
        word = unicodedata.normalize("NFC", match.group())
        folded = word.casefold()
        named = WEEKDAYS.get(folded, WEEKDAYS.get(folded.removesuffix("s")))
        if named is not None:
            found.append((match, named, False))
        elif word in WEEKDAY_ABBREVIATIONS:
            found.append((match, WEEKDAY_ABBREVIATIONS[word], True))
    return tuple(found)


def _is_beside(line: str, word: re.Match[str], token: re.Match[str]) -> bool:
    if word.end() <= token.start():
        return not line[word.end() : token.start()].strip(" .,(")
    return token.end() <= word.start() and not line[token.end() : word.start()].strip(" ,(")


def _stands_alone(line: str, token: re.Match[str]) -> bool:
    before, after = line[: token.start()], line[token.end() :]
    if not _BEFORE.search(before[-1:]) or not _AFTER.match(after):
        return False
    near = before[-24:]
    if _NUMBER_BEFORE.search(near) or _NUMBER_AFTER.match(after) or _FORMULA_AFTER.match(after):
        return False
    if "." in token.group() and _VERSION_BEFORE.search(near):
        return False
    # A dash at the very start is the mark of a list.
    return not (_FORMULA_BEFORE.search(near) and before.strip(" \t") not in ("-", "+"))


def days(text: str) -> set[str]:
    """Return the full dates that a text names, in ISO form, those with two readings left out."""
    found = {match.group() for match in _ISO.finditer(text)}
    for token in _DATE_LIKE.finditer(text):
        readings = {day.isoformat() for day in _readings(token.group())}
        if len(readings) == 1:
            found |= readings
    return found


def mentions(text: str) -> int:
    """Return how many pieces of a text look like a date, whatever they mean."""
    return sum(1 for _ in _DATE_LIKE.finditer(text))
