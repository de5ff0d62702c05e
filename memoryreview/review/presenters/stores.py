"""Stores and their approved documents."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from django.contrib.auth.models import User
from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils.translation import gettext as _

from memoryreview.core.model import FormatName, Guard, Problem, Scope, Tree
from memoryreview.review.models import Agent, Change, Proposal, Store
from memoryreview.review.operations import anew, horizon
from memoryreview.review.operations.adopt import problems
from memoryreview.review.operations.errors import CannotApplyError
from memoryreview.review.operations.stores import is_being_restored, reading

from . import links
from .listing import Listing, listing
from .loaded import LoadedLink, loaded_links
from .recorded import in_language
from .words import Moment, Words, moment, plural, short_oid

_PROBLEMS_SHOWN = 50
_CACHED_HEADS = 64

FORMAT_WORDS = Words(
    {
        FormatName.CLAUDE: "Claude Code memory",
        FormatName.CODEX: "Codex memories",
        FormatName.HERMES: "Hermes memories",
        FormatName.MARKDOWN: "Markdown notes",
    }
)
GUARD_WORDS = Words(
    {
        Guard.OBSERVE: "observe: a direct write stays on disk while it waits",
        Guard.ENFORCE: "enforce: approved text is put back while a direct write waits",
    }
)


@dataclass(frozen=True, slots=True)
class StoreRow:
    slug: str
    url: str
    root: str
    format: str
    scope: str
    guard: str
    waiting: int
    changed: Moment | None
    trouble: str


@dataclass(frozen=True, slots=True)
class DocumentLink:
    path: str
    url: str


@dataclass(frozen=True, slots=True)
class ProblemView:
    path: str
    url: str
    place: str
    message: str


@dataclass(frozen=True, slots=True)
class StorePage:
    """`loss` is why the store needs a new baseline, `begun` says that one began later than the record; "" for most."""

    row: StoreRow
    guard_words: str
    head: str
    head_url: str
    listing: Listing
    count: str
    loaded: tuple[LoadedLink, ...]
    problems: tuple[ProblemView, ...]
    more_problems: int
    differing: tuple[DocumentLink, ...]
    unreviewed: int
    alarm: str
    has_folder: bool
    is_pushed: bool
    push_fault: str
    is_being_restored: bool
    unreadable: str
    loss: str
    begun: str


def store_rows(stores: Iterable[Store], now: datetime) -> tuple[StoreRow, ...]:
    return tuple(store_row(store, now) for store in stores)


def annotated(person: User) -> QuerySet[Store]:
    """Return the stores that a person may see, with what their rows count. Cost follows what waits, not the history."""
    newest = Change.objects.filter(store=OuterRef("pk")).order_by("-pk").values("at")[:1]
    open_ones = Proposal.objects.waiting().filter(store=OuterRef("pk")).order_by()
    waiting = open_ones.values("store").annotate(count=Count("pk")).values("count")
    stores: QuerySet[Store] = (
        Store.objects.visible_to(person)
        .select_related("team")
        .annotate(
            waiting=Coalesce(Subquery(waiting), 0),
            changed_at=Subquery(newest),
        )
        .order_by("slug")
    )
    return stores


def store_row(store: Store, now: datetime) -> StoreRow:
    changed = getattr(store, "changed_at", None)
    return StoreRow(
        slug=store.slug,
        url=links.store_url(store.slug),
        root=store.root,
        format=FORMAT_WORDS[FormatName(store.format)],
        scope=_("team %(name)s") % {"name": store.team.name} if store.team else str(Scope.PRIVATE),
        guard=store.guard,
        waiting=getattr(store, "waiting", 0),
        changed=moment(changed, now) if changed else None,
        trouble=in_language(store.alarm)
        or (
            _("%(documents)s differ") % {"documents": plural(len(store.differing), "document")}
            if store.differing
            else ""
        ),
    )


def store_page(store: Store, now: datetime, wanted: str = "", start: int = 0) -> StorePage:
    """Read the approved documents of a store; `wanted` keeps those whose path holds it, `start` is the first shown."""
    head, unreadable = "", ""
    found: tuple[Problem, ...] = ()
    loaded: tuple[LoadedLink, ...] = ()
    listed = Listing()
    try:
        with reading(store) as repository:
            head = repository.head() or ""
            tree = repository.snapshot(head)
            found = _problems(store, head, tree)
            loaded = loaded_links(store.slug, tree, FormatName(store.format))
            listed = listing(store, tree, now, wanted=wanted, start=start)
    except CannotApplyError as error:
        unreadable = in_language(str(error))
    return StorePage(
        row=store_row(store, now),
        guard_words=GUARD_WORDS[Guard(store.guard)],
        head=short_oid(head),
        head_url=links.oid_url(head, store.slug) if head else "",
        listing=listed,
        count=plural(listed.count, "document"),
        loaded=loaded,
        problems=tuple(_problem(store, problem) for problem in found[:_PROBLEMS_SHOWN]),
        more_problems=max(0, len(found) - _PROBLEMS_SHOWN),
        differing=_links(store, store.differing),
        unreviewed=store.proposals.undecided().filter(agent__name=Agent.DIRECT).count()
        if store.guard == Guard.OBSERVE
        else 0,
        alarm=in_language(store.alarm),
        has_folder=Path(store.root).is_dir(),
        is_pushed=bool(store.push_to),
        push_fault=in_language(store.push_fault),
        is_being_restored=is_being_restored(store),
        unreadable=unreadable,
        loss=anew.loss_of(store) if unreadable or not horizon.looks_whole(store) else "",
        begun=horizon.told(store),
    )


_found: dict[tuple[int, str], tuple[Problem, ...]] = {}


def _problems(store: Store, head: str, tree: Tree) -> tuple[Problem, ...]:
    """Look for what is wrong, once per head: a head never changes, and reading every document takes time."""
    key = (store.pk, head)
    if key not in _found:
        while len(_found) >= _CACHED_HEADS:
            _found.pop(next(iter(_found)), None)
        _found[key] = problems(store, tree, {})
    return _found[key]


def _problem(store: Store, problem: Problem) -> ProblemView:
    place = (
        _("%(path)s, line %(line)s") % {"path": problem.path, "line": problem.line} if problem.line else problem.path
    )
    return ProblemView(problem.path, links.document_url(store.slug, problem.path), place, in_language(problem.message))


def _links(store: Store, paths: Iterable[str]) -> tuple[DocumentLink, ...]:
    return tuple(DocumentLink(path, links.document_url(store.slug, path)) for path in paths)
