"""`date.normalize`: one full date with one reading, in plain prose, becomes the same day in ISO form."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from datetime import date

from memoryreview.core.classify.claim import SECTION, Claim, Clause, is_blank, line_at, lines_of
from memoryreview.core.markdown import Place, outline

_MONTHS = (
    r"jan(?:uary|uar|vier|v)?|jän(?:ner)?|ene(?:ro)?",
    r"feb(?:ruary|ruar|rero)?|f[ée]vr(?:ier)?|fév",
    r"mar(?:ch|s|zo)?|märz?|mrz",
    r"apr(?:il)?|avr(?:il)?|abr(?:il)?",
    r"may|mai|mayo",
    r"jun(?:e|i|io)?|juin",
    r"jul(?:y|i|io)?|juil(?:let)?",
    r"aug(?:ust)?|ao[uû]t|ago(?:sto)?",
    r"sept?|sept(?:ember|embre|iembre)|setiembre",
    r"o[ck]t(?:ober)?|octobre|octubre",
    r"nov(?:ember|embre|iembre)?",
    r"de[cz](?:ember)?|d[ée]c(?:embre)?|dic(?:iembre)?",
)
_FORMS = (
    (r"([0-9][0-9]?)/([0-9][0-9]?)/([0-9]{4})", ("dmy", "mdy")),
    (r"(1[3-9]|2[0-9]|3[01])\.([0-9][0-9])\.([0-9]{4})", ("dmy",)),
    (r"([0-9]{4})/([0-9][0-9])/([0-9][0-9])", ("ymd",)),
    (r"([0-9]{4})\.([0-9][0-9])\.([0-9][0-9])", ("ymd",)),
    (r"([^\W\d]+\.?) ([0-9][0-9]?), ([0-9]{4})", ("mdy",)),
    (r"([0-9][0-9]?)\.? ([^\W\d]+\.?) ([0-9]{4})", ("dmy",)),
)
_WEEKDAYS = (
    "monday montag lundi lunes",
    "tuesday dienstag mardi martes",
    "wednesday mittwoch mercredi miércoles miercoles",
    "thursday donnerstag jeudi jueves",
    "friday freitag vendredi viernes",
    "saturday samstag sonnabend samedi sábado sabado",
    "sunday sonntag dimanche domingo",
)
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
    return all([day.isoformat() for day in _readings(old)] == [new] for old, new, _, _ in _dates(claim))


def _readings(text: str) -> list[date]:
    """Return the days that a text can mean, one for each order of its parts that makes a date."""
    found: list[date] = []
    for form, orders in _FORMS:
        match = re.fullmatch(form, text)
        for order in orders if match else ():
            parts = dict(zip(order, match.groups() if match else (), strict=True))
            try:
                found.append(date(int(parts["y"]), _month(parts["m"]), int(parts["d"])))
            except ValueError:
                continue
    return [day for day in found if 1900 <= day.year < 2200]


def _month(word: str) -> int:
    names = unicodedata.normalize("NFC", word)
    if names.isdigit():
        return int(names)
    return next((n for n, form in enumerate(_MONTHS, 1) if re.fullmatch(rf"(?:{form})\.?", names, re.IGNORECASE)), 0)


def stands_in_prose(claim: Claim) -> bool:
    prose = (Place.PARAGRAPH, Place.ITEM, Place.ORDERED)
    bases = ((claim.base[rewrite.path], rewrite.start) for rewrite in claim.proof.rewrites)
    return all(outline(data)[line_at(data, start).number - 1].place in prose for data, start in bases)


def stands_alone(claim: Claim) -> bool:
    """Before the date is a blank, bracket or emphasis, after it a blank or the end of a clause, and nowhere a bar."""
    for old, _, before, after in _dates(claim):
        if "|" in before + after or (before and before[-1] not in " \t(（*，。；：、"):
            return False
        if not re.match(r"$|[ \t]|[)*.,;:!?]+(?:[ \t*)]|$)|[，。；：、）！？]", after):
            return False
        if re.search(r"(?:[0-9][.,:]?|[=<>+^%|&−/])[ \t]$|\S[ \t]+-[ \t]$", before) and before.strip() != "+":
            return False
        if re.match(r"[ \t](?:[0-9](?![0-9]?:[0-9][0-9])|[=<>+^%|&−/])", after):
            return False
        if "." in old and re.search(r"\b(?:v|versions?|release|tag|build|rev)[ \t]$", before, re.IGNORECASE):
            return False
    return True


def is_not_enclosed(claim: Claim) -> bool:
    """No quote, code, bracket or tag that began earlier in the block is open where the date stands."""
    for rewrite in claim.proof.rewrites:
        data = claim.base[rewrite.path]
        lines, first = lines_of(data), line_at(data, rewrite.start).number - 1
        while first and not is_blank(lines[first - 1]) and lines[first - 1].body != SECTION:
            first -= 1
        before = data[lines[first].start : rewrite.start].decode("utf-8", "replace")
        if any(sum(map(before.count, marks)) % 2 for marks in ("`", '"', "“”„", "«»", "‹›")):
            return False
        if any(
            before.count(opener) > before.count(closer) for opener, closer in ("[]", "「」", "『』", "《》", "〈〉")
        ):
            return False
        singles = re.findall(r"(?<![\w'’])['‘](?=\S)|(?<=\S)['’](?!\w)", before)
        if len(singles) % 2 or re.search(r"<[A-Za-z/!?]", before):
            return False
    return True


def agrees_with_weekday(claim: Claim) -> bool:
    for old, new, before, after in _dates(claim):
        line = unicodedata.normalize("NFC", f"{before}\n{after}")
        beside = re.search(r"(\w+)[ .,(]*$", before)
        named = {
            n for n, names in enumerate(_WEEKDAYS) if re.search(rf"\b(?:{names.replace(' ', '|')})s?\b", line, re.I)
        }
        named |= {n for n, names in enumerate(_SHORT_WEEKDAYS) if beside and beside[1] in names.split()}
        days = {day.weekday() for day in _readings(old) if day.isoformat() == new}
        if days and not named <= days:
            return False
    return True


CLAUSES: tuple[Clause, ...] = (reads_as_that_day, stands_in_prose, stands_alone, is_not_enclosed, agrees_with_weekday)
