"""A full date with one reading says the same in ISO form, and so does yesterday under the heading that dates it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date

from memoryreview.core.classify.document import Document
from memoryreview.core.markdown import Place
from memoryreview.core.model import History, Rewrite

from . import date_role, enclosed, relative
from .calendar_form import ISO, date_like, readings, stands_alone, weekdays
from .outcome import Declined, Explained, Outcome
from .relative import Found

VERSION = 1

MAX_LEAD_BYTES = 2_000
"""Text of its block above a line that is searched for quotes and code; below more of it no date is proved."""

MAX_LINE_CHARS = 2_000
MAX_DATES = 10
"""Dates of one line that are proved together."""

_PROSE = frozenset({Place.PARAGRAPH, Place.ITEM, Place.ORDERED})
_COUNTED = re.compile(ISO.pattern + r" \([^()\n]{1,24}\)")


@dataclass(frozen=True, slots=True)
class _Token:
    """A piece of a line that a date may take the place of. Offsets are half-open, in characters."""

    start: int
    end: int
    text: str
    relative: Found | None = None


def explain_line(document: Document, index: int, new_body: bytes, history: History | None) -> Outcome:
    """Explain a line in which nothing but date tokens changed.

    Args:
        index: 0-based.
        new_body: what becomes of the line.
        history: may veto a relative word: where it is given it must know the line from about the day of its heading.
    """
    old, new = document.bodies[index].decode("utf-8"), new_body.decode("utf-8")
    replaced = _replaced(old, new)
    if not replaced:
        return None
    return _explain(document, index, old, replaced, history)


def provable(document: Document, index: int, history: History | None = None) -> tuple[Rewrite, ...]:
    """Return the rewrites of all dates of a line that can be proved, relative words kept as they are written.

    Without a history the heading alone decides; whoever proposes the change has it judged with one.
    """
    found: list[Rewrite] = []
    old = document.bodies[index].decode("utf-8", "replace") if document.spots else ""
    for token in _tokens(old):
        if token.relative:
            day = relative.explain(document, index, token.relative, history)
            new = "" if isinstance(day, Declined) else f"{day.isoformat()} ({token.text})"
        else:
            meant = list(readings(token.text))
            new = meant[0].isoformat() if len(meant) == 1 else ""
        outcome = _explain(document, index, old, [(token, new)], history) if new else None
        found += outcome.rewrites if isinstance(outcome, Explained) else ()
    return tuple(found[:MAX_DATES])


def _explain(
    document: Document, index: int, old: str, replaced: list[tuple[_Token, str]], history: History | None
) -> Explained | Declined:
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
    for token, new in replaced:
        if enclosed.is_inside(kept, len(lead) + token.start):
            return Declined("The date stands in a quote, code, link or tag, where text is kept as it is written.")
        if token.relative:
            declined = _why_not_counted(document, index, token.relative, new, history)
        else:
            declined = _why_not(old, token, new) or _why_role_counts(lead, old, token, new)
        if declined:
            return declined
        start = document.body_start(index) + len(old[: token.start].encode())
        rewrites.append(Rewrite(document.path, start, start + len(token.text.encode()), new.encode()))
    return Explained(tuple(rewrites))


def _tokens(line: str) -> list[_Token]:
    found = [_Token(match.start(), match.end(), match.group()) for match in date_like(line)]
    found += [_Token(word.start, word.end, word.word, word) for word in relative.find(line)]
    found.sort(key=lambda token: (token.start, token.end))
    return [token for i, token in enumerate(found) if not i or found[i - 1].end <= token.start]


def _replaced(old: str, new: str) -> list[tuple[_Token, str]]:
    """Return the tokens of `old` that are ISO dates in `new`, with a word in parentheses where one is kept there; none
    when anything else differs as well."""
    found: list[tuple[_Token, str]] = []
    old_at = new_at = 0
    for token in _tokens(old):
        between = old[old_at : token.start]
        if not new.startswith(between, new_at):
            return []
        new_at += len(between)
        iso = (_COUNTED if token.relative else ISO).match(new, new_at) or ISO.match(new, new_at)
        if new.startswith(token.text, new_at):
            new_at += len(token.text)
        elif iso:
            found.append((token, iso.group()))
            new_at = iso.end()
        else:
            return []
        old_at = token.end
    return found if old[old_at:] == new[new_at:] else []


def _why_not_counted(document: Document, index: int, word: Found, new: str, history: History | None) -> Declined | None:
    """Return why a relative word does not mean that day."""
    day = relative.explain(document, index, word, history)
    if isinstance(day, Declined):
        return day
    wanted = f"{day.isoformat()} ({word.word})"
    first_is_lower = f"{day.isoformat()} ({word.word[0].lower()}{word.word[1:]})"
    if new in (wanted, first_is_lower):
        return None
    return Declined(f"“{word.word}” stays beside its date, which is “{wanted}”.")


def _why_not(line: str, token: _Token, iso: str) -> Declined | None:
    """Return why the token does not read as that date."""
    shown = token.text
    meant = list(readings(shown))
    if not meant:
        return Declined(f"“{shown}” is no full date in a form with one sure reading.")
    if len(meant) > 1:
        either = " or ".join(sorted({day.isoformat() for day in meant}))
        if " or " not in either:
            return Declined(f"“{shown}” has two readings, day or month first, and says by neither which is meant.")
        return Declined(f"“{shown}” has two readings, day or month first: {either}.")
    (day,) = meant
    if day.isoformat() != iso:
        return Declined(f"“{shown}” is {day.isoformat()}, not {iso}.")
    weekday = _disagreeing_weekday(line, token, day)
    if weekday:
        return Declined(f"“{shown}” is not the weekday that the line names (“{weekday}”).", "weekday-disagrees")
    if not stands_alone(line, token.start, token.end):
        return Declined(f"“{shown}” touches other text or numbers, so it may be part of a name, path or formula.")
    return None


def _why_role_counts(lead: str, line: str, token: _Token, iso: str) -> Declined | None:
    """Return why the token has to stay although it reads as that date."""
    reason = date_role.why_not_told(lead, line, token.start, token.end, iso)
    return Declined(reason) if reason else None


def _disagreeing_weekday(line: str, token: _Token, day: date) -> str:
    """Return a weekday on the line that is not that of `day`: any full name, or a short one beside the date."""
    for match, named, is_short in weekdays(line):
        if named != day.weekday() and (not is_short or _is_beside(line, match, token)):
            return match.group()
    return ""


def _is_beside(line: str, word: re.Match[str], token: _Token) -> bool:
    if word.end() <= token.start:
        return not line[word.end() : token.start].strip(" .,(")
    return token.end <= word.start() and not line[token.end : word.start()].strip(" ,(")
