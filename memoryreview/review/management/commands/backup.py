from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.utils.translation import gettext_noop as _

from memoryreview.review.management.base import MemoryCommand
from memoryreview.review.operations.backup import back_up
from memoryreview.review.presenters.words import plural, size_words


class Command(MemoryCommand):
    help = (
        "Write databases, keys and baselines to one new file, which another machine can open with restore-backup. "
        "The file holds secrets: keep it where only you can read it."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("file", type=Path, help=_("a file that does not exist yet"))

    def handle(self, *args: Any, **options: Any) -> None:
        made = back_up(options["file"])
        if options["json"]:
            self.print_json(
                {
                    "path": str(made.path),
                    "size_bytes": made.size_bytes,
                    "sha256": made.sha256,
                    "stores": made.stores,
                    "left_out": list(made.left_out),
                }
            )
            return
        for sentence in made.left_out:
            self.stderr.write(f"Left out {sentence}")
        self.stdout.write(
            f"Wrote {made.path}: {plural(made.stores, 'store')}, {size_words(made.size_bytes)}, readable by you alone. "
            "It holds keys and everything that waits; memory folders are in it as they were last approved."
        )
