from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.utils.translation import gettext_noop as _

from memoryreview.review.management.base import MemoryCommand, RefusedCommandError, store_named
from memoryreview.review.models import Agent
from memoryreview.review.operations import accounts


class Command(MemoryCommand):
    help = "Add, list or revoke agents. A token lets an agent propose and read; nothing else."

    def add_arguments(self, parser: ArgumentParser) -> None:
        acts = parser.add_subparsers(dest="act", required=True, metavar="add|list|revoke")
        add = acts.add_parser("add", help=_("register an agent; its token and webhook secret are shown once"))
        add.add_argument("name", help=_("of the agent"))
        add.add_argument("--store", action="append", default=[], help=_("a store it may propose to (default: all)"))
        revoke = acts.add_parser("revoke", help=_("make an agent's credentials useless"))
        revoke.add_argument("name", help=_("of the agent whose token ends"))
        for sub in (add, revoke, acts.add_parser("list", help=_("list agents"))):
            sub.add_argument("--json", action="store_true", help=_("print JSON for programs"))

    def handle(self, *args: Any, **options: Any) -> None:
        {"add": self._add, "list": self._list, "revoke": self._revoke}[options["act"]](options)

    def _add(self, options: dict[str, Any]) -> None:
        new = accounts.add_agent(options["name"], [store_named(slug) for slug in options["store"]])
        shown = {
            "name": new.agent.name,
            "token": new.token,
            "webhook_secret": new.webhook_secret,
            "webhook_url": f"{settings.PUBLIC_URL}/hooks/v1/{new.agent.name}",
            "api_url": f"{settings.PUBLIC_URL}/api/v1",
        }
        if options["json"]:
            self.print_json(shown)
            return
        self.stdout.write(f"Added agent “{new.agent.name}”. These are shown once:")
        for label, value in shown.items():
            self.stdout.write(f"  {label}: {value}")

    def _list(self, options: dict[str, Any]) -> None:
        agents = Agent.objects.exclude(name__in=Agent.RESERVED).prefetch_related("stores").order_by("name")
        rows: list[dict[str, Any]] = [
            {
                "name": agent.name,
                "stores": sorted(store.slug for store in agent.stores.all()),
                "created": agent.created_at.isoformat(),
                "revoked": agent.revoked_at.isoformat() if agent.revoked_at else None,
            }
            for agent in agents
        ]
        if options["json"]:
            self.print_json(rows)
            return
        for row in rows:
            stores = ", ".join(row["stores"]) or "all stores"
            self.stdout.write(f"{row['name']}  {stores}  {'revoked' if row['revoked'] else 'active'}")
        if not rows:
            self.stdout.write("No agents yet. Add one with: memoryreview agent add NAME")

    def _revoke(self, options: dict[str, Any]) -> None:
        agent = Agent.objects.filter(name=options["name"]).exclude(name__in=Agent.RESERVED).first()
        if agent is None:
            raise RefusedCommandError(f"There is no agent “{options['name']}”. List them with: memoryreview agent list")
        accounts.revoke_agent(agent)
        if options["json"]:
            self.print_json({"name": agent.name, "revoked": True})
        else:
            self.stdout.write(
                f"Revoked “{agent.name}”: its token and webhook secret no longer work. Its proposals stay."
            )
