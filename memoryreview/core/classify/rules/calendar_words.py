"""Names of months and weekdays in English, German, French and Spanish, case-folded and composed (NFC)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType


def _numbered(lines: str, first: int) -> Mapping[str, int]:
    """One line per number, the names of that month or weekday on it."""
    return MappingProxyType(
        {name: number for number, line in enumerate(lines.strip().splitlines(), first) for name in line.split()}
    )


MONTHS = _numbered(
    """
    january januar jänner janvier enero
    february februar février fevrier febrero
    march märz mars marzo
    april avril abril
    may mai mayo
    june juni juin junio
    july juli juillet julio
    august août aout agosto
    september septembre septiembre setiembre
    october oktober octobre octubre
    november novembre noviembre
    december dezember décembre decembre diciembre
    """,
    first=1,
)
"""Number of a month, 1 to 12, by its full name."""

MONTH_ABBREVIATIONS = _numbered(
    """
    jan jän janv ene
    feb févr fevr fév
    mar mär mrz
    apr avr abr
    may
    jun
    jul juil
    aug ago
    sep sept
    oct okt
    nov
    dec dez déc dic
    """,
    first=1,
)
"""Number of a month by its short name, which a dot may follow."""

_SPANISH_MONTHS = "enero febrero marzo abril mayo junio julio agosto septiembre setiembre octubre noviembre diciembre"
SPANISH_MONTHS = frozenset(_SPANISH_MONTHS.split())
"""Months of the form with two `de`, which no other language has."""

_FRENCH_MONTHS = "janvier février fevrier mars avril mai juin juillet août aout septembre octobre novembre décembre"
FRENCH_MONTHS = frozenset([*_FRENCH_MONTHS.split(), "decembre"])
"""Months of the first day of which French says `1er`."""

WEEKDAYS = _numbered(
    """
    monday montag lundi lunes
    tuesday dienstag mardi martes
    wednesday mittwoch mercredi miércoles miercoles
    thursday donnerstag jeudi jueves
    friday freitag vendredi viernes
    saturday samstag sonnabend samedi sábado sabado
    sunday sonntag dimanche domingo
    """,
    first=0,
)
"""Number of a weekday, Monday is 0, by its full name, in the singular."""

WEEKDAY_ABBREVIATIONS = _numbered(
    """
    Mon Mo Lun Lu lun
    Tue Tues Di Mar Ma mar
    Wed Mi Mer Mié mer mié
    Thu Thur Thurs Do Jeu Jue Je jeu jue
    Fri Fr Ven Vie Ve ven vie
    Sat Sa Sam Sáb sam sáb
    Sun So Dim Dom dim dom
    """,
    first=0,
)
"""Number of a weekday by a short name, as it is written: `so` is a word, `So` beside a date a Sunday."""
