"""Several processes on one store: the first wins, nobody loses, nothing happens twice."""

from __future__ import annotations

import pytest

from .crowds import CROWDS
from .lab import Lab


@pytest.mark.parametrize("name", CROWDS)
def test_processes_at_one_store_come_to_one_truth(lab: Lab, name: str) -> None:
    assert lab.crowd(name).faults == ()
