"""What a person may leave out of a proposal, laid beside the documents that the page shows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from django.utils.translation import gettext as _

from memoryreview.core.portions import Bond, Part, Portion, part_key
from memoryreview.core.text import raw_lines

from .documents import DocumentView, PortionView
from .words import Words, listed, plural

MOST_OFFERED = 200
_BOND_WORDS = Words(
    {
        Bond.ROW: "an index row and its document stay together",
        Bond.RENAME: "a rename is one act",
        Bond.MOVE: "a line that moves leaves its old place and takes its new one",
    }
)


def with_portions(
    views: Iterable[DocumentView], offered: Collection[Portion], dropped: Collection[int]
) -> tuple[DocumentView, ...]:
    """Return the documents with a bar above each part that can be left out; as they were where there is no choice."""
    bars: dict[str, dict[str, PortionView]] = {}
    for portion in offered:
        for at, part in enumerate(portion.parts):
            bars.setdefault(part.path, {})[part_key(part)] = PortionView(
                number=portion.number,
                words=_words(part),
                has_box=at == 0,
                is_dropped=portion.number in dropped,
                together=_together(portion, part),
            )
    return tuple(_with_bars(view, bars.get(view.path, {})) for view in views)


def _with_bars(view: DocumentView, bars: Mapping[str, PortionView]) -> DocumentView:
    whole = bars.get("")
    return replace(view, portion=whole, portions={key: bar for key, bar in bars.items() if key})


def _words(part: Part) -> str:
    if part.change is None:
        return _("the whole document")
    start, count = part.change.new_start, len(raw_lines(part.change.new))
    if not count:
        start, count = part.change.old_start, len(raw_lines(part.change.old))
    return (
        _("line %(start)s") % {"start": start}
        if count == 1
        else _("lines %(start)s–%(end)s") % {"start": start, "end": start + count - 1}
    )


def _together(portion: Portion, part: Part) -> str:
    others = [other for other in portion.parts if other is not part]
    if not others:
        return ""
    paths = sorted({other.path for other in others if other.path != part.path})
    named = listed(paths) if 0 < len(paths) <= 2 else plural(len(others), "other part")
    why = listed(_BOND_WORDS[bond] for bond in Bond if bond in portion.bonds)
    return _("Goes with %(named)s: %(why)s.") % {"named": named, "why": why}
