"""The time at which an agent's own tool last wrote a document says nothing of what the document says."""

from __future__ import annotations

from memoryreview.core.classify.document import Document
from memoryreview.core.model import Context

from .head_value import Heads, Value, changed_value, explain
from .outcome import Declined, Outcome

VERSION = 1

KEYS = frozenset({"modified"})


def explain_line(old: Document, new: Document, lines: tuple[int, int], known: Heads, context: Context) -> Outcome:
    """Explain a line of the frontmatter whose time stamp moves on. Args: lines: 0-based, in old and new."""
    value = changed_value(old, new, lines, known, KEYS)
    if not isinstance(value, Value):
        return value
    if not (value.old.has_zone and value.new.has_zone):
        return Declined("“modified” is no time with a zone, as tools stamp it, so a person may have written it.")
    return explain(value, context.now)
