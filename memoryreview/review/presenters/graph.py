"""The links between the documents of a store as one picture: names in a column, and an arc for each link."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from memoryreview.core.formats import of as format_of
from memoryreview.core.model import FormatName
from memoryreview.core.relations import Node, NodeKind, graph
from memoryreview.review.models import Store
from memoryreview.review.operations.relations import known_documents

from . import links
from .words import Words, plural

MAX_DRAWN = 300
"""Documents and missing targets of one picture: more arcs than that tell nothing."""

MAX_LISTED = 1_000
_NAMES_LISTED = 12
_ROW = 24
_TOP = 16
_MARGIN = 16
_WIDEST_ARC = 172
_LABEL_CHARS = 56
_CHAR_WIDTH = 8
_ARROW = 5

_WORDS = Words({NodeKind.INDEX: "index", NodeKind.ORPHAN: "nothing leads here", NodeKind.MISSING: "missing"})


@dataclass(frozen=True, slots=True)
class NodeView:
    """A name in the picture; its sign stands at (`x`, `y`), `word` says the same. `url` is "" for what is missing."""

    kind: str
    x: int
    y: int
    label: str
    path: str
    word: str
    url: str


@dataclass(frozen=True, slots=True)
class ArcView:
    """A link, drawn as the SVG path `d`; `arrow` are the points of its head. From an index it is drawn fainter."""

    d: str
    arrow: str
    is_from_index: bool


@dataclass(frozen=True, slots=True)
class NameLink:
    path: str
    url: str


@dataclass(frozen=True, slots=True)
class GraphRow:
    """One row of the table; `more` counts links that are not listed."""

    path: str
    url: str
    word: str
    is_index: bool
    leads_to: tuple[NameLink, ...]
    more: int
    led_from: str


@dataclass(frozen=True, slots=True)
class GraphPage:
    """`refusal` says why there is no picture. The table says the same in words; `left_out` counts missing rows."""

    store: str
    store_url: str
    summary: str
    note: str
    refusal: str
    width: int
    height: int
    nodes: tuple[NodeView, ...]
    arcs: tuple[ArcView, ...]
    rows: tuple[GraphRow, ...]
    left_out: int


def graph_page(store: Store) -> GraphPage:
    """Read the links between the approved documents of a store. Raises CannotApplyError."""
    documents, unread = known_documents(store)
    nodes = graph(documents, format_of(FormatName(store.format)).is_index)
    urls = {path: links.document_url(store.slug, path) for path in documents}
    is_drawn = len(nodes) <= MAX_DRAWN
    drawn = nodes if is_drawn else ()
    spans = _spans(drawn)
    x = _MARGIN + round(max((_reach(start, end) for start, end, _ in spans), default=0))
    views = tuple(_node(node, x, at, urls) for at, node in enumerate(drawn))
    widest = max((len(view.label) + len(view.word) for view in views), default=0)
    return GraphPage(
        store=store.slug,
        store_url=links.store_url(store.slug),
        summary=_summary(nodes),
        note=_("%(documents)s not read yet. Open the page again.")
        % {"documents": plural(unread, "document is", "documents are")}
        if unread
        else "",
        refusal="" if is_drawn else _too_many(len(nodes)),
        width=x + 2 * _MARGIN + widest * _CHAR_WIDTH,
        height=_TOP * 2 + _ROW * max(0, len(drawn) - 1),
        nodes=views,
        arcs=tuple(_arc(x - 9, start, end, is_from_index) for start, end, is_from_index in spans),
        rows=tuple(_row(node, urls) for node in nodes[:MAX_LISTED]),
        left_out=max(0, len(nodes) - MAX_LISTED),
    )


def _too_many(count: int) -> str:
    return _(
        "There are %(count)s names, and a picture of more than %(most)s tells nothing. The table says the same."
    ) % {"count": f"{count:,}", "most": MAX_DRAWN}


def _summary(nodes: Sequence[Node]) -> str:
    count = sum(len(node.leads_to) for node in nodes)
    kinds = [node.kind for node in nodes]
    orphans, missing = kinds.count(NodeKind.ORPHAN), kinds.count(NodeKind.MISSING)
    return _("%(links)s between %(documents)s. Nothing leads to %(unlinked)s; %(targets)s missing.") % {
        "links": plural(count, "link"),
        "documents": plural(len(nodes) - missing, "document"),
        "unlinked": plural(orphans, "document"),
        "targets": plural(missing, "target is", "targets are"),
    }


def _node(node: Node, x: int, at: int, urls: Mapping[str, str]) -> NodeView:
    label = node.path if len(node.path) <= _LABEL_CHARS else f"…{node.path[1 - _LABEL_CHARS :]}"
    word, url = _WORDS.get(node.kind, ""), urls.get(node.path, "")
    return NodeView(str(node.kind), x, _y(at), label, node.path, word, url)


def _y(at: int) -> int:
    return _TOP + at * _ROW


def _spans(nodes: Sequence[Node]) -> list[tuple[int, int, bool]]:
    """Return where each link begins and ends, and whether an index makes it."""
    place = {node.path: _y(at) for at, node in enumerate(nodes)}
    return [
        (place[node.path], place[target], node.kind is NodeKind.INDEX) for node in nodes for target in node.leads_to
    ]


def _reach(start: int, end: int) -> float:
    """Return how far an arc bulges: the more, the further it leads, and never out of the picture."""
    half = abs(end - start) / 2
    return round(min(half, 12 + (_WIDEST_ARC - 12) * half / (half + 220)), 1)


def _arc(x: int, start: int, end: int, is_from_index: bool) -> ArcView:
    """Draw half an ellipse; its head points at the sign of the target."""
    half, sweep = abs(end - start) / 2, 0 if end > start else 1
    head = f"{x},{end} {x - _ARROW - 2},{end - _ARROW + 1} {x - _ARROW - 2},{end + _ARROW - 1}"
    return ArcView(f"M{x} {start}A{_reach(start, end)} {half:g} 0 0 {sweep} {x} {end}", head, is_from_index)


def _row(node: Node, urls: Mapping[str, str]) -> GraphRow:
    shown = node.leads_to[:_NAMES_LISTED]
    return GraphRow(
        path=node.path,
        url=urls.get(node.path, ""),
        word=_WORDS.get(node.kind, ""),
        is_index=node.kind == NodeKind.INDEX,
        leads_to=tuple(NameLink(path, urls.get(path, "")) for path in shown),
        more=len(node.leads_to) - len(shown),
        led_from=plural(len(node.led_from), "document"),
    )
