from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from memoryreview.review.management.base import MemoryCommand, store_named
from memoryreview.review.models import Store
from memoryreview.review.operations.capture import capture


class Command(MemoryCommand):
    help = "Turn what was written to a memory folder without asking into proposals."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("store", nargs="?", default="")

    def handle(self, *args: Any, **options: Any) -> None:
        stores = [store_named(options["store"])] if options["store"] else list(Store.objects.order_by("pk"))
        made = [proposal for store in stores for proposal in capture(store)]
        for store in stores:
            if store.alarm:
                self.stderr.write(f"{store.slug}: {store.alarm}")
        if options["json"]:
            self.print_json({"proposals": [proposal.pk for proposal in made]})
            return
        for proposal in made:
            self.stdout.write(f"#{proposal.pk}  {proposal.store.slug}  {proposal.state}  {proposal.title}")
        if not made:
            self.stdout.write("Nothing new was written.")
