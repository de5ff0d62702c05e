"""`python -m tests.bench cli_speed`: the offline commands as a hook or a pre-commit check calls them."""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import perf_counter

from .classify_speed import document
from .timing import interleaved, verdict

DOCUMENTS = 2_000
MAX_SECONDS = 10.0
ROOT = Path(__file__).resolve().parents[2]
_READ = "import pathlib, sys; [p.read_bytes() for f in sys.argv[1:] for p in pathlib.Path(f).rglob('*.md')]"
_COMMAND = "from memoryreview.cli import main; main()"


def run(*, rounds: int) -> bool:
    with TemporaryDirectory() as folder:
        base, proposed = _folders(Path(folder))
        text = base / "note_0.md"
        bare, read, start, scan, work = interleaved(
            [
                partial(_python, "pass"),
                partial(_python, _READ, str(base), str(proposed)),
                partial(_python, "import memoryreview.cli"),
                partial(_python, _COMMAND, "scan-text", str(text)),
                partial(_python, _COMMAND, "classify", str(base), str(proposed)),
            ],
            rounds,
            perf_counter,
        )
    print(f"bare Python {bare:.2f} s, reading both folders {read:.2f} s, import {start:.2f} s")
    print(f"scan-text {scan:.2f} s, classify of 2 x {DOCUMENTS:,} documents {work:.2f} s")
    in_time = work < MAX_SECONDS
    print(f"classify in less than {MAX_SECONDS:.0f} s: {'pass' if in_time else 'FAIL'}")
    return all([in_time, verdict("classify against Python that reads both folders", work / read, 20),
                verdict("scan-text against the start of bare Python", scan / bare, 50)])  # fmt: skip


def _folders(folder: Path) -> tuple[Path, Path]:
    """Write 2,000 documents of 2 KB twice; in the second copy one in a hundred has another statement."""
    base, proposed = folder / "base", folder / "proposed"
    base.mkdir()
    proposed.mkdir()
    for number in range(DOCUMENTS):
        data = document(Random(number), 2_000)
        (base / f"note_{number}.md").write_bytes(data)
        changed = data + b"\n- another statement\n" if number % 100 == 0 else data
        (proposed / f"note_{number}.md").write_bytes(changed)
    return base, proposed


def _python(code: str, *arguments: str) -> None:
    subprocess.run([sys.executable, "-c", code, *arguments], cwd=ROOT, check=True, capture_output=True)
