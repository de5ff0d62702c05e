"""`date.normalize` of relative words: “yesterday”, told of the past under a heading that is a full date."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
from types import MappingProxyType

from memoryreview.core.classify.claim import Claim, Clause, line_at, lines_of
from memoryreview.core.markdown import Place, Spot, outline

from . import past
from .days import WEEKDAYS, readings

_WORDS = {
    -2: "the day before yesterday,vorgestern,avant-hier,anteayer,前天,一昨日,おととい,그저께",
    -1: "yesterday,gestern,hier,ayer,昨天,昨日,きのう,어제",
    0: "today,heute,aujourd'hui,aujourd’hui,hoy,今天,今日,本日,오늘",
}
_DAYS: Mapping[str, int] = MappingProxyType({word: days for days, words in _WORDS.items() for word in words.split(",")})
_ANY_WORD = re.compile("|".join(sorted(map(re.escape, _DAYS), key=len, reverse=True)), re.IGNORECASE)
_W = past.W
_MAX_ENTRY_BYTES = 2_000


def is_relative(text: str) -> bool:
    return text.casefold() in _DAYS


def is_east_asian(text: str) -> bool:
    return is_relative(text) and ord(text[0]) >= 0x3000


@dataclass(frozen=True, slots=True)
class _Told:
    """A relative word that a rewrite replaces. `before` and `after` are the rest of its entry; `line` is 1-based."""

    path: str
    word: str
    new: str
    line: int
    body: bytes
    before: str
    after: str

    @property
    def sentence(self) -> str:
        """The sentence, without list mark, with a sign in the place of the word."""
        first = max((m.end() for m in _END.finditer(self.before + "x") if m.end() <= len(self.before)), default=0)
        stop = _END.search(self.after)
        text = self.before[first:] + _W + self.after[: stop.end() if stop else None]
        return re.sub(r"\s+", " ", re.sub(r"^\s*(?:(?:[-*+]|[0-9]{1,9}[.)])\s)?\s*", "", text)).strip()


_END = re.compile(r"[.!?;…]+(?=\s|$)|[。！？；]")


def _told(claim: Claim) -> Iterator[_Told]:
    for rewrite in claim.proof.rewrites:
        data = claim.base[rewrite.path]
        word = data[rewrite.start : rewrite.end].decode("utf-8", "replace")
        if not is_relative(word):
            continue
        line, spots, lines = line_at(data, rewrite.start), outline(data), lines_of(data)
        own = first = last = line.number - 1
        while first and _goes_on(spots, first - 1, own) and rewrite.start - lines[first].start <= _MAX_ENTRY_BYTES:
            first -= 1
        while (
            last + 1 < len(lines) and _goes_on(spots, last + 1, own) and lines[last].end - line.end <= _MAX_ENTRY_BYTES
        ):
            last += 1
        before, after = data[lines[first].start : rewrite.start], data[rewrite.end : lines[last].end]
        yield _Told(
            rewrite.path,
            word,
            rewrite.new.decode("utf-8", "replace"),
            line.number,
            line.body,
            before.decode("utf-8", "replace"),
            after.decode("utf-8", "replace"),
        )


def _goes_on(spots: tuple[Spot, ...], index: int, own: int) -> bool:
    one, two = spots[index], spots[own]
    return (one.place, one.item_start) == (two.place, two.item_start)


def counts_from_its_heading(claim: Claim) -> bool:
    """The nearest heading is a full date and no lead-in stands between; the word stays beside the day it means."""
    for told in _told(claim):
        data = claim.base[told.path]
        if claim.has_entries(told.path):
            return False
        day = _heading_days(data)[told.line - 1]
        if day is None:
            return False
        counted = (day + timedelta(days=_DAYS[told.word.casefold()])).isoformat()
        lowered = told.word[0].lower() + told.word[1:]
        if told.new not in (f"{counted} ({told.word})", f"{counted} ({lowered})"):
            return False
    return True


@lru_cache(maxsize=8)
def _heading_days(data: bytes) -> tuple[date | None, ...]:
    """Return for each line the day of the heading right above it, None below a lead-in or a heading inside a list."""
    found: list[date | None] = []
    day, section = None, 0
    for spot, line in zip(outline(data), lines_of(data), strict=True):
        if spot.section != section:
            day, section = _day(spot.headings[-1]), spot.section
            day = None if _SAMPLE.search("\n".join(spot.headings)) else day
        elif spot.place is Place.HEADING and spot.depth:
            day = None
        found.append(day)
        text = line.body.decode("utf-8", "replace").strip(" \t")
        is_label = text.rstrip("*_ ")[-1:] in (":", "：") or re.fullmatch(r"(\*\*|__)[^*_]+\1", text)
        is_day = len(text.split()) <= 5 and (_DATE.search(text) or _names_weekday(text))
        if spot.place in (Place.PARAGRAPH, Place.ITEM, Place.ORDERED) and (is_label or is_day):
            day = None
        if spot.place is Place.HTML and re.search(r"<h[1-6]\b", text, re.IGNORECASE):
            day = None
    return tuple(found)


_SAMPLE = re.compile(
    r"\b(?:example|sample|template|quote|quotation|transcript|draft|scenario|beispiele?|vorlagen?|zitate?|exemple|modèle"
    r"|citation|ejemplo|plantilla|cita)s?\b|\b(?:how to|fiction|what if|hypothetical|e?mails? (?:from|by|of))\b"
    r"|例|模板|范例|引用|テンプレート|예시|예제|템플릿|인용",
    re.IGNORECASE,
)
_HEADING = re.compile(
    r"(?:(?P<first>[^\W\d_]+)\.?,? )?"
    r"(?P<day>[0-9]{4}[年년] ?[0-9]{1,2}[月월] ?[0-9]{1,2}[日일]|[0-9]{1,4}[./-][0-9]{1,2}[./-][0-9]{1,4}"
    r"|[0-9]{1,2}(?:\.|er)? (?:de )?[^\W\d_]+\.?(?: de)? [0-9]{4}|[^\W\d_]+\.? [0-9]{1,2}, [0-9]{4})"
    r"(?:[T ][0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?)?"
    r"(?:,? ?\(?(?P<last>[^\W\d_]+)\)?)?(?:(?::| [—–·|:-])[ \t]+(?P<title>[^0-9]+))?"
)
_PLAN = re.compile(
    r"\b(?:deadline|due|plan\w*|target|until|eta|schedul\w+|upcoming|backlog|since|todo)\b", re.IGNORECASE
)


def _day(heading: str) -> date | None:
    """Return the day of a heading: a full date, perhaps with its weekday, a clock, and a title of words."""
    match = _HEADING.fullmatch(heading)
    if not match or _ANY_WORD.search(heading) or _PLAN.search(heading) or _names_weekday(match["title"] or ""):
        return None
    numbers = re.fullmatch(r"([0-9]{4})(?:-|[年년] ?)([0-9]{1,2})(?:-|[月월] ?)([0-9]{1,2})[日일]?", match["day"])
    try:
        days = [date(*map(int, numbers.groups()))] if numbers else readings(match["day"])
    except ValueError:
        return None
    if len(days) != 1:
        return None
    names = [name.casefold() for name in (match["first"], match["last"]) if name]
    own = WEEKDAYS[days[0].weekday()].split()
    return days[0] if all(any(word.startswith(name[:2]) for word in own) for name in names) else None


def _names_weekday(text: str) -> bool:
    return any(word in " ".join(WEEKDAYS).split() for word in re.findall(r"\w+", text.casefold()))


def agrees_with_history(claim: Claim) -> bool:
    """Where history is known, it knows the line from the day of its heading or from one next to it."""
    history = claim.context.history
    for told in _told(claim) if history else ():
        day = _heading_days(claim.base[told.path])[told.line - 1]
        first = history.first_approved.get((told.path, told.body)) if history else None
        if day is None or first is None or not -1 <= (first - day).days <= 1:
            return False
    return True


def is_the_only_time(claim: Claim) -> bool:
    """The sentence has no second relative word, the entry no other date or weekday, and no bracket is open."""
    for told in _told(claim):
        if max(len(told.before.encode()), len(told.after.encode())) > _MAX_ENTRY_BYTES:
            return False
        entry = told.before + "\n" + told.after
        # In German “hier” means “here”.
        others = [m for m in _ANY_WORD.findall(told.sentence) if _stands_free(m, told)]
        if others or _DATE.search(entry) or _names_weekday(entry):
            return False
        if told.before.count("(") > told.before.count(")") or told.before.count("（") > told.before.count("）"):
            return False
    return True


_DATE = re.compile(
    r"[0-9]{4}[-年년][0-9 ]{1,3}|[0-9]{1,2}/[0-9]{1,2}/[0-9]{2,4}|[0-9]{1,2}\.[0-9]{1,2}\.[0-9]{4}|[0-9]{1,2}\s?[月월]"
    r"|[0-9]{4}[./][0-9]{2}[./][0-9]{2}"
)


def _stands_free(word: str, told: _Told) -> bool:
    if word.casefold() == "hier" and told.word.casefold() in ("gestern", "heute", "vorgestern"):
        return False
    return is_east_asian(word) or bool(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", told.sentence))


def tells_of_the_past(claim: Claim) -> bool:
    """The sentence states something past, of which the word is the adverb; nothing in it is a habit or a question."""
    return all(
        past.is_told(told.word, _DAYS[told.word.casefold()] == 0, told.sentence, entry)
        for told, entry in ((told, told.before + _W + told.after) for told in _told(claim))
    )


CLAUSES: tuple[Clause, ...] = (counts_from_its_heading, tells_of_the_past, is_the_only_time, agrees_with_history)
