"""Errors that a caller can act on. Each makes its own sentence: what is wrong, what was not changed, what to do."""

from __future__ import annotations


class MemoryReviewError(Exception):
    """Root of every expected refusal. `str(error)` is one clear sentence for a person.

    Attributes:
        problem: stable `type` of the HTTP problem document.
        status: HTTP status that goes with it.
    """

    problem = "schema-invalid"
    status = 422

    def members(self) -> dict[str, object]:
        """Return extra members for the problem document."""
        return {}


def first_sentence(text: str) -> str:
    """Return what a refusal says is wrong, without its full stop and what follows. A name in “…” is no end of it."""
    depth = 0
    for at, char in enumerate(text):
        depth += (char == "“") - (char == "”")
        if depth <= 0 and text.startswith(". ", at):
            return text[:at]
    return text.removesuffix(".")


class NotUtf8Error(MemoryReviewError):
    problem = "not-utf8"

    def __init__(self, path: str, offset: int) -> None:
        self.path, self.offset = path, offset
        super().__init__(
            f"“{path}” is not UTF-8 (byte {offset}): it is read-only here. Convert it first; nothing was changed."
        )

    def members(self) -> dict[str, object]:
        return {"path": self.path, "offset": self.offset}


class PathNotAllowedError(MemoryReviewError):
    problem = "path-not-allowed"
    status = 400

    def __init__(self, shown_path: str, reason: str) -> None:
        self.shown_path, self.reason = shown_path, reason
        super().__init__(f"The path “{shown_path}” is not allowed: {reason}. Nothing was stored.")


class NoMatchError(MemoryReviewError):
    """An edit's `old` text was not found exactly once.

    Args:
        nearest: up to three (1-based line, text) of the closest passages.
        blob: git blob id of the present document.
    """

    problem = "no-match"
    status = 409

    def __init__(
        self, path: str, operation: int, matches: int, nearest: tuple[tuple[int, str], ...], blob: str
    ) -> None:
        self.path, self.operation, self.matches, self.nearest, self.blob = path, operation, matches, nearest, blob
        found = "does not occur" if matches == 0 else f"occurs {matches} times"
        super().__init__(
            f"Operation {operation}: the old text {found} in “{path}”; it must occur exactly once. Nothing was stored."
        )

    def members(self) -> dict[str, object]:
        return {
            "operation": self.operation,
            "path": self.path,
            "matches": self.matches,
            "nearest": [{"line": line, "text": text} for line, text in self.nearest],
            "blob": self.blob,
        }


class StaleBaseError(MemoryReviewError):
    """The document is not what the proposal was made from. `blob` is its present git blob id, None if it is gone."""

    problem = "stale-base"
    status = 409

    def __init__(self, path: str, blob: str | None, message: str) -> None:
        self.path, self.blob = path, blob
        super().__init__(message)

    def members(self) -> dict[str, object]:
        return {"path": self.path, "blob": self.blob}


class InvalidOperationError(MemoryReviewError):
    """An operation cannot be carried out as written. `operation` is 1-based."""

    def __init__(self, operation: int, reason: str) -> None:
        self.operation, self.reason = operation, reason
        super().__init__(f"Operation {operation}: {reason}. Nothing was stored.")

    def members(self) -> dict[str, object]:
        return {"operation": self.operation}


class TooLargeError(MemoryReviewError):
    problem = "payload-too-large"
    status = 413

    def __init__(self, what: str, size_bytes: int, max_size_bytes: int) -> None:
        self.size_bytes, self.max_size_bytes = size_bytes, max_size_bytes
        super().__init__(
            f"{what} has {size_bytes:,} bytes; the limit is {max_size_bytes:,}. Send less; nothing was stored."
        )

    def members(self) -> dict[str, object]:
        return {"size": self.size_bytes, "limit": self.max_size_bytes}
