"""What an injection rule is: a pattern over one of the views of a text, in lower case."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from memoryreview.core.model import Severity


class Ground(StrEnum):
    """The text that a pattern runs on: blanks collapsed over the whole text, inside blocks, or inside lines."""

    FLAT = "flat"
    BLOCKS = "blocks"
    LINES = "lines"


@dataclass(frozen=True, slots=True)
class InjectionRule:
    """One kind of steering text.

    Args:
        starts: every match begins with one of these, so the pattern is tried only where one stands (lower case).
        message: one sentence for a person: what it does and why that matters.
        example, near: a text that matches and one that does not.
    """

    id: str
    severity: Severity
    ground: Ground
    starts: tuple[str, ...]
    pattern: re.Pattern[str]
    message: str
    example: str
    near: str

    def matches(self, text: str) -> Iterator[re.Match[str]]:
        """Return the matches in a view, none inside another."""
        present = [start for start in self.starts if start in text]
        if not present:
            return
        places = sorted({place for start in present for place in _places(text, start)})
        reached = 0
        for place in places:
            match = self.pattern.match(text, place) if place >= reached else None
            if match is not None and match.end() > place:
                reached = match.end()
                yield match


def _places(text: str, literal: str) -> Iterator[int]:
    at = text.find(literal)
    while at >= 0:
        yield at
        at = text.find(literal, at + 1)


W = r"(?:[\w'’,-]{1,30} )"
"""One filler word."""

ORDERS = (
    r"(?:instructions?|directions?|directives?|guidelines?|rules?|prompts?|commands?|constraints?|restrictions?"
    r"|polic(?:y|ies)|orders|guardrails?)"
)
CREDENTIALS = r"(?:api[ _-]?keys?|keys?|tokens?|secrets?|passwords?|credentials?)"
ALWAYS = (
    r"(?:always|every time|each time|whenever|from now on|in (?:the )?future|by default|standing rule|new rule|rule ?:"
    r"|policy ?:|remember(?: this(?: rule)?)? ?:|without exception|immer|stets|kunftig|siempre|sempre|toujours|всегда"
    r"|总是|始终|永远|务必|必ず|常に|항상|언제나)"
)


ALWAYS_STARTS = (
    "always¦every time¦each time¦whenever¦from now on¦in future¦in the future¦by default¦standing rule¦new rule¦rule"
    "¦policy¦remember¦without exception¦immer¦stets¦kunftig¦siempre¦sempre¦toujours¦всегда¦总是¦始终¦永远¦务必"
    "¦必ず¦常に"
    "¦항상¦언제나"
)
ORDERS_STARTS = (
    "instruction¦direction¦directive¦guideline¦rule¦prompt¦command¦constraint¦restriction¦polic¦orders¦guardrail"
)


def block(
    identifier: str, ground: Ground, starts: str, pattern: str, message: str, example: str, near: str
) -> InjectionRule:
    return _rule(identifier, Severity.BLOCK, ground, starts, pattern, message, example, near)


def review(
    identifier: str, ground: Ground, starts: str, pattern: str, message: str, example: str, near: str
) -> InjectionRule:
    return _rule(identifier, Severity.REVIEW, ground, starts, pattern, message, example, near)


def note(
    identifier: str, ground: Ground, starts: str, pattern: str, message: str, example: str, near: str
) -> InjectionRule:
    return _rule(identifier, Severity.NOTE, ground, starts, pattern, message, example, near)


def _rule(
    identifier: str,
    severity: Severity,
    ground: Ground,
    starts: str,
    pattern: str,
    message: str,
    example: str,
    near: str,
) -> InjectionRule:
    compiled = re.compile(pattern)
    return InjectionRule(identifier, severity, ground, tuple(starts.split("¦")), compiled, message, example, near)
