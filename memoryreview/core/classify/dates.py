"""What a person may want to know of the dates in a text that no rule can prove. Words only: nothing here changes text.

Silence is the default: most words and numbers that look like dates are none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache

from memoryreview.core.markdown import Place
from memoryreview.core.model import Context

from .document import Document, Span
from .rules import enclosed, relative, tense
from .rules.calendar_form import date_like, days, full_day, names_weekday, readings, stands_alone, weekday, weekdays
from .rules.calendar_words import FRENCH_MONTHS, MONTH_ABBREVIATIONS, MONTHS, SPANISH_MONTHS, WEEKDAYS
from .rules.relative import Found
from .rules.relative_words import CHINESE_ACTS

MAX_LINES = 50
"""Changed lines of one action that are looked at."""

MAX_REMARKS = 3
"""Sentences about dates that one action gets."""

MAX_LINE_CHARS = 2_000
FAR_DAYS = 92
"""Days to the nearest other date of a document from which on a date is far off, when the others lie closer together."""

MIN_NEIGHBOURS = 3

_PROSE = frozenset({Place.PARAGRAPH, Place.ITEM, Place.ORDERED})
_LETTERS = r"[^\W\d_]+"
_MONTH_DAY = re.compile(rf"({_LETTERS})\.? ([0-9]{{1,2}})(?:st|nd|rd|th)?")
_DAY_MONTH = re.compile(rf"([0-9]{{1,2}})(?:\.|er)? (?:de )?({_LETTERS})\.?")
_DAY_DOT_MONTH = re.compile(
    r"(?P<lead>^|\b(?:am|vom|zum|bis|ab|seit|on|by|until|since|le|el) )([0-9]{2})\.([0-9]{2})(\.?) (?P<next>\S+)"
)
_UNITS = """
    s ms us ns sec secs second seconds m min mins minute minutes h hr hrs hour hours d day days kb mb gb tb kib mib
    gib b k km kg g mg cm mm x % € $ £ eur usd gbp chf euro euros dollar dollars times points pieces percent
    prozent sekunden minuten stunden tage stück mal grad degrees px rem em pt fps hz mhz ghz v w kw mw of is was or
    and to per pro
