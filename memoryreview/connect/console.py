"""What the commands without Django share: arguments, bytes in, sentences out."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TextIO

from memoryreview.core.errors import MemoryReviewError, TooLargeError
from memoryreview.core.model import Limits
from memoryreview.core.names import shown

DONE, REFUSED, USAGE = 0, 1, 2
STANDARD_INPUT = "-"


class UnreadableError(MemoryReviewError):
    """A file that was named cannot be read: a mistake of usage."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"“{shown(name)}” cannot be read: {reason}.")


def run(parser: argparse.ArgumentParser, argv: Sequence[str], act: Callable[[argparse.Namespace], int]) -> int:
    """Parse arguments, act, and turn what is refused into one sentence and an exit code."""
    try:
        options = parser.parse_args(list(argv))
    except SystemExit as stop:  # argparse has said why
        return stop.code if isinstance(stop.code, int) else USAGE
    try:
        return act(options)
    except UnreadableError as error:
        complain(str(error))
        return USAGE
    except MemoryReviewError as error:
        complain(str(error))
        return REFUSED


def read_bytes(name: str, *, limit_bytes: int = Limits().refused_bytes) -> bytes:
    """Return the bytes of a file, or of standard input for `-`. Raises UnreadableError, TooLargeError."""
    try:
        if name == STANDARD_INPUT:
            content = sys.stdin.buffer.read(limit_bytes + 1)
        else:
            with Path(name).open("rb") as handle:
                content = handle.read(limit_bytes + 1)
    except OSError as error:
        raise UnreadableError(name, (error.strerror or "it is not a file").lower()) from error
    except ValueError as error:
        raise UnreadableError(name, "this is not a name") from error
    if len(content) > limit_bytes:
        raise TooLargeError(f"“{shown(name)}”", len(content), limit_bytes)
    return content


def gettext_noop(text: str) -> str:
    """Mark a text for the catalogue of another language, as Django's own does, which these commands must not load."""
    return text


def say(text: str) -> None:
    """Print one line: no control character reaches the terminal, and what its encoding lacks is escaped."""
    _write(sys.stdout, text)


def complain(text: str) -> None:
    _write(sys.stderr, text)


def _write(stream: TextIO, text: str) -> None:
    encoding = stream.encoding or "utf-8"
    line = "".join(char if char.isprintable() else "\ufffd" for char in text)
    stream.write(line.encode(encoding, "backslashreplace").decode(encoding) + "\n")
