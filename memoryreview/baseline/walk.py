"""A whole history read at once, for checks: three git processes, however many commits there are."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from .errors import BaselineError
from .objects import decode_commit
from .process import named_objects, run
from .repository import Repository


@dataclass(frozen=True, slots=True)
class Walked:
    """One commit, and the paths in which it differs from its first parent."""

    oid: str
    parent: str
    at: datetime
    message: str
    paths: frozenset[str]


def walk(repository: Repository, head: str) -> Iterator[Walked]:
    """Yield the commits from the first one to `head` along first parents.

    Raises BaselineError, before anything is told, when git finds the history broken.
    """
    listed = _asked(repository, b"", "rev-list", "--reverse", "--first-parent", head, "--")
    oids = listed.decode("ascii").split()
    changed = _changed(_asked(repository, listed, "diff-tree", "--stdin", *_PLAIN, "-r", "-z", "--raw", "--root"))
    for oid, kind, payload in named_objects(repository.git_dir, oids):
        if kind != b"commit":
            raise BaselineError(f"Object {oid} of the baseline is no commit. Nothing was changed.")
        commit = decode_commit(payload)
        parent = commit.parents[0] if commit.parents else ""
        yield Walked(oid, parent, commit.at, commit.message, changed.get(oid, frozenset()))


_PLAIN = ("--no-ext-diff", "--no-textconv", "--no-renames", "--diff-merges=first-parent", "--abbrev=40")


def _asked(repository: Repository, stdin: bytes, *arguments: str) -> bytes:
    status, stdout, stderr = run(repository.git_dir, *arguments, stdin=stdin)
    if status != 0:
        raise BaselineError(f"git cannot walk the history of the baseline: {stderr.strip()}. Nothing was changed.")
    return stdout


def _changed(printed: bytes) -> dict[str, frozenset[str]]:
    """Read `diff-tree --stdin -z --raw`: a commit's id, then for each path its modes and ids, then its name."""
    found: dict[str, set[str]] = {}
    paths: set[str] = set()
    tokens = iter(printed.split(b"\0"))
    for token in tokens:
        if token.startswith(b":"):
            paths.add(os.fsdecode(next(tokens)))
        elif token:
            paths = found.setdefault(token.decode("ascii"), set())
    return {oid: frozenset(each) for oid, each in found.items()}
