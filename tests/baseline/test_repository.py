from __future__ import annotations

import os
import shutil
import signal
import stat
from collections.abc import Mapping
from pathlib import Path

import pytest

from memoryreview.baseline import repository as repository_module
from memoryreview.baseline.errors import BaselineError
from memoryreview.baseline.history import fsck
from memoryreview.baseline.objects import object_id
from memoryreview.baseline.repository import Repository, TreeEntry
from tests.baseline.git_checks import assert_clean, commit, documents_by_git, git, start_python, write

UNKNOWN = "0123456789" * 4

CREATE_AND_DIE = """
import os, signal, sys
from pathlib import Path
from memoryreview.baseline import steps
from memoryreview.baseline.history import fsck
from memoryreview.baseline.objects import object_id
from memoryreview.baseline.repository import Repository

steps.on_step = lambda name: os.kill(os.getpid(), signal.SIGKILL)
Repository.create(Path(sys.argv[1]))
"""


def loose_object(repository: Repository, oid: str) -> Path:
    return repository.git_dir / "objects" / oid[:2] / oid[2:]


def test_create_makes_a_private_empty_repository_that_git_finds_clean(repository: Repository) -> None:
    assert repository.head() is None
    assert_clean(repository.git_dir)
    assert (repository.git_dir / "info" / "attributes").read_bytes() == b"* -text\n"
    for path in (repository.git_dir, *repository.git_dir.rglob("*")):
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode == (0o700 if path.is_dir() else 0o600), path


def test_create_leaves_nothing_beside_the_repository(repository: Repository) -> None:
    assert list(repository.git_dir.parent.iterdir()) == [repository.git_dir]


def test_create_refuses_a_path_that_is_taken(tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.mkdir()
    (taken / "note.md").write_bytes(b"mine\n")
    with pytest.raises(BaselineError, match="Nothing was changed"):
        Repository.create(taken)
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]
    assert (taken / "note.md").read_bytes() == b"mine\n"


def test_create_twice_keeps_the_first_repository(repository: Repository) -> None:
    head = commit(repository, {"a.md": b"one\n"})
    with pytest.raises(BaselineError):
        Repository.create(repository.git_dir)
    assert Repository(repository.git_dir).head() == head


def test_create_killed_before_the_rename_leaves_no_repository_and_can_be_repeated(tmp_path: Path) -> None:
    git_dir = tmp_path / "notes.git"
    process = start_python(CREATE_AND_DIE, str(git_dir))
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert not git_dir.exists()
    with Repository.create(git_dir) as created:
        commit(created, {"a.md": b"one\n"})
    assert_clean(git_dir)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.git"]


def test_c116_open_of_a_removed_baseline_says_what_to_do(repository: Repository) -> None:
    commit(repository, {"a.md": b"one\n"})
    shutil.rmtree(repository.git_dir)
    with pytest.raises(BaselineError, match="restore the data folder from a backup, or adopt the folder anew"):
        Repository(repository.git_dir)


def test_c116_head_of_a_baseline_removed_while_open_is_an_error_not_an_empty_history(repository: Repository) -> None:
    commit(repository, {"a.md": b"one\n"})
    shutil.rmtree(repository.git_dir)
    with pytest.raises(BaselineError, match="is gone"):
        repository.head()


def test_c116_commits_that_are_no_longer_there_are_named_not_raised_as_a_traceback(repository: Repository) -> None:
    head = commit(repository, {"a.md": b"one\n"})
    assert not repository.has_commit(UNKNOWN)
    assert not repository.is_ancestor(UNKNOWN, head)
    for read in (repository.snapshot, repository.commit, repository.message):
        with pytest.raises(BaselineError, match=UNKNOWN):
            read(UNKNOWN)
    with pytest.raises(BaselineError, match=UNKNOWN):
        repository.is_ancestor(head, UNKNOWN)


@pytest.mark.parametrize("value", ["", "HEAD", "main", "--help", "../config", "A" * 40, UNKNOWN + "\n", "0" * 64])
def test_has_commit_is_false_for_what_is_no_commit_id(repository: Repository, value: str) -> None:
    commit(repository, {"a.md": b"one\n"})
    assert repository.has_commit(value) is False


