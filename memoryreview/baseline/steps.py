"""Named points of every durable write, for fault tests: each one is a place where a kill must lose nothing.

In order: `repository.written`; for each object `object.written`, `object.stored`; for the branch `ref.written`,
`ref.locked`, `ref.moved`, `ref.durable`; for a document `document.created`, `document.written`, `document.replaced`,
`document.durable`, or, when it goes, `document.found`, `document.removed`, `document.durable`.

Tests assign `on_step` in a process of their own; nothing else does.
"""

from __future__ import annotations

from collections.abc import Callable


def _pass(_name: str) -> None:
    return


on_step: Callable[[str], None] = _pass
