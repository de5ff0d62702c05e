"""The laboratory, started once per process of the test run."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from .lab import Lab


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    folder = Path(tempfile.mkdtemp(prefix="mr-faults-", dir=fast_folder()))
    one = Lab(folder / "lab")
    yield one
    one.close()
    shutil.rmtree(folder, ignore_errors=True)


def fast_folder() -> str | None:
    """Return a folder in memory where there is one: what is tried here survives kills, and no power cut is."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
