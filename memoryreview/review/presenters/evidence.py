"""What speaks for a change: the agent's own words, its source, scores, budgets, and what was decided before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.utils.translation import gettext as _

from memoryreview.core.budget import BudgetChange, Used
from memoryreview.core.budget import budgets as budget_changes
from memoryreview.core.criteria import Criterion, Level, criteria, lowest
from memoryreview.core.formats import of as format_of
from memoryreview.core.formats import of_document
from memoryreview.core.formats.base import Format, Meter
from memoryreview.core.model import Context, Delta, FormatName, Severity, Tree
from memoryreview.core.model import Evidence as EvidenceLevel
from memoryreview.core.overlay import Overlay
from memoryreview.review.models import Proposal, Revision
from memoryreview.review.models.latest import Rejection
from memoryreview.review.operations.evidence import Sighting, citations, sightings, weighed

from .links import proposal_url, touched_url
from .recorded import in_language
from .seen import SeenView, seen_view
from .words import UNIT_WORDS, Words, plural, rejection_words, short_oid, size_words

_FILES_SHOWN = 20
_SCORES_SHOWN = 8
_HIGH_PERCENT = 90


@dataclass(frozen=True, slots=True)
class SourceFile:
    """`now` says what the server found in the store's evidence folder, "" where it names none."""

    place: str
    text: str
    is_found: bool
    now: str


@dataclass(frozen=True, slots=True)
class CriterionView:
    """One of the four criteria; `mark` is the kind of its label."""

    name: str
    level: str
    mark: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Score:
    name: str
    value: str


@dataclass(frozen=True, slots=True)
class MeterView:
    """A budget before and after. `sentence` says it in words, `warning` what the agent will not see.

    `heading` names the document above the first of its budgets; below the last of them stand the entries that fall out
    (`lost`) or come back (`back`), with what is said of them.
    """

    path: str
    heading: str
    value: int
    limit: int
    high: int
    sentence: str
    warning: str
    lost: tuple[str, ...] = ()
    lost_words: str = ""
    back: tuple[str, ...] = ()
    back_words: str = ""


@dataclass(frozen=True, slots=True)
class Earlier:
    url: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Provenance:
    store: str
    path: str
    commit: str
    short_commit: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """`lines_url` tells where the lines come from that change, "" where lines are only added."""

    quote: str
    place: str
    files: tuple[SourceFile, ...]
    claimed_title: str
    rationale: str
    criteria: tuple[CriterionView, ...]
    lowest: str
    scores: tuple[Score, ...]
    seen: SeenView
    meters: tuple[MeterView, ...]
    earlier: Earlier | None
    provenance: Provenance | None
    lines_url: str


@dataclass(frozen=True, slots=True)
class SourceView:
    """What a proposal says where it comes from. `files` are cited places: "src/x.py:12: text"."""

    place: str
    quote: str
    files: tuple[str, ...]


def source_view(proposal: Proposal) -> SourceView | None:
    """Return the source of a proposal as it was stated, None when nothing was. Looks nothing up."""
    source = proposal.source if isinstance(proposal.source, dict) else {}
    files = tuple(
        f"{cited.path}:{cited.line}: {cited.text}" if cited.line else f"{cited.path}: {cited.text}"
        for cited in citations(source)[:_FILES_SHOWN]
    )
    found = SourceView(_place(source), _text(source.get("evidence")), files)
    return found if any((found.place, found.quote, found.files)) else None


def evidence(
    proposal: Proposal, revision: Revision, tree: Tree, delta: Delta, rejected: Rejection | None = None
) -> Evidence:
    """Gather what speaks for a proposal. Args: rejected: an earlier proposal of the very same change."""
    source = proposal.source if isinstance(proposal.source, dict) else {}
    form = format_of(FormatName(proposal.store.format))
    found = sightings(proposal.store, source)
    weighed_up = _criteria(proposal, revision, weighed(proposal.store, source, found), source)
    return Evidence(
        quote=_text(source.get("evidence")),
        place=_place(source),
        files=_files(source, found),
        claimed_title=proposal.claimed_title if proposal.claimed_title != proposal.title else "",
        rationale=proposal.rationale,
        criteria=tuple(_criterion(one) for one in weighed_up),
        lowest=_lowest_words(lowest(weighed_up)),
        scores=_scores(proposal),
        seen=seen_view(form.name, tree, delta),
        meters=meters(form, tree, delta),
        earlier=_earlier(rejected),
        provenance=_provenance(proposal),
        lines_url=touched_url(proposal) if proposal.removed else "",
    )


