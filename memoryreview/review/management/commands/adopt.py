from __future__ import annotations

from argparse import ArgumentParser
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.utils.translation import gettext_noop as _

from memoryreview.core.model import FormatName, Guard, Scope
from memoryreview.review.management.base import MemoryCommand
from memoryreview.review.operations import anew, horizon
from memoryreview.review.operations.adopt import Adopted, adopt

SHOWN_PROBLEMS = 40


class Command(MemoryCommand):
    help = (
        "Take a memory folder under review. Makes the first baseline commit; changes no file. For a store "
        "whose baseline was lost it begins a new one."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("path", type=Path, help=_("folder of Markdown memory"))
        parser.add_argument("--name", default="", help=_("name of the store (default: from the folder)"))
        parser.add_argument(
            "--format", default="auto", choices=["auto", *map(str, FormatName)], help=_("of the memory (default: auto)")
        )
        parser.add_argument(
            "--scope",
            default=str(Scope.PRIVATE),
            choices=list(map(str, Scope)),
            help=_("who reads it (default: private)"),
        )
        parser.add_argument(
            "--guard",
            default=str(Guard.OBSERVE),
            choices=list(map(str, Guard)),
            help=_("what becomes of direct writes (default: observe)"),
        )
        parser.add_argument("--team", default="", help=_("team of a team store (default: the store's name)"))

    def handle(self, *args: Any, **options: Any) -> None:
        known = anew.adopted_at(options["path"])
        adopted = (
            anew.begin_anew(known, person=None, name=options["name"])
            if known is not None
            else adopt(
                options["path"],
                name=options["name"],
                format=None if options["format"] == "auto" else FormatName(options["format"]),
                scope=Scope(options["scope"]),
                guard=Guard(options["guard"]),
                team=options["team"],
            )
        )
        if options["json"]:
            self.print_json(
                {
                    "store": adopted.store.slug,
                    "format": str(adopted.store.format),
                    "documents": adopted.documents,
                    "entries": adopted.entries,
                    "head": adopted.head,
                    "problems": [asdict(problem) for problem in adopted.problems],
                }
            )
        else:
            self._tell(adopted, horizon.told(adopted.store) if known is not None else "")

    def _tell(self, adopted: Adopted, begun: str) -> None:
        store = adopted.store
        done = "Began a new baseline of" if begun else "Adopted"
        self.stdout.write(
            f"{done} {store.root} as “{store.slug}”: {adopted.documents} documents, {adopted.entries} entries, "
            f"{store.format} format, {store.scope}, baseline {adopted.head[:7]}. No file was changed."
        )
        if begun:
            self.stdout.write(begun)
        if not adopted.problems:
            self.stdout.write("Nothing looks wrong.")
            return
        counts = ", ".join(
            f"{count} {kind}" for kind, count in sorted(Counter(p.kind for p in adopted.problems).items())
        )
        self.stdout.write(f"What looks wrong ({counts}):")
        for problem in adopted.problems[:SHOWN_PROBLEMS]:
            place = problem.path if problem.line is None else f"{problem.path}:{problem.line}"
            self.stdout.write(f"  {place}  {problem.message}")
        if len(adopted.problems) > SHOWN_PROBLEMS:
            self.stdout.write(f"  and {len(adopted.problems) - SHOWN_PROBLEMS} more (--json lists all)")
