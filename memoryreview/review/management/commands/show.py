from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.utils.translation import gettext_noop as _

from memoryreview.review.management.base import MemoryCommand, RefusedCommandError, proposal_json
from memoryreview.review.models import Proposal


class Command(MemoryCommand):
    help = "Show one proposal: what it changes, why it waits, what became of it. Read only."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("id", type=int, help=_("number of the proposal"))

    def handle(self, *args: Any, **options: Any) -> None:
        proposal = Proposal.objects.select_related("store", "agent").filter(pk=options["id"]).first()
        if proposal is None:
            raise RefusedCommandError(f"There is no proposal {options['id']}. List them with: memoryreview queue")
        revision = proposal.revision
        decisions = proposal.decisions.select_related("person", "agent").order_by("pk")
        shown = {
            **proposal_json(proposal),
            "base": revision.base,
            "revision": revision.number,
            "actions": revision.actions,
            "findings": revision.findings,
            "changes": list(proposal.changes.order_by("pk").values_list("oid", flat=True)),
            "decisions": [
                {
                    "verb": decision.verb,
                    "person": decision.person.get_username() if decision.person else None,
                    "reason": decision.reason,
                    "note": decision.note,
                    "at": decision.at.isoformat(),
                }
                for decision in decisions
            ],
        }
        if options["json"]:
            self.print_json(shown)
        else:
            self._tell(proposal, shown)

    def _tell(self, proposal: Proposal, shown: dict[str, Any]) -> None:
        self.stdout.write(f"#{proposal.pk}  {proposal.title}")
        self.stdout.write(f"{shown['state']} · {shown['store']} · {shown['agent'] or 'a person'} · {shown['created']}")
        for action in shown["actions"]:
            landed = f", applied as {action['commit'][:7]}" if action.get("commit") else ""
            self.stdout.write(f"\n{action['path']}  {action['kind']}  {action['verdict']}{landed}")
            for reason in action.get("reasons", []):
                self.stdout.write(f"  {reason}")
            for sign, text in (("-", action["old"]), ("+", action["new"])):
                for line in text.splitlines():
                    self.stdout.write(f"  {sign} {line}")
        for decision in shown["decisions"]:
            self.stdout.write(f"\n{decision['at']}  {decision['verb']}  {decision['person'] or ''}  {decision['note']}")
