"""Words such as “yesterday” under a heading that is a full date: which day they mean, where that is sure."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache

from memoryreview.core.classify.document import Document
from memoryreview.core.markdown import Place, outline
from memoryreview.core.model import History
from memoryreview.core.text import split_lines

from . import calendar_form, enclosed, tense
from .outcome import Declined
from .relative_words import OFFSETS

MAX_BLOCK_BYTES = 2_000
"""Text of an entry in which a relative word is judged; in a longer one it waits."""

MAX_SENTENCE_CHARS = 400

MAX_DAYS_APART = 1
"""Days by which the history may date a line away from its heading."""

_PROSE = frozenset({Place.PARAGRAPH, Place.ITEM, Place.ORDERED})
_LATIN = [word for language in ("en", "de", "fr", "es") for word in OFFSETS[language]]
_OTHERS = sorted({word for language in ("ja", "zh", "ko") for word in OFFSETS[language]}, key=len, reverse=True)
_LATIN_FORMS = "|".join(
    sorted((f"[{word[0].upper()}{word[0]}]{re.escape(word[1:])}" for word in _LATIN), key=len, reverse=True)
)
_WORD = re.compile(
    rf"(?<![*_~])(?:(?<![\w'’./@#$-])(?:{_LATIN_FORMS})(?![\w'’(/@-]|\.\w|:)|{'|'.join(_OTHERS)})(?![*_~])"
)
_ANY = re.compile("|".join(map(re.escape, [*_LATIN, *_OTHERS])), re.IGNORECASE)
_LONG_WORD = re.compile(r"[^\W\u3000-\ud7ff]{40}")
_KANA = re.compile(r"[\u3041-\u30fa\u30fc-\u30ff]")
_MARK = re.compile(r"[ \t]*(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]+)?")
_SENTENCE_END = re.compile(r"[.!?;…]+(?=\s|$)|[。！？；]")
_SAMPLES = re.compile(
    r"\b(?:examples?|samples?|templates?|how to|fiction|quot(?:es?|ations?)|e?mails? (?:from|by|of)|transcripts?"
    r"|drafts?|scenarios?|what if|hypothetical|beispiele?|vorlagen?|zitate?|exemples?|modèles?|citations?|ejemplos?"
    r"|plantillas?|citas?)\b|例|示例|模板|范例|引用|テンプレート|예시|예제|템플릿|인용",
    re.IGNORECASE,
)
_HTML_HEADING = re.compile(rb"<h[1-6][ \t>]", re.IGNORECASE)
_MAX_LABEL_WORDS = 4
_LEAD_IN = re.compile(r"[:：][ \t*_]*$|^[ \t]*(?:\*\*[^*]+\*\*|__[^_]+__)[ \t]*$")
_TITLE = re.compile(r"(?::| [—–·|:-])[ \t]+")
_CLOCK = re.compile(r"[T ][0-2]?[0-9]:[0-5][0-9](?::[0-5][0-9])?$")
_WEEKDAY_FIRST = re.compile(r"([^\W\d_]+)\.?,? (.+)")
_WEEKDAY_LAST = re.compile(r"(.+?),? ?\(?([^\W\d_]+)\)?")
_MAX_HEADING_CHARS = 120
_PLANS = """
    deadline due plan planned plans planning target until till eta scheduled schedule upcoming backlog since todo
    frist termin geplant plan bis ab seit échéance prévu prévue jusqu depuis plazo previsto prevista hasta desde
    """


@dataclass(frozen=True, slots=True)
class Found:
    """A relative word in a text. Offsets are half-open, in characters."""

    start: int
    end: int
    word: str
    language: str

    @property
    def days(self) -> int:
        """Days from the day of writing to the day meant."""
        return OFFSETS[self.language][self.word.casefold()]


def is_mentioned(body: bytes) -> bool:
    """Whether a line may hold a relative word: true for every line that the rule can explain, and for some more."""
    return _ANY.search(body.decode("utf-8", "replace")) is not None


def find(text: str) -> list[Found]:
    """Return the relative words of a text, in order; look-alikes inside names, paths and calls are none."""
    if not _ANY.search(text):
        return []
    return [Found(m.start(), m.end(), m.group(), _language(m.group(), text)) for m in _WORD.finditer(text)]


def _language(word: str, text: str) -> str:
    folded = word.casefold()
    languages = [language for language, words in OFFSETS.items() if folded in words]
    if languages == ["ja", "zh"]:
        return "ja" if _KANA.search(text) else "zh"
    return languages[0]


def explain(document: Document, index: int, found: Found, history: History | None) -> date | Declined:
    """Return the day that a relative word on a line means, or why nobody can be sure.

    The heading alone decides where `history` is None; where there is one it must know the line, from that day or from
    one next to it.
    """
    shown = f"“{found.word}”"
    heading = heading_day(document, index)
    if heading is None:
        return Declined(f"{shown} stands under no heading that is a full date, so nothing says which day it means.")
    if not _is_told(document, index, found):
        return Declined(
            f"{shown} means a sure day only in a plain statement about the past that names no other time or habit."
        )
    if history is not None:
        first = history.first_approved.get((document.path, document.bodies[index]))
        if first is None:
            return Declined(f"The history does not say since when the line with {shown} stands here.")
        if abs((first - heading).days) > MAX_DAYS_APART:
            return Declined(
                f"The heading says {heading.isoformat()}, but the line with {shown} was first approved on "
                f"{first.isoformat()}."
            )
    return heading + timedelta(days=found.days)


def _is_told(document: Document, index: int, found: Found) -> bool:
    """Whether the word is the one time in a plain statement about the past."""
    block = document.block_at(index)
    if block is None or len(block.text) > MAX_BLOCK_BYTES or document.spots[index].depth > 1:
        return False
    before_line = b"".join(body + b"\n" for body in document.bodies[block.span[0] : index]).decode("utf-8")
    return is_told(block.text.decode("utf-8"), len(before_line) + found.start, found)


def is_told(text: str, start: int, found: Found) -> bool:
    """Whether a relative word, at `start`, is the one time in a plain statement about the past."""
    if enclosed.is_inside(enclosed.spans(text), start) or _is_in_parentheses(text, start):
        return False
    if calendar_form.names_a_day(text) or tense.has_guard(found.language, text):
        return False
    first, last = _sentence(text, start)
    if last - first >= MAX_SENTENCE_CHARS or _LONG_WORD.search(text, first, last):
        return False
    end = start + found.end - found.start
    same = [w for w in find(text[first:last]) if not (found.language == "de" and w.word.casefold() == "hier")]
    if len(same) != 1:
        return False
    lead = _MARK.match(text, first, start)
    before = text[lead.end() if lead and (first == 0 or text[first - 1] == "\n") else first : start]
    return tense.tells_of_past(found.language, before.lstrip(), found.word, text[end:last], is_today=found.days == 0)


def _is_in_parentheses(text: str, start: int) -> bool:
    before = text[:start]
    return before.count("(") > before.count(")") or before.count("（") > before.count("）")


def _sentence(text: str, place: int) -> tuple[int, int]:
    """Return the half-open span of the sentence around a place."""
    ends = [match.end() for match in _SENTENCE_END.finditer(text)]
    at = bisect_right(ends, place)
    return ends[at - 1] if at else 0, ends[at] if at < len(ends) else len(text)


def heading_day(document: Document, index: int) -> date | None:
    """Return the day of the heading right above a line's section, None where it is no full date or something else,
    such as a lead-in, stands between."""
    if document.is_delimited or document.is_plain:
        return None
    return _heading_days(document.data)[index]


@lru_cache(maxsize=8)
def _heading_days(data: bytes) -> tuple[date | None, ...]:
    days: list[date | None] = []
    day: date | None = None
    section = 0
    for line, spot in zip(split_lines(data), outline(data), strict=True):
        if spot.section != section:
            section, day = spot.section, _day_of(spot.headings[-1])
            day = None if any(map(_SAMPLES.search, spot.headings)) else day
        elif spot.place is Place.HEADING and spot.depth:
            # Nobody can say how far a heading inside a list reaches.
            day = None
        days.append(day)
        text = line.body.decode("utf-8", "replace")
        if spot.place in _PROSE and (_LEAD_IN.search(text) or _is_day_label(text)):
            day = None
        if spot.place is Place.HTML and _HTML_HEADING.search(line.body):
            day = None
    return tuple(days)


def _is_day_label(text: str) -> bool:
    """Whether a short line names another day, so that what follows may be of that one."""
    return len(text.split()) <= _MAX_LABEL_WORDS + 1 and calendar_form.names_a_day(text)


def _day_of(heading: str) -> date | None:
    """Return the day that a heading is: a full date, perhaps with its weekday, a clock, and a title after a mark."""
    if len(heading) > _MAX_HEADING_CHARS:
        return None
    shown, *titles = _TITLE.split(heading, maxsplit=1)
    for title in titles:
        words = {word.casefold() for word in tense.tokens(title)}
        is_dated = bool(re.search(r"[0-9]", title)) or calendar_form.names_a_day(title) or bool(find(title))
        if is_dated or not words.isdisjoint(_PLANS.split()):
            return None
    shown = _CLOCK.sub("", shown)
    named: int | None = None
    if day := calendar_form.full_day(shown):
        return day
    if match := _WEEKDAY_FIRST.fullmatch(shown):
        named, shown = calendar_form.weekday(match[1]), match[2]
    elif match := _WEEKDAY_LAST.fullmatch(shown):
        named, shown = calendar_form.weekday(match[2]), match[1]
    day = calendar_form.full_day(shown) if named is not None else None
    return day if day and day.weekday() == named else None
