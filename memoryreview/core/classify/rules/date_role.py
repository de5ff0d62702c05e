"""Whether a date tells a day, or is something else: a name, a sample of a form, or what other dates lean on."""

from __future__ import annotations

import re

from .calendar_form import MONTH_NAME, readings

_NUMBERED = """
    v version versions release releases tag build rev revision page pages p pp lot batch number numbers no nr part sku
    isbn issn serial ref reference case ticket issue id oid section chapter article clause room unit lat lon ratio score
    folder folders directory path prefix suffix bucket partition branch file files filename key keys string value
    literal token pattern regex input output argument parameter option flag named called titled labelled labeled
    seite kapitel abschnitt nummer aktenzeichen zeichenkette wert datei ordner pfad namens genannt
    page chapitre article numéro valeur fichier dossier chemin nommé appelé intitulé
    página capítulo artículo número valor archivo carpeta ruta llamado llamada titulado
    """
_NAMED_BEFORE = re.compile(rf"(?<!\w)(?:{'|'.join(sorted(set(_NUMBERED.split())))})[.:#]?[ \t]+[(*]*$", re.IGNORECASE)
_OPTION_BEFORE = re.compile(r"(?<!\S)--?[A-Za-z][\w-]*[ \t]+$")
_FORM = re.compile(
    r"\b(?:iso|format\w*|rfc|dd|mm|yyyy|jjjj|tt|locale\w*|pars(?:e|es|ed|ing|er)|regex\w*|literal\w*|verbatim|notation"
    r"|spell(?:ed|ing|t)|strftime|strptime|grep|sed|awk|printf?s?|printed|typed?|looks? like|(?:day|month)[- ]first"
    r"|search(?:es|ed|ing)? for|schreibweise|geschrieben|buchstäblich|wörtlich|littéral\w*|écrit\w*|escrit[oa]s?"
    r"|writ(?:e|es|ten) (?:as|like)|writ(?:e|es) dates|julian|hijri)\b|格式|写法|寫法|形式|表記|書式|형식|표기",
    re.IGNORECASE,
)
_AND = (
    r"(?:[ \t]*(?:[–—&+,/]|-(?=[ \t]))[ \t]*|[ \t]*,?[ \t]+(?:to|and|or|nor|until|till|through|thru|bis|und|oder|noch"
    r"|au|et|ou|à|al|hasta|y|o|u|e|a|ni)[ \t]+)"
)
_THE = r"(?:(?:the|on|am|den|dem|zum|le|el)[ \t]+){0,2}"
_SHARED_BEFORE = re.compile(
    rf"(?:(?<![\w./:-])(?:[0-9]{{1,2}}[/.])?[0-9]{{1,2}}(?:st|nd|rd|th|er|\.|º)?|{MONTH_NAME}\.?){_AND}{_THE}$"
)
_WHOLE = (
    rf"[0-9]{{1,2}}([/.])[0-9]{{1,2}}\1[0-9]{{4}}|[0-9]{{1,2}}(?:er|\.)? (?:de )?{MONTH_NAME}\.?(?: de)? [0-9]{{4}}"
    rf"|{MONTH_NAME}\.? [0-9]{{1,2}}, [0-9]{{4}}"
)
_SHARED_AFTER = re.compile(rf"{_AND}{_THE}(?!{_WHOLE})(?:[0-9]{{1,2}}(?![0-9]|:[0-9])|{MONTH_NAME})")
_DOTTED_YEAR = re.compile(r"[0-9]{4}\.")
_TELLS_A_DAY = re.compile(
    r"(?<!\w)(?:on|dated|am|vom|le|el|del|moved|signed|closed|met|decided|done|started|ended|finished|written)"
    r"[ \t]+[(*]*$",
    re.IGNORECASE,
)
_ORDINARY_WORD = re.compile(r"(?:[0-9]{1,2} )?(?:may|march)\b")
_PROMPT = re.compile(r"[ \t]*(?:[-*+][ \t]+)?[$%][ \t]")
_SLASHED = re.compile(r"(?<![\w/])[0-9]{1,2}/[0-9]{1,2}/[0-9]{4}(?![\w/])")


def why_not_told(lead: str, line: str, start: int, end: int, iso: str) -> str:
    """Return what a date, given by its span in the line, is besides a day that is told, "" when it is no more.

    Args: lead: the text of its entry above the line.
    """
    shown, before, after = line[start:end], line[:start], line[end:]
    if _NAMED_BEFORE.search(before[-24:]) or _OPTION_BEFORE.search(before[-48:]) or _PROMPT.match(line):
        return f"“{shown}” may be the name, number or value of something."
    if _DOTTED_YEAR.match(shown) and not _TELLS_A_DAY.search(before[-24:]):
        return f"“{shown}” may be a version: no word such as “on” before it says that it is a day."
    if _ORDINARY_WORD.match(shown):
        return f"“{shown}” may hold a verb and no month."
    if _FORM.search(lead + before) or _FORM.search(after) or iso in before or iso in after:
        return f"The line may be about how dates are written, so “{shown}” stays as it is written."
    is_year_first = shown[:4].isdigit()
    if not is_year_first and (_SHARED_BEFORE.search(before[-48:]) or _SHARED_AFTER.match(after)):
        return f"Another day may share the month or year of “{shown}”, and would lose it."
    if "/" in shown[:3] and _has_two_readings(line):
        return f"Another date of the line has two readings, and only “{shown}” tells which of them is meant."
    return ""


def _has_two_readings(text: str) -> bool:
    """Whether a text holds a date of which only others beside it say whether the day or the month comes first."""
    return any(len(set(readings(match.group()))) > 1 for match in _SLASHED.finditer(text))
