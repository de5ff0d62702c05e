"""What the reviewer is told about two places of memory. Suggestions only; nothing is applied by them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class RelationKind(StrEnum):
    DUPLICATE = "duplicate"  # word for word the same
    NEAR_DUPLICATE = "near-duplicate"  # nearly the same words, and no value differs
    SHORTER = "shorter-form"  # one is the other without its end
    ELSEWHERE = "stands-elsewhere"  # the same rule in another place that agents read
    CONTRADICTION = "contradiction"  # the same subject and attribute with another value
    LINKS_IN = "links-in"
    LINKS_OUT = "links-out"
    ORPHAN = "orphan"  # a document that nothing would lead to any more
    REJECTED_BEFORE = "rejected-before"


@dataclass(frozen=True, slots=True)
class Place:
    """A statement where it stands.

    Args:
        store: slug, "" where only one store is looked at.
        line: 1-based, None for a whole document.
        text: the statement on one line, with the marks of Markdown that stand inside it.
    """

    path: str
    line: int | None
    text: str
    store: str = ""


@dataclass(frozen=True, slots=True)
class Relation:
    """Two places and what is between them.

    Each is found by comparing exactly these two: when a relates to b and b to c, nothing is said about a and c.

    Args:
        here: what changes, or the earlier of two places of a store as it is.
        there: what memory says already, or the later place.
        sentence: one sentence for a person that names what differs ("8088 here, 8080 there").
        score: how alike the two texts are, 0 to 100.
    """

    kind: RelationKind
    here: Place
    there: Place
    sentence: str
    score: int = 100
