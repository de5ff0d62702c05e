"""Which worker of pytest-xdist runs what: long tests first, the rest file by file, so that all are busy to the end."""

from __future__ import annotations

import pytest
from xdist.scheduler.loadscope import LoadScopeScheduling

LONG = (
    "tests/test_up.py",
    "tests/faults/test_matrix.py",
    "tests/faults/test_crowds.py",
    "tests/review/operations/test_erase_kill.py",
    "tests/review/operations/test_reconcile.py",
    "tests/review/operations/test_missing_ground.py",
    "tests/review/views/test_long_history.py",
    "tests/review/views/test_queue_cost.py",
)
"""Files of long tests, each of which any worker may take; the longest come first."""
FIRST = (LONG[0], "tests/e2e/", "tests/test_demo.py", *LONG[1:])
LAST = "tests/core/"
"""Thousands of short tests, which fill up what is left."""


class Scheduling(LoadScopeScheduling):  # type: ignore[misc]  # xdist has no types
    """Hands out one unit after the other, in the order of the tests."""

    def _split_scope(self, nodeid: str) -> str:
        return unit_of(nodeid)


def unit_of(nodeid: str) -> str:
    """Return what the test goes out with: its `xdist_group`, which xdist puts behind its name, or its file."""
    if nodeid.rfind("@") > nodeid.rfind("]"):
        return nodeid.rsplit("@", 1)[1]
    return nodeid if nodeid.startswith(LONG) else nodeid.split("::", 1)[0]


def in_order(test: pytest.Item) -> int:
    """Return the key by which tests are sorted before they are handed out."""
    if test.nodeid.startswith(LAST):
        return len(FIRST) + 1
    return next((place for place, start in enumerate(FIRST) if test.nodeid.startswith(start)), len(FIRST))
