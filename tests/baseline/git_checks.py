"""What tests of the baseline share: commits in one line, and the real git as an independent witness."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from memoryreview.baseline.commits import advance, write_commit
from memoryreview.baseline.repository import Repository

AT = datetime(2026, 5, 19, 8, 30, tzinfo=UTC)
ROOT = Path(__file__).parents[2]


def git(git_dir: Path, *arguments: str, content: bytes = b"") -> bytes:
    """Run git on a repository without any of our code and without outside settings; return stdout, fail on an error."""
    return _git(f"--git-dir={git_dir}", *arguments, content=content)


def _git(*arguments: str, content: bytes) -> bytes:
    environment = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(["git", *arguments], input=content, capture_output=True, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def trailers_by_git(message: str) -> dict[str, str]:
    """Return the trailers that the real git reads from a message."""
    printed = _git("interpret-trailers", "--parse", content=message.encode("utf-8", "backslashreplace")).decode()
    return dict(line.split(": ", 1) for line in printed.splitlines())


def assert_clean(git_dir: Path) -> None:
    git(git_dir, "fsck", "--full", "--strict", "--no-dangling")


def write(
    repository: Repository,
    delta: Mapping[str, bytes | None],
    *,
    parent: str | None = None,
    subject: str = "Change",
    body: str = "",
    trailers: Mapping[str, str] | None = None,
) -> str:
    """Write a commit on `parent`; the branch stays."""
    return write_commit(
        repository, parent=parent, delta=delta, subject=subject, body=body, trailers=trailers or {}, at=AT
    )


def commit(repository: Repository, delta: Mapping[str, bytes | None]) -> str:
    """Write a commit on the head and move the branch to it."""
    head = repository.head()
    oid = write(repository, delta, parent=head)
    assert advance(repository, expected=head, new=oid)
    return oid


def documents_by_git(git_dir: Path, oid: str) -> dict[str, bytes]:
    """Return the documents of a commit as the real git sees them."""
    rows = git(git_dir, "ls-tree", "-r", "-z", oid).split(b"\0")[:-1]
    found = {}
    for row in rows:
        meta, name = row.split(b"\t", 1)
        found[os.fsdecode(name)] = git(git_dir, "cat-file", "blob", meta.split()[2].decode())
    return found


def start_python(source: str, *arguments: str, environment: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
    """Start a script that imports the package; for kills, second processes and other environments."""
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", source, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, **(environment or {})},
    )
