from __future__ import annotations

from typing import Any

from memoryreview.review.management.base import MemoryCommand, proposal_json
from memoryreview.review.models import Proposal


class Command(MemoryCommand):
    help = "List what waits for a person. Read only: deciding happens in the browser, where agents cannot."

    def handle(self, *args: Any, **options: Any) -> None:
        waiting = Proposal.objects.waiting().in_queue_order().select_related("store", "agent")
        rows = [proposal_json(proposal) for proposal in waiting]
        if options["json"]:
            self.print_json(rows)
            return
        for row in rows:
            self.stdout.write(f"#{row['id']}  {row['store']}  {row['agent'] or 'a person'}  {row['title']}")
        if not rows:
            self.stdout.write("Nothing to review.")
