"""Rows of the queue, prepared so that their template only prints."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.utils.translation import gettext as _

from memoryreview.core.alike import Likeness, fold
from memoryreview.core.concerns import Concern
from memoryreview.core.formats import of as format_of
from memoryreview.core.model import FormatName, Kind
from memoryreview.review.models import Agent, Proposal, State
from memoryreview.review.operations.batch import unfit
from memoryreview.review.operations.snooze import minute

from .links import proposal_url, with_query
from .recorded import title_in_language
from .words import CONCERN_WORDS, Words, moment

_ADDS = {str(kind) for kind in (Kind.FACT_ADD, Kind.FILE_ADD, Kind.INDEX_ADD)}
_RESERVED_WORDS = Words({Agent.DIRECT: "direct write", Agent.TIDY: "tidying"})
_TOLD_BY_SIGN = {Concern.STOPPED, Concern.WIDENS, Concern.DELETES}
_NOT_IN_A_ROW = frozenset({*_TOLD_BY_SIGN, Concern.NEW_AGENT})  # in its first week it would stand in every row


@dataclass(frozen=True, slots=True)
class Sign:
    """A small picture with its word, which is kept in English; `icon` names a symbol of the sprite."""

    name: str
    icon: str
    english: str

    @property
    def word(self) -> str:
        return _(self.english)


QUARANTINED = Sign("quarantined", "shield", "quarantined")
PROMOTES = Sign("promotes", "arrow-up", "promotion")
DELETES = Sign("deletes", "minus", "deletion")
ADDS = Sign("adds", "plus", "addition")
CHANGES = Sign("changes", "tilde", "change of meaning")


@dataclass(frozen=True, slots=True)
class Alike:
    """The other proposals of a page that are like a row. `documents`: how many different ones all of them touch.

    `ids` names all of them, the row itself included.
    """

    rows: tuple[Row, ...]
    documents: int
    ids: tuple[int, ...]

    @property
    def value(self) -> str:
        """What selects all of them."""
        return ",".join(map(str, self.ids))


@dataclass(frozen=True, slots=True)
class Row:
    """One waiting proposal. `concern` is the gravest that its sign does not tell, `all_concerns` all of those.

    Args: until: when what is put aside waits again, "" otherwise; `is_back`: it was put aside, and its time has come.
        alike: what stands folded below it. is_elsewhere: of those, one that touches another document than the first.
    """

    id: int
    url: str
    title: str
    sign: Sign
    path: str
    more_paths: int
    store: str
    agent: str
    lines: str
    repeats: int
    age: str
    exact: str
    failed: bool
    concern: str
    more_concerns: int
    all_concerns: str
    until: str
    until_short: str
    is_back: bool
    alike: Alike | None = None
    is_elsewhere: bool = False


def sign_of(proposal: Proposal) -> Sign:
    """Pick the sign that a reviewer must see first."""
    if proposal.state == State.QUARANTINED:
        return QUARANTINED
    if proposal.promoted_from_id:
        return PROMOTES
    if proposal.deletes:
        return DELETES
    return ADDS if set(proposal.kinds) <= _ADDS else CHANGES


def agent_words(agent: Agent) -> str:
    return _RESERVED_WORDS.get(agent.name, agent.name)


def author_of(proposal: Proposal) -> str:
    """Name who proposed: an agent, "direct write" for whoever wrote the file, or a person."""
    if proposal.agent is not None:
        return agent_words(proposal.agent)
    return proposal.person.get_username() if proposal.person else _("unknown")


def lead_first(paths: Iterable[str], format_name: str) -> list[str]:
    """Order documents so that an index comes last: what it points to says more."""
    form = format_of(FormatName(format_name))
    return sorted(paths, key=lambda path: (form.is_index(path), path))


def title_of(proposal: Proposal) -> str:
    return title_words(proposal.title, proposal.claimed_title)


def title_words(title: str, claimed: str) -> str:
    """Return a title as the server found it, else what its agent calls it."""
    return title_in_language(title) or claimed or _("A change without a title")


def concern_words(proposal: Proposal, *, beyond: Container[Concern] = ()) -> tuple[str, ...]:
    """Say why a proposal deserves a close look, the gravest first, `beyond` what is said elsewhere."""
    return tuple(CONCERN_WORDS[one] for one in map(Concern, proposal.concerns) if one not in beyond)


def row(proposal: Proposal, now: datetime, query: Mapping[str, str]) -> Row:
    at = moment(proposal.created_at, now)
    paths = lead_first(proposal.paths, proposal.store.format)
    concerns = concern_words(proposal, beyond=_NOT_IN_A_ROW)
    until = proposal.snoozed_until
    return Row(
        id=proposal.pk,
        url=with_query(proposal_url(proposal), **query),
        title=title_of(proposal),
        sign=sign_of(proposal),
        path=paths[0] if paths else "",
        more_paths=max(0, len(proposal.paths) - 1),
        store=proposal.store.slug,
        agent=author_of(proposal),
        lines=f"+{proposal.added} −{proposal.removed}",
        repeats=proposal.repeats,
        age=at.short,
        exact=at.exact,
        failed=bool(proposal.failure),
        concern=concerns[0] if concerns else "",
        more_concerns=max(0, len(concerns) - 1),
        all_concerns=_(", ").join(concerns),
        until=minute(until) if until and proposal.is_snoozed(now) else "",
        until_short=f"{until:%m-%d %H:%M}" if until else "",
        is_back=until is not None and not proposal.is_snoozed(now),
    )


def rows(proposals: Iterable[Proposal], now: datetime, query: Mapping[str, str]) -> tuple[Row, ...]:
    """Prepare rows; `query` is the filter that their pages keep. Those that are alike stand below the first of them."""
    found = {proposal.pk: proposal for proposal in proposals}
    folded = fold({pk: _likeness(proposal, now) for pk, proposal in found.items()})
    return tuple(_with_others([found[pk] for pk in group], now, query) for group in folded)


def _likeness(proposal: Proposal, now: datetime) -> Likeness | None:
    """Return what a proposal shares with those like it, None for one that is decided by itself or put aside."""
    if proposal.is_snoozed(now) or unfit(proposal):
        return None
    return Likeness(
        store=proposal.store_id,
        agent=proposal.agent_id,
        person=proposal.person_id,
        risk=proposal.risk,
        concerns=tuple(proposal.concerns),
        shape=proposal.alike,
    )


def _with_others(ones: Sequence[Proposal], now: datetime, query: Mapping[str, str]) -> Row:
    first, *others = (row(one, now, query) for one in ones)
    if not others:
        return first
    told = tuple(replace(one, is_elsewhere=one.path != first.path) for one in others)
    documents = len({one.path for one in (first, *others)})
    return replace(first, alike=Alike(told, documents, tuple(one.pk for one in ones)))
