"""Whether a fact is worth keeping: stable, reusable, sourced and allowed. The lowest of the four counts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum

from .model import Evidence, Severity

GOOD_FROM, FAIR_FROM = 0.7, 0.4
"""Scores between 0 and 1 from which on an agent's own figure is good, and fair."""

# What is said of a moment: in English, German, French, Spanish, Chinese and Japanese.
_PASSING = re.compile(
    r"\b(?:today|tonight|tomorrow|yesterday|right now|for now|at the moment|this (?:week|sprint)|temporarily|currently"
    r"|heute|morgen|gestern|derzeit|momentan|vorerst|aujourd[’']hui|demain|pour l[’']instant"
    r"|hoy|mañana|por ahora)\b"
    r"|今天|明天|昨天|目前|暂时|今日|明日|昨日|当面",
    re.IGNORECASE,
)


class Level(IntEnum):
    """How well a criterion is met. What nobody said anything about stands just above what speaks against it."""

    LOW = 0
    UNKNOWN = 1
    FAIR = 2
    GOOD = 3


@dataclass(frozen=True, slots=True)
class Criterion:
    name: str
    level: Level
    sentence: str


def criteria(
    scores: Mapping[str, object],
    *,
    evidence: Evidence,
    names_session: bool,
    severities: Iterable[Severity],
    texts: Iterable[str],
) -> tuple[Criterion, Criterion, Criterion, Criterion]:
    """Weigh a change by the four criteria: stable, reusable, sourced, allowed.

    Args: scores: as its agent sent them, anything at all. severities: of what the scanners saw. texts: what is new.
    """
    return (
        _stable(scores, texts),
        _scored("reusable", scores),
        _sourced(evidence, names_session=names_session),
        _allowed(set(severities)),
    )


def lowest(found: Iterable[Criterion]) -> Criterion:
    """Return the criterion that counts: the first of those with the lowest level."""
    return min(found, key=lambda one: one.level)


def _scored(name: str, scores: Mapping[str, object]) -> Criterion:
    stated = scores.get(name)
    if isinstance(stated, bool) or not isinstance(stated, int | float) or not 0 <= stated <= 1:
        return Criterion(name, Level.UNKNOWN, "its agent gave no figure between 0 and 1")
    level = Level.GOOD if stated >= GOOD_FROM else Level.FAIR if stated >= FAIR_FROM else Level.LOW
    return Criterion(name, level, f"{stated:g} by its agent")


def _stable(scores: Mapping[str, object], texts: Iterable[str]) -> Criterion:
    stated = _scored("stable", scores)
    passing = next((match[0] for text in texts if (match := _PASSING.search(text))), "")
    if not passing:
        return stated
    return Criterion("stable", min(stated.level, Level.FAIR), f"{stated.sentence}; “{passing}” is true for a time only")


def _sourced(evidence: Evidence, *, names_session: bool) -> Criterion:
    match evidence:
        case Evidence.FOUND:
            return Criterion("sourced", Level.GOOD, "the server found what it cites")
        case Evidence.MISSING:
            return Criterion("sourced", Level.LOW, "the server does not find what it cites")
        case Evidence.ATTACHED:
            return Criterion("sourced", Level.FAIR, "evidence is attached and cannot be checked here")
        case Evidence.NONE:
            if names_session:
                return Criterion("sourced", Level.FAIR, "a session is named, without evidence")
            return Criterion("sourced", Level.LOW, "no evidence was sent")


def _allowed(severities: set[Severity]) -> Criterion:
    if Severity.BLOCK in severities:
        return Criterion("allowed", Level.LOW, "a scanner stops it")
    if Severity.REVIEW in severities:
        return Criterion("allowed", Level.FAIR, "a scanner asks to look closely")
    return Criterion("allowed", Level.GOOD, "the scanners see nothing against it")
