"""A later verification date says the same of the same text, as long as what was seen is shown with it."""

from __future__ import annotations

import re

from memoryreview.core.classify.document import Document
from memoryreview.core.model import Context, Evidence

from .head_value import Heads, Value, changed_value, explain
from .outcome import Declined, Explained, Outcome

VERSION = 1

KEYS = frozenset({"verified_at", "last_verified", "verified"})

_OF_SOMEBODY = re.compile(r"(?:.*[_-])?by|.*(?:verif|review|check).*", re.IGNORECASE)
"""Keys that say more of the verification than when it was: who, how, or with what result."""


def explain_line(old: Document, new: Document, lines: tuple[int, int], known: Heads, context: Context) -> Outcome:
    """Explain a line of the frontmatter whose verification date moves on. Args: lines: 0-based, in old and new."""
    value = changed_value(old, new, lines, known, KEYS)
    if not isinstance(value, Value):
        return value
    outcome = explain(value, context.now)
    refusal = _why_unproved(context.evidence) or _why_spoken_for(old, lines[0], value, known)
    return Declined(refusal) if isinstance(outcome, Explained) and refusal else outcome


def _why_unproved(evidence: Evidence) -> str:
    if evidence is Evidence.NONE:
        return "No evidence is attached, so nothing shows that it was verified; send the text that was seen, and where."
    if evidence is Evidence.MISSING:
        return "The evidence was looked up, and some of it is not where it is said to be."
    return ""


def _why_spoken_for(old: Document, index: int, value: Value, known: Heads) -> str:
    """Return what else is said of the verification: it would be said of the later one, "" where nothing is."""
    if old.bodies[index].rstrip(b" \t\"'") != old.data[old.lines[index].start : value.rewrite.end]:
        return "A remark stands beside the date, and would be about the later verification."
    others = sorted({field.key for field in known.fields.values()} - {value.key})
    beside = next((key for key in others if _OF_SOMEBODY.fullmatch(key)), "")
    return f"“{beside}” speaks of the verification, too, and would be about the later one." if beside else ""
