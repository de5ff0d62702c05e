from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.review.api.conftest import NOTE
from tests.review.api.parallel_senders import SENDERS
from tests.template import migrated

ROOT = Path(__file__).resolve().parents[3]


def test_replays_in_parallel_make_one_proposal_each(tmp_path: Path) -> None:
    """In a process of its own: the databases of tests live in memory and lock otherwise than files do."""
    environment = {
        **os.environ,
        "MEMORYREVIEW_HOME": str(tmp_path / "home"),
        "MEMORYREVIEW_ALLOWED_HOSTS": "testserver",
        "DJANGO_SETTINGS_MODULE": "memoryreview.settings",
    }

    migrated(tmp_path / "home")

    done = subprocess.run(
        [sys.executable, "-m", "tests.review.api.parallel_senders", str(tmp_path / "notes")],
        cwd=ROOT, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["webhook"] == [[200, 1]] * (SENDERS - 1) + [[202, 1]]
    assert {tuple(answer) for answer in told["api"]} == {(200, 2), (201, 2)}
    assert [status for status, _ in told["api"]].count(201) == 1
    assert (told["proposals"], told["deliveries"]) == (2, 2)
    assert told["disk"] == NOTE.replace("13/04/2025", "2025-04-13")
