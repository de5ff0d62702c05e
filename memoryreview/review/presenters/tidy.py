"""What tidying would do in a store, and what it did."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse
from django.utils.translation import gettext as _

from memoryreview.core.model import Kind, Problem
from memoryreview.core.overlay import Overlay
from memoryreview.core.tidy.model import Step
from memoryreview.review.models import Agent, Proposal, Store
from memoryreview.review.operations import tidy, tidy_stops

from . import documents, links
from .changes import ChangeRow, change_rows
from .documents import DocumentView
from .recorded import in_language, title_in_language
from .rows import title_of
from .words import Moment, Words, listed, moment, plural

_DOCUMENTS_SHOWN = 20
_PROBLEMS_SHOWN = 50
_CHANGES_SHOWN = 10

RULE_WORDS = Words(
    {
        Kind.DEDUPE_EXACT: "Repeated entries",
        Kind.DEDUPE_INDEX: "Repeated rows",
        Kind.INDEX_PRUNE: "Rows of deleted documents",
        Kind.INDEX_SYNC: "Rows that are missing",
        Kind.INDEX_TRIM: "Rows over the limit",
        Kind.DATE_NORMALIZE: "Dates in one form",
        Kind.LINK_RETARGET: "Links that follow",
        Kind.FORMAT_BLANK: "Surplus blanks",
    }
)
"""Headings of the rules that tidying uses."""

_FINDING_WORDS = Words(
    {
        "cited-twice": "one line, several sources",
        "contradiction": "two entries disagree",
        "near-duplicate": "nearly the same",
        "shorter-form": "a shorter form",
        "date": "a date with two readings",
        "dead-row": "a row leads nowhere",
        "head-quotes": "frontmatter reads two ways",
        "never-loaded": "never loaded",
        "orphan": "no row points to it",
    }
)


@dataclass(frozen=True, slots=True)
class StoreTab:
    """One store in the list above a plan."""

    slug: str
    url: str
    is_current: bool
    tidied: Moment | None
    is_on: bool
    is_stopped: bool


@dataclass(frozen=True, slots=True)
class StepView:
    """What one commit would do."""

    heading: str
    rule: str
    sentence: str
    documents: tuple[DocumentView, ...]
    more_documents: int


@dataclass(frozen=True, slots=True)
class SuggestionView:
    """A suggestion that would be made, or one that waits (`url` is not "" then)."""

    title: str
    finding: str
    why: str
    path: str
    url: str
    documents: tuple[DocumentView, ...] = ()


@dataclass(frozen=True, slots=True)
class StopView:
    rule: str
    heading: str
    sentence: str
    at: Moment
    change: ChangeRow | None


@dataclass(frozen=True, slots=True)
class ProblemView:
    url: str
    place: str
    message: str


@dataclass(frozen=True, slots=True)
class TidyPage:
    """Args: does: what the button would do, "" when there is nothing. shown: hash that its form carries."""

    slug: str
    store_url: str
    is_on: bool
    alarm: str
    shown: str
    does: str
    steps: tuple[StepView, ...]
    suggestions: tuple[SuggestionView, ...]
    waiting: tuple[SuggestionView, ...]
    withheld: int
    stops: tuple[StopView, ...]
    problems: tuple[ProblemView, ...]
    more_problems: int
    used: int
    limit: int
    tidied: Moment | None
    changes: tuple[ChangeRow, ...]


def store_tabs(stores: Iterable[Store], current: str, now: datetime) -> tuple[StoreTab, ...]:
    return tuple(
        StoreTab(
            slug=store.slug,
            url=links.with_query(reverse("tidy"), store=store.slug),
            is_current=store.slug == current,
            tidied=moment(store.tidied_at, now) if store.tidied_at else None,
            is_on=store.tidies,
            is_stopped=bool(store.alarm or tidy_stops.stops(store)),
        )
        for store in stores
    )


def tidy_page(store: Store, now: datetime) -> TidyPage:
    """Plan a run of one store and show it. Raises CannotApplyError when its baseline cannot be read."""
    found = tidy.preview(store)
    steps = _steps(found)
    suggested = tuple(_suggested(store, one) for one in found.suggested)
    problems = found.problems[:_PROBLEMS_SHOWN]
    return TidyPage(
        slug=store.slug,
        store_url=links.store_url(store.slug),
        is_on=store.tidies,
        alarm=in_language(store.alarm),
        shown=found.shown,
        does=_does(found),
        steps=steps,
        suggestions=suggested,
        waiting=tuple(_waiting(store)),
        withheld=found.withheld,
        stops=tuple(_stop(stop, now) for stop in found.stops),
        problems=tuple(_problem(store, problem) for problem in problems),
        more_problems=len(found.problems) - len(problems),
        used=tidy_stops.edits_today(store),
        limit=tidy_stops.DAILY_EDITS,
        tidied=moment(store.tidied_at, now) if store.tidied_at else None,
        changes=_changes(store, now),
    )


def done_words(done: tidy.Tidied) -> str:
    """Say what a run did, for the toast."""
    if done.stopped:
        return _("Tidying %(slug)s stopped. %(stopped)s") % {
            "slug": done.store.slug,
            "stopped": in_language(done.stopped),
        }
    parts = [plural(len(done.applied), "commit")] if done.applied else []
    parts += [plural(len(done.suggested), "suggestion")] if done.suggested else []
    return _("Tidied %(slug)s: %(parts)s.") % {
        "slug": done.store.slug,
        "parts": listed(parts) or _("there was nothing to do"),
    }


def _does(found: tidy.Preview) -> str:
    """Say what pressing the button makes: "3 edits, 1 suggestion"."""
    edits = sum(len(step.classification.actions) for step in found.steps)
    parts = [plural(edits, "edit")] if edits else []
    parts += [plural(len(found.suggested), "suggestion")] if found.suggested else []
    return _(", ").join(parts)


def _steps(found: tidy.Preview) -> tuple[StepView, ...]:
    tree = found.tree
    views: list[StepView] = []
    for step in found.steps:
        views.append(_step(found, step, dict(tree)))
        tree = Overlay(tree, step.delta)
    return tuple(views)


def _step(found: tidy.Preview, step: Step, tree: dict[str, bytes]) -> StepView:
    paths = list(step.delta)[:_DOCUMENTS_SHOWN]
    count = len(step.classification.actions)
    return StepView(
        heading=RULE_WORDS.get(step.rule, str(step.rule)),
        rule=str(step.rule),
        sentence=_("%(edits)s in %(documents)s, one commit.")
        % {"edits": plural(count, "edit"), "documents": plural(len(step.delta), "document")},
        documents=documents.documents(tree, {path: step.delta[path] for path in paths}, slug=found.store.slug),
        more_documents=len(step.delta) - len(paths),
    )


def _suggested(store: Store, one: tidy.Suggested) -> SuggestionView:
    actions = one.classification.actions
    return SuggestionView(
        title=title_in_language(actions[0].title),
        finding=finding_words(one.suggestion.kind),
        why=in_language(one.suggestion.why),
        path=next(iter(one.suggestion.delta)),
        url="",
        documents=documents.documents(one.tree, one.suggestion.delta, slug=store.slug),
    )


def _waiting(store: Store) -> Iterable[SuggestionView]:
    ours = Proposal.objects.filter(store=store, agent__name=Agent.TIDY).undecided().in_queue_order()
    for proposal in ours:
        yield SuggestionView(
            title=title_of(proposal),
            finding=finding_words(str(proposal.source.get("finding", ""))),
            why=in_language(proposal.rationale),
            path=proposal.paths[0] if proposal.paths else "",
            url=links.proposal_url(proposal),
        )


def finding_words(kind: str) -> str:
    """Name what a suggestion is about; an edit of a rule that the store sends to a person is named by the rule."""
    if kind in _FINDING_WORDS:
        return _FINDING_WORDS[kind]
    return RULE_WORDS[Kind(kind)].lower() if kind in {str(rule) for rule in RULE_WORDS} else kind


def _stop(stop: tidy_stops.Stop, now: datetime) -> StopView:
    rows = change_rows([stop.change], now) if stop.change is not None else ()
    heading = RULE_WORDS.get(stop.rule, str(stop.rule))
    return StopView(
        str(stop.rule), heading, in_language(stop.sentence), moment(stop.at, now), rows[0] if rows else None
    )


def _problem(store: Store, problem: Problem) -> ProblemView:
    place = problem.path if problem.line is None else f"{problem.path}:{problem.line}"
    return ProblemView(links.document_url(store.slug, problem.path, view="raw"), place, in_language(problem.message))


def _changes(store: Store, now: datetime) -> tuple[ChangeRow, ...]:
    made = tidy_stops.tidy_changes(store).order_by("-pk").select_related("store", "agent", "person")
    return change_rows(made.prefetch_related("rolled_back_by")[:_CHANGES_SHOWN], now)