def test_has_commit_is_false_for_another_kind_of_object(repository: Repository) -> None:
    entry = repository.snapshot(commit(repository, {"a.md": b"one\n"})).entry("a.md")
    assert entry is not None
    assert not repository.has_commit(entry.oid)


@pytest.mark.parametrize(
    "config",
    [
        b"",
        repository_module.CONFIG + b"[core]\n\tfsmonitor = touch pwned\n",
        repository_module.CONFIG.replace(b"hooksPath = /dev/null", b"hooksPath = hooks"),
        repository_module.CONFIG.replace(b"\n", b"\r\n"),
    ],
)
def test_open_refuses_a_config_that_is_not_ours(repository: Repository, config: bytes) -> None:
    (repository.git_dir / "config").write_bytes(config)
    with pytest.raises(BaselineError, match="not the one that memoryreview wrote"):
        Repository(repository.git_dir)


def test_open_refuses_the_git_folder_of_a_user(tmp_path: Path) -> None:
    git(tmp_path / "theirs", "init", "-q", "--bare")
    with pytest.raises(BaselineError, match="not the one that memoryreview wrote"):
        Repository(tmp_path / "theirs")


def test_head_is_the_same_after_refs_were_packed(repository: Repository) -> None:
    head = commit(repository, {"a.md": b"one\n"})
    git(repository.git_dir, "pack-refs", "--all", "--prune")
    assert not (repository.git_dir / "refs" / "heads" / "main").exists()
    assert repository.head() == head


def test_head_ignores_other_packed_refs(repository: Repository) -> None:
    commit(repository, {"a.md": b"one\n"})
    (repository.git_dir / "packed-refs").write_bytes(
        b"# pack-refs with: peeled fully-peeled sorted \n%s refs/heads/main2\n^%s\n" % (b"1" * 40, b"2" * 40)
    )
    (repository.git_dir / "refs" / "heads" / "main").unlink()
    assert repository.head() is None


@pytest.mark.parametrize("content", [b"", b"\0" * 41, b"ref: refs/heads/other\n", b"abc\n"])
def test_head_of_a_damaged_branch_file_is_an_error(repository: Repository, content: bytes) -> None:
    commit(repository, {"a.md": b"one\n"})
    (repository.git_dir / "refs" / "heads" / "main").write_bytes(content)
    with pytest.raises(BaselineError, match="damaged"):
        repository.head()


def test_snapshot_maps_paths_to_bytes_and_entries(repository: Repository) -> None:
    head = commit(repository, {"b.md": b"two\n", "a/b/c.md": b"deep\n", "a.md": b"one\n"})
    snapshot = repository.snapshot(head)
    assert dict(snapshot) == {"a.md": b"one\n", "a/b/c.md": b"deep\n", "b.md": b"two\n"}
    assert len(snapshot) == 3
    blob = git(repository.git_dir, "rev-parse", f"{head}:a/b/c.md").decode().strip()
    assert snapshot.entries["a/b/c.md"] == TreeEntry(blob, 0o100644)
    assert repository.blob(blob) == b"deep\n"


@pytest.mark.parametrize(
    "path", ["", "a", "a/", "/a.md", "a.md/", "a.md/x", "a//c.md", "missing.md", "\ud800.md", "x\0"]
)
def test_snapshot_does_not_hold_paths_that_are_no_document(repository: Repository, path: str) -> None:
    snapshot = repository.snapshot(commit(repository, {"a/c.md": b"deep\n", "a.md": b"one\n"}))
    assert path not in snapshot
    assert snapshot.get(path) is None


def test_snapshot_leaves_links_and_nested_repositories_out(repository: Repository) -> None:
    head = commit(repository, {"a.md": b"one\n"})
    blob = repository.snapshot(head).entries["a.md"].oid
    rows = f"100755 blob {blob}\tb.md\n120000 blob {blob}\tlink.md\n160000 commit {head}\tnested\n"
    tree = git(repository.git_dir, "mktree", content=rows.encode()).decode().strip()
    author = ("-c", "user.name=A", "-c", "user.email=a@localhost")
    foreign = git(repository.git_dir, *author, "commit-tree", "-m", "Foreign", tree).decode().strip()
    snapshot = repository.snapshot(foreign)
    assert dict(snapshot) == {"b.md": b"one\n"}
    assert "link.md" not in snapshot
    assert "nested" not in snapshot
    assert snapshot.entries == {"b.md": TreeEntry(blob, 0o100755)}


