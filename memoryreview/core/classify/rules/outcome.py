"""What a rule answers: the rewrites that explain a change, or why it cannot. None: the change is not its business."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from memoryreview.core.model import Rewrite


@dataclass(frozen=True, slots=True)
class Explained:
    rewrites: tuple[Rewrite, ...]


@dataclass(frozen=True, slots=True)
class Declined:
    """A change that looks like one of this rule and is not. `reason` is a whole sentence for a person.

    `finding` names a scanner rule when the text itself disagrees with the change, else it is "".
    """

    reason: str
    finding: str = ""


Outcome: TypeAlias = Explained | Declined | None