def meters(form: Format, tree: Tree, delta: Delta) -> tuple[MeterView, ...]:
    """Return the budgets of what changes, before and after; of the first index when no changed document has one."""
    changes = budget_changes(tree, Overlay(tree, delta), Context(format=form.name))
    changed = tuple(view for change in changes for view in _compared(change))
    if changed:
        return changed
    index = next((path for path in sorted(tree) if form.is_index(path)), None)
    return () if index is None else budgets(form.name, index, tree[index], note=_(", unchanged"))


def budgets(name: FormatName, path: str, data: bytes, *, note: str = "") -> tuple[MeterView, ...]:
    """Return the budgets of one document of a store as it stands."""
    found = of_document(name, path, data).meters(path, data)
    return tuple(_meter(meter, number, note=note) for number, meter in enumerate(found))


def _compared(change: BudgetChange) -> list[MeterView]:
    """Return one view per measure. What is past the limit is said below the last one, for all of them."""
    views = [_used(change, used, number) for number, used in enumerate(change.used)]
    last = replace(
        views[-1],
        warning=_past(change),
        lost=_named(change.lost, change.lost_count),
        lost_words=_lost_words(change),
        back=_named(change.back, change.back_count),
        back_words=_("%(entries)s seen again:") % {"entries": plural(change.back_count, "entry", "entries")}
        if change.back_count
        else "",
    )
    return [*views[:-1], last]


def _lost_words(change: BudgetChange) -> str:
    if not change.lost_count:
        return ""
    entries = {"entries": plural(change.lost_count, "entry is", "entries are")}
    return (_("%(entries)s no longer seen:") if change.is_cut else _("%(entries)s past the limit:")) % entries


def _named(titles: tuple[str, ...], count: int) -> tuple[str, ...]:
    more = count - len(titles)
    return (*titles, _("and %(more)s more") % {"more": f"{more:,}"}) if more > 0 else titles


def _used(change: BudgetChange, used: Used, number: int) -> MeterView:
    moved = "" if used.before == used.after else f"{used.before:,} → "
    sentence = _("%(moved)s%(after)s of %(limit)s %(unit)s") % {
        "moved": moved,
        "after": f"{used.after:,}",
        "limit": f"{used.limit:,}",
        "unit": UNIT_WORDS[used.unit],
    }
    heading = "" if number else change.path
    high = used.limit * _HIGH_PERCENT // 100
    return MeterView(change.path, heading, used.after, used.limit, high, sentence, "")


def _past(change: BudgetChange) -> str:
    """Say where the limit lies now, and where it lay before."""
    now, was = change.line_after, change.line_before
    if now is None:
        return _("Now all of it is seen.") if was is not None and change.is_cut else ""
    if not change.is_cut:
        return _("Past the limit from line %(now)s on: it is still read, but no more can be added.") % {"now": now}
    moved = "" if was in (None, now) else _(" Until now it was line %(was)s.") % {"was": was}
    return _("The agent does not see line %(now)s and below.%(moved)s") % {"now": now, "moved": moved}


def _meter(meter: Meter, number: int, *, note: str = "") -> MeterView:
    used, limit = _amount(meter.used, meter.unit), _amount(meter.limit, meter.unit)
    unit = "" if meter.unit == "bytes" else f" {UNIT_WORDS[meter.unit]}"
    warning = _("Over the limit.") if meter.used > meter.limit else ""
    if meter.cut_line:
        warning = _("The agent does not see line %(cut_line)s and below.") % {"cut_line": meter.cut_line}
    elif meter.past_line:
        warning = _("Past the limit from line %(past_line)s on: it is still read, but no more can be added.") % {
            "past_line": meter.past_line
        }
    return MeterView(
        path=meter.path,
        heading="" if number else meter.path,
        value=meter.used,
        limit=meter.limit,
        high=meter.limit * _HIGH_PERCENT // 100,
        sentence=_("%(used)s of %(limit)s%(unit)s%(note)s")
        % {"used": used, "limit": limit, "unit": unit, "note": note},
        warning=warning,
    )


