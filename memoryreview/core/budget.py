"""What an agent would no longer see: the budgets of always-loaded documents before and after a change."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from . import scan
from .formats import of_document
from .formats.base import Entry, Format, Meter
from .model import Context, Tree
from .overlay import delta_of

MAX_LISTED = 20
"""Entries that are named; the counts are of all."""

HIDDEN = "a line that holds a secret"
_NO_ENTRIES = frozenset({"section", "document"})


@dataclass(frozen=True, slots=True)
class Used:
    """One measure of a document: `before` and `after` the change, in `unit`."""

    unit: str
    limit: int
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class BudgetChange:
    """What a change does to one always-loaded document.

    Args:
        used: one or two measures; the limit that is reached first decides.
        line_before, line_after: 1-based first line past the limit, None while everything fits.
        is_cut: whether the agent does not see what is past the limit; else its tool refuses to add to it (Hermes).
        lost, lost_count: titles of entries that are past the limit now and were not, the lowest (newest) first.
        back, back_count: those that come back before it.
        beyond_count: entries past the limit after the change.
    """

    path: str
    used: tuple[Used, ...]
    line_before: int | None
    line_after: int | None
    is_cut: bool
    lost: tuple[str, ...]
    lost_count: int
    back: tuple[str, ...]
    back_count: int
    beyond_count: int

    @property
    def limits(self) -> str:
        return " or ".join(f"{used.limit:,} {used.unit}" for used in self.used)


def budgets(base: Tree, proposed: Tree, context: Context) -> tuple[BudgetChange, ...]:
    """Return the budgets of each always-loaded document that a change adds or edits, by path. Total, deterministic.

    Documents over the size to which anything is proved are left out.
    """
    found: list[BudgetChange] = []
    for path, after in sorted(delta_of(base, proposed).items()):
        before = base.get(path, b"")
        if after is None or max(len(before), len(after)) > context.limits.file_bytes:
            continue
        own = of_document(context.format, path, before or after)
        meters = own.meters(path, after)
        if meters:
            found.append(_change(own, path, before, after, meters))
    return tuple(found)


def over_line(meters: tuple[Meter, ...]) -> int | None:
    """Return the first line past the limit of whichever budget is reached first, None while everything fits."""
    lines = [meter.over_line for meter in meters if meter.over_line is not None]
    return min(lines, default=None)


def _change(own: Format, path: str, before: bytes, after: bytes, meters: tuple[Meter, ...]) -> BudgetChange:
    earlier = own.meters(path, before)
    amounts = {meter.unit: meter.used for meter in earlier}
    line_before, line_after = over_line(earlier), over_line(meters)
    was, now = _beyond(own, path, before, line_before), _beyond(own, path, after, line_after)
    lost = _more(now, was)
    stays = Counter(entry.text for entry in own.entries(path, after)) if was else Counter[str]()
    back = [entry for entry in _more(was, now) if stays[entry.text]]
    return BudgetChange(
        path=path,
        used=tuple(Used(meter.unit, meter.limit, amounts.get(meter.unit, 0), meter.used) for meter in meters),
        line_before=line_before,
        line_after=line_after,
        is_cut=any(meter.cut_line is not None for meter in (*earlier, *meters)),
        lost=_titles(lost),
        lost_count=len(lost),
        back=_titles(back),
        back_count=len(back),
        beyond_count=len(now),
    )


def _beyond(own: Format, path: str, data: bytes, line: int | None) -> list[Entry]:
    """Return the entries that reach past the limit, the lowest first."""
    if line is None:
        return []
    entries = own.entries(path, data)
    return [entry for entry in reversed(entries) if entry.lines[1] >= line and entry.kind not in _NO_ENTRIES]


def _more(entries: list[Entry], others: list[Entry]) -> list[Entry]:
    """Return the entries that are not among the others, each as often as it is more often there."""
    left = Counter(entry.text for entry in others)
    found: list[Entry] = []
    for entry in entries:
        left[entry.text] -= 1
        if left[entry.text] < 0:
            found.append(entry)
    return found


def _titles(entries: list[Entry]) -> tuple[str, ...]:
    return tuple(HIDDEN if _holds_secret(entry) else entry.title for entry in entries[:MAX_LISTED])


def _holds_secret(entry: Entry) -> bool:
    return any(finding.scanner == "secret" for finding in scan.scan(entry.text))