def test_snapshot_of_a_repacked_repository_reads_the_same_bytes(repository: Repository) -> None:
    texts = {f"folder/{n}.md": (f"line {n}\n" * 200).encode() for n in range(30)}
    oids = [commit(repository, {path: text + path.encode()}) for path, text in texts.items()]
    before = [dict(repository.snapshot(oid)) for oid in oids]
    git(repository.git_dir, "gc", "-q", "--prune=now")
    with Repository(repository.git_dir) as reopened:
        assert [dict(reopened.snapshot(oid)) for oid in oids] == before
        assert reopened.head() == oids[-1]
        assert not reopened.has_commit(UNKNOWN)


def test_snapshot_survives_a_repack_between_two_reads(repository: Repository) -> None:
    head = commit(repository, {"a.md": b"one\n", "b/c.md": b"two\n"})
    snapshot = repository.snapshot(head)
    assert snapshot["a.md"] == b"one\n"
    git(repository.git_dir, "repack", "-a", "-d", "-q")
    assert snapshot["b/c.md"] == b"two\n"


def test_parents_and_message_are_those_of_git(repository: Repository) -> None:
    first = commit(repository, {"a.md": b"one\n"})
    second = write(repository, {"a.md": b"two\n"}, parent=first, subject="Second", body="Why", trailers={"Agent": "é"})
    assert repository.commit(first).parents == ()
    assert repository.commit(second).parents == (first,)
    assert repository.message(second) == "Second\n\nWhy\n\nAgent: é\n"
    assert git(repository.git_dir, "show", "-s", "--format=%B", second).decode() == repository.message(second) + "\n"


def test_is_ancestor_near(repository: Repository) -> None:
    first, second = commit(repository, {"a.md": b"1"}), commit(repository, {"a.md": b"2"})
    side = write(repository, {"a.md": b"3"}, parent=first)
    assert repository.is_ancestor(first, second)
    assert repository.is_ancestor(second, second)
    assert not repository.is_ancestor(second, first)
    assert not repository.is_ancestor(side, second)


def test_is_ancestor_far_asks_git(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repository_module, "_NEAR_COMMITS", 2)
    oids = [commit(repository, {"a.md": str(n).encode()}) for n in range(5)]
    side = write(repository, {"a.md": b"side"}, parent=oids[0])
    assert repository.is_ancestor(oids[0], oids[4])
    assert not repository.is_ancestor(side, oids[4])
    assert not repository.is_ancestor(UNKNOWN, oids[4])


@pytest.mark.parametrize("damage", [b"", b"\0" * 60, b"x"])
def test_damaged_object_is_named_and_never_returned(repository: Repository, damage: bytes) -> None:
    head = commit(repository, {"a.md": b"one\n"})
    blob = repository.snapshot(head).entries["a.md"].oid
    loose_object(repository, blob).write_bytes(damage)
    with pytest.raises(BaselineError, match=blob):
        repository.blob(blob)


def test_object_with_the_bytes_of_another_is_damaged(repository: Repository) -> None:
    snapshot = repository.snapshot(commit(repository, {"a.md": b"one\n", "b.md": b"two\n"}))
    first, second = (snapshot.entries[name].oid for name in ("a.md", "b.md"))
    loose_object(repository, first).write_bytes(loose_object(repository, second).read_bytes())
    with pytest.raises(BaselineError, match=first):
        snapshot["a.md"]


def test_damaged_pack_is_an_error(repository: Repository) -> None:
    head = commit(repository, {"a.md": os.urandom(20_000)})
    git(repository.git_dir, "repack", "-a", "-d", "-q")
    pack = next((repository.git_dir / "objects" / "pack").glob("*.pack"))
    pack.chmod(0o600)
    content = bytearray(pack.read_bytes())
    content[12:-20] = bytes(len(content) - 32)
    pack.write_bytes(content)
    with Repository(repository.git_dir) as reopened, pytest.raises(BaselineError, match="verify"):
        dict(reopened.snapshot(head))


