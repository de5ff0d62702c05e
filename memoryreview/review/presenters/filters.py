"""The part of the queue that an address asks for, the form that asks, and what is said of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import parse_qsl

from django.urls import reverse
from django.utils.translation import gettext as _

from memoryreview.core.concerns import GRAVITY
from memoryreview.core.model import Scope
from memoryreview.review.operations.listing import Asked, Listing, Risk, Standing, View
from memoryreview.review.operations.queue_order import Place
from memoryreview.review.operations.waiting import COUNTED_AT_MOST

from .links import with_query
from .waiting import count_words
from .words import KIND_WORDS, Words

_MAX_CHARS = 200
_NUMBER_DIGITS = 17  # of a place; the longest that a time in µs or a row needs
_END = "end"

AGES = {"day": 1, "week": 7, "month": 30}
VIEW_WORDS = Words(
    {
        View.ALL: "Waiting",
        View.MINE: "Mine to decide",
        View.SECOND: "Second approval",
        View.AGENTS: "With agents",
        View.SNOOZED: "Snoozed",
    }
)
_CHOICES: Mapping[str, Words[str]] = {
    "scope": Words({str(Scope.PRIVATE): "private", str(Scope.TEAM): "team"}),
    "kind": Words({str(kind): KIND_WORDS.english[kind] for kind in GRAVITY}),
    "risk": Words({str(Risk.HIGH): "high", str(Risk.MEDIUM): "medium", str(Risk.LOW): "low"}),
    "state": Words(
        {
            str(Standing.PENDING): "waiting",
            str(Standing.QUARANTINED): "quarantined",
            str(Standing.FAILED): "could not be applied",
            str(Standing.CHANGES_REQUESTED): "with its agent",
        }
    ),
    "age": Words({"day": "a day or longer", "week": "a week or longer", "month": "a month or longer"}),
}
_LABELS = Words(
    {
        "store": "Store",
        "scope": "Scope",
        "kind": "Kind",
        "risk": "Risk",
        "state": "State",
        "age": "Waits",
    }
)
_FREE = Words({"q": "Text", "agent": "Agent", "store": "Store"})


@dataclass(frozen=True, slots=True)
class Filter:
    """What an address asks for. Texts are "" where nothing is asked; `ignored` says what made no sense.

    Args: after, before: where the page lies; `at_end`: it is the last one.
    """

    q: str = ""
    agent: str = ""
    store: str = ""
    scope: str = ""
    kind: str = ""
    risk: str = ""
    state: str = ""
    age: str = ""
    show: str = ""
    after: Place | None = None
    before: Place | None = None
    at_end: bool = False
    ignored: tuple[str, ...] = ()

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Filter:
        """Read an address or a form. What is no value of a field is not asked for, and said."""
        free = {name: query.get(name, "").replace("\0", "").strip()[:_MAX_CHARS] for name in _FREE}
        chosen, ignored = {}, []
        for name, words, values in _closed():
            text = query.get(name, "").strip()
            chosen[name] = text if text in values else ""
            if text and text not in values:
                ignored.append(
                    _("“%(text)s” is no %(words)s, so it is left out.") % {"text": text[:40], "words": words}
                )
        return cls(
            **free,
            **chosen,
            after=_place(query.get("after", "")),
            before=_place(query.get("before", "")),
            at_end=query.get("before", "") == _END,
            ignored=tuple(ignored),
        )

    @property
    def asked(self) -> Asked:
        return Asked(
            view=View(self.show),
            words=self.q,
            agent=self.agent,
            store=self.store,
            scope=self.scope,
            kind=self.kind,
            risk=Risk(self.risk) if self.risk else None,
            state=Standing(self.state) if self.state else None,
            days=AGES.get(self.age, 0),
        )

    @property
    def is_set(self) -> bool:
        """Whether it leaves out something of its view."""
        return any(getattr(self, name) for name in (*_FREE, *_CHOICES))

    def query(self) -> dict[str, str]:
        """Return it as parameters of an address, without the place in the list."""
        return {name: text for name in (*_FREE, *_CHOICES, "show") if (text := getattr(self, name))}

    def url(self, **place: str) -> str:
        return with_query(reverse("queue"), **self.query(), **place)

    def page_url(self, *, after: Place | None = None, before: Place | None = None, at_end: bool = False) -> str:
        """Return the address of another page of the same list, "" for no place."""
        if at_end:
            return self.url(before=_END)
        if after is not None:
            return self.url(after=f"{after.first}-{after.pk}")
        return self.url(before=f"{before.first}-{before.pk}") if before is not None else ""

    def without(self, name: str) -> Filter:
        return Filter.of({kept: text for kept, text in self.query().items() if kept != name})


@dataclass(frozen=True, slots=True)
class Chip:
    """One thing that is asked for; `url` shows the list without it."""

    words: str
    url: str


@dataclass(frozen=True, slots=True)
class Choice:
    value: str
    words: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class Field:
    """One field of the form: a choice among a few values, the first of which asks for nothing."""

    name: str
    label: str
    choices: tuple[Choice, ...]


@dataclass(frozen=True, slots=True)
class ViewLink:
    words: str
    url: str
    count: str
    is_current: bool


def chips(wanted: Filter) -> tuple[Chip, ...]:
    """Say each thing that is asked for, in the order of the form."""
    found = []
    for name, label in _FREE.items():
        if text := getattr(wanted, name):
            words = f"“{text}”" if name == "q" else _("%(label)s: %(value)s") % {"label": label, "value": text}
            found.append(Chip(words, wanted.without(name).url()))
    for name, values in _CHOICES.items():
        if text := getattr(wanted, name):
            words = _("%(label)s: %(value)s") % {"label": _LABELS[name], "value": values[text]}
            found.append(Chip(words, wanted.without(name).url()))
    return tuple(found)


def form_fields(wanted: Filter, *, stores: Iterable[str]) -> tuple[Field, ...]:
    """Return the fields of the form, apart from those that take any text. `stores`: those that the person sees."""
    known: dict[str, Mapping[str, str]] = {"store": {slug: slug for slug in stores}, **_CHOICES}
    return tuple(_field(wanted, name, _LABELS[name], values) for name, values in known.items())


def _field(wanted: Filter, name: str, label: str, values: Mapping[str, str]) -> Field:
    chosen = getattr(wanted, name)
    if chosen and chosen not in values:
        values = {chosen: chosen, **values}
    every = Choice("", _("any"), is_chosen=not chosen)
    return Field(name, label, (every, *(Choice(value, words, value == chosen) for value, words in values.items())))


def fitting_words(count: int, *, is_walked: bool, total: int) -> str:
    """Say a count: "12", "1,000+", and "12+" where only a part of a long queue was looked through."""
    is_part = is_walked and count <= COUNTED_AT_MOST < total
    return f"{count_words(count)}+" if is_part else count_words(count)


def behind_words(*, is_behind: bool) -> tuple[str, ...]:
    """Say when proposals were not all read for searching yet."""
    said = _("Some proposals are not read for searching yet. Load the page again to look in more of them.")
    return (said,) if is_behind else ()


def _closed() -> Sequence[tuple[str, str, Iterable[str]]]:
    nouns = {name: _("age") if name == "age" else label.lower() for name, label in _LABELS.items()}
    return (
        *((name, nouns[name], values) for name, values in _CHOICES.items()),
        ("show", _("view"), [str(view) for view in View]),
    )


def _place(text: str) -> Place | None:
    """Read a place in a list, None for whatever is none."""
    first, _, pk = text.partition("-")
    is_place = all(part.isascii() and part.isdecimal() and len(part) <= _NUMBER_DIGITS for part in (first, pk))
    return Place(int(first), int(pk)) if is_place else None


@dataclass(frozen=True, slots=True)
class Pages:
    """Addresses of other pages of the list, "" where there is none. `has_more_to_search`: the next looks further."""

    first: str
    earlier: str
    later: str
    last: str


def pages(wanted: Filter, listing: Listing) -> Pages:
    return Pages(
        first=wanted.url() if listing.earlier else "",
        earlier=wanted.page_url(before=listing.earlier),
        later=wanted.page_url(after=listing.later),
        last=wanted.page_url(at_end=True) if listing.later else "",
    )


def view_links(wanted: Filter, views: Sequence[tuple[str, Filter]], counts: Sequence[str]) -> tuple[ViewLink, ...]:
    """Return views with their counts. The filter stays behind: a view shows all of it."""
    return tuple(
        ViewLink(name, view.url(), count, is_current=view.query() == wanted.query())
        for (name, view), count in zip(views, counts, strict=True)
    )


def built_in_views() -> tuple[tuple[str, Filter], ...]:
    return tuple((VIEW_WORDS[view], Filter(show=str(view))) for view in View)


def heading(wanted: Filter) -> str:
    """Name the list and its order."""
    order = _("oldest first") if wanted.asked.is_by_age else _("riskiest first")
    return _("%(view)s, %(order)s") % {"view": VIEW_WORDS[View(wanted.show)], "order": order}


@dataclass(frozen=True, slots=True)
class NamedView:
    """A filter that a person named; `words` say what it asks for."""

    id: int
    name: str
    url: str
    words: str
    wanted: Filter


def named_views(saved: Iterable[tuple[int, str, str]]) -> tuple[NamedView, ...]:
    """Prepare saved filters: their ids, names and queries.

    What made sense once and does not any more is left out, as of an address.
    """
    return tuple(_named(pk, name, Filter.of(dict(parse_qsl(query)))) for pk, name, query in saved)


def _named(pk: int, name: str, wanted: Filter) -> NamedView:
    words = [VIEW_WORDS[View(wanted.show)], *(chip.words for chip in chips(wanted))]
    return NamedView(pk, name, wanted.url(), _(", ").join(words), wanted)