"""
_SHORT_YEAR = re.compile(r"(?<![\w/.-])([0-9]{1,2})/([0-9]{1,2})/([0-9]{2})(?![\w/-]|\.\d)")
_PART_OF_MONTH = re.compile(rf"\b(?:[Mm]id|[Ee]arly|[Ll]ate|[Ee]nd of|Anfang|Mitte|Ende)[ -]({_LETTERS})\b(?! [0-9])")
_PREPOSITION = re.compile(r"(?:^|(?<=[ (]))(?:on|am|le|el) $", re.IGNORECASE)
_COMING = re.compile(
    r"\W*(?:(?:we|i|they|he|she|the team)(?: will|['’]ll| are going to)? [a-z]+"
    r"|(?:stellen|machen|testen|deployen|schalten|ziehen|starten|beginnen) wir)\b",
    re.IGNORECASE,
)
_LAST_WEEK = re.compile(
    "(?:先週の?|지난주 ?|上(?:周|週|星期|礼拜|禮拜))([月火水木金土日월화수목금토일一二三四五六天])(?:曜日?|요일)?"
)
_NUMBER_OF_DAY = {char: at % 7 for at, char in enumerate("月火水木金土日월화수목금토일一二三四五六日")} | {"天": 6}


@dataclass(frozen=True, slots=True)
class Origin:
    """From when on a line stands in a store, and how it is known: “it was first approved on”."""

    day: date
    told: str


def suggestions(document: Document, context: Context) -> tuple[tuple[int, str], ...]:
    """Return (1-based line, sentence) for each date that a person may want to write out, in order.

    What `date_normalize` proves is none of them. Years and days come from the history of the line, else from the
    heading that is a date; a line of which neither is known gets no guess.
    """
    found: list[tuple[int, str]] = []
    if document.is_plain:
        return ()
    for index, spot in enumerate(document.spots):
        if spot.place in _PROSE:
            origin = _origin(document, index, context)
            found += [(index + 1, sentence) for _, sentence in _remarks(document, index, origin)]
    return tuple(found)


def asked(document: Document) -> tuple[tuple[str, bytes], ...]:
    """Return the (path, line) pairs whose first day the suggestions depend on."""
    unknown = Context()
    lines = {line - 1: None for line, _ in suggestions(document, unknown)}
    lines |= {i: None for i, body in enumerate(document.bodies) if relative.is_mentioned(body) or _has_weekday(body)}
    return tuple((document.path, document.bodies[index]) for index in sorted(lines))


def _has_weekday(body: bytes) -> bool:
    text = body.decode("utf-8", "replace")
    return names_weekday(text) and any(not is_short for _, _, is_short in weekdays(text))


def of_step(old: Document, old_span: Span, new: Document, new_span: Span, context: Context) -> list[str]:
    """Return what there is to say about the dates that a change takes away or brings, for a reviewer."""
    if old.is_plain or new.is_plain:
        return []
    found: list[str] = []
    before, after = ("\n".join(_texts(document, span)) for document, span in ((old, old_span), (new, new_span)))
    for index in range(*old_span)[:MAX_LINES]:
        if old.spots[index].place in _PROSE and old.bodies[index] not in new.bodies[slice(*new_span)]:
            origin = _origin(old, index, context)
            found += [sentence for token, sentence in _remarks(old, index, origin) if token not in after]
    today = Origin(context.now.date(), "it is written on") if context.now else None
    for index in range(*new_span)[:MAX_LINES]:
        if new.spots[index].place in _PROSE:
            day = relative.heading_day(new, index)
            origin = Origin(day, "its heading says") if day else today
            found += [sentence for token, sentence in _remarks(new, index, origin) if token not in before]
    return list(dict.fromkeys(found))[:MAX_REMARKS]


def far_off(old: Document, old_span: Span, new_text: str, context: Context) -> str:
    """Return a sentence about a date that a change brings and that lies far from all others of the document, "" where
    there is none. The others are those of the base document outside the change."""
    come = sorted(map(date.fromisoformat, filter(_is_day, days(new_text) - days("\n".join(_texts(old, old_span))))))
    if not come:
        return ""
    others = [day for day in _all_days(old.data) if day not in come]
    if len(others) < MIN_NEIGHBOURS:
        return ""
    for day in come:
        apart = min(abs((day - other).days) for other in others)
        if apart > FAR_DAYS and apart > (max(others) - min(others)).days:
            side = "before" if day < others[0] else "after"
            began = context.history.began if context.history else None
            too_early = " and before the first commit of this store" if began and day < began else ""
            too_late = " and has not come yet" if context.now and day > context.now.date() else ""
            return f"{day.isoformat()} lies {apart} days {side} its neighbours{too_early}{too_late}."
    return ""


@lru_cache(maxsize=4)
def _all_days(data: bytes) -> tuple[date, ...]:
    """Return the full dates that stand in a document, sorted, each as often as a line names it."""
    lines = data.decode("utf-8", "replace").split("\n")
    return tuple(sorted(date.fromisoformat(day) for line in lines for day in filter(_is_day, days(line))))


def _is_day(iso: str) -> bool:
    return full_day(iso) is not None


def _texts(document: Document, span: Span) -> Sequence[str]:
    return [body.decode("utf-8", "replace") for body in document.bodies[slice(*span)]]


def _origin(document: Document, index: int, context: Context) -> Origin | None:
    known = context.history.first_approved if context.history else {}
    first = known.get((document.path, document.bodies[index]))
    if first is not None:
        return Origin(first, "it was first approved on")
    day = relative.heading_day(document, index)
    return Origin(day, "its heading says") if day else None


def _remarks(document: Document, index: int, origin: Origin | None) -> Iterator[tuple[str, str]]:
    """Yield (token, sentence) for the dates of one line that a rule cannot prove."""
    line = document.bodies[index].decode("utf-8", "replace")
    if len(line) > MAX_LINE_CHARS or "|" in line:
        return
    block = document.block_at(index)
    first = block.span[0] if block else index
    if document.lines[index].start - document.lines[first].start > MAX_LINE_CHARS:
        return
    lead = b"".join(body + b"\n" for body in document.bodies[first:index]).decode("utf-8", "replace")
    kept = enclosed.spans(lead + line)
    for place, token, sentence in (*_absolute(line, origin), *_weekday(line, origin)):
        if not enclosed.is_inside(kept, len(lead) + place):
            yield token, sentence
    for word in relative.find(line):
        if not enclosed.is_inside(kept, len(lead) + word.start):
            sentence = _relative(document, index, line, word, origin)
            if sentence:
                yield word.word, sentence
    yield from _last_week(line, origin)


Remark = tuple[int, str, str]
"""Offset in the line, the piece of text, a sentence about it."""


def _absolute(line: str, origin: Origin | None) -> Iterator[Remark]:
    for token in date_like(line):
        shown = token.group()
        if not stands_alone(line, token.start(), token.end()):
            continue
        meant = sorted({day.isoformat() for day in _either(shown)})
        if len(meant) == 2:
            yield token.start(), shown, f"“{shown}” can mean {meant[0]} or {meant[1]}, by which comes first."
        elif parts := _day_and_month(shown):
            yield token.start(), shown, _without_year(shown, *parts, origin)
    for match in _DAY_DOT_MONTH.finditer(_MARK.sub("", line)):
        shown = match[2] + "." + match[3] + match[4]
        day, number = int(match[2]), int(match[3])
        is_amount = not match[4] and match["lead"] == "" and day <= 12
        if (
            number <= 12
            and 0 < day <= 31
            and number
            and not is_amount
            and match["next"].casefold() not in _UNITS.split()
        ):
            yield line.find(shown), shown, _without_year(shown, day, number, origin)
    for match in _SHORT_YEAR.finditer(line):
        one, two = int(match[1]), int(match[2])
        if 0 < min(one, two) <= 12 and max(one, two) <= 31:
            sentence = f"“{match.group()}” has two digits for the year, so it is kept as it is written."
            yield match.start(), match.group(), sentence
    for match in _PART_OF_MONTH.finditer(line):
        if match[1][0].isupper() and match[1].casefold() in MONTHS:
            sentence = f"“{match.group()}” names no day, so it is kept as it is written."
            yield match.start(), match.group(), sentence


_MARK = re.compile(r"^[ \t]*(?:[-*+][ \t]+|[0-9]{1,9}[.)][ \t]+)?(?:\[[ xX]\][ \t]+)?")


def _either(token: str) -> list[date]:
    """Return what a token may mean day first and month first, also where the rule takes neither."""
    if re.fullmatch(r"[0-9]{2}\.[0-9]{2}\.[0-9]{4}", token):
        token = token.replace(".", "/")
    return list(readings(token))


def _day_and_month(token: str) -> tuple[int, int] | None:
    """Return day and month of a date that is written with the name of the month and without a year."""
    if match := _MONTH_DAY.fullmatch(token):
        word, day = match[1], int(match[2])
        is_name = word[0].isupper()
    elif match := _DAY_MONTH.fullmatch(token):
        word, day = match[2], int(match[1])
        is_name = word[0].isupper() or word.casefold() in (FRENCH_MONTHS | SPANISH_MONTHS)
    else:
        return None
    number = MONTHS.get(word.casefold()) or MONTH_ABBREVIATIONS.get(word.casefold()) or 0
    return (day, number) if is_name and number and 0 < day <= 31 else None


def _without_year(shown: str, day: int, number: int, origin: Origin | None) -> str:
    if origin is None:
        return f"“{shown}” names no year, and nothing here says which is meant."
    try:
        meant = date(origin.day.year, number, day)
    except ValueError:
        return f"“{shown}” names no year, and {origin.day.year} has no such day."
    return f"“{shown}” names no year; {origin.told} {origin.day.isoformat()}, so it may be {meant.isoformat()}."


def _weekday(line: str, origin: Origin | None) -> Iterator[Remark]:
    """Yield what a weekday means by the tense of a plain sentence. Without a day to count from it means nothing."""
    if origin is None or not names_weekday(line):
        return
    # “Fridays” and “freitags” are habits.
    named = [match for match, _, _ in weekdays(line) if match.group().casefold() in WEEKDAYS]
    if len(named) != 1 or next(date_like(line), None) or relative.find(line):
        return
    (match,) = named
    number = weekday(match.group())
    text = _MARK.sub("", line)
    place = text.rfind(match.group())
    before, after = _PREPOSITION.sub("", text[:place]), text[place + len(match.group()) :]
    if number is None or after[:1] not in ("", " ", ",", ".", "!", ";") or (before and before[-1] not in " "):
        return
    shown = f"“{match.group()}”"
    counted = f"counted from {origin.day.isoformat()} ({origin.told.removesuffix(' on')})"
    for language in ("en", "de", "fr", "es"):
        if tense.has_guard(language, text):
            return
    if any(_is_past(language, before, match.group(), after) for language in ("en", "de", "fr", "es")):
        day = origin.day - timedelta((origin.day.weekday() - number - 1) % 7 + 1)
        yield match.start(), match.group(), f"{shown} may be {day.isoformat()}, by the past tense and {counted}."
    elif (not before and _COMING.match(after)) or (_COMING.match(before) and after.strip(" .!") == ""):
        day = origin.day + timedelta((number - origin.day.weekday() - 1) % 7 + 1)
        yield match.start(), match.group(), f"{shown} may be {day.isoformat()}, by the present tense and {counted}."


def _is_past(language: str, before: str, word: str, after: str) -> bool:
    return tense.tells_of_past(language, before, word.lower(), after, is_today=False)


def _relative(document: Document, index: int, line: str, word: Found, origin: Origin | None) -> str:
    """Return what a relative word may mean where it counts days, though no rule proves it."""
    if isinstance(relative.explain(document, index, word, None), date):
        return ""
    text = _MARK.sub("", line)
    start = word.start - (len(line) - len(text))
    is_told = relative.is_told(text, start, word)
    if not is_told and not _may_count(text, start, word):
        return ""
    if origin is None:
        return f"“{word.word}” stands under no heading that is a full date, so nothing says which day it means."
    day = (origin.day + timedelta(word.days)).isoformat()
    return f"“{word.word}” may be {day}: {origin.told} {origin.day.isoformat()}."


def _may_count(text: str, start: int, word: Found) -> bool:
    """Whether a word outside a plain statement still counts days: “어제 정한 규칙”, “昨日の障害”, “今天完成”.

    Only East Asian notes leave the verb out so often that this is worth a question.
    """
    if word.language not in ("zh", "ja", "ko") or tense.has_guard(word.language, text):
        return False
    if start or text[word.end - word.start :][:1] in "/／、,()（）":
        return False
    if word.days == 0:
        return word.language == "zh" and bool(re.match(CHINESE_ACTS, text[start + len(word.word) :]))
    return True


def _last_week(line: str, origin: Origin | None) -> Iterator[tuple[str, str]]:
    match = _LAST_WEEK.search(line)
    if match is None or origin is None:
        return
    monday = origin.day - timedelta(origin.day.weekday() + 7)
    day = (monday + timedelta(_NUMBER_OF_DAY[match[1]])).isoformat()
    yield match.group(), f"“{match.group()}” may be {day}: {origin.told} {origin.day.isoformat()}."
