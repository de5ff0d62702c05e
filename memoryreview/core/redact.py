"""Classifications as they may be shown and stored: no secret stands in their texts or titles."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from . import scan
from .model import Action, Classification, Limits, LineSpan, Tree

_QUOTES = re.compile("“|: ")
"""Signs that a reason quotes the text."""

MAX_SHOWN_BYTES = Limits().refused_bytes
HIDDEN_REASON = "The line holds a secret, so what changes in it is not quoted here."
HIDDEN_TITLE = "Change a line that holds a secret"


def redacted(result: Classification, base: Tree, proposed: Tree) -> Classification:
    """Return the classification with secrets masked in the old and new text of its actions, and in no title."""
    before, after = _MaskedTree(base), _MaskedTree(proposed)
    return replace(result, actions=tuple(_redacted(action, before, after) for action in result.actions))


def action_shape(action: Action) -> dict[str, Any]:
    """Return an action as JSON, as answers and stored proposals hold it."""
    shape: dict[str, Any] = {
        "kind": str(action.kind),
        "verdict": str(action.verdict),
        "path": action.path,
        "lines": list(action.lines) if action.lines else None,
        "new_lines": list(action.new_lines) if action.new_lines else None,
        "old": action.old,
        "new": action.new,
    }
    if action.proof is None:
        return {**shape, "reasons": list(action.reasons)}
    rewrites = [
        {"path": one.path, "start": one.start, "end": one.end, "new": one.new.decode("utf-8", "replace")}
        for one in action.proof.rewrites
    ]
    return {
        **shape,
        "proof": {"rule": str(action.proof.rule), "version": action.proof.version, "rewrites": rewrites},
    }


def _redacted(action: Action, before: _MaskedTree, after: _MaskedTree) -> Action:
    hides = before.hides(action.path, action.lines) or after.hides(action.path, action.new_lines)
    if not hides:
        return action
    return replace(
        action,
        old=before.text(action.path, action.lines, action.old),
        new=after.text(action.path, action.new_lines, action.new),
        # A title quotes the text cut short, so that no pattern would find the rest of the secret in it.
        title=HIDDEN_TITLE,
        reasons=tuple(reason for reason in action.reasons if not _QUOTES.search(reason)) or (HIDDEN_REASON,),
    )


class _MaskedTree:
    """Documents with their secrets masked, each scanned once."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._known: dict[str, tuple[list[str], list[str]]] = {}

    def text(self, path: str, lines: LineSpan | None, text: str) -> str:
        """Return `text`, which stands in these lines of the document, masked where a secret reaches into them.

        Of a document over MAX_SHOWN_BYTES, which is refused whole, nothing is shown: scanning it would take too long.
        """
        if len(self._tree.get(path, b"")) > MAX_SHOWN_BYTES:
            return ""
        clear, masked = self._passages(path, lines)
        return text if clear == masked else "\n".join(masked)

    def hides(self, path: str, lines: LineSpan | None) -> bool:
        """Whether a secret reaches into these lines, or might."""
        if len(self._tree.get(path, b"")) > MAX_SHOWN_BYTES:
            return True
        clear, masked = self._passages(path, lines)
        return clear != masked

    def _passages(self, path: str, lines: LineSpan | None) -> tuple[list[str], list[str]]:
        if lines is None:
            return [], []
        if path not in self._known:
            document = self._tree.get(path, b"").decode("utf-8", "replace")
            self._known[path] = document.split("\n"), scan.mask(document, scan.secret_findings(document)).split("\n")
        clear, masked = self._known[path]
        return clear[lines[0] - 1 : lines[1]], masked[lines[0] - 1 : lines[1]]
