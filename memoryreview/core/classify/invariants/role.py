"""`date.normalize`: the date tells a day, is no name or sample, and nothing else leans on its form."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from memoryreview.core.classify.claim import Claim, Clause, line_at, lines_of
from memoryreview.core.markdown import outline

from .days import MONTH_WORD, readings
from .told import is_relative

_MAX_ABOVE = 2_000


class _Date(NamedTuple):
    """A date that gives way. `before` and `after` are the rest of its line, `above` the text of its run before that."""

    old: str
    new: str
    above: str
    before: str
    after: str


def _first_line(data: bytes, index: int) -> int:
    """Return the first line of the block of text that a line stands in, no farther up than any text is looked at."""
    spots, first = outline(data), index
    for above in range(index - 1, max(index - _MAX_ABOVE, -1), -1):
        if (spots[above].place, spots[above].item_start) != (spots[index].place, spots[index].item_start):
            break
        first = above
    return first


def _dates(claim: Claim) -> Iterator[_Date]:
    for rewrite in claim.proof.rewrites:
        data = claim.base[rewrite.path]
        line = line_at(data, rewrite.start)
        above = data[lines_of(data)[_first_line(data, line.number - 1)].start : line.start][-_MAX_ABOVE:]
        pieces = (
            data[rewrite.start : rewrite.end],
            rewrite.new,
            above,
            data[line.start : rewrite.start],
            data[rewrite.end : line.start + len(line.body)],
        )
        texts = [piece.decode("utf-8", "replace").removeprefix("\ufeff") for piece in pieces]
        if not is_relative(texts[0]):
            yield _Date(*texts)


_NAMED = (
    r"v|versions?|releases?|tag|build|rev|revision|pages?|pp?|seite|página|lot|batch|numbers?|nummer|numéro|número|no|nr"
    r"|part|sku|isbn|issn|serial|ref|reference|case|ticket|issue|id|oid|section|abschnitt|chapter|kapitel|chapitre"
    r"|capítulo|article|artículo|clause|room|unit|lat|lon|ratio|score|folders?|ordner|dossier|carpeta|directory|path|pfad"
    r"|chemin|ruta|prefix|suffix|bucket|partition|branch|files?|filename|datei|fichier|archivo|keys?|strings?|literal"
    r"|value|wert|valeur|valor|token|pattern|regex|input|output|argument|parameter|option|flag|named|called|titled"
    r"|labell?ed|namens|genannt|nommé|appelé|intitulé|llamad[oa]|titulad[oa]|zeichenkette|aktenzeichen"
)
_IS_NAME = re.compile(rf"(?:\b(?:{_NAMED})[.:#]?|(?:^|\s)--?[a-z][\w-]*)[ \t]+[(*]*$", re.IGNORECASE)
_ON = re.compile(
    r"\b(?:on|dated|am|vom|le|el|del|moved|signed|closed|met|decided|done|started|ended|finished|written)[ \t]+[(*]*$",
    re.IGNORECASE,
)


def names_nothing(claim: Claim) -> bool:
    """No noun, option or prompt before it makes it the name of something; a dotted year first needs its “on”."""
    for date in _dates(claim):
        if _IS_NAME.search(date.before[-60:]) or re.match(r"\s*(?:[-*+]\s+)?[$%]\s", date.before):
            return False
        if re.match(r"[0-9]{4}\.", date.old) and not _ON.search(date.before[-60:]):
            return False
        if re.match(r"(?:[0-9]{1,2} )?(?:may|march)\b", date.old):
            return False
    return True


_ABOUT_FORM = re.compile(
    r"\b(?:iso|rfc|format\w*|dd|mm|yyyy|jjjj|tt|locale\w*|pars(?:es?|ed|ing|er)|regex\w*|literal\w*|verbatim|notation"
    r"|spel(?:t|l(?:ed|ing|t))|str[fp]time|grep|sed|awk|printf?s?|printed|typed?|looks? like|(?:day|month)[- ]first"
    r"|search(?:es|ed|ing)? for|schreibweise|geschrieben|buchstäblich|wörtlich|littéral\w*|écrit\w*|escrit[oa]s?"
    r"|writ(?:e|es|ten) (?:as|like|dates)|julian|hijri)\b|格式|[写寫]法|形式|表記|書式|형식|표기",
    re.IGNORECASE,
)


def is_no_sample(claim: Claim) -> bool:
    """Nothing in the line, or above it in its block, speaks of how dates are written or has the new form already."""
    return not any(
        _ABOUT_FORM.search(date.above + date.before + "\n" + date.after) or date.new in date.before + "\n" + date.after
        for date in _dates(claim)
    )


_LINK = (
    r"(?:\s*[–—&+,/]\s*|\s*-\s+"
    r"|\s*,?\s+(?:to|and|n?or|until|till|through|thru|bis|und|oder|noch|au|et|ou|à|al|hasta|[yoeua]|ni)\s+)"
    r"(?:(?:the|on|am|den|dem|zum|le|el)\s+){0,2}"
)
_FULL = (
    rf"(?:[0-9]{{1,2}}/[0-9]{{1,2}}/[0-9]{{4}}|[0-9]{{1,2}}\.[0-9]{{1,2}}\.[0-9]{{4}}"
    rf"|[0-9]{{1,2}}(?:er|\.)? (?:de )?{MONTH_WORD}\.?(?: de)? [0-9]{{4}}|{MONTH_WORD}\.? [0-9]{{1,2}}, [0-9]{{4}})"
)
_PARTIAL = rf"(?:[0-9]{{1,2}}(?![0-9]|:[0-9])|{MONTH_WORD})"
_SHARES_BEFORE = re.compile(
    rf"(?:(?<![\w./:-])(?:[0-9]{{1,2}}[./])?[0-9]{{1,2}}(?:st|nd|rd|th|er|\.|º)?|{MONTH_WORD}\.?){_LINK}$",
    re.IGNORECASE,
)
_SHARES_AFTER = re.compile(rf"{_LINK}(?!{_FULL}){_PARTIAL}", re.IGNORECASE)


def shares_nothing(claim: Claim) -> bool:
    """No day or month beside it has its month or year from this date."""
    return not any(
        not date.old[:4].isdigit() and (_SHARES_BEFORE.search(date.before[-60:]) or _SHARES_AFTER.match(date.after))
        for date in _dates(claim)
    )


def is_no_clue(claim: Claim) -> bool:
    """No other date of the line, numbers with slashes, needs this one to be read."""
    for date in _dates(claim):
        others = re.findall(r"(?<![\w/])[0-9]{1,2}/[0-9]{1,2}/[0-9]{4}(?![\w/])", f"{date.before}\n{date.after}")
        if "/" in date.old[:3] and any(len(set(readings(other))) > 1 for other in others):
            return False
    return True


CLAUSES: tuple[Clause, ...] = (names_nothing, is_no_sample, shares_nothing, is_no_clue)