def _amount(count: int, unit: str) -> str:
    return size_words(count) if unit == "bytes" else f"{count:,}"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)


def _place(source: Mapping[str, Any]) -> str:
    """Say where in the agent's work the source stands: "message 7 of session 5d0c, task build"."""
    session, task, message = (_text(source.get(key)) for key in ("session", "task", "message_index"))
    parts = [
        _("message %(message)s of session %(session)s") % {"message": message, "session": session}
        if message and session
        else session and _("session %(session)s") % {"session": session}
    ]
    parts.append(task and _("task %(task)s") % {"task": task})
    return _(", ").join(part for part in parts if part)


def _files(source: Mapping[str, Any], found: Iterable[Sighting]) -> tuple[SourceFile, ...]:
    """Return the places in files that a source cites, each with what the server found there just now."""
    cited_files = citations(source)[:_FILES_SHOWN]
    seen = {sighting.citation: sighting.line for sighting in found}
    return tuple(
        SourceFile(
            place=f"{cited.path}:{cited.line}" if cited.line else cited.path,
            text=cited.text,
            is_found=bool(seen.get(cited)),
            now="" if cited not in seen else _seen_words(cited.line, seen[cited]),
        )
        for cited in cited_files
    )


def _seen_words(cited: int | None, line: int | None) -> str:
    if line is None:
        return _("The server does not find it there.")
    return _("It stands there now.") if line == cited else _("It stands on line %(line)s now.") % {"line": line}


_LEVEL_WORDS = Words(
    {Level.LOW: "low", Level.UNKNOWN: "not stated", Level.FAIR: "fair", Level.GOOD: "good"},
)
_LEVEL_MARKS = {Level.LOW: "danger", Level.UNKNOWN: "warn", Level.FAIR: "", Level.GOOD: "ok"}


def _criteria(
    proposal: Proposal, revision: Revision, known: EvidenceLevel, source: Mapping[str, Any]
) -> tuple[Criterion, ...]:
    return criteria(
        _stated(proposal),
        evidence=known,
        names_session=bool(source.get("session")),
        severities=[Severity(finding["severity"]) for finding in revision.findings],
        texts=[str(action.get("new") or "") for action in revision.actions],
    )


def _criterion(found: Criterion) -> CriterionView:
    return CriterionView(
        in_language(found.name), _LEVEL_WORDS[found.level], _LEVEL_MARKS[found.level], in_language(found.sentence)
    )


def _lowest_words(found: Criterion) -> str:
    if found.level is Level.GOOD:
        return _("All four are good.")
    return _("The lowest counts: %(name)s, %(level)s.") % {
        "name": in_language(found.name),
        "level": _LEVEL_WORDS[found.level],
    }


def _stated(proposal: Proposal) -> Mapping[str, Any]:
    return proposal.scores if isinstance(proposal.scores, dict) else {}


def _scores(proposal: Proposal) -> tuple[Score, ...]:
    """Return what else its agent stated in figures."""
    others = [(name, value) for name, value in _stated(proposal).items() if name not in ("stable", "reusable")]
    scores = [Score(str(name), _text(value)) for name, value in others[:_SCORES_SHOWN]]
    if proposal.confidence is not None:
        scores.append(Score(_("confidence"), f"{proposal.confidence:g}"))
    return tuple(scores)


def _earlier(rejected: Rejection | None) -> Earlier | None:
    if rejected is None:
        return None
    return Earlier(
        proposal_url(rejected.id),
        _("The same change was rejected%(day)s%(reason)s%(note)s. This one brings other evidence.")
        % rejection_words(rejected),
    )


def _provenance(proposal: Proposal) -> Provenance | None:
    if proposal.promoted_from is None:
        return None
    source, oid = proposal.promoted_from, proposal.promoted_commit
    return Provenance(source.slug, proposal.promoted_path, oid, short_oid(oid))
