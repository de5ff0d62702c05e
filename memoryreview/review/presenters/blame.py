"""From a line or an entry to the change that brought it, and from there to who, when and why."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from django.utils.translation import gettext as _

from memoryreview.baseline.repository import Snapshot
from memoryreview.core.formats.base import Entry
from memoryreview.core.text import split_lines
from memoryreview.review.models import Change, ChangeKind, Store
from memoryreview.review.operations import blame
from memoryreview.review.operations.lineage import Passage

from . import links
from .changes import ChangeRow, change_row, change_rows
from .evidence import SourceView, source_view
from .outcome import Step, step
from .recorded import in_language, title_in_language
from .rows import agent_words
from .words import moment, plural

LINES_SHOWN = 400
_ORIGINS_SHOWN = 5


@dataclass(frozen=True, slots=True)
class BlameLine:
    number: int
    text: str
    url: str


@dataclass(frozen=True, slots=True)
class BlameGroup:
    """Consecutive lines of one change. `row` is None where they are older than was looked; `title` says it then."""

    row: ChangeRow | None
    title: str
    lines: tuple[BlameLine, ...]


@dataclass(frozen=True, slots=True)
class Origin:
    """One change that lines come from, and all that led to it.

    Args: lines: which of those asked about, as "Line 12" or "Lines 12–14".
    """

    lines: str
    row: ChangeRow
    agent: str
    proposal_id: int | None
    proposal_url: str
    source: SourceView | None
    decision: Step | None
    rule: str


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where one entry, or a line outside of all entries, comes from. `url` leads to the history of the entry."""

    title: str
    first: int
    url: str
    origins: tuple[Origin, ...]
    older: str


@dataclass(frozen=True, slots=True)
class BlamePage:
    """`above` and `below` are addresses of the lines before and after, "" at the ends."""

    groups: tuple[BlameGroup, ...]
    shown: str
    above: str
    below: str
    note: str
    provenance: Provenance | None


@dataclass(frozen=True, slots=True)
class Place:
    """A document as of a commit, and the parameters that every address of it keeps."""

    store: Store
    at: Snapshot
    path: str
    kept: Mapping[str, str]

    def url(self, first: int, line: int = 0) -> str:
        """Return the address of the page that begins with a 0-based line, with a 1-based line explained."""
        start = {"from": str(first + 1)} if first else {}
        asked = {"line": str(line)} if line else {}
        address = links.document_url(self.store.slug, self.path, **self.kept, view="blame", **start, **asked)
        return f"{address}#origin" if line else address


def blame_page(place: Place, *, start: int, lineno: int, now: datetime) -> BlamePage:
    """Attribute one page of lines.

    Args: start: the first line to show, lineno: the line to explain; both 1-based, 0 for none.
    """
    data = place.at[place.path]
    bodies = [line.body.decode("utf-8", "surrogateescape") for line in split_lines(data)]
    first = start - 1 if 1 <= start <= len(bodies) else 0
    shown = range(first, min(first + LINES_SHOWN, len(bodies)))
    entry = _entry_on(blame.entries_of(place.store, place.path, data), lineno) if lineno else None
    about = _asked_lines(entry, lineno, len(bodies))
    found = blame.blame(place.store, place.at, place.path, {*shown, *about})
    changes = changes_of(place.store, found.origins.values())
    rows = {row.id: row for row in change_rows(changes.values(), now)}
    groups = []
    for pk, numbers in groupby(shown, key=lambda at: found.origins[at].pk if at in found.origins else 0):
        change = changes.get(pk)
        lines = tuple(BlameLine(at + 1, bodies[at], place.url(first, at + 1)) for at in numbers)
        groups.append(BlameGroup(rows.get(pk), _title(change, now) if change is not None else _("Older"), lines))
    return BlamePage(
        groups=tuple(groups),
        shown=_("Lines %(first)s–%(last)s of %(all)s")
        % {"first": first + 1, "last": shown.stop, "all": f"{len(bodies):,}"}
        if len(shown) < len(bodies)
        else "",
        above=place.url(max(0, first - LINES_SHOWN)) if first else "",
        below=place.url(shown.stop) if shown.stop < len(bodies) else "",
        note=in_language(found.cut),
        provenance=_provenance(place, entry, about, found, changes, now) if about else None,
    )