def test_unreadable_config_is_an_error_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "config").mkdir()
    with pytest.raises(BaselineError, match="Is a directory"):
        Repository(tmp_path)


def test_documents_are_those_that_git_lists(repository: Repository) -> None:
    head = commit(repository, {"a.md": b"one\n", "a/b.md": b"two\n", "a-b.md": b"three\n", "a0.md": b"four\n"})
    assert dict(repository.snapshot(head)) == documents_by_git(repository.git_dir, head)
    assert list(repository.snapshot(head)) == list(documents_by_git(repository.git_dir, head))


@pytest.mark.parametrize("kind", [b"commit", b"tree"])
def test_object_that_is_sound_but_senseless_is_an_error(repository: Repository, kind: bytes) -> None:
    oid = object_id(kind, b"junk")
    repository.objects.write(kind, b"junk", oid)
    with pytest.raises(BaselineError, match=oid):
        repository.commit(oid) if kind == b"commit" else repository.tree(oid)


def test_branch_that_the_system_cannot_read_is_an_error(repository: Repository) -> None:
    (repository.git_dir / "refs" / "heads" / "main").mkdir()
    with pytest.raises(BaselineError, match="Is a directory"):
        repository.head()


def test_repository_without_a_pack_folder_has_no_packs(repository: Repository) -> None:
    (repository.git_dir / "objects" / "pack").rmdir()
    assert not repository.has_commit(UNKNOWN)


def put_in_place_of_git(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.mkdir()
    (folder / "git").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


@pytest.mark.parametrize("script", ["read oid; echo $oid blob 4; echo ab", "exit 1", "read oid; exit 128"])
def test_git_that_answers_wrongly_or_dies_is_an_error(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    blob = repository.snapshot(commit(repository, {"a.md": b"one\n"})).entries["a.md"].oid
    git(repository.git_dir, "-c", "pack.indexVersion=1", "repack", "-a", "-d", "-q")
    put_in_place_of_git(tmp_path / "bin", script, monkeypatch)
    with Repository(repository.git_dir) as reopened:
        for _ in range(2):
            with pytest.raises(BaselineError, match=blob):
                reopened.blob(blob)


def test_is_ancestor_when_git_cannot_tell_is_an_error(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repository_module, "_NEAR_COMMITS", 1)
    oids = [commit(repository, {"a.md": str(n).encode()}) for n in range(3)]
    put_in_place_of_git(tmp_path / "bin", "echo no history >&2; exit 128", monkeypatch)
    with pytest.raises(BaselineError, match="no history"):
        repository.is_ancestor(oids[0], oids[2])


def test_fsck_that_fails_without_a_word_is_a_complaint(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_in_place_of_git(tmp_path / "bin", "exit 3", monkeypatch)
    assert fsck(repository.git_dir) == ("git fsck ended with exit code 3",)


def test_gone_in_names_the_documents_that_a_later_commit_has_no_more(repository: Repository) -> None:
    before = {"a.md": b"a\n", "kept/b.md": b"b\n", "kept/c.md": b"c\n", "went/d.md": b"d\n", "x.md": b"x\n"}
    first = commit(repository, before)
    gone = {"kept/c.md": None, "went/d.md": None, "x.md": None}
    second = commit(repository, {**gone, "a.md": b"edited\n", "new/e.md": b"e\n", "x.md/y.md": b"x\n"})
    earlier, later = repository.snapshot(first), repository.snapshot(second)
    assert dict(earlier.gone_in(later)) == {path: earlier.entry(path) for path in gone}
    assert {path for path, _ in later.gone_in(earlier)} == {"new/e.md", "x.md/y.md"}


def test_gone_in_reads_no_folder_that_is_equal(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    first = commit(repository, {"equal/a.md": b"a\n", "b.md": b"b\n"})
    second = commit(repository, {"b.md": None, "c.md": b"c\n"})
    earlier, later = repository.snapshot(first), repository.snapshot(second)
    read: list[str] = []
    tree = repository.tree

    def noted(oid: str) -> Mapping[bytes, TreeEntry]:
        read.append(oid)
        return tree(oid)

    monkeypatch.setattr(repository, "tree", noted)
    assert [path for path, _ in earlier.gone_in(later)] == ["b.md"]
    assert set(read) == {earlier.root, later.root}
