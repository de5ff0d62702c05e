"""Full dates as the promise of `date.normalize` names them, and the names of weekdays."""

from __future__ import annotations

import re
import unicodedata
from datetime import date

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
MONTH_WORD = rf"(?<![^\W\d_])(?i:{'|'.join(_MONTHS)})(?![^\W\d_])"
"""A pattern for the name of a month, in full or short."""

_FORMS = (
    (r"([0-9][0-9]?)/([0-9][0-9]?)/([0-9]{4})", ("dmy", "mdy")),
    (r"(1[3-9]|2[0-9]|3[01])\.([0-9][0-9])\.([0-9]{4})", ("dmy",)),
    (r"([0-9]{4})/([0-9][0-9])/([0-9][0-9])", ("ymd",)),
    (r"([0-9]{4})\.([0-9][0-9])\.([0-9][0-9])", ("ymd",)),
    (r"([^\W\d]+\.?) ([0-9][0-9]?), ([0-9]{4})", ("mdy",)),
    (r"([0-9][0-9]?)\.? ([^\W\d]+\.?) ([0-9]{4})", ("dmy",)),
    (r"([0-9][0-9]?) de ((?i:\w+o|abril|\w+bre)) de ([0-9]{4})", ("dmy",)),
    (r"(1)er ((?i:janvier|f[ée]vrier|mars|avril|mai|juin|juillet|ao[uû]t|\w+bre)) ([0-9]{4})", ("dmy",)),
)
WEEKDAYS = (
    "monday montag lundi lunes",
    "tuesday dienstag mardi martes",
    "wednesday mittwoch mercredi miércoles miercoles",
    "thursday donnerstag jeudi jueves",
    "friday freitag vendredi viernes",
    "saturday samstag sonnabend samedi sábado sabado",
    "sunday sonntag dimanche domingo",
)


def readings(text: str) -> list[date]:
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
