"""The `memoryreview` command. Exit codes: 0 done, 1 refused or fault found, 2 usage, 3 bug (with the log's path)."""

from __future__ import annotations

import sys

if sys.version_info < (3, 11):  # noqa: UP036  # the sentence must come before the first import that fails
    sys.exit("memoryreview needs Python 3.11 or newer; this is %d.%d." % sys.version_info[:2])  # noqa: UP031

import logging
import os
from collections.abc import Callable, Sequence
from importlib import import_module

from .core.errors import MemoryReviewError

REFUSED, BUG = 1, 3
HELP = (["help"], ["--help"], ["-h"])

EARLY_COMMANDS = {
    "classify": ("memoryreview.connect.offline", "classify_command"),
    "demo": ("memoryreview.demo", "command"),
    "restore-backup": ("memoryreview.restore_backup", "command"),
    "propose": ("memoryreview.connect.propose", "command"),
    "scan-text": ("memoryreview.connect.offline", "scan_text_command"),
}
"""Commands that run before Django loads: hooks can afford them, and the demo picks its own data folder."""


def early_command(name: str) -> Callable[[Sequence[str]], int] | None:
    """Return one of them, importing nothing else."""
    if name not in EARLY_COMMANDS:
        return None
    module, function = EARLY_COMMANDS[name]
    command: Callable[[Sequence[str]], int] = getattr(import_module(module), function)
    return command


def main(argv: Sequence[str] | None = None) -> None:
    """Run one command and exit with its code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    os.umask(0o077)  # databases, keys and logs are for one person
    if arguments[:1] == ["help"] and len(arguments) == 2:
        arguments = [arguments[1], "--help"]
    try:
        if not arguments or arguments in HELP:
            overview = import_module("memoryreview.overview").overview()  # only here: a hook need not pay for it
            print(overview, end="")  # noqa: T201
            return
        command = early_command(arguments[0])
        if command is not None:
            sys.exit(command(arguments[1:]))
        _run_django(arguments)
    except MemoryReviewError as error:
        print(error, file=sys.stderr)  # noqa: T201
        sys.exit(REFUSED)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(REFUSED)


def _run_django(arguments: list[str]) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryreview.settings")
    from django.conf import settings
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    from .database import unusable

    logging.raiseExceptions = False  # a log that cannot be written on a full disk is told by the command itself
    try:
        settings.LOG_PATH  # noqa: B018  # loads the settings here, where a bad one becomes a sentence
        execute_from_command_line(["memoryreview", *arguments])
    except ImproperlyConfigured as error:
        print(error, file=sys.stderr)  # noqa: T201
        sys.exit(REFUSED)
    except (MemoryReviewError, KeyboardInterrupt, BrokenPipeError):
        raise
    except Exception as error:
        logging.getLogger("memoryreview").exception("the command failed: %s", arguments[:1])
        fault = unusable(error)
        if fault is not None:
            raise fault from error
        print(f"This is a bug in memoryreview; the details are in {settings.LOG_PATH}.", file=sys.stderr)  # noqa: T201
        sys.exit(BUG)
