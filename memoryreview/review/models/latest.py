"""What is read along with a proposal, and kept in no row of its own."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .proposal import Revision


@dataclass(frozen=True, slots=True)
class Rejection:
    """The id of a proposal that a person said no to, and why; `at` is None where no decision tells."""

    id: int
    reason: str = ""
    note: str = ""
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Latest:
    """The latest revision of a proposal.

    Args: asked: what its agent was asked to change, when this revision is the answer. readers: people in the team of
    the store. rejected: an earlier proposal of the very same change.
    """

    revision: Revision
    asked: str = ""
    readers: int = 1
    rejected: Rejection | None = None
