from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Iterator
from itertools import islice
from typing import Any

from django.utils.translation import gettext_noop as _

from memoryreview.review.management.base import MemoryCommand, RefusedCommandError, store_named
from memoryreview.review.models import Change, Store
from memoryreview.review.operations.lineage import passages
from memoryreview.review.querysets import ChangeQuerySet

_BATCH = 500


class Command(MemoryCommand):
    help = "List applied changes, newest first. Read only: rolling back happens in the browser."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("store", nargs="?", default="", help=_("name of a store (default: all)"))
        parser.add_argument(
            "--path", default="", help=_("only changes of this document, under its earlier names as well")
        )
        parser.add_argument("--limit", type=int, default=0, help=_("at most so many"))

    def handle(self, *args: Any, **options: Any) -> None:
        store = store_named(options["store"]) if options["store"] else None
        if options["path"] and store is None:
            raise RefusedCommandError("A document belongs to a store. Name it: memoryreview history STORE --path PATH")
        found = islice(_changes(store, options["path"]), options["limit"] if options["limit"] > 0 else None)
        if options["json"]:
            self._print_list(found)
            return
        for change in found:
            self.stdout.write(
                f"{change.oid[:7]}  {change.at:%Y-%m-%dT%H:%M}  {change.store.slug}  {change.kind}  {change.title}"
            )

    def _print_list(self, changes: Iterator[Change]) -> None:
        """Print a list row by row: a long history is never held as a whole."""
        self.stdout.write("[", ending="")
        for number, change in enumerate(changes):
            row = json.dumps(_row(change), ensure_ascii=False)
            self.stdout.write(f"{',' if number else ''}\n  {row}", ending="")
        self.stdout.write("\n]")


def _changes(store: Store | None, path: str) -> Iterator[Change]:
    rows = Change.objects.newest_first().select_related("store", "agent", "person").defer("certificate")
    if store is None:
        return rows.iterator(_BATCH)
    if not path:
        return rows.filter(store=store).iterator(_BATCH)
    return _of_document(rows, store, path)


def _of_document(rows: ChangeQuerySet, store: Store, path: str) -> Iterator[Change]:
    walk = passages(store, path, batch=_BATCH)
    while batch := list(islice(walk, _BATCH)):
        found = rows.in_bulk([passage.pk for passage in batch])
        yield from (found[passage.pk] for passage in batch if passage.pk in found)


def _row(change: Change) -> dict[str, object]:
    return {
        "oid": change.oid,
        "kind": change.kind,
        "store": change.store.slug,
        "proposal": change.proposal_id,
        "agent": change.agent.name if change.agent else None,
        "person": change.person.get_username() if change.person else None,
        "title": change.title,
        "paths": change.paths,
        "at": change.at.isoformat(),
    }
