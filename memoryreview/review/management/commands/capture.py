from __future__ import annotations

import sys
from argparse import ArgumentParser
from typing import Any

from django.utils.translation import gettext_noop as _

from memoryreview.core.errors import MemoryReviewError
from memoryreview.review.management.base import MemoryCommand, store_named
from memoryreview.review.models import Proposal, Store
from memoryreview.review.operations.capture import capture


class Command(MemoryCommand):
    help = "Turn what was written to a memory folder without asking into proposals."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("store", nargs="?", default="", help=_("name of a store (default: all)"))

    def handle(self, *args: Any, **options: Any) -> None:
        stores = [store_named(options["store"])] if options["store"] else list(Store.objects.order_by("pk"))
        made: list[Proposal] = []
        refused = False
        for store in stores:
            try:
                made += capture(store)
            except MemoryReviewError as error:  # the others are captured all the same
                refused = True
                self.stderr.write(f"{store.slug}: {error}")
            if store.alarm:
                self.stderr.write(f"{store.slug}: {store.alarm}")
        if options["json"]:
            self.print_json({"proposals": [proposal.pk for proposal in made]})
        else:
            self._tell(made, is_all=not refused and not any(store.alarm for store in stores))
        if refused:
            sys.exit(1)

    def _tell(self, made: list[Proposal], *, is_all: bool) -> None:
        for proposal in made:
            self.stdout.write(f"#{proposal.pk}  {proposal.store.slug}  {proposal.state}  {proposal.title}")
        if not made and is_all:
            self.stdout.write("Nothing new was written.")
