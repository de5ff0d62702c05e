"""History as git tells it, for checks. Pages read the database's `Change` rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .errors import BaselineError
from .process import run
from .repository import Repository


@dataclass(frozen=True, slots=True)
class Commit:
    oid: str


def log(repository: Repository) -> Iterator[Commit]:
    """Walk first parents from the head, newest first. Raises BaselineError, before anything is told, when git finds the
    history broken."""
    head = repository.head()
    if head is None:
        return
    status, stdout, stderr = run(repository.git_dir, "rev-list", "--first-parent", head, "--")
    if status != 0:
        raise BaselineError(f"git cannot walk the history of the baseline: {stderr.strip()}. Nothing was changed.")
    for oid in stdout.decode("ascii").split():
        yield Commit(oid)


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
