"""States of a proposal, for the models and their querysets."""

from __future__ import annotations

from enum import StrEnum


class State(StrEnum):
    """Life of a proposal. Whether it is stale or in conflict is computed, not stored."""

    PENDING = "pending"
    QUARANTINED = "quarantined"
    APPLYING = "applying"
    APPLIED = "applied"
    REJECTED = "rejected"
    WITHDRAWN = "withdrawn"
    SUPERSEDED = "superseded"
    EXPIRED = "expired"
    ROLLED_BACK = "rolled_back"


OPEN_STATES = (State.PENDING, State.QUARANTINED)
"""A person has something to decide."""

UNDECIDED_STATES = (*OPEN_STATES, State.APPLYING)
"""Nothing final was said yet."""
