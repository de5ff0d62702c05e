from __future__ import annotations

import platform
import shutil
import sqlite3
import sys
from collections.abc import Iterator
from importlib.metadata import version
from typing import Any

import django
from django.conf import settings

from memoryreview.baseline.process import run
from memoryreview.review.management.base import MemoryCommand
from memoryreview.review.models import Store
from memoryreview.review.operations.checkup import checkup


class Command(MemoryCommand):
    help = "Check the environment: versions, permissions, disk, services, clock, folders; exit 1 and name each fault."

    def handle(self, *args: Any, **options: Any) -> None:
        git = _git_version()
        facts, faults = dict(_facts(git)), list(checkup(git))
        if options["json"]:
            self.print_json({"ok": not faults, "facts": facts, "faults": faults})
        else:
            for label, value in facts.items():
                self.stdout.write(f"{label}: {value}")
            for fault in faults:
                self.stdout.write(f"! {fault}")
            if not faults:
                self.stdout.write("Nothing looks wrong.")
        if faults:
            sys.exit(1)


def _git_version() -> str:
    _status, stdout, _stderr = run(settings.HOME, "--version", timeout_s=10)
    return stdout.decode("utf-8", "replace").strip().removeprefix("git version ")


def _facts(git: str) -> Iterator[tuple[str, str]]:
    yield "memoryreview", version("memoryreview")
    yield "python", platform.python_version()
    yield "django", django.get_version()
    yield "git", git
    yield "sqlite", sqlite3.sqlite_version
    yield "data folder", str(settings.HOME)
    yield "free disk", f"{shutil.disk_usage(settings.HOME).free // 1024**2:,} MiB"
    yield "stores", str(Store.objects.count())
