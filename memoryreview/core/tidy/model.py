"""What tidying finds, as values."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from memoryreview.core.formats.base import Meter
from memoryreview.core.model import Classification, Context, Delta, FormatName, Kind, Problem, Proof, Rewrite, Tree

ContextOf: TypeAlias = Callable[[Tree, Delta], Context]
"""What a verdict on this change of this tree may depend on, history and settings included."""

Known: TypeAlias = Callable[[str, str, str, str], bool]
"""Whether a person took back an edit before. Args: rule, path, old text, new text of an action."""


@dataclass(frozen=True, slots=True)
class Survey:
    """A folder as it is.

    Args:
        documents: what may be tidied, by path.
        skipped: why nothing is edited in the others, by path.
        is_incomplete: so many targets are missing that links say nothing about what was meant.
    """

    format: FormatName
    documents: Mapping[str, bytes]
    skipped: Mapping[str, str]
    meters: tuple[Meter, ...]
    problems: tuple[Problem, ...]
    is_incomplete: bool


@dataclass(frozen=True, slots=True)
class Candidate:
    """An edit that a rule may prove.

    Args:
        rewrites: of one meaning: they are taken together or not at all; sorted, by document.
        why: what to tell a person when no proof is found; "" when it is nobody's business then.
    """

    rule: Kind
    rewrites: tuple[Rewrite, ...]
    why: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """What one commit of a run does: edits of one rule, each proved. The delta is against the tree after the steps
    before it."""

    rule: Kind
    delta: Delta
    proof: Proof
    classification: Classification


@dataclass(frozen=True, slots=True)
class Suggestion:
    """An edit that a person may want.

    Args:
        kind: what was found: "repeat", "shorter-form", "dead-row"….
        key: what it is about, equal while the texts are the same, whatever else changes in the documents.
        delta: against the tree after all steps.
        why: one or two sentences for the person.
    """

    kind: str
    key: str
    delta: Delta
    why: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run would do now.

    Args:
        noticed: what statements have to do with each other, besides what the format's checks find.
        postponed: edits that a limit on their number left for later.
    """

    steps: tuple[Step, ...]
    suggestions: tuple[Suggestion, ...]
    survey: Survey
    noticed: tuple[Problem, ...] = ()
    postponed: int = 0

    @property
    def edits(self) -> int:
        return sum(len(step.classification.actions) for step in self.steps)


def key_of(kind: str, *texts: str) -> str:
    """Return the SHA-256 under which a suggestion is recognised. Args: texts: what it is about, paths included."""
    digest = hashlib.sha256(kind.encode())
    for text in texts:
        digest.update(b"\0" + text.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
