from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from django.utils.translation import gettext_noop as _

from memoryreview.core.errors import MemoryReviewError
from memoryreview.review.management.base import MemoryCommand, store_named
from memoryreview.review.models import Store
from memoryreview.review.operations.audit import audit
from memoryreview.review.operations.horizon import told
from memoryreview.review.operations.rebuild import rebuild


class Command(MemoryCommand):
    help = "Replay every certificate, the chain of decisions and git; exit 1 and name each fault."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("store", nargs="?", default="", help=_("name of a store (default: all)"))
        parser.add_argument(
            "--rebuild",
            action="store_true",
            help=_("first derive anew what git and the decisions tell: the record of changes and what the queue shows"),
        )

    def handle(self, *args: Any, **options: Any) -> None:
        store = store_named(options["store"]) if options["store"] else None
        rebuilt = list(_rebuilt(store)) if options["rebuild"] else None
        faults = audit(store)
        begun = list(filter(None, map(told, [store] if store is not None else Store.objects.order_by("pk"))))
        if options["json"]:
            derived = {} if rebuilt is None else {"rebuilt": rebuilt}
            notes = {"notes": begun} if begun else {}
            self.print_json({"ok": not faults, "faults": [asdict(fault) for fault in faults], **notes, **derived})
        else:
            for sentence in rebuilt or ():
                self.stdout.write(sentence)
            if rebuilt == []:
                self.stdout.write("There was nothing to rebuild.")
            for sentence in begun:
                self.stdout.write(sentence)
            for fault in faults:
                self.stdout.write(f"{fault.kind}  {fault.where}  {fault.message}")
            if not faults:
                self.stdout.write("Everything holds: certificates, decisions, git, database, and the files on disk.")
        if faults:
            self.stderr.write("1 fault found." if len(faults) == 1 else f"{len(faults)} faults found.")
            sys.exit(1)


def _rebuilt(store: Store | None) -> Iterator[str]:
    for one in [store] if store is not None else Store.objects.order_by("pk"):
        try:
            yield from rebuild(one)
        except MemoryReviewError as error:
            yield f"{one.slug} was not rebuilt: {error}"
