"""What memory already says about a proposal, as its page shows it: pairs of sentences, and ways in and out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from django.utils.translation import gettext as _

from memoryreview.core.relations import Place, Relation, RelationKind
from memoryreview.review.models.latest import Rejection
from memoryreview.review.operations.relations import Remembered

from . import links
from .recorded import in_language
from .words import Words, plural, rejection_words

_PAIRS_SHOWN = 8
_WAYS_SHOWN = 5
_WAYS_OPEN = 2
_TEXT_CHARS = 280

_LABELS = Words(
    {
        RelationKind.CONTRADICTION: "May disagree",
        RelationKind.DUPLICATE: "Says it already",
        RelationKind.ELSEWHERE: "Stands elsewhere",
        RelationKind.SHORTER: "Shorter form",
        RelationKind.NEAR_DUPLICATE: "Nearly the same",
        RelationKind.REJECTED_BEFORE: "Rejected before",
    }
)


@dataclass(frozen=True, slots=True)
class PlaceView:
    words: str
    url: str
    text: str


@dataclass(frozen=True, slots=True)
class PairView:
    """`now` stands in memory, `then` is what the change says; `then` is None where both are the same words."""

    label: str
    is_grave: bool
    sentence: str
    now: PlaceView
    then: PlaceView | None


@dataclass(frozen=True, slots=True)
class WaysView:
    """Links of one kind of one document. `more` counts what is not shown."""

    label: str
    places: tuple[PlaceView, ...]
    more: int


@dataclass(frozen=True, slots=True)
class MemoryView:
    """Args: broken: what the change breaks. ways: the other links; folded where they are many."""

    pairs: tuple[PairView, ...] = ()
    more_pairs: int = 0
    broken: tuple[WaysView, ...] = ()
    ways: tuple[WaysView, ...] = ()
    is_folded: bool = False
    notes: tuple[str, ...] = field(default=())


def memory_view(found: Remembered, slug: str, gone: Iterable[str]) -> MemoryView:
    """Prepare what is told. Args: gone: documents that the change deletes."""
    pairs = [relation for relation in found.relations if relation.kind in _LABELS]
    ways = list(_ways([r for r in found.relations if r.kind not in _LABELS], slug, frozenset(gone)))
    return MemoryView(
        pairs=tuple(_pair(relation, slug, found.rejected) for relation in pairs[:_PAIRS_SHOWN]),
        more_pairs=max(0, len(pairs) - _PAIRS_SHOWN),
        broken=tuple(way for rank, way in ways if rank == 0),
        ways=tuple(way for rank, way in ways if rank > 0),
        is_folded=sum(rank > 0 for rank, _ in ways) > _WAYS_OPEN,
        notes=tuple(_notes(found)),
    )


def _notes(found: Remembered) -> Iterable[str]:
    if found.left_out:
        entries = plural(found.left_out, "more changed entry was", "more changed entries were")
        yield _("%(entries)s not compared: too many at once.") % {"entries": entries}
    if found.unread:
        yield (
            _("%(documents)s not read for this yet. Open the page again to compare with more.")
            % {"documents": plural(found.unread, "document is", "documents are")}
        )


def _pair(relation: Relation, slug: str, rejected: Mapping[Place, Rejection]) -> PairView:
    earlier = rejected.get(relation.there) if relation.kind is RelationKind.REJECTED_BEFORE else None
    now = _earlier(relation, earlier) if earlier else _place(relation.there, slug)
    is_same = relation.kind is RelationKind.DUPLICATE or relation.here.text == relation.there.text
    return PairView(
        label=_LABELS[relation.kind],
        is_grave=relation.kind in (RelationKind.CONTRADICTION, RelationKind.REJECTED_BEFORE),
        sentence=in_language(relation.sentence),
        now=now,
        then=None if is_same else _place(relation.here, slug),
    )


def _earlier(relation: Relation, earlier: Rejection) -> PlaceView:
    return PlaceView(
        _("rejected%(day)s%(reason)s%(note)s") % rejection_words(earlier),
        links.proposal_url(earlier.id),
        _cut(relation.there.text),
    )


def _place(place: Place, slug: str) -> PlaceView:
    store = place.store or slug
    words = place.path if store == slug else f"{store} / {place.path}"
    line = _(", line %(line)s") % {"line": place.line} if place.line else ""
    return PlaceView(f"{words}{line}", links.document_url(store, place.path), _cut(place.text))


def _cut(text: str) -> str:
    return text if len(text) <= _TEXT_CHARS else text[: _TEXT_CHARS - 1].rstrip() + "…"


def _ways(relations: Sequence[Relation], slug: str, gone: frozenset[str]) -> Iterable[tuple[int, WaysView]]:
    grouped: defaultdict[tuple[int, str], list[PlaceView]] = defaultdict(list)
    has_many = len({relation.here.path for relation in relations}) > 1
    for relation in relations:
        rank, label = _label(relation, gone)
        named = f"{relation.here.path}: {label[0].lower()}{label[1:]}" if rank and has_many else label
        grouped[rank, named].append(_place(relation.there, slug))
    for (rank, label), places in sorted(grouped.items(), key=lambda group: group[0]):
        distinct = list(dict.fromkeys(places))
        yield rank, WaysView(label, tuple(distinct[:_WAYS_SHOWN]), max(0, len(distinct) - _WAYS_SHOWN))


def _label(relation: Relation, gone: frozenset[str]) -> tuple[int, str]:
    """Return the rank and the words of a group of links; what breaks comes first."""
    if relation.kind is RelationKind.ORPHAN:
        return 0, _("Nothing would lead there any more")
    if relation.kind is RelationKind.LINKS_IN and relation.here.path in gone:
        return 0, _("These links would lead nowhere")
    return (1, _("Linked from")) if relation.kind is RelationKind.LINKS_IN else (2, _("Leads to"))
