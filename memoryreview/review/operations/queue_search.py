"""What is searched of proposals that may still land: what they say, in the order of the queue.

The rows are derived. No writer waits for them: a proposal that changed is known by its version, and the next search, or
the clock, reads it. SQLite finds parts of words by FTS5 with trigrams, which walks along `place` and so in the order of
the queue; PostgreSQL walks along it too, or takes pg_trgm where little is found.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from django.db import OperationalError, connection, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery
from django.db.models.expressions import RawSQL

from memoryreview.core.search import TRIGRAM, fold, trigrams
from memoryreview.review.models import LIVE_STATES, Proposal, Revision, SearchedProposal, Store
from memoryreview.review.prepared import Slot, number

MAX_READ = 200
"""Proposals that one search reads."""

MAX_CHARS = 4_000
"""Of what one proposal says: its own words come first, then what it adds and removes."""

_ID_BITS = 40
MAX_RISK = 2**15 - 1
_BEYOND = number("beyond")
_MOST_STORES = 40  # that the index is asked about; of more, what is found is looked through
_STORE_DIGITS, _STORE_BASE, _FIRST_DIGIT = TRIGRAM, 6_400, 0xE000  # typed by nobody


def place_of(risk: int, pk: int) -> int:
    """Return a number that rises in the reversed order of the queue: the riskiest has the highest, then the newest."""
    return min(risk, MAX_RISK) << _ID_BITS | min(pk, (1 << _ID_BITS) - 1)


def beyond(place: int, risks: tuple[int, int]) -> int:
    """Return what stands in the slot "beyond" for a place: in an address it may lie outside of the risks."""
    above, below = _ends(risks)
    return min(max(place, above), below)


def _ends(risks: tuple[int, int]) -> tuple[int, int]:
    return (risks[0] << _ID_BITS) - 1, risks[1] << _ID_BITS


def is_indexed(terms: Sequence[str]) -> bool:
    """Whether an index can find something of what is looked for."""
    return any(len(term) >= TRIGRAM for term in terms)


@dataclass(frozen=True, slots=True)
class Walk:
    """The ids of proposals of some stores that may hold what is looked for, in the order of the queue.

    Args: terms: folded, one of them long enough for the index. is_beyond: they come behind the place in the slot
    "beyond". risks: half-open, the lowest first. is_backwards: in the reversed order, in front of it.
    """

    terms: tuple[str, ...]
    stores: tuple[int, ...]
    is_beyond: bool = False
    is_backwards: bool = False
    risks: tuple[int, int] = (0, MAX_RISK + 1)

    def first(self, count: int) -> RawSQL | QuerySet[Any, Any]:
        """Return a question for the first ids."""
        return self._sqlite(count, 0) if connection.vendor == "sqlite" else self._rows()[:count]

    def nth(self, number: int) -> RawSQL | Subquery:
        """Return a question for the id of that number, counted from 1; NULL where there are fewer."""
        if connection.vendor == "sqlite":
            return self._sqlite(1, number - 1)
        return Subquery(self._rows()[number - 1 : number])

    def _sqlite(self, count: int, start: int) -> RawSQL:
        asked = [f'"{_quoted(run)}"' for term in self.terms for run in trigrams(term)]
        if len(self.stores) <= _MOST_STORES:
            asked.append("({})".format(" OR ".join(f'"{_sign(store)}"' for store in self.stores or (0,))))
        sql = (
            f"SELECT rowid & {(1 << _ID_BITS) - 1} FROM {_TABLE} WHERE {_TABLE} MATCH %s AND rowid > %s AND rowid < %s "  # noqa: S608
            f"ORDER BY rowid {'ASC' if self.is_backwards else 'DESC'} LIMIT %s OFFSET %s"
        )
        return RawSQL(sql, [" AND ".join(asked), *self._between, count, start])  # noqa: S611  # names and numbers of ours

    def _rows(self) -> QuerySet[Any, Any]:
        above, below = self._between
        rows = SearchedProposal.objects.filter(_holds(self.terms), place__gt=above, place__lt=below)
        rows = rows.filter(proposal__store__in=self.stores)
        return rows.order_by("place" if self.is_backwards else "-place").values("proposal")

    @property
    def _between(self) -> tuple[int | Slot, int | Slot]:
        """Return the places above and below which they stand; the index walks from one bound of each side only."""
        above, below = _ends(self.risks)
        if not self.is_beyond:
            return above, below
        return (_BEYOND, below) if self.is_backwards else (above, _BEYOND)


_TABLE = "review_queued_trigrams"


def _quoted(run: str) -> str:
    return run.replace('"', '""')


def _holds(terms: Sequence[str]) -> Q:
    found = Q()
    for term in terms:
        found &= Q(text__contains=term)
    return found


def says(terms: Sequence[str]) -> Q:
    """Keep the proposals that hold every term."""
    return Q(Exists(SearchedProposal.objects.filter(_holds(terms), proposal=OuterRef("pk"))))


def catch_up() -> bool:
    """Read what one search may before it looks; return whether something may be left, or another writer was busy."""
    try:
        return bring_up(at_most=MAX_READ) == MAX_READ
    except OperationalError:
        return True


def bring_up(*, at_most: int = MAX_READ) -> int:
    """Read proposals that changed since they were read for searching, the newest first; return how many it was."""
    with transaction.atomic():
        stale = Proposal.objects.filter(is_unsearched=True).order_by("-pk")
        found = list(stale.select_for_update(of=("self",)).select_related("store", "agent", "person")[:at_most])
        if not found:
            return 0
        SearchedProposal.objects.filter(proposal__in=found).delete()
        live = {one.pk: one for one in found if one.state in LIVE_STATES}
        actions = _actions(list(live))
        SearchedProposal.objects.bulk_create(
            SearchedProposal(
                place=place_of(one.risk, one.pk), proposal=one, text=searched_text(one, actions.get(one.pk, ()))
            )
            for one in live.values()
        )
        for version in {one.version for one in live.values()}:
            alike = [one.pk for one in live.values() if one.version == version]
            Proposal.objects.filter(pk__in=alike).update(searched=version)
        Proposal.objects.filter(pk__in=[one.pk for one in found if one.pk not in live]).update(searched=0)
    return len(found)


def _actions(proposals: Sequence[int]) -> dict[int, list[dict[str, Any]]]:
    """Return the actions of the latest revision of each."""
    revisions = Revision.objects.filter(proposal__in=proposals).order_by("number")
    return dict(revisions.values_list("proposal", "actions"))


def searched_text(proposal: Proposal, actions: Sequence[dict[str, Any]]) -> str:
    """Return what is searched of a proposal, folded: its store as one sign, its words, and what it changes."""
    said = _cut(_said(proposal, actions)).encode("utf-8", "replace").decode()  # no database keeps half a character
    return f"{_sign(proposal.store_id)}\n{fold(said)}"


def _said(proposal: Proposal, actions: Sequence[dict[str, Any]]) -> Iterator[str]:
    yield proposal.title
    yield from proposal.paths
    yield proposal.agent.name if proposal.agent else ""
    yield proposal.person.get_username() if proposal.person else ""
    yield proposal.store.slug
    yield proposal.claimed_title
    yield proposal.rationale
    for action in actions:
        if "commit" not in action:
            yield str(action.get("new") or "")
            yield str(action.get("old") or "")


def _cut(said: Iterator[str]) -> str:
    """Join what is said, no more of it than MAX_CHARS."""
    parts, left = [], MAX_CHARS
    for part in islice((one for one in said if one), MAX_CHARS):
        parts.append(part[:left])
        left -= len(parts[-1]) + 1
        if left <= 0:
            break
    return "\n".join(parts)


def _sign(store: int) -> str:
    """Return a store as three characters, which are one trigram: the index finds those of a store by it."""
    digits = (store // _STORE_BASE**at % _STORE_BASE for at in reversed(range(_STORE_DIGITS)))
    return "".join(chr(_FIRST_DIGIT + digit) for digit in digits)


def forget(store: Store) -> None:
    """Drop what is searched of a store's proposals; the next search reads them anew.

    Within a transaction that changes their text: writing the rows first waits for a search that reads them meanwhile,
    and lets the next one wait.
    """
    Proposal.objects.filter(store=store).filter(Q(state__in=LIVE_STATES) | ~Q(searched=0)).update(searched=0)
    SearchedProposal.objects.filter(proposal__store=store).delete()


def forget_trigrams() -> None:
    """Make the trigrams of SQLite anew: those of texts that are gone stay until their pages happen to be merged."""
    with connection.cursor() as cursor:
        cursor.execute(f"INSERT INTO {_TABLE}({_TABLE}) VALUES ('rebuild')")  # noqa: S608  # our own name
