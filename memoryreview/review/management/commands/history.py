from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Iterator
from itertools import islice
from typing import Any, TypeAlias

from memoryreview.review.management.base import MemoryCommand, RefusedCommandError, store_named
from memoryreview.review.models import Change, Store
from memoryreview.review.operations.lineage import passages
from memoryreview.review.querysets import ChangeQuerySet

Row: TypeAlias = dict[str, Any]

_BATCH = 500
_NAMES = ("oid", "kind", "store", "proposal", "agent", "person", "title", "paths", "at")


class Command(MemoryCommand):
    help = "List applied changes, newest first. Read only: rolling back happens in the browser."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("store", nargs="?", default="")
        parser.add_argument("--path", default="", help="only changes of this document, under its earlier names as well")
        parser.add_argument("--limit", type=int, default=0, help="at most so many")

    def handle(self, *args: Any, **options: Any) -> None:
        store = store_named(options["store"]) if options["store"] else None
        if options["path"] and store is None:
            raise RefusedCommandError("A document belongs to a store. Name it: memoryreview history STORE --path PATH")
        rows = islice(_rows(store, options["path"]), options["limit"] if options["limit"] > 0 else None)
        if options["json"]:
            self._print_list(rows)
            return
        for row in rows:
            self.stdout.write(f"{row['oid'][:7]}  {row['at'][:16]}  {row['store']}  {row['kind']}  {row['title']}")

    def _print_list(self, rows: Iterator[Row]) -> None:
        """Print a list row by row: a long history is never held as a whole."""
        self.stdout.write("[", ending="")
        for number, row in enumerate(rows):
            self.stdout.write(f"{',' if number else ''}\n  {json.dumps(row, ensure_ascii=False)}", ending="")
        self.stdout.write("\n]")


def _rows(store: Store | None, path: str) -> Iterator[Row]:
    changes = Change.objects.newest_first()
    if store is None:
        return _read(changes)
    return _of_document(store, path) if path else _read(changes.filter(store=store))


def _of_document(store: Store, path: str) -> Iterator[Row]:
    walk = passages(store, path, batch=_BATCH)
    while batch := [passage.pk for passage in islice(walk, _BATCH)]:
        yield from _read(Change.objects.filter(pk__in=batch).newest_first())


def _read(changes: ChangeQuerySet) -> Iterator[Row]:
    """Yield rows straight from the database: nothing of a change is needed that is not printed."""
    columns = ("oid", "kind", "store__slug", "proposal_id", "agent__name", "person__username", "title", "paths", "at")
    for found in changes.values_list(*columns).iterator(_BATCH):
        row = dict(zip(_NAMES, found, strict=True))
        row["at"] = row["at"].isoformat()
        yield row
