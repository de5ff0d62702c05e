"""What rows say in one word, for the models and their querysets."""

from __future__ import annotations

from enum import StrEnum


class State(StrEnum):
    """Life of a proposal. Whether it is stale or in conflict is computed, not stored."""

    PENDING = "pending"
    QUARANTINED = "quarantined"
    CHANGES_REQUESTED = "changes_requested"
    APPLYING = "applying"
    APPLIED = "applied"
    REJECTED = "rejected"
    WITHDRAWN = "withdrawn"
    SUPERSEDED = "superseded"
    EXPIRED = "expired"
    ROLLED_BACK = "rolled_back"


OPEN_STATES = (State.PENDING, State.QUARANTINED)
"""A person has something to decide."""

LIVE_STATES = (*OPEN_STATES, State.CHANGES_REQUESTED)
"""It may still land: a person has something to decide, or its agent was asked to change it."""

UNDECIDED_STATES = (*OPEN_STATES, State.APPLYING)
"""Nothing final was said yet."""


class ChangeKind(StrEnum):
    ADOPT = "adopt"
    AUTO = "auto"
    APPROVED = "approved"
    CAPTURED = "captured"
    ROLLBACK = "rollback"
    RESTORE = "restore"
    PROMOTE = "promote"
    ERASE = "erase"


class Verb(StrEnum):
    """What a decision row records."""

    AUTO_APPLY = "auto_apply"
    PASSIVE = "passive"  # landed unread, since the store's owner asks for it
    READ = "read"  # a person read afterwards what had landed unread
    APPROVE = "approve"
    EDIT = "edit"
    REJECT = "reject"
    ASK_CHANGES = "ask_changes"
    RELEASE = "release"
    REOPEN = "reopen"
    SNOOZE = "snooze"  # put aside until a time; it decides nothing
    WAKE = "wake"  # put back before that time
    ROLLBACK = "rollback"
    RESTORE = "restore"
    WITHDRAW = "withdraw"
    SUPERSEDE = "supersede"
    EXPIRE = "expire"
    ADOPT = "adopt"
    CONFIGURE = "configure"
    ERASE = "erase"
    INTERRUPT = "interrupt"
    FAIL = "fail"
    IMPORT = "import"  # a commit of the baseline was recorded anew, after its own record was lost


class ErasureState(StrEnum):
    """How far an erasure is. It can be taken back until it is in force, and not any more from then on."""

    PREPARING = "preparing"
    IN_FORCE = "in_force"
    DONE = "done"
    DROPPED = "dropped"


class Reason(StrEnum):
    """Why a proposal was rejected; returned to the agent."""

    WRONG = "wrong"
    STALE = "stale"
    DUPLICATE = "duplicate"
    TOO_SPECIFIC = "too specific"
    WRONG_SCOPE = "wrong scope"
    SENSITIVE = "sensitive"
    UNSAFE = "unsafe instruction"
    WORDING = "wording"


class Role(StrEnum):
    MEMBER = "member"
    MAINTAINER = "maintainer"
