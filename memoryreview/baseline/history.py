"""History as git tells it: checks and rebuilds. Pages read the database's `Change` rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from .errors import BaselineError
from .message import subject_of, trailers_of
from .process import run
from .repository import Repository


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit. `paths` are the documents that differ from its first parent, sorted."""

    oid: str
    parent: str | None
    at: datetime
    subject: str
    trailers: dict[str, str]
    paths: tuple[str, ...]


def log(repository: Repository, *, start: str | None = None) -> Iterator[Commit]:
    """Walk first parents from `start` (default: head), newest first, through GitPython.

    Raises BaselineError when `start` is unknown or git finds the history broken; nothing is yielded then.
    """
    first = start or repository.head()
    if first is None:
        return
    if not repository.has_commit(first):
        raise BaselineError(f"The baseline has no commit {first[:40]}. Nothing was changed.")
    status, stdout, stderr = run(repository.git_dir, "rev-list", "--first-parent", first, "--")
    if status != 0:
        raise BaselineError(f"git cannot walk the history of the baseline: {stderr.strip()}. Nothing was changed.")
    for oid in stdout.decode("ascii").split():
        commit = repository.commit(oid)
        parent = repository.parent(oid)
        yield Commit(
            oid=oid,
            parent=parent,
            at=commit.at,
            subject=subject_of(commit.message),
            trailers=trailers_of(commit.message),
            paths=tuple(repository.changes(parent, oid)),
        )


def fsck(git_dir: Path) -> tuple[str, ...]:
    """Run `git fsck --full --strict` with a scrubbed environment and return its complaints, () when clean.

    A repository that cannot be opened is a complaint as well. Commits that no branch reaches are none: a killed writer
    leaves them, and they do no harm. Raises BaselineError when git is not installed.
    """
    try:
        Repository(git_dir).close()
    except BaselineError as error:
        return (str(error),)
    status, stdout, stderr = run(git_dir, "fsck", "--full", "--strict", "--no-dangling", "--no-progress")
    lines = stdout.decode("utf-8", "replace").splitlines() + stderr.splitlines()
    complaints = tuple(line for line in lines if line and not line.startswith("notice: "))
    if status != 0 and not complaints:
        return (f"git fsck ended with exit code {status}",)
    return complaints
