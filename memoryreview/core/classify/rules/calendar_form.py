"""Dates as people write them, and how many days each way of writing can mean."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from datetime import date
from functools import lru_cache

from .calendar_words import (
    FRENCH_MONTHS,
    MONTH_ABBREVIATIONS,
    MONTHS,
    SPANISH_MONTHS,
    WEEKDAY_ABBREVIATIONS,
    WEEKDAYS,
)

MONTH_NAME = (
    rf"(?<![^\W\d_])(?i:{'|'.join(sorted({*MONTHS, *MONTH_ABBREVIATIONS}, key=len, reverse=True))})(?![^\W\d_])"
)

# The forms that have one reading (where the numbers allow it), strict in blanks and marks.
_SLASHED = re.compile(r"([0-9]{1,2})/([0-9]{1,2})/([0-9]{4})")
_DOTTED = re.compile(r"([0-9]{2})\.([0-9]{2})\.([0-9]{4})")
_YEAR_FIRST = re.compile(r"([0-9]{4})([/.])([0-9]{2})\2([0-9]{2})")
_MONTH_FIRST = re.compile(rf"({MONTH_NAME})(\.?) ([0-9]{{1,2}}), ([0-9]{{4}})")
_DAY_FIRST = re.compile(rf"([0-9]{{1,2}})\.? ({MONTH_NAME})(\.?) ([0-9]{{4}})")
# The same as Spanish writes it out, and as French writes the first day of a month.
_DAY_DE = re.compile(rf"([0-9]{{1,2}}) de ({MONTH_NAME}) de ([0-9]{{4}})")
_FIRST_DAY = re.compile(rf"(1)er ({MONTH_NAME}) ([0-9]{{4}})")

# Whatever a writer may have replaced by an ISO date, so that a refusal can say why.
DATE_LIKE = re.compile(
    rf"{MONTH_NAME}\.? [0-9]{{1,2}}(?:st|nd|rd|th|\.)?,? [0-9]{{4}}"
    rf"|[0-9]{{1,2}}(?:st|nd|rd|th|er|\.|º)?(?: de)? {MONTH_NAME}\.?,?(?: del?)? [0-9]{{4}}"
    rf"|{MONTH_NAME}\.? [0-9]{{1,2}}(?:st|nd|rd|th)?\b|[0-9]{{1,2}}(?:\.|er)?(?: de)? {MONTH_NAME}\b\.?"
    r"|[0-9]{1,4}\s?[年년]\s?[0-9]{1,2}\s?[月월]\s?[0-9]{1,2}\s?[日일]"
    r"|[0-9]{1,4}([/.-])[0-9]{1,2}\1[0-9]{1,4}|[0-9]{1,2}[/.][0-9]{1,2}\.?|[0-9]{8}"
)
_DIGIT = re.compile("[0-9]")
_YEAR = re.compile(r"(?<![0-9])[0-9]{4}(?![0-9-])")
_LONGEST = 24
"""Characters of the longest form before its year, “30 de septiembre de ”, and more than one after it."""

ISO = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?![0-9])")

_LETTERS = re.compile(r"[^\W\d_]+")

# Another day in a text: what surely is a date, or a weekday. Numbers such as 3.11 or 12/5 may be anything.
_CJK_DAY = re.compile(r"([0-9]{4})\s?[年년]\s?([0-9]{1,2})\s?[月월]\s?([0-9]{1,2})\s?[日일]")
_ANY_DAY = re.compile(
    rf"[0-9]{{4}}-[0-9]{{2}}|[0-9]{{1,2}}\s?[月월]|[0-9]{{1,2}}/[0-9]{{1,2}}/[0-9]{{2,4}}|[0-9]{{4}}[/.][0-9]{{2}}[/.][0-9]{{2}}"
    rf"|[0-9]{{1,2}}\.[0-9]{{1,2}}\.[0-9]{{4}}|\b(?:am|vom|zum|on|le|el|del|du) [0-9]{{1,2}}[./][0-9]{{1,2}}\b"
    rf"|{MONTH_NAME}\.? [0-9]{{1,2}}\b|[0-9]{{1,2}}(?:st|nd|rd|th|er|\.|º)?(?: de| of)? {MONTH_NAME}"
)
_CJK_WEEKDAY = re.compile("[周星]期?[一二三四五六日天]|[月火水木金土日]曜|[월화수목금토일]요일")

_BEFORE = re.compile(r"(?:^|[ \t(（*，。；：、])$")
_AFTER = re.compile(r"$|[ \t]|[)*.,;:!?]+(?:[ \t*)]|$)|[，。；：、）！？]")
_NUMBER_BEFORE = re.compile(r"[0-9.,:/-]*[0-9][.,:]?[ \t]$")
_NUMBER_AFTER = re.compile(r"[ \t][0-9](?![0-9]?:[0-9][0-9])")
_FORMULA_BEFORE = re.compile(r"[=<>+^%|&−/≤≥~-][ \t]$")
_FORMULA_AFTER = re.compile(r"[ \t][=<>+^%|&−/≤≥]")
_VERSION_BEFORE = re.compile(r"\b(?:v|version|versions|release|tag|build|rev|revision)[ \t]$", re.IGNORECASE)


def readings(token: str) -> Iterator[date]:
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


@lru_cache(maxsize=2)
def weekdays(line: str) -> tuple[tuple[re.Match[str], int, bool], ...]:
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


def stands_alone(line: str, start: int, end: int) -> bool:
    """Whether a token, given by its span, is a word of its own and no part of a name, path, version or formula."""
    before, after = line[:start], line[end:]
    if not _BEFORE.search(before[-1:]) or not _AFTER.match(after):
        return False
    near = before[-24:]
    if _NUMBER_BEFORE.search(near) or _NUMBER_AFTER.match(after) or _FORMULA_AFTER.match(after):
        return False
    if "." in line[start:end] and _VERSION_BEFORE.search(near):
        return False
    # A dash at the very start is the mark of a list.
    return not (_FORMULA_BEFORE.search(near) and before.strip(" \t") not in ("-", "+"))


def date_like(text: str) -> Iterator[re.Match[str]]:
    """Yield the pieces of a text that look like a date, whatever they mean. All of them hold a digit."""
    return DATE_LIKE.finditer(text) if _DIGIT.search(text) else iter(())


def days(text: str) -> set[str]:
    """Return the full dates that a text names, in ISO form, those with two readings left out."""
    found = {match.group() for match in ISO.finditer(text)}
    # Looked for around years alone: the forms are costly to try at every letter of a document.
    for year in _YEAR.finditer(text):
        for token in DATE_LIKE.finditer(text, max(year.start() - _LONGEST, 0), year.end() + _LONGEST):
            meant = {day.isoformat() for day in readings(token.group())}
            if len(meant) == 1:
                found |= meant
    return found


def mentions(text: str) -> int:
    """Return how many pieces of a text look like a date, whatever they mean."""
    return sum(1 for _ in date_like(text))


def names_a_day(text: str) -> bool:
    """Whether a text names a day of the calendar or of the week: surely, so that a number alone is none."""
    if _CJK_WEEKDAY.search(text) or (_DIGIT.search(text) and _ANY_DAY.search(text)):
        return True
    return names_weekday(text) and any(not is_short for _, _, is_short in weekdays(text))


def names_weekday(text: str) -> bool:
    """Whether the full name of a weekday stands somewhere in a text, perhaps as part of a word."""
    folded = unicodedata.normalize("NFC", text).casefold()
    return any(name in folded for name in WEEKDAYS)


def full_day(text: str) -> date | None:
    """Return the day that a text is, in ISO form, in one of the forms with one reading or as written in East Asia."""
    if ISO.fullmatch(text):
        parts = text.split("-")
    elif match := _CJK_DAY.fullmatch(text):
        parts = list(match.groups())
    else:
        meant = list(readings(text))
        return meant[0] if len(meant) == 1 else None
    year, month, day = map(int, parts)
    return next(_dates((year, month, day)), None)


def weekday(word: str) -> int | None:
    """Return the number of the weekday that a word is, Monday is 0, None for another word."""
    found = weekdays(word)
    return found[0][1] if len(found) == 1 and found[0][0].group() == word else None
