"""A later verification date says the same of the same text, as long as what was seen is shown with it."""

from __future__ import annotations

from memoryreview.core.classify.document import Document
from memoryreview.core.model import Context, Evidence

from .head_value import Heads, Value, changed_value, explain
from .outcome import Declined, Explained, Outcome

VERSION = 1

KEYS = frozenset({"verified_at", "last_verified", "verified"})


def explain_line(old: Document, new: Document, lines: tuple[int, int], known: Heads, context: Context) -> Outcome:
    """Explain a line of the frontmatter whose verification date moves on. Args: lines: 0-based, in old and new."""
    value = changed_value(old, new, lines, known, KEYS)
    if not isinstance(value, Value):
        return value
    outcome = explain(value, context.now)
    refusal = _why_unproved(context.evidence)
    return Declined(refusal) if isinstance(outcome, Explained) and refusal else outcome


def _why_unproved(evidence: Evidence) -> str:
    if evidence is Evidence.NONE:
        return "No evidence is attached, so nothing shows that it was verified; send the text that was seen, and where."
    if evidence is Evidence.MISSING:
        return "The evidence was looked up, and some of it is not where it is said to be."
    return ""
