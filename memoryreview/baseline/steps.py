"""Named points of every durable write, for fault tests: each one is a place where a kill must lose nothing.

Tests assign `on_step` in a process of their own; nothing else does.
"""

from __future__ import annotations

from collections.abc import Callable


def _pass(_name: str) -> None:
    return


on_step: Callable[[str], None] = _pass
