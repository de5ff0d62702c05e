"""Reasons why an action waits, as whole sentences for a person."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from memoryreview.core.model import Kind

from . import placeholder
from .document import Document, Span
from .rules.calendar_form import days, mentions
from .rules.guard_words import guards
from .titles import label, plain

MAX_NAMED = 4
MIN_REPEATED_CHARS = 8

_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")
_COMPARISON = re.compile(r"(?<![\w<>=-])(?:<=|>=|!=|==|[<>≤≥≠])(?=[ \t]?[\w$€£.-])")
_UNIT = re.compile(
    r"(?<![\w.])\d+(?:[.,]\d+)?[ \t]?"
    r"(%|‰|°[CF]?|(?:[kKMGTP]i?)?[bB]|[nµm]?s|min|h|d|w|[kcm]?m|km/h|[mk]?g|[kMG]?Hz|[€$£¥])(?!\w)"
)
_CITATION = re.compile(r"\[(?:Task [0-9]{1,6}|\^[^\[\]\s]{1,40})\]")
_ADDRESS = re.compile(
    r"\b[a-z][a-z0-9+.-]{1,20}://[^\s<>()\"']{1,200}|(?<!\w)(?:~|\.{1,2})?/[\w.@-]+(?:/[\w.@-]+){0,20}"
)

BY_KIND = {
    Kind.FACT_ADD: "It is a new statement, and nothing proves that it is true.",
    Kind.FACT_REWRITE: "The words change, and no rule proves that the meaning stays.",
    Kind.FACT_DELETE: "It would be forgotten, and nothing replaces it.",
    Kind.FILE_ADD: "A new document is always read by a person.",
    Kind.FILE_DELETE: "The whole document would be forgotten, and nothing replaces it.",
    Kind.FILE_RENAME: "Agents and links know the document by its old name.",
    Kind.INDEX_ADD: "A row of the index decides what agents read.",
    Kind.INDEX_DROP: "Without its row, agents no longer find the document from here.",
    Kind.META_CHANGE: "Frontmatter decides how agents find and load the document.",
}

TOO_LARGE = "The change is too large to prove anything in it, so a person reads the document as a whole."
UNCHECKED = "The change is too large to be checked a second time."
BLANK_LINES = "Blank lines come or go, and by itself only a run of them becomes one."
SWITCHED_OFF = "This store lets a person decide changes of this kind."
HEADING = "What stands below a heading means something else below another one."
NOT_CONFIRMED = "The second, independent check did not confirm that the meaning stays."
NEW_FINDING = "A scanner sees something in the result that it did not see before."
WITH_TEXT = "It speaks of the text of this document, of which a change waits, and lands with it."
MERGED = (
    "No line of only “§” stands before the new text, so Hermes reads it as part of the entry above. "
    "Write it as an entry of its own if it is one."
)
AFTER_OTHERS = "What lands before it in this change alters what stands beside it, so it is looked at again afterwards."
WITH_ENTRY = "The entry changes in other ways too, and an entry waits as a whole."


def of_change(old: str, new: str) -> list[str]:
    """Name what changes in the meaning of a text as far as words show it: numbers, negations, dates, addresses."""
    numbers = [Counter(_NUMBER.findall(_CITATION.sub("", text))) for text in (old, new)]
    found = _differing("number", *numbers)
    found += _differing("word that limits or turns the meaning", guards(old), guards(new))
    found += _differing("sign of comparison", Counter(_COMPARISON.findall(old)), Counter(_COMPARISON.findall(new)))
    found += _differing("unit", Counter(_UNIT.findall(old)), Counter(_UNIT.findall(new)))
    found += _differing("citation", Counter(_CITATION.findall(old)), Counter(_CITATION.findall(new)))
    found += _differing("address", Counter(_ADDRESS.findall(old)), Counter(_ADDRESS.findall(new)))
    added = sorted(days(new) - days(old))
    if added and mentions(new) > mentions(old):
        found.append(f"The date {added[0]} stands nowhere in the old text, so it cannot be derived from it.")
    return found


def of_text(added: str, lost_lines: int) -> list[str]:
    """Name what is odd in added text. Args: lost_lines: lines of the document that go in the same change."""
    words = placeholder.find(added, lost_lines)
    if not words:
        return []
    lost = f", and {lost_lines} lines would be lost" if lost_lines > 1 else ""
    return [f"It holds placeholder text (“{plain(words)[:80]}”){lost}."]


def of_place(old: Document, step_old: Span, step_new: Span) -> list[str]:
    """Name what is special about the lines that a change touches."""
    if old.has_format_mark and old.bodies and (step_old[0] == 0 or step_new[0] == 0):
        return ["Line 1 is a format mark: Codex writes the whole document anew when it is not “v1”."]
    return []


def of_delete(text: str, others: Sequence[tuple[int, str]]) -> list[str]:
    """Say where a longer text still says the same. Args: others: (1-based line, label) of what stays."""
    words = label(text, 400).rstrip(".。!…")
    number = next((number for number, other in others if words in other), 0) if len(words) >= MIN_REPEATED_CHARS else 0
    return [f"Line {number} says this and more; check that the shorter form is not the wider rule."] if number else []


def _differing(what: str, old: Counter[str], new: Counter[str]) -> list[str]:
    gone, come = sorted((old - new).elements()), sorted((new - old).elements())
    article = "An" if what[0] in "aeio" else "A"
    if len(gone) == len(come) == 1:
        return [f"{article} {what} changes: {gone[0]} becomes {come[0]}."]
    found = []
    if gone:
        found.append(f"{article} {what} goes: {', '.join(gone[:MAX_NAMED])}.")
    if come:
        found.append(f"{article} {what} comes: {', '.join(come[:MAX_NAMED])}.")
    return found
