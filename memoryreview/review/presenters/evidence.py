"""What speaks for a change: the agent's own words, its source, scores, budgets, and what was decided before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memoryreview.core.formats import of as format_of
from memoryreview.core.formats.base import Format, Meter
from memoryreview.core.model import Delta, FormatName, Tree
from memoryreview.review.models import Proposal
from memoryreview.review.operations.receive import rejected_before_json

from .links import proposal_url
from .words import short_oid, size_words

_FILES_SHOWN = 20
_SCORES_SHOWN = 8
_HIGH_PERCENT = 90


@dataclass(frozen=True, slots=True)
class SourceFile:
    place: str
    text: str


@dataclass(frozen=True, slots=True)
class Score:
    name: str
    value: str


@dataclass(frozen=True, slots=True)
class MeterView:
    """A budget before and after. `sentence` says it in words, `warning` what the agent will not see.

    `heading` names the document above the first of its budgets.
    """

    path: str
    heading: str
    value: int
    limit: int
    high: int
    sentence: str
    warning: str


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
    quote: str
    place: str
    files: tuple[SourceFile, ...]
    claimed_title: str
    rationale: str
    scores: tuple[Score, ...]
    meters: tuple[MeterView, ...]
    earlier: Earlier | None
    provenance: Provenance | None


def evidence(proposal: Proposal, tree: Tree, delta: Delta) -> Evidence:
    source = proposal.source if isinstance(proposal.source, dict) else {}
    form = format_of(FormatName(proposal.store.format))
    return Evidence(
        quote=_text(source.get("evidence")),
        place=_place(source),
        files=_files(source.get("files")),
        claimed_title=proposal.claimed_title if proposal.claimed_title != proposal.title else "",
        rationale=proposal.rationale,
        scores=_scores(proposal, source),
        meters=meters(form, tree, delta),
        earlier=_earlier(proposal.rejected_before),
        provenance=_provenance(proposal),
    )


def meters(form: Format, tree: Tree, delta: Delta) -> tuple[MeterView, ...]:
    """Return the budgets of what changes, before and after; of the first index when no changed document has one."""
    changed = tuple(
        view
        for path, new in sorted(delta.items())
        if new is not None
        for view in _compared(form, path, tree.get(path), new)
    )
    return changed or index_budgets(form, tree, note=", unchanged")


def index_budgets(form: Format, tree: Tree, *, note: str = "") -> tuple[MeterView, ...]:
    """Return the budgets of a store's first index as it stands."""
    index = next((path for path in sorted(tree) if form.is_index(path)), None)
    return () if index is None else budgets(form, index, tree[index], note=note)


def budgets(form: Format, path: str, data: bytes, *, note: str = "") -> tuple[MeterView, ...]:
    """Return the budgets of one document as it stands."""
    return tuple(_meter(meter, number, note=note) for number, meter in enumerate(form.meters(path, data)))


def _compared(form: Format, path: str, old: bytes | None, new: bytes) -> list[MeterView]:
    before = {meter.unit: meter.used for meter in form.meters(path, old)} if old is not None else {}
    return [
        _meter(meter, number, before=before.get(meter.unit, 0)) for number, meter in enumerate(form.meters(path, new))
    ]


def _meter(meter: Meter, number: int, *, before: int | None = None, note: str = "") -> MeterView:
    used, limit = _amount(meter.used, meter.unit), _amount(meter.limit, meter.unit)
    moved = "" if before is None or before == meter.used else f"{_amount(before, meter.unit)} → "
    unit = "" if meter.unit == "bytes" else f" {meter.unit}"
    warning = "Over the limit." if meter.used > meter.limit else ""
    if meter.cut_line:
        warning = f"The agent does not see line {meter.cut_line} and below."
    return MeterView(
        path=meter.path,
        heading="" if number else meter.path,
        value=meter.used,
        limit=meter.limit,
        high=meter.limit * _HIGH_PERCENT // 100,
        sentence=f"{moved}{used} of {limit}{unit}{note}",
        warning=warning,
    )


def _amount(count: int, unit: str) -> str:
    return size_words(count) if unit == "bytes" else f"{count:,}"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)


def _place(source: Mapping[str, Any]) -> str:
    """Say where in the agent's work the source stands: "message 7 of session 5d0c, task build"."""
    session, task, message = (_text(source.get(key)) for key in ("session", "task", "message_index"))
    parts = [f"message {message} of session {session}" if message and session else session and f"session {session}"]
    parts.append(task and f"task {task}")
    return ", ".join(part for part in parts if part)


def _files(value: Any) -> tuple[SourceFile, ...]:
    if not isinstance(value, list):
        return ()
    found = []
    for file in value[:_FILES_SHOWN]:
        if isinstance(file, dict) and file.get("path"):
            line = file.get("line")
            place = f"{file['path']}:{line}" if line else str(file["path"])
            found.append(SourceFile(place, _text(file.get("text"))))
    return tuple(found)


def _scores(proposal: Proposal, source: Mapping[str, Any]) -> tuple[Score, ...]:
    stated = proposal.scores if isinstance(proposal.scores, dict) else {}
    scores = [Score(str(name), _text(value)) for name, value in list(stated.items())[:_SCORES_SHOWN]]
    if proposal.confidence is not None:
        scores.append(Score("confidence", f"{proposal.confidence:g}"))
    has_source = any(source.get(key) for key in ("evidence", "files", "session"))
    return (*scores, Score("has a source", "yes" if has_source else "no"))


def _earlier(rejected: Proposal | None) -> Earlier | None:
    if rejected is None:
        return None
    told = rejected_before_json(rejected)
    reason = f" as “{told['reason']}”" if told["reason"] else ""
    note = f": {told['note']}" if told["note"] else ""
    day = f" on {told['at'][:10]}" if told["at"] else ""
    return Earlier(
        proposal_url(rejected), f"The same change was rejected{day}{reason}{note}. This one brings other evidence."
    )


def _provenance(proposal: Proposal) -> Provenance | None:
    if proposal.promoted_from is None:
        return None
    source, oid = proposal.promoted_from, proposal.promoted_commit
    return Provenance(source.slug, proposal.promoted_path, oid, short_oid(oid))
