"""The soak in small: `python -m tests.bench soak` runs 2,000 operations by four processes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

from tests.template import ROOT


def test_mixed_operations_of_processes_that_are_killed_leave_what_a_simple_model_says(
    record_property: Callable[[str, object], None],
) -> None:
    command = [sys.executable, "-m", "tests.bench", "soak", "--operations", "60", "--processes", "2", "--seed", "7"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=900, check=False)

    record_property("figures", f"soak: {' '.join(done.stdout.split())}")
    assert (done.returncode, done.stderr) == (0, "")
