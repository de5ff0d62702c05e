"""A disk that is really full: a small file system in memory, in a namespace of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.template import ROOT

UNSHARE = ("unshare", "--user", "--map-root-user", "--mount")
ACT = """
import os, subprocess, sys
from pathlib import Path

root, full = Path(sys.argv[1]), sys.argv[2]
for name in ("data", "memory"):
    (root / name).mkdir(mode=0o700)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m,mode=700", "tmpfs", root / name], check=True)
os.environ |= {"MEMORYREVIEW_HOME": str(root / "data"), "DJANGO_SETTINGS_MODULE": "memoryreview.settings"}

import django

django.setup()
from django.db import DatabaseError

from memoryreview.core.errors import MemoryReviewError
from memoryreview.review.operations.audit import audit
from tests.faults.scenarios import approve, found_world, on_disk, replaced, submit
from tests.template import copy_databases

copy_databases(root / "data")
found_world(root)
proposal = submit(replaced("ports.md", "5432", "6432" + "x" * 200_000))
before = on_disk("ports.md").read_bytes()

filler = root / full / "filler.bin"
with filler.open("wb", buffering=0) as file:
    for size in (1 << 16, 1 << 12, 1):
        try:
            while True:
                file.write(b"x" * size)
        except OSError:
            pass
try:
    approve(proposal.pk)
except (MemoryReviewError, DatabaseError) as error:
    print("refused:", error)
assert on_disk("ports.md").read_bytes() == before, "half written"

filler.unlink()
approve(proposal.pk)
assert b"6432" in on_disk("ports.md").read_bytes()
assert audit() == [], audit()
left = [path.name for path in (root / "memory" / "notes").rglob("*") if path.name.startswith(".mr-")]
assert left == [], left
print("whole")
"""


@pytest.mark.parametrize("full", ["memory", "data"])
def test_a_full_disk_refuses_with_a_sentence_and_room_is_all_it_needs(tmp_path: Path, full: str) -> None:
    mount = [*UNSHARE, "mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(tmp_path)]
    try:
        tried = subprocess.run(mount, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("no “unshare” here, so no small file system can be made")
    if tried.returncode:
        pytest.skip(f"no file system may be mounted here: {tried.stderr.strip()}")

    done = subprocess.run(
        [*UNSHARE, sys.executable, "-c", ACT, str(tmp_path), full],
        cwd=ROOT,
        env={key: value for key, value in os.environ.items() if not key.startswith(("MEMORYREVIEW_", "DJANGO_"))},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    refused, whole = done.stdout.splitlines()
    assert refused.startswith("refused: ")
    assert "No space left on device" in refused or "disk is full" in refused
    assert whole == "whole"
