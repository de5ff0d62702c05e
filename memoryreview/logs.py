"""Log lines: one line per record, control characters escaped, no bodies, no secrets."""

from __future__ import annotations

import logging


class LineFormatter(logging.Formatter):
    """Format a record as one line; a traceback follows with its newlines escaped, so no text can forge a line."""

    def __init__(self) -> None:
        super().__init__("{asctime} {levelname} {name} {message}", style="{")

    def format(self, record: logging.LogRecord) -> str:
        text = super().format(record)
        return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)
