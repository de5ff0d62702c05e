from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from memoryreview.review.management.base import MemoryCommand, store_named
from memoryreview.review.models import Change


class Command(MemoryCommand):
    help = "List applied changes, newest first. Read only: rolling back happens in the browser."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("store", nargs="?", default="")

    def handle(self, *args: Any, **options: Any) -> None:
        changes = Change.objects.newest_first().select_related("store", "agent", "person")
        if options["store"]:
            changes = changes.filter(store=store_named(options["store"]))
        rows = [
            {
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
            for change in changes
        ]
        if options["json"]:
            self.print_json(rows)
            return
        for row in rows:
            self.stdout.write(f"{row['oid'][:7]}  {row['at'][:16]}  {row['store']}  {row['kind']}  {row['title']}")
