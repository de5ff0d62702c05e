"""Which working directories share a Claude Code memory folder, by the session transcripts beside it. Read only."""

from __future__ import annotations

import json
import re
import stat
from pathlib import Path

MAX_TRANSCRIPTS = 50
MAX_READ_BYTES = 64 * 1024
MAX_FOLDER_CHARS = 200
"""Longer names are cut and hashed by the tool, so they say nothing."""

_CWD = re.compile(rb'"cwd"\s*:\s*("(?:[^"\\\x00-\x1f]|\\.){1,4000}")')
_NOT_PLAIN = re.compile(r"[^A-Za-z0-9]")


def working_directories(root: Path) -> tuple[str, ...]:
    """Return the directories whose sessions write to a memory folder, sorted: more than one is a clash of names.

    Claude Code names a project's folder after its path with every other character than a letter or digit made a dash,
    so `/w/data-hub/api` and `/w/data/hub-api` share one. Directories below a project are no clash and left out, and so
    is every folder that is no `projects/<project>/memory`. What cannot be read is passed over.
    """
    project = root.parent
    if root.name != "memory" or project.parent.name != "projects" or len(project.name) > MAX_FOLDER_CHARS:
        return ()
    found: set[str] = set()
    for transcript in _newest(project):
        found.update(_directories(transcript))
    return tuple(sorted(path for path in found if _NOT_PLAIN.sub("-", path) == project.name))


def _newest(project: Path) -> list[Path]:
    try:
        states = [(path, path.lstat()) for path in project.glob("*.jsonl")]
    except OSError:
        return []
    files = [(state.st_mtime_ns, path) for path, state in states if stat.S_ISREG(state.st_mode)]
    return [path for _, path in sorted(files, reverse=True)[:MAX_TRANSCRIPTS]]


def _directories(transcript: Path) -> set[str]:
    try:
        with transcript.open("rb") as stream:
            text = stream.read(MAX_READ_BYTES)
    except OSError:
        return set()
    found: set[str] = set()
    for match in _CWD.finditer(text):
        try:
            found.add(json.loads(match[1]))
        except ValueError:  # no JSON after all, or no UTF-8
            continue
    return found
