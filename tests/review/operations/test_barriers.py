"""What one apply waits for, counted in a process of its own: fsyncs, processes, and the order in which they come."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.baseline.git_checks import ROOT

pytestmark = pytest.mark.skipif(shutil.which("strace") is None, reason="strace counts the system calls")

APPLY = r"""
import os, sys
from pathlib import Path
import django
django.setup()
from django.conf import settings
from django.contrib.auth.models import User
from tests.template import copy_databases
copy_databases(settings.HOME)
from memoryreview.core.edits import Edit, Replacement
from memoryreview.review.operations import accounts, receive
from memoryreview.review.operations.adopt import adopt

def mark(name):
    os.path.exists(f"/mark/{name}")

root = Path(sys.argv[1])
root.mkdir()
for number in range(20):
    (root / f"{number}.md").write_text(f"# Part {number}\n\n- It went out on 13/04/2025, at last.\n")
agent = accounts.add_agent("claude", person=User.objects.create_user("olga", is_superuser=True)).agent
store = adopt(root, name="notes").store
if sys.argv[2] == "packed":
    from memoryreview.baseline.packing import pack
    from memoryreview.review.operations.stores import baseline_dir
    pack(baseline_dir(store))
for number in range(12):
    edit = Edit(f"{number}.md", (Replacement("13/04/2025", "2025-04-13"),))
    request = receive.Request("notes", (edit,))
    mark(f"begin-{number}")
    receipt = receive.submit(request, agent=agent)
    mark(f"end-{number}")
    assert receipt.proposal.state == "applied", receipt.proposal.failure
"""

_SYNCS = ("fsync", "fdatasync", "syncfs")
_STARTS = ("fork", "vfork", "clone", "clone3", "execve")
_MOVES = ("rename", "renameat", "renameat2", "link", "linkat")
_LOOKS = ("stat", "newfstatat", "statx")  # by which the script marks where an apply begins and ends


def _traced(tmp_path: Path, kind: str) -> list[list[str]]:
    """Return the system calls of each apply, in order."""
    trace = tmp_path / "trace"
    own = {name: value for name, value in os.environ.items() if name != "MEMORYREVIEW_TEST_DATABASE_URL"}
    environment = {**own, "DJANGO_SETTINGS_MODULE": "tests.settings", "TMPDIR": str(tmp_path)}
    calls = ",".join(f"?{name}" for name in (*_SYNCS, *_STARTS, *_MOVES, *_LOOKS))
    command = ["strace", "-f", "-y", "-qq", "-s", "300", "-e", f"trace={calls}", "-o", str(trace)]
    done = subprocess.run(
        [*command, sys.executable, "-c", APPLY, str(tmp_path / "memory"), kind],
        cwd=ROOT, env=environment, capture_output=True, text=True,
    )  # fmt: skip
    if "PTRACE" in done.stderr or "ptrace" in done.stderr:
        pytest.skip("this system does not let strace look")
    assert done.returncode == 0, done.stderr
    runs: list[list[str]] = []
    is_inside = False
    for line in trace.read_text().splitlines():
        if "/mark/begin-" in line:
            is_inside = True
            runs.append([])
        elif "/mark/end-" in line:
            is_inside = False
        elif is_inside:
            runs[-1].append(re.sub(r"^\d+ +", "", line))
    return runs


@pytest.mark.parametrize("kind", ["loose", "packed"])
def test_an_apply_needs_at_most_eleven_fsyncs_and_no_process(tmp_path: Path, kind: str) -> None:
    runs = _traced(tmp_path, kind)

    assert len(runs) == 12
    synced = sorted(sum(line.startswith(_SYNCS) for line in run) for run in runs)
    # Blob, tree and commit, the branch and its folder, the document and its folder; the intake and the journal in the
    # database. Now and then the database moves its log over, which is no part of any one apply.
    assert synced[len(runs) // 2] <= 11
    started = [line for run in runs for line in run if line.startswith(_STARTS)]
    assert started == []


def test_objects_are_durable_before_the_journal_the_journal_before_the_branch_and_all_before_the_answer(
    tmp_path: Path,
) -> None:
    for run in _traced(tmp_path, "loose"):
        synced = [(at, line) for at, line in enumerate(run) if line.startswith(_SYNCS)]
        moves = [(at, line) for at, line in enumerate(run) if line.startswith(_MOVES)]
        moved = next(at for at, line in moves if line.endswith('refs/heads/main") = 0'))
        document = next(at for at, line in moves if ".md" in line)
        objects = [at for at, line in synced if "tmp_obj" in line]
        journal = [at for at, line in synced if "sqlite3-wal" in line]
        branch = next(at for at, line in synced if "/refs/heads>" in line)
        folder = next(at for at, line in synced if "/memory>" in line)

        assert len(objects) == 3
        assert max(objects) < max(at for at in journal if at < moved)
        assert moved < branch < document < folder
