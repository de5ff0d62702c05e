"""One run of tidying, planned: orient, gather, consolidate, prune. Pure: the same store gives the same plan."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from memoryreview.core.classify.rules import VERSIONS
from memoryreview.core.model import Context, FormatName, Kind, Tree, Verdict
from memoryreview.core.overlay import Overlay

from . import blanks, dates, links, related, repeats, rows, suggest, trims
from .consolidate import consolidate, delta_of_rewrites, judged
from .library import Library
from .model import Candidate, ContextOf, Known, Plan, Step, Suggestion, Survey, key_of
from .orient import orient

MAX_EDITS = 1_000
"""Edits of one run: more of them are no tidying."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """What those who run it allow.

    Args:
        stopped: rules of which nothing is done, nor suggested.
        most: edits that may be made in this run.
        known: edits that a person took back; they are never made again.
        held: why nothing is edited in a document for now, by path.
    """

    stopped: Collection[Kind] = ()
    held: Mapping[str, str] = field(default_factory=dict)
    most: int = MAX_EDITS
    known: Known = lambda rule, path, old, new: False


@dataclass(frozen=True, slots=True)
class Sight:
    """What a search sees. Args: touched: documents that a step changed; doubted: those whose statements disagree."""

    library: Library
    context: Context
    context_of: ContextOf
    touched: Collection[str]
    doubted: Collection[str]


Gather = Callable[[Sight], Iterable[Candidate]]

GATHERERS: Mapping[Kind, Gather] = {
    Kind.DEDUPE_EXACT: lambda seen: _of(Kind.DEDUPE_EXACT, repeats.gather(seen.library)),
    Kind.DEDUPE_INDEX: lambda seen: _of(Kind.DEDUPE_INDEX, repeats.gather(seen.library)),
    Kind.INDEX_PRUNE: lambda seen: rows.gather(seen.library),
    Kind.INDEX_SYNC: lambda seen: rows.missing(seen.library, seen.context, seen.doubted),
    Kind.LINK_RETARGET: lambda seen: links.gather(seen.library, seen.context_of),
    Kind.DATE_NORMALIZE: lambda seen: dates.gather(seen.library),
    Kind.INDEX_TRIM: lambda seen: trims.gather(seen.library, seen.context.limits.index_row_chars),
    Kind.FORMAT_BLANK: lambda seen: blanks.gather(seen.library, seen.touched),
}
"""The search of each rule. Rules without one are never used unasked."""

# A row that follows its document must do so before that document gets another one.
ORDER = (Kind.LINK_RETARGET, *(rule for rule in VERSIONS if rule in GATHERERS and rule is not Kind.LINK_RETARGET))
"""In which a run uses the rules."""

SWITCHED_OFF = "This store asks a person about every edit of the rule"


def plan(tree: Tree, format_name: FormatName, context_of: ContextOf, wishes: Wishes | None = None) -> Plan:
    """Plan one run. Total on arbitrary bytes.

    Each rule is judged on the tree that the rules before it in `ORDER` leave; what becomes possible only by a later one
    waits for the next run.
    """
    context, asked = context_of(tree, {}), wishes or Wishes()
    run = _Run(tree, _without(orient(tree, format_name, context.limits), asked.held), context_of, asked)
    for rule in ORDER:
        run.use(rule, context)
    relations = run.relations if not run.steps else related.relations(run.library)
    months_first = dates.puts_months_first(tree)  # what a step wrote out says nothing any more
    noticed = (*related.problems(relations), *dates.problems(run.library, context_of))
    found = (*run.unproved(context), *suggest.suggestions(run.library, context, relations, months_first=months_first))
    return Plan(tuple(run.steps), found, run.survey, noticed, run.postponed)


def _without(survey: Survey, held: Mapping[str, str]) -> Survey:
    documents = {path: data for path, data in survey.documents.items() if path not in held}
    return replace(survey, documents=documents, skipped={**survey.skipped, **held})


class _Run:
    def __init__(self, tree: Tree, survey: Survey, context_of: ContextOf, wishes: Wishes) -> None:
        self.survey = survey
        self.library = Library(tree, survey)
        self.steps: list[Step] = []
        self.postponed = 0
        self._context_of, self._wishes = context_of, wishes
        self.relations = related.relations(self.library)
        self._doubted = related.doubted(self.relations)

    def use(self, rule: Kind, context: Context) -> None:
        if rule in self._wishes.stopped or rule in context.switched_off:
            return
        most = self._wishes.most - sum(len(step.classification.actions) for step in self.steps)
        found = consolidate(
            rule, self._gather(rule, context), self.library.tree, self._context_of,
            most=max(0, most), known=self._wishes.known,
        )  # fmt: skip
        self.postponed += found.postponed
        if found.step is not None:
            self.steps.append(found.step)
            self.library = self.library.after(dict(Overlay(self.library.tree, found.step.delta)))

    def _gather(self, rule: Kind, context: Context) -> Iterable[Candidate]:
        touched = {path for step in self.steps for path in step.delta}
        return GATHERERS[rule](Sight(self.library, context, self._context_of, touched, self._doubted))

    def unproved(self, context: Context) -> Iterator[Suggestion]:
        """Yield what the rules look for and cannot, or may not, prove: one suggestion per edit, or per document where
        the store sends the whole rule to a person."""
        for rule in ORDER:
            if rule in self._wishes.stopped:
                continue
            candidates = list(self._gather(rule, context))
            if rule in context.switched_off:
                yield from self._by_document(rule, candidates)
            else:
                yield from filter(None, (self._suggested(candidate) for candidate in candidates if candidate.why))

    def _suggested(self, candidate: Candidate) -> Suggestion | None:
        tree = self.library.tree
        delta = delta_of_rewrites(tree, candidate.rewrites)
        if not delta or judged(tree, delta, self._context_of).verdict is not Verdict.REVIEW:
            return None
        texts = [f"{r.path}\0{tree[r.path][r.start : r.end].decode('utf-8', 'replace')}" for r in candidate.rewrites]
        return Suggestion(str(candidate.rule), key_of(str(candidate.rule), *texts), delta, candidate.why)

    def _by_document(self, rule: Kind, candidates: Iterable[Candidate]) -> Iterator[Suggestion]:
        tree = self.library.tree
        by_path: dict[str, list[Candidate]] = {}
        for candidate in candidates:
            by_path.setdefault(candidate.rewrites[0].path, []).append(candidate)
        for path, ones in by_path.items():
            delta = delta_of_rewrites(tree, (rewrite for one in ones for rewrite in one.rewrites))
            texts = [tree[r.path][r.start : r.end].decode("utf-8", "replace") for one in ones for r in one.rewrites]
            if delta and judged(tree, delta, self._context_of).verdict is Verdict.REVIEW:
                yield Suggestion(str(rule), key_of(str(rule), path, *texts), delta, f"{SWITCHED_OFF} {rule}.")


def _of(rule: Kind, candidates: Iterable[Candidate]) -> Iterator[Candidate]:
    return (candidate for candidate in candidates if candidate.rule is rule)
