from __future__ import annotations

import pytest

from memoryreview.baseline.commits import advance
from memoryreview.baseline.errors import BaselineError
from memoryreview.baseline.repository import Repository
from memoryreview.baseline.walk import walk
from tests.baseline.git_checks import AT, commit, git, write

ODD = ["q&a.md", "50%25.md", "cafe\u0301.md", "-dash #1.md", "deep/er/[x].md"]


def test_walk_tells_parents_messages_and_paths_oldest_first(repository: Repository) -> None:
    first = commit(repository, dict.fromkeys(ODD, b"1\n"))
    second = write(
        repository, {ODD[0]: b"2\n", ODD[4]: None}, parent=first, subject="Two", trailers={"Change-Kind": "auto"}
    )
    assert advance(repository, expected=first, new=second)
    told = list(walk(repository, second))
    assert [(one.oid, one.parent, one.paths) for one in told] == [
        (first, "", frozenset(ODD)),
        (second, first, frozenset({ODD[0], ODD[4]})),
    ]
    assert (told[1].message, told[1].at) == ("Two\n\nChange-Kind: auto\n", AT)


def test_walk_of_a_packed_history_is_the_same(repository: Repository) -> None:
    oids = [commit(repository, {f"{n % 3}.md": b"x" * n}) for n in range(1, 9)]
    before = list(walk(repository, oids[-1]))
    git(repository.git_dir, "gc", "-q", "--prune=now")
    assert list(walk(repository, oids[-1])) == before
    assert [one.oid for one in before] == oids


def test_walk_follows_first_parents_and_counts_what_a_merge_brought(repository: Repository) -> None:
    first = commit(repository, {"a.md": b"1"})
    second = commit(repository, {"a.md": b"2"})
    side = write(repository, {"b.md": b"side"}, parent=first)
    tree = repository.commit(write(repository, {"b.md": b"side"}, parent=second)).tree
    author = ("-c", "user.name=A", "-c", "user.email=a@localhost")
    merged = git(repository.git_dir, *author, "commit-tree", "-m", "Merge", "-p", second, "-p", side, tree)
    told = list(walk(repository, merged.decode().strip()))
    assert [(one.parent, sorted(one.paths)) for one in told] == [("", ["a.md"]), (first, ["a.md"]), (second, ["b.md"])]


def test_walk_of_a_history_with_a_hole_is_an_error_before_anything_is_told(repository: Repository) -> None:
    oids = [commit(repository, {"a.md": str(n).encode()}) for n in range(3)]
    (repository.git_dir / "objects" / oids[0][:2] / oids[0][2:]).unlink()
    with pytest.raises(BaselineError, match="cannot walk"):
        next(walk(repository, oids[-1]))