def _entry_on(entries: Sequence[Entry], lineno: int) -> Entry | None:
    return next((one for one in entries if one.lines[0] <= lineno <= one.lines[1]), None)


def _asked_lines(entry: Entry | None, lineno: int, count: int) -> range:
    if entry is not None:
        return range(entry.lines[0] - 1, min(entry.lines[1], count))
    return range(lineno - 1, lineno) if 1 <= lineno <= count else range(0)


def changes_of(store: Store, passages: Iterable[Passage]) -> dict[int, Change]:
    """Return the changes by id, with all that an origin names."""
    related = ("store", "agent", "person", "decision__person", "decision__agent", "proposal__store")
    found = Change.objects.filter(store=store).select_related(*related).prefetch_related("rolled_back_by")
    return found.in_bulk({passage.pk for passage in passages})


def _title(change: Change, now: datetime) -> str:
    """Return what a gutter says: the title, of an adoption when it was."""
    if change.kind == ChangeKind.ADOPT:
        return _("Adopted on %(day)s") % {"day": moment(change.at, now).exact[:10]}
    return title_in_language(change.title)


def origins(
    found: blame.Blame, changes: Mapping[int, Change], lines: Iterable[int], now: datetime
) -> tuple[Origin, ...]:
    """Return the changes that some lines (0-based) of a document come from, the newest first."""
    by_change: dict[int, list[int]] = {}
    for line in lines:
        if line in found.origins:
            by_change.setdefault(found.origins[line].pk, []).append(line + 1)
    return tuple(_origin(changes[pk], by_change[pk], now) for pk in sorted(by_change, reverse=True) if pk in changes)


def _provenance(
    place: Place,
    entry: Entry | None,
    about: range,
    found: blame.Blame,
    changes: Mapping[int, Change],
    now: datetime,
) -> Provenance:
    unknown = [line + 1 for line in about if line not in found.origins]
    return Provenance(
        title=entry.title if entry is not None else "",
        first=about.start + 1,
        url=history_url(place, entry) if entry is not None else "",
        origins=origins(found, changes, about, now)[:_ORIGINS_SHOWN],
        older=_("%(words)s: older than what was looked at.") % {"words": _line_words(unknown)} if unknown else "",
    )


def history_url(place: Place, entry: Entry) -> str:
    """Return the address of an entry's history."""
    at = place.kept.get("at", "")
    return links.history_url(store=place.store.slug, path=place.path, entry=str(entry.lines[0]), at=at)


def _origin(change: Change, lines: Collection[int], now: datetime) -> Origin:
    proposal, decision = change.proposal, change.decision
    return Origin(
        lines=_line_words(list(lines)),
        row=change_row(change, now),
        agent=agent_words(change.agent) if change.agent is not None else "",
        proposal_id=change.proposal_id,
        proposal_url=links.proposal_url(proposal) if proposal is not None else "",
        source=source_view(proposal) if proposal is not None else None,
        decision=step(decision, now) if decision is not None else None,
        rule=str((change.certificate or {}).get("rule", "")),
    )


def _line_words(lines: Sequence[int]) -> str:
    """Name 1-based lines: "Line 12", "Lines 12–14", "3 lines from 12 to 20"."""
    first, last = lines[0], lines[-1]
    if first == last:
        return _("Line %(first)s") % {"first": first}
    if last - first + 1 == len(lines):
        return _("Lines %(first)s–%(last)s") % {"first": first, "last": last}
    return _("%(lines)s from %(first)s to %(last)s") % {
        "lines": plural(len(lines), "line"),
        "first": first,
        "last": last,
    }
