"""What came of a proposal: every decision on it, oldest first, and the commits it made."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _

from memoryreview.review.models import Decision, Proposal, Verb

from .links import change_url
from .recorded import note_in_language, title_in_language
from .words import VERB_WORDS, Moment, moment, short_oid


@dataclass(frozen=True, slots=True)
class Step:
    """One decision in words: "ana approved", with when and why."""

    who: str
    did: str
    at: Moment
    reason: str
    note: str


@dataclass(frozen=True, slots=True)
class Commit:
    oid: str
    url: str
    title: str


@dataclass(frozen=True, slots=True)
class Outcome:
    steps: tuple[Step, ...]
    commits: tuple[Commit, ...]


def outcome(proposal: Proposal, now: datetime) -> Outcome:
    decisions = proposal.decisions.select_related("person", "agent").order_by("pk")
    changes = proposal.changes.select_related("store").order_by("pk")
    return Outcome(
        steps=tuple(step(decision, now) for decision in decisions),
        commits=tuple(
            Commit(short_oid(change.oid), change_url(change), title_in_language(change.title)) for change in changes
        ),
    )


def step(decision: Decision, now: datetime) -> Step:
    name = "memoryreview"
    if decision.person is not None:
        name = decision.person.get_username()
    elif decision.agent is not None:
        name = decision.agent.name
    suffix = _(", as the only person here") if decision.sole_person else ""
    return Step(
        who=name,
        did=VERB_WORDS[Verb(decision.verb)] + suffix,
        at=moment(decision.at, now),
        reason=_(decision.reason) if decision.reason else "",
        note=note_in_language(decision.note),
    )
