from __future__ import annotations

import sys
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from memoryreview.review.management.base import MemoryCommand, store_named
from memoryreview.review.operations.audit import audit


class Command(MemoryCommand):
    help = "Replay every certificate, the chain of decisions and git; exit 1 and name each fault."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("store", nargs="?", default="")

    def handle(self, *args: Any, **options: Any) -> None:
        faults = audit(store_named(options["store"]) if options["store"] else None)
        if options["json"]:
            self.print_json({"ok": not faults, "faults": [asdict(fault) for fault in faults]})
        elif not faults:
            self.stdout.write("Everything holds: certificates, decisions, git, and the files on disk.")
        else:
            for fault in faults:
                self.stdout.write(f"{fault.kind}  {fault.where}  {fault.message}")
        if faults:
            self.stderr.write(f"{len(faults)} faults found.")
            sys.exit(1)
