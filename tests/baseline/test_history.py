from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from memoryreview.baseline.commits import advance
from memoryreview.baseline.errors import BaselineError
from memoryreview.baseline.history import fsck, log
from memoryreview.baseline.repository import Repository
from tests.baseline.git_checks import commit, git, write


def test_log_of_an_empty_repository_is_empty(repository: Repository) -> None:
    assert list(log(repository)) == []


def test_log_tells_commits_newest_first(repository: Repository) -> None:
    oids = [commit(repository, {"a.md": str(n).encode()}) for n in range(3)]
    assert [entry.oid for entry in log(repository)] == oids[::-1]


def test_log_follows_first_parents_only(repository: Repository) -> None:
    first = commit(repository, {"a.md": b"1"})
    second = commit(repository, {"a.md": b"2"})
    side = write(repository, {"b.md": b"side"}, parent=first)
    author = ("-c", "user.name=A", "-c", "user.email=a@localhost")
    tree = repository.commit(second).tree
    merge = git(repository.git_dir, *author, "commit-tree", "-m", "Merge", "-p", second, "-p", side, tree)
    merged = merge.decode().strip()
    assert advance(repository, expected=second, new=merged)
    assert [entry.oid for entry in log(repository)] == [merged, second, first]


def test_log_of_a_repacked_history_is_the_same(repository: Repository) -> None:
    for n in range(5):
        commit(repository, {f"{n}.md": b"x" * n})
    before = list(log(repository))
    git(repository.git_dir, "gc", "-q", "--prune=now")
    with Repository(repository.git_dir) as reopened:
        assert list(log(reopened)) == before


def test_c116_log_of_a_history_with_a_hole_is_an_error_before_anything_is_told(repository: Repository) -> None:
    oids = [commit(repository, {"a.md": str(n).encode()}) for n in range(3)]
    (repository.git_dir / "objects" / oids[0][:2] / oids[0][2:]).unlink()
    with Repository(repository.git_dir) as reopened, pytest.raises(BaselineError, match="cannot walk"):
        next(log(reopened))


def test_fsck_of_sound_repositories_is_empty(repository: Repository) -> None:
    assert fsck(repository.git_dir) == ()
    head = commit(repository, {"a.md": b"1"})
    write(repository, {"a.md": b"nobody points here"}, parent=head)
    assert fsck(repository.git_dir) == ()


def test_fsck_names_a_damaged_object(repository: Repository) -> None:
    blob = repository.snapshot(commit(repository, {"a.md": b"1"})).entries["a.md"].oid
    (repository.git_dir / "objects" / blob[:2] / blob[2:]).write_bytes(b"")
    assert any(blob in complaint for complaint in fsck(repository.git_dir))


def test_fsck_names_a_missing_object(repository: Repository) -> None:
    blob = repository.snapshot(commit(repository, {"a.md": b"1"})).entries["a.md"].oid
    (repository.git_dir / "objects" / blob[:2] / blob[2:]).unlink()
    assert f"missing blob {blob}" in fsck(repository.git_dir)


def test_fsck_names_a_branch_that_points_nowhere(repository: Repository) -> None:
    commit(repository, {"a.md": b"1"})
    (repository.git_dir / "refs" / "heads" / "main").write_text("1" * 40 + "\n")
    assert any("refs/heads/main" in complaint for complaint in fsck(repository.git_dir))


def test_c116_fsck_of_a_removed_repository_is_one_sentence(repository: Repository, tmp_path: Path) -> None:
    shutil.rmtree(repository.git_dir)
    (complaint,) = fsck(repository.git_dir)
    assert complaint.startswith(f"There is no baseline at “{repository.git_dir}”")


def test_fsck_does_not_run_a_foreign_config(repository: Repository, tmp_path: Path) -> None:
    sentinel = tmp_path / "sentinel"
    with (repository.git_dir / "config").open("a") as config:
        config.write(f"[core]\n\tfsmonitor = touch {sentinel}\n")
    (complaint,) = fsck(repository.git_dir)
    assert "not the one that memoryreview wrote" in complaint
    assert not sentinel.exists()
