"""The watcher in a process of its own, on real folders; no worker scans beside it."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.server import Installation, installation
from tests.template import ROOT

NOTE = "# Build\n\n- The database listens on port 5432.\n"


@contextmanager
def watching(one: Installation) -> Iterator[subprocess.Popen[str]]:
    """Run `memoryreview watch` until the block ends; it must end politely."""
    process = subprocess.Popen(
        [sys.executable, "-m", "memoryreview", "watch"],
        cwd=ROOT,
        env=one.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert "Watching" in process.stdout.readline()
        yield process
        process.send_signal(signal.SIGTERM)
        printed, _ = process.communicate(timeout=120)
        assert (process.returncode, printed) == (0, "")
    finally:
        process.kill()
        process.communicate()


def until(holds: Callable[[Any], bool], look: Callable[[], Any]) -> Any:
    """Look until it holds; return what was seen last."""
    deadline = time.monotonic() + 60
    seen = look()
    while not holds(seen) and time.monotonic() < deadline:
        time.sleep(0.2)
        seen = look()
    return seen


def _saved_as_editors_do(path: Path, text: str) -> None:
    """Swap file, test file, backup, new file renamed over the old one, and the left-overs away."""
    swap, backup = path.with_name(f".{path.name}.swp"), path.with_name(f"{path.name}~")
    swap.write_text("swap")
    (path.parent / "4913").write_text("")
    (path.parent / "4913").unlink()
    path.rename(backup)
    path.with_name(f"{path.name}.tmp").write_text(text)
    path.with_name(f"{path.name}.tmp").rename(path)
    backup.unlink()
    swap.unlink()


def test_direct_writes_reach_the_queue_by_themselves(tmp_path: Path) -> None:
    with installation(tmp_path, is_migrated=True) as one:
        acme = one.store("acme", build=NOTE)
        with watching(one):
            _saved_as_editors_do(acme / "build.md", NOTE.replace("5432", "6432"))
            (acme / "new.md").write_text("A note.\n")
            rows = until(bool, lambda: one.json("queue"))
            assert [row["kinds"] for row in rows] == [["fact.rewrite", "file.add"]]

            later = one.store("later", build=NOTE)
            (later / "build.md").write_text(NOTE.replace("5432", "7432"))
            rows = until(lambda rows: len(rows) == 2, lambda: one.json("queue"))
            assert {row["store"] for row in rows} == {"acme", "later"}


def test_folder_that_vanishes_is_alarming_and_watched_again_when_it_is_back(tmp_path: Path) -> None:
    with installation(tmp_path, is_migrated=True) as one:
        root = one.store("acme", build=NOTE, ports="5432\n", mail="sink\n")
        with watching(one):
            shutil.move(root, tmp_path / "away")
            assert until(bool, lambda: _faults(one, "acme")), "the loss was not said"
            shutil.move(tmp_path / "away", root)
            assert until(lambda faults: not faults, lambda: _faults(one, "acme")) == []
            assert one.json("queue") == []

            (root / "build.md").write_text(NOTE.replace("5432", "6432"))
            assert [row["kinds"] for row in until(bool, lambda: one.json("queue"))] == [["fact.rewrite"]]


def _faults(one: Installation, store: str) -> list[str]:
    printed = one.run("doctor").stdout
    return [line for line in printed.splitlines() if line.startswith(f"! {store}")]
