"""The commands at a glance, as `memoryreview --help` prints them. One list: the table of the help page."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

PAGE = Path(__file__).with_name("help") / "commands.md"
ROW = re.compile(r"^\| (`.+?) \| (.+) \|$", re.MULTILINE)
WIDTH = 100


def overview() -> str:
    """Return every command with what it does, and how to learn more."""
    rows = [f"  {names}\n{_indented(does)}" for names, does in ROW.findall(PAGE.read_text(encoding="utf-8"))]
    table = "\n".join(rows).replace("`", "")
    return f"Pull requests for agent memory.\n\n{table}\n\nmemoryreview COMMAND --help says more about one of them.\n"


def _indented(does: str) -> str:
    return textwrap.fill(does, WIDTH, initial_indent=" " * 6, subsequent_indent=" " * 6)
