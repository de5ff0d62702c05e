"""Counts what an operation asks of the system, and lets one of those calls go wrong.

Three streams in one order: durable steps that the product announces (`step.…`), calls into the system by our own code
(`os.…`), statements and commits of the database (`sql.…`). Patched at the level of `os`, `io.open` and Django's
connection: no code of ours is replaced.
"""

from __future__ import annotations

import errno
import io
import os
import signal
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.db import OperationalError, connection
from django.db.backends.base.base import BaseDatabaseWrapper

import memoryreview
from memoryreview.baseline import steps

SYSTEM_ERRORS = ("ENOSPC", "EACCES", "EIO", "EMFILE")
DATABASE_ERRORS = {
    "io": "disk I/O error",
    "locked": "database is locked",
    "full": "database or disk is full",
}
_CALLS = ("open", "read", "write", "fsync", "link", "replace", "rename", "unlink", "mkdir", "rmdir", "fchmod")
_CHANGING = tuple(f"os.{name}" for name in _CALLS if name not in ("open", "read"))
_PACKAGE = str(Path(memoryreview.__file__).parent)
_STATEMENTS = ("BEGIN", "INSERT", "UPDATE", "DELETE", "SELECT")
_PLUMBING = ("pathlib", "shutil", "contextlib", "tempfile", "tripwire")


class Killed(BaseException):
    """Stands for the end of the process: no handler of ours catches it."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What goes wrong at the n-th event (from 1), or at the event of an address.

    Args:
        where: an address (see `Addresses`); `at` counts nothing then.
        skips: whether `at` counts only the events at which the fault can come.
        what: `kill` (-9), `raise` (an exception that nothing of ours catches), `torn` (half of a write, then the kill),
            a name of SYSTEM_ERRORS or DATABASE_ERRORS, or `write` (another program writes to the document then).
    """

    what: str
    at: int = 0
    where: str = ""
    skips: bool = False


class Addresses:
    """Names each event by its place since the last announced step, such as `step.ref.moved 2 > os.fsync 1`.

    The number of an event is another on every machine and in every run: ids of commits decide how many folders are
    made and removed, and a file that was just written is read again. Its address stays.
    """

    def __init__(self) -> None:
        self._steps: Counter[str] = Counter()
        self._since: Counter[str] = Counter()
        self._last = "start"

    def next(self, event: str) -> str:
        """Return the address of the event that comes now."""
        if event.startswith("step."):
            self._steps[event] += 1
            self._since.clear()
            self._last = f"{event} {self._steps[event]}"
            return self._last
        self._since[event] += 1
        return f"{self._last} > {event} {self._since[event]}"


def applies(what: str, event: str) -> bool:
    """Whether that can go wrong at an event of this name."""
    if what in SYSTEM_ERRORS:
        return event.startswith("os.")
    if what in DATABASE_ERRORS:
        return event.startswith("sql.") and event != "sql.COMMITTED"
    if what == "torn":
        return event == "os.write"
    if what == "write":
        return event.startswith("step.")
    return event.startswith(("step.", "sql.COMMIT")) or event in _CHANGING or event == "os.create"


@dataclass(slots=True)
class Tripwire:
    """Arms one process for one fault. `events` holds the names in order, `tripped` the one at which it happened."""

    fault: Fault | None = None
    intrude: Callable[[], None] = lambda: None
    events: list[str] = field(default_factory=list)
    tripped: str = ""
    _addresses: Addresses = field(default_factory=Addresses)
    _fitting: int = 0

    def arm(self) -> None:
        steps.on_step = lambda name: self._meet(f"step.{name}", lambda: None)
        for name in _CALLS:
            setattr(os, name, self._call(name, getattr(os, name)))
        io.open = self._call("open", io.open)
        connection.execute_wrappers.append(self._statement)
        database: Any = BaseDatabaseWrapper
        commit = database._commit

        def watched(one: BaseDatabaseWrapper) -> None:
            self._meet("sql.COMMIT", lambda: commit(one))
            self._meet("sql.COMMITTED", lambda: None)

        database._commit = watched

    def disarm(self) -> None:
        """Let everything pass from now on; what was patched stays and is harmless."""
        self.fault = None

    def _call(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            if not _is_ours():
                return real(*arguments, **options)
            event = f"os.{'create' if name == 'open' and _creates(arguments) else name}"
            return self._meet(event, lambda: real(*arguments, **options), arguments)

        return call

    def _statement(
        self, execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]
    ) -> Any:
        word = sql.split(None, 1)[0].upper()
        if word not in _STATEMENTS:
            return execute(sql, params, many, context)
        return self._meet(f"sql.{word}", lambda: execute(sql, params, many, context))

    def _meet(self, event: str, go_on: Callable[[], Any], arguments: tuple[Any, ...] = ()) -> Any:
        self.events.append(event)
        address = self._addresses.next(event)
        if self.fault is None or self.tripped or not self._is_due(self.fault, event, address):
            return go_on()
        what, self.tripped = self.fault.what, event
        if what == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if what == "torn":
            fd, content = arguments
            os.pwrite(fd, bytes(content[: len(content) // 2]), 0)
            os.kill(os.getpid(), signal.SIGKILL)
        if what == "raise":
            raise Killed
        if what == "write":
            self.intrude()
            return go_on()
        if what in DATABASE_ERRORS:
            raise OperationalError(DATABASE_ERRORS[what])
        code = getattr(errno, what)
        raise OSError(code, os.strerror(code))

    def _is_due(self, fault: Fault, event: str, address: str) -> bool:
        if not applies(fault.what, event):
            return False
        self._fitting += 1
        if fault.where:
            return address == fault.where
        # An event of that number may be another one than when it was counted: the next fitting one then.
        return (self._fitting if fault.skips else len(self.events)) >= fault.at


def _creates(arguments: tuple[Any, ...]) -> bool:
    return len(arguments) > 1 and isinstance(arguments[1], int) and bool(arguments[1] & os.O_CREAT)


def _is_ours() -> bool:
    """Whether our code asked for it, directly or through the standard library's helpers for files."""
    frame = sys._getframe(2)
    while frame.f_back is not None and Path(frame.f_code.co_filename).stem in _PLUMBING:
        frame = frame.f_back
    return frame.f_code.co_filename.startswith(_PACKAGE)
