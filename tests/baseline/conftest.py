from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memoryreview.baseline.repository import Repository


@pytest.fixture
def repository(tmp_path: Path) -> Iterator[Repository]:
    with Repository.create(tmp_path / "baselines" / "notes.git") as created:
        yield created
