"""What an agent has in every session without asking, line by line, and where its budget ends."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.utils.translation import gettext as _

from memoryreview.core.formats.base import Meter
from memoryreview.core.loaded import Loaded, always_loaded
from memoryreview.core.model import FormatName, Tree

from . import links
from .documents import RAW_MAX_LINES, RawLine
from .evidence import MeterView, budgets
from .words import UNIT_WORDS, Words

_MEANING = Words(
    {
        "lines": "Loaded at the start of every session, without frontmatter and HTML comments.",
        "tokens": "Put into every session.",
        "characters": "Put into every session: the entries, trimmed and joined.",
    }
)


@dataclass(frozen=True, slots=True)
class LoadedLink:
    """An always-loaded document of a store. `url` shows it as the agent sees it."""

    path: str
    url: str
    meters: tuple[MeterView, ...]


@dataclass(frozen=True, slots=True)
class LoadedView:
    """`seen` stands before the end of the budget, `beyond` after it; `limit` says what ended there, "" where nothing
    is left over. A line that the tool itself puts in has the number 0. `left_out` counts lines that are not shown."""

    meaning: str
    seen: tuple[RawLine, ...]
    limit: str
    beyond: tuple[RawLine, ...]
    left_out: int


def loaded_links(slug: str, tree: Tree, name: FormatName) -> tuple[LoadedLink, ...]:
    """Return the always-loaded documents of a store with their budgets."""
    return tuple(
        LoadedLink(one.path, links.document_url(slug, one.path, view="agent"), budgets(name, one.path, tree[one.path]))
        for one in always_loaded(tree, name)
    )


def loaded_view(found: Loaded) -> LoadedView:
    """Prepare one document as the agent sees it."""
    end = len(found.lines) if found.over_line is None else _place(found)
    seen, beyond = found.lines[:end], found.lines[end:]
    room = max(0, RAW_MAX_LINES - len(seen))
    lines = [RawLine(one.number or 0, _text(one.text)) for one in (*seen[:RAW_MAX_LINES], *beyond[:room])]
    return LoadedView(
        meaning=_MEANING[found.meters[0].unit],
        seen=tuple(lines[: len(seen)]),
        limit=_limit_words(found, end) if beyond else "",
        beyond=tuple(lines[len(seen) :]),
        left_out=len(found.lines) - len(lines),
    )


def _place(found: Loaded) -> int:
    """Return the index of the first line past the limit, whether the agent reads on or not."""
    over = found.over_line or 0
    return next((at for at, line in enumerate(found.lines) if (line.number or 0) >= over), len(found.lines))


def _text(line: bytes) -> str:
    return line.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8", "surrogateescape")


def _limit_words(found: Loaded, end: int) -> str:
    meter = _decisive(found.meters, end)
    words = _("Here the budget of %(limit)s %(unit)s ends, at %(one)s %(next)s") % {
        "limit": f"{meter.limit:,}",
        "unit": UNIT_WORDS[meter.unit],
        "one": _ONE[meter.unit],
        "next": f"{meter.limit + 1:,}",
    }
    if end < found.end:
        return _("%(words)s: the agent still reads what is below, but no more can be added.") % {"words": words}
    count = len(found.lines) - end
    below = _("the line") if count == 1 else _("the %(count)s lines") % {"count": f"{count:,}"}
    return _("%(words)s: the agent does not see %(lines)s below.") % {"words": words, "lines": below}


_ONE = Words({"lines": "row", "bytes": "byte", "characters": "character", "tokens": "token"})


def _decisive(meters: tuple[Meter, ...], end: int) -> Meter:
    """Return the budget that is reached first."""

    def reached() -> Iterator[Meter]:
        yield from (meter for meter in meters if meter.unit == "lines" and end >= meter.limit)
        yield from (meter for meter in meters if meter.unit != "lines")

    return next(reached())
