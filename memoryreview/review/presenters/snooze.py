"""What is said of a proposal that somebody put aside, and until when one can be."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _

from memoryreview.core.snooze import Snooze
from memoryreview.review.models import Proposal, Verb
from memoryreview.review.operations.snooze import minute


@dataclass(frozen=True, slots=True)
class SnoozeChoice:
    value: str
    words: str


def snooze_choices() -> tuple[SnoozeChoice, ...]:
    """Return what one can choose, in the order of its number keys."""
    words = {
        Snooze.HOUR: _("for an hour"),
        Snooze.MORNING: _("until tomorrow morning, 09:00"),
        Snooze.WEEK: _("for a week, until 09:00"),
    }
    return tuple(SnoozeChoice(str(one), words[one]) for one in Snooze)


@dataclass(frozen=True, slots=True)
class Aside:
    """Who put a proposal aside, until when and why. `is_over`: the time has come, and it waits again."""

    until: str
    who: str
    note: str
    is_over: bool


def aside(proposal: Proposal, now: datetime) -> Aside | None:
    """Return what holds of a proposal, None for one that is not put aside and did not just come back."""
    if proposal.snoozed_until is None:
        return None
    until = minute(proposal.snoozed_until)
    acts = proposal.decisions.filter(verb=Verb.SNOOZE).select_related("person").order_by("-pk")
    act = acts.first()
    return Aside(
        until=until,
        who=act.person.get_username() if act and act.person else "",
        note=act.note.removeprefix(f"Until {until}.").strip() if act else "",
        is_over=not proposal.is_snoozed(now),
    )
