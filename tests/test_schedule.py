"""How tests are handed out to the workers of pytest-xdist."""

from __future__ import annotations

import pytest

from .schedule import FIRST, LAST, unit_of
from .template import ROOT


@pytest.mark.parametrize("start", [*FIRST, LAST])
def test_what_the_order_names_is_there(start: str) -> None:
    assert (ROOT / start).exists()


@pytest.mark.parametrize(
    ("nodeid", "unit"),
    [
        ("tests/core/test_diff.py::test_one[a@b]", "tests/core/test_diff.py"),
        ("tests/core/test_diff.py::TestMany::test_one", "tests/core/test_diff.py"),
        ("tests/test_up.py::test_one[a]", "tests/test_up.py::test_one[a]"),
        ("tests/e2e/test_axe.py::test_one[a]@e2e", "e2e"),
    ],
)
def test_a_file_goes_to_one_worker_and_a_long_test_to_any(nodeid: str, unit: str) -> None:
    assert unit_of(nodeid) == unit
