from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from django.utils.translation import gettext_noop as _

from memoryreview.core.errors import MemoryReviewError
from memoryreview.core.model import Action, Problem
from memoryreview.review.management.base import MemoryCommand, RefusedCommandError, store_named
from memoryreview.review.models import Change, Proposal, Store
from memoryreview.review.operations.summary import action_json
from memoryreview.review.operations.tidy import Preview, Tidied, across_stores, preview, tidy

SHOWN_PROBLEMS = 40


class Command(MemoryCommand):
    help = "Make the edits that can be proved harmless, and suggest the others. With --dry-run it only says which."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("store", nargs="?", default="", help=_("name of a store (default: all)"))
        parser.add_argument("--dry-run", action="store_true", help=_("say what would be done; change nothing"))

    def handle(self, *args: Any, **options: Any) -> None:
        stores = [store_named(options["store"])] if options["store"] else list(Store.objects.order_by("slug"))
        answer: dict[str, list[Any]] = {"applied": [], "suggested": [], "actions": [], "problems": []}
        refused: list[str] = []
        for store in stores:
            try:
                if options["dry_run"]:
                    _add_preview(answer, preview(store, is_asked=False))
                    answer["problems"] += _problems(store.slug, across_stores(store))
                else:
                    _add_run(answer, tidied := tidy(store))
                    refused += [f"{store.slug}: {tidied.stopped}"] if tidied.stopped else []
            except MemoryReviewError as error:
                refused.append(f"{store.slug}: {error}")
        if options["json"]:
            self.print_json(answer)
        else:
            self._tell(answer, is_dry=options["dry_run"])
        if refused:
            raise RefusedCommandError("\n".join(refused))

    def _tell(self, answer: dict[str, list[Any]], *, is_dry: bool) -> None:
        applied = [action for action in answer["actions"] if action["verdict"] == "safe"]
        suggested = [action for action in answer["actions"] if action["verdict"] != "safe"]
        self._list("Would be applied" if is_dry else "Applied", map(_line, applied), len(applied))
        self._list("Would be suggested" if is_dry else "Suggested", map(_line, suggested), len(suggested))
        problems = answer["problems"]
        self._list("What looks wrong", map(_problem_line, problems[:SHOWN_PROBLEMS]), len(problems))
        if len(problems) > SHOWN_PROBLEMS:
            self.stdout.write(f"  and {len(problems) - SHOWN_PROBLEMS} more (--json lists all)")
        if not (applied or suggested or problems):
            self.stdout.write("There is nothing to tidy.")

    def _list(self, title: str, lines: Iterator[str], count: int) -> None:
        if count:
            self.stdout.write(f"{title} ({count}):")
            for line in lines:
                self.stdout.write(f"  {line}")


def _add_preview(answer: dict[str, list[Any]], found: Preview) -> None:
    slug = found.store.slug
    for step in found.steps:
        answer["actions"] += [_shape(slug, action) for action in step.classification.actions]
    for one in found.suggested:
        answer["actions"] += [
            {**_shape(slug, action), "finding": one.suggestion.kind, "why": one.suggestion.why}
            for action in one.classification.actions
        ]
    answer["problems"] += _problems(slug, found.problems)


def _add_run(answer: dict[str, list[Any]], done: Tidied) -> None:
    slug = done.store.slug
    answer["applied"] += [change.oid for change in done.applied]
    answer["suggested"] += [proposal.pk for proposal in done.suggested]
    for change in done.applied:
        answer["actions"] += [{**action, "store": slug} for action in _landed(change)]
    for proposal in done.suggested:
        answer["actions"] += [_of_suggestion(slug, proposal, action) for action in proposal.revision.actions]
    answer["problems"] += _problems(slug, done.problems)


def _landed(change: Change) -> Sequence[dict[str, Any]]:
    return change.proposal.revision.actions if change.proposal is not None else ()


def _of_suggestion(slug: str, proposal: Proposal, action: dict[str, Any]) -> dict[str, Any]:
    told = {"finding": proposal.source["finding"], "why": proposal.rationale, "proposal": proposal.pk}
    return {**action, "store": slug, **told}


def _shape(slug: str, action: Action) -> dict[str, Any]:
    return {**action_json(action), "store": slug}


def _problems(slug: str, problems: Sequence[Problem]) -> list[dict[str, Any]]:
    return [{**asdict(problem), "store": slug} for problem in problems]


def _line(action: dict[str, Any]) -> str:
    lines = action["lines"] or action["new_lines"]
    place = f"{action['store']} {action['path']}" + (f":{lines[0]}" if lines else "")
    number = f"#{action['proposal']}  " if "proposal" in action else ""
    return f"{number}{place}  {action['kind']}  {action['title']}"


def _problem_line(problem: dict[str, Any]) -> str:
    place = problem["path"] if problem["line"] is None else f"{problem['path']}:{problem['line']}"
    return f"{problem['store']} {place}  {problem['message']}"
