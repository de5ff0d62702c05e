"""Log lines: one line per record, control characters escaped, no addresses, no bodies, no secrets."""

from __future__ import annotations

import copy
import logging
import traceback
from types import TracebackType
from typing import TypeAlias

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_ExceptionInfo: TypeAlias = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


class LineFormatter(logging.Formatter):
    """Format a record as one line; a traceback follows with its newlines escaped, so no text can forge a line.

    What people and agents send is left out: of a request only status, method and view are told (an address may be a
    one-time link), of an exception only its type and frames (its message may quote a body). Secrets are masked.
    """

    def __init__(self) -> None:
        super().__init__("{asctime} {levelname} {name} {message}", style="{")

    def format(self, record: logging.LogRecord) -> str:
        told = copy.copy(record)
        told.exc_text = None  # another formatter may have written the message of the exception there
        if hasattr(record, "request"):
            told.msg, told.args = _answered(record), ()
        text = super().format(told)
        text = _masked(text)
        return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)

    def formatException(self, ei: _ExceptionInfo) -> str:  # noqa: N802  # the name is the standard library's
        error = ei[1]
        parts: list[str] = []
        while error is not None:
            parts.append(f"{type(error).__qualname__}\n{''.join(traceback.format_tb(error.__traceback__))}")
            error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        return "because of ".join(parts)


def _masked(text: str) -> str:
    from .core import scan  # a quarter of a second, which a command that logs nothing need not wait

    return scan.mask(text, scan.scan(text))


def _answered(record: logging.LogRecord) -> str:
    request = getattr(record, "request", None)
    method = getattr(request, "method", None)
    match = getattr(request, "resolver_match", None)
    return " ".join(
        (
            f"answered {getattr(record, 'status_code', 'something')}",
            f"to {method if method in _METHODS else 'another method'}",
            f"at {match.view_name}" if match is not None else "at no view",
        )
    )
