"""The injection scanner: a tripwire for text that steers agents, not a wall.

No pattern can tell a poisoned fact from a true one. What this buys: certainty about hidden and encoded text, a mark
for the reviewer, and a reason to apply nothing without a person.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from memoryreview.core.model import Severity

from .containers import Container, containers
from .disguise import decoded_runs, disguised_hits
from .hit import Hit, without_covered
from .injection_rule import Ground, InjectionRule
from .injection_rules import STEERING_RULES
from .injection_rules_effect import EFFECT_RULES
from .normalise import View, flat, joined, lines, paragraphs, plain, reading_view, secret_view

RULES: tuple[InjectionRule, ...] = (*STEERING_RULES, *EFFECT_RULES)
HIDDEN = {
    "hidden-order": "Hidden text gives an agent an order that a reader of the page does not see.",
    "hidden-agent-words": "Hidden text speaks of or to an agent where a reader of the page does not see it.",
}
"""Rules about text that a page does not show, with what they say."""

MAX_DECODE_DEPTH = 2

_AGENTS = (
    r"(?:ai|assistants?|agents?|llms?|language models?|chatbots?|bots?|claude|codex|copilot|chatgpt|gpt|gemini|hermes"
    r"|cursor|reviewers?)"
)
_AGENT_WORDS = re.compile(rf"\b(?:{_AGENTS}|you must|you should|your instructions|system prompt)\b")
_SPEAKS_TO_AGENT = re.compile(
    r"^\W{0,9}(?:hey |dear |to |for |attention |note (?:to|for) )?(?:(?:any|all|the|every) )?(?:ai |coding )?"
    + _AGENTS
    + r"\b[^.\n]{0,40}?[:,—–]"
)
_ORDERS_SOMETHING = re.compile(
    r"\b(?:approve|accept|merge|apply|ignore|disregard|forget|send|post|upload|forward|reveal|print|execute|run|tell"
    r"|delete|remove|trust|skip|bypass|disable|grant|install|fetch|curl|add|write|copy|include|always|never|must|do not"
    r"|don't|use|follow|obey|set|change|replace|say|answer|respond|reply|mark|treat|remember|read|open|call)\b"
)
_TOOL_COMMENT = re.compile(
    r"^\W{0,4}(?:prettier-|markdownlint-|/?toc\b|tocstop|todo\b|fixme\b|xxx\b|section ?:|vale |cspell|eslint-|omit "
    r"|more\b|begin\b|end\b|start\b|stop\b|generated|auto-?generated|doctoc|lint|spdx|license|copyright|anchor|yaml\b)"
)
_REPORTS = re.compile(
    r"\b(?:said|wrote|told (?:me|us|it|the \w{1,20})|contained|asked|tried|claimed|demanded|included|injected|read"
    r"|attempted|instructed (?:me|us|it|the \w{1,20})|had)\W{0,3}(?:\w{1,20}\W{1,3}){0,3}$"
)
_OPENING_QUOTES, _CLOSING_QUOTES = "\"'“„«‘「『", "\"'”“»’」』"


@dataclass(frozen=True, slots=True)
class _Grounds:
    """The views of one text that patterns run on: with and without marks of emphasis."""

    by_ground: dict[Ground, tuple[View, ...]]

    @property
    def flat(self) -> View:
        return self.by_ground[Ground.FLAT][0]


def injection_hits(text: str) -> list[Hit]:
    """Return what steers an agent, none of it inside another hit of the same or a higher severity."""
    return without_covered(_hits(text, MAX_DECODE_DEPTH))


def _hits(text: str, depth: int) -> list[Hit]:
    view = reading_view(text)
    grounds = _grounds(view)
    hits = [*_matches(grounds, RULES), *_hidden_hits(view, containers(text))]
    hits += disguised_hits(grounds.flat, hits)
    if depth:
        hits += _decoded_hits(text, depth)
    return hits


def _grounds(view: View) -> _Grounds:
    bare = plain(view)
    sources = (view,) if bare is view else (view, bare)
    collapse = {Ground.FLAT: flat, Ground.BLOCKS: paragraphs, Ground.LINES: lines}
    return _Grounds({ground: tuple(how(source) for source in sources) for ground, how in collapse.items()})


def _matches(grounds: _Grounds, rules: Iterable[InjectionRule]) -> Iterator[Hit]:
    for rule in rules:
        for view in grounds.by_ground[rule.ground]:
            for match in rule.matches(view.text):
                start, end = view.span(match.start(), match.end())
                severity = rule.severity
                if severity is Severity.BLOCK and _is_reported(view.text, match.start(), match.end()):
                    severity = Severity.REVIEW
                yield Hit("injection", rule.id, severity, start, end, rule.message)


def _is_reported(text: str, start: int, end: int) -> bool:
    """Whether a match is all that a quotation holds, and the sentence says that someone once said it.

    Such a note is worth keeping ("a page said …; the agent was right to stop"). It still waits for a person.
    """
    after = text[end : end + 3].lstrip(".,!")
    if text[start - 1 : start] not in tuple(_OPENING_QUOTES) or not after or after[0] not in _CLOSING_QUOTES:
        return False
    sentence = re.split(r"[.!?\n]", text[max(0, start - 81) : start - 1])[-1]
    return _REPORTS.search(sentence) is not None


def _hidden_hits(view: View, hidden: Iterable[Container]) -> Iterator[Hit]:
    """Any pattern inside a hidden place blocks: an honest note has no reason to hide it."""
    unseen: list[View] = []
    folded: list[View] = []
    for container in hidden:
        part = view.part(bisect_left(view.starts, container.start), bisect_left(view.starts, container.end))
        if not part.text.strip():
            continue
        (unseen if container.is_unseen else folded).append(flat(part))
    for part in unseen:
        yield from _unseen_words(part)
    # What a click or a pointer shows may well be a long listing of commands; what nothing shows may not.
    for parts, rules in ((unseen, RULES), (folded, STEERING_RULES)):
        if not parts:
            continue
        whole = joined(parts, "\n")
        for hit in _matches(_Grounds(dict.fromkeys(Ground, (whole, plain(whole)))), rules):
            if hit.severity is not Severity.NOTE:
                yield replace(hit, severity=Severity.BLOCK, message=_hidden_message(hit.message))


def _hidden_message(message: str) -> str:
    return f"{message[:-1]}, and a reader of the page does not see it."


def _unseen_words(part: View) -> Iterator[Hit]:
    speaks = _SPEAKS_TO_AGENT.search(part.text)
    start, end = part.span(0, len(part.text))
    if speaks is not None and _ORDERS_SOMETHING.search(part.text, speaks.end()):
        yield Hit("injection", "hidden-order", Severity.BLOCK, start, end, HIDDEN["hidden-order"])
    elif _AGENT_WORDS.search(part.text) and not _TOOL_COMMENT.search(part.text):
        yield Hit("injection", "hidden-agent-words", Severity.REVIEW, start, end, HIDDEN["hidden-agent-words"])


def _decoded_hits(text: str, depth: int) -> Iterator[Hit]:
    """Any pattern inside encoded text blocks: encoding is how such text passes a reader."""
    for run in decoded_runs(secret_view(text)):
        telling = [hit for hit in _hits(run.text, depth - 1) if hit.severity is not Severity.NOTE]
        if telling:
            message = f"Encoded text: once decoded, {telling[0].message[:1].lower()}{telling[0].message[1:]}"
            yield Hit("injection", telling[0].rule, Severity.BLOCK, run.start, run.end, message)
