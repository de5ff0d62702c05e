"""Proposals and decisions. Content that is approved lives in git; what is derived here says so."""

from __future__ import annotations

from memoryreview.review.states import (
    LIVE_STATES,
    OPEN_STATES,
    UNDECIDED_STATES,
    ChangeKind,
    ErasureState,
    Reason,
    Role,
    State,
    Verb,
)

from .change import Change, ChangedPath, Intent, RenamedPath, TidyStop
from .erasure import Backup, Erasure, MovedCommit
from .notice import Digest, Endpoint, Message
from .person import Looked, SavedView
from .proposal import Decision, Delivery, Proposal, Revision, RevisionDocument
from .search import SearchedDocument, SearchedProposal, SearchedStore
from .store import Agent, Store
from .team import Membership, SignUpLink, Team, is_sole_person

__all__ = [
    "LIVE_STATES",
    "OPEN_STATES",
    "UNDECIDED_STATES",
    "Agent",
    "Backup",
    "Change",
    "ChangeKind",
    "ChangedPath",
    "Decision",
    "Delivery",
    "Digest",
    "Endpoint",
    "Erasure",
    "ErasureState",
    "Intent",
    "Looked",
    "Membership",
    "Message",
    "MovedCommit",
    "Proposal",
    "Reason",
    "RenamedPath",
    "Revision",
    "RevisionDocument",
    "Role",
    "SavedView",
    "SearchedDocument",
    "SearchedProposal",
    "SearchedStore",
    "SignUpLink",
    "State",
    "Store",
    "Team",
    "TidyStop",
    "Verb",
    "is_sole_person",
]
