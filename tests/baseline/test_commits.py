from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoryreview.baseline import steps
from memoryreview.baseline.commits import advance, write_commit
from memoryreview.baseline.errors import BaselineError
from memoryreview.baseline.objects import FOLDER_MODE, TreeEntry, encode_tree, object_id
from memoryreview.baseline.repository import Repository
from tests.baseline.git_checks import AT, assert_clean, commit, documents_by_git, git, write

HOSTILE_NAMES = {
    "メモ.md": "日本語\n".encode(),
    "a b/c.md": b"blank in the folder\n",
    "x\ny.md": b"newline in the name\n",
    "-rf.md": b"option\n",
    "--output=x.md": b"option with a value\n",
    "tab\there.md": b"tab\n",
    'quote".md': b"quote\n",
    "back\\slash.md": b"backslash\n",
    ":(glob)*.md": b"pathspec magic\n",
    "%2e%2e.md": b"percent\n",
    "cafe\u0301.md": b"NFD\n",
    "caf\u00e9.md": b"NFC\n",
    os.fsdecode(b"latin-\xe9.md"): b"not UTF-8 in the name\n",
    "a.md": b"a\n",
    "a.md.md/a.md": b"below\n",
    "\u200bzero.md": b"zero width\n",
    "git.md": b"no dot\n",
    ".gitkeep.md": b"only starts like it\n",
    "x.git": b"only ends like it\n",
}
HOSTILE_BYTES = {
    "crlf.md": b"a\r\nb\r\n",
    "mixed.md": b"a\r\nb\nc\r",
    "bom.md": b"\xef\xbb\xbf# Title\n",
    "cut.md": b"no final newline",
    "empty.md": b"",
    "separators.md": "one\u2028still one\nx\x0cy\nz\x85z\n".encode(),
    "latin.md": b"caf\xe9\n",
    "nul.md": b"a\0b\n",
    "all.md": bytes(range(256)),
    "ident.md": b"$Id$ $Date$\n",
    "conflict.md": b"<<<<<<< a\n=======\n>>>>>>> b\n",
    "blob-like.md": b"blob 3\0abc",
}


def test_c109_documents_with_hostile_names_are_kept_listed_changed_and_removed(repository: Repository) -> None:
    first = commit(repository, HOSTILE_NAMES)
    assert documents_by_git(repository.git_dir, first) == HOSTILE_NAMES
    assert dict(repository.snapshot(first)) == HOSTILE_NAMES
    changed = {path: content + b"more\n" for path, content in HOSTILE_NAMES.items()}
    second = commit(repository, changed)
    assert documents_by_git(repository.git_dir, second) == changed
    last = commit(repository, dict.fromkeys(list(HOSTILE_NAMES)[1:]))
    assert dict(repository.snapshot(last)) == {"メモ.md": changed["メモ.md"]}
    assert_clean(repository.git_dir)


def test_c104_c110_bytes_come_back_as_they_were(repository: Repository) -> None:
    head = commit(repository, HOSTILE_BYTES)
    assert documents_by_git(repository.git_dir, head) == HOSTILE_BYTES
    assert dict(repository.snapshot(head)) == HOSTILE_BYTES
    assert_clean(repository.git_dir)


def test_c086_one_changed_line_of_a_crlf_document_is_one_line_for_git(repository: Repository) -> None:
    first = commit(repository, {"a.md": b"a\r\nb\r\nz\r\n"})
    second = commit(repository, {"a.md": b"a\r\nc\r\nz\r\n"})
    assert git(repository.git_dir, "diff", "--numstat", "--no-ext-diff", first, second) == b"1\t1\ta.md\n"


def test_commit_is_by_the_tool_at_the_given_time(repository: Repository) -> None:
    at = datetime(2026, 5, 19, 10, 30, 5, 999, tzinfo=timezone(timedelta(hours=2)))
    oid = write_commit(repository, parent=None, delta={"a.md": b"x"}, subject="S", body="", trailers={}, at=at)
    assert git(repository.git_dir, "cat-file", "commit", oid).splitlines()[1:3] == [
        b"author memoryreview <memoryreview@localhost> 1779179405 +0000",
        b"committer memoryreview <memoryreview@localhost> 1779179405 +0000",
    ]
    assert repository.commit(oid).at == at.replace(microsecond=0)


def test_c133_git_reads_only_our_trailers(repository: Repository) -> None:
    oid = write(
        repository,
        {"a.md": b"x"},
        subject="fix\n\nCo-authored-by: Boss <b@x>",
        body="Reviewed-by: Admin <a@x>\x00\x1b[31m",
        trailers={"Agent": "Eve\nReviewed-by: Admin <a@x>", "Verdict": "safe"},
    )
    assert git(repository.git_dir, "show", "-s", "--format=%(trailers:only,unfold)", oid) == (
        b"Agent: Eve Reviewed-by: Admin <a@x>\nVerdict: safe\n\n"
    )
    assert (
        git(repository.git_dir, "show", "-s", "--format=%an <%ae>", oid) == b"memoryreview <memoryreview@localhost>\n"
    )
    assert_clean(repository.git_dir)


def test_message_with_undecodable_names_is_still_utf8(repository: Repository) -> None:
    oid = write(repository, {"a.md": b"x"}, subject="Change " + os.fsdecode(b"caf\xe9.md"))
    assert repository.message(oid) == "Change caf\\udce9.md\n"


@pytest.mark.parametrize("at", [AT.replace(tzinfo=None), datetime(1969, 12, 31, tzinfo=UTC)])
def test_commit_without_a_usable_time_is_refused(repository: Repository, at: datetime) -> None:
    with pytest.raises(ValueError, match="aware time"):
        write_commit(repository, parent=None, delta={"a.md": b"x"}, subject="S", body="", trailers={}, at=at)


def test_first_commit_of_an_empty_folder_is_possible(repository: Repository) -> None:
    head = commit(repository, {})
    assert dict(repository.snapshot(head)) == {}
    assert_clean(repository.git_dir)
    assert dict(repository.snapshot(commit(repository, {"a.md": b"x"}))) == {"a.md": b"x"}


@pytest.mark.parametrize(
    "delta", [{}, {"a.md": b"one\n"}, {"missing.md": None}, {"b": None}, {"a.md/x.md": None}, {"b/c.md/d.md": None}]
)
def test_delta_that_changes_nothing_is_refused_and_stores_nothing(
    repository: Repository, delta: Mapping[str, bytes | None]
) -> None:
    head = commit(repository, {"a.md": b"one\n", "b/c.md": b"two\n"})
    before = sorted((repository.git_dir / "objects").rglob("*"))
    with pytest.raises(ValueError, match="changes nothing"):
        write(repository, delta, parent=head)
    assert sorted((repository.git_dir / "objects").rglob("*")) == before


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/a.md",
        "a//b.md",
        "a/",
        ".",
        "..",
        "../a.md",
        "a/../b.md",
        "./a.md",
        "a/.",
        ".git/a.md",
        ".GIT/hooks/x.md",
        "a/.Git/x.md",
        ".git",
        "git~1/x.md",
        "GIT~1",
        ".git /x.md",
        ".git./x.md",
        ".git::$INDEX_ALLOCATION/x.md",
        "a\\.git\\x.md",
        ".g\u200cit/x.md",
        "\ufeff.git/x.md",
        ".gitmodules",
        ".gitattributes",
        "a\0.md",
        "\ud800.md",
        "/".join(["d"] * 65),
    ],
)
def test_path_that_git_cannot_keep_is_refused_and_stores_nothing(repository: Repository, path: str) -> None:
    before = sorted((repository.git_dir / "objects").rglob("*"))
    for content in (b"x", None):
        with pytest.raises(ValueError):
            write(repository, {"ok.md": b"x", path: content})
    assert sorted((repository.git_dir / "objects").rglob("*")) == before


@pytest.mark.parametrize(
    "delta",
    [
        {"new": b"x", "new/below.md": b"y"},
        {"file": b"x", "file/below.md": b"y"},
        {"file/below.md": b"y"},
        {"folder": b"x"},
        {"folder": b"x", "folder/a.md": None},
        {"folder/a.md": b"changed", "folder": b"x", "folder/b.md": None},
    ],
)
def test_path_that_would_be_document_and_folder_is_refused(
    repository: Repository, delta: Mapping[str, bytes | None]
) -> None:
    head = commit(repository, {"file": b"f", "folder/a.md": b"a", "folder/b.md": b"b"})
    with pytest.raises(ValueError, match="document and a folder"):
        write(repository, delta, parent=head)


def test_document_becomes_a_folder_and_a_folder_a_document(repository: Repository) -> None:
    commit(repository, {"file": b"f", "folder/deep/a.md": b"a"})
    head = commit(repository, {"file": None, "file/x.md": b"x", "folder": b"f", "folder/deep/a.md": None})
    assert documents_by_git(repository.git_dir, head) == {"file/x.md": b"x", "folder": b"f"}
    assert_clean(repository.git_dir)


def test_folder_goes_with_its_last_document(repository: Repository) -> None:
    commit(repository, {"a.md": b"a", "deep/er/b.md": b"b"})
    head = commit(repository, {"deep/er/b.md": None})
    assert git(repository.git_dir, "ls-tree", "-r", "-t", "--name-only", head) == b"a.md\n"


def test_all_documents_can_go(repository: Repository) -> None:
    commit(repository, {"a.md": b"a", "deep/b.md": b"b"})
    assert dict(repository.snapshot(commit(repository, {"a.md": None, "deep/b.md": None}))) == {}
    assert_clean(repository.git_dir)


def test_path_keeps_its_mode(repository: Repository) -> None:
    blob = object_id(b"blob", b"run\n")
    repository.objects.write(b"blob", b"run\n", blob)
    tree = encode_tree({b"run.md": TreeEntry(blob, 0o100755)})
    repository.objects.write(b"tree", tree, object_id(b"tree", tree))
    outer = encode_tree({b"bin": TreeEntry(object_id(b"tree", tree), FOLDER_MODE)})
    repository.objects.write(b"tree", outer, object_id(b"tree", outer))
    text = f"tree {object_id(b'tree', outer)}\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\nx\n".encode()
    repository.objects.write(b"commit", text, object_id(b"commit", text))
    oid = write(repository, {"bin/run.md": b"walk\n", "bin/new.md": b"new\n"}, parent=object_id(b"commit", text))
    rows = git(repository.git_dir, "ls-tree", "-r", oid).decode().splitlines()
    assert [row.split()[0] + row.partition("\t")[2] for row in rows] == ["100644bin/new.md", "100755bin/run.md"]


def test_commit_touches_only_trees_on_changed_paths(repository: Repository) -> None:
    head = commit(repository, {f"{folder}/{n}.md": b"x" for folder in "abc" for n in range(5)})
    before = set((repository.git_dir / "objects").rglob("*/*"))
    write(repository, {"b/3.md": b"new\n"}, parent=head)
    # A blob, the folder's tree, the root's tree and the commit.
    assert len({path for path in set((repository.git_dir / "objects").rglob("*/*")) - before if path.is_file()}) == 4


def test_commit_on_an_unknown_parent_is_refused(repository: Repository) -> None:
    with pytest.raises(BaselineError, match="1" * 40):
        write(repository, {"a.md": b"x"}, parent="1" * 40)


def test_commit_on_a_repacked_parent(repository: Repository) -> None:
    commit(repository, {"a.md": b"a", "deep/b.md": b"b", "deep/c.md": b"c"})
    git(repository.git_dir, "gc", "-q", "--prune=now")
    head = commit(repository, {"deep/b.md": b"new"})
    assert documents_by_git(repository.git_dir, head) == {"a.md": b"a", "deep/b.md": b"new", "deep/c.md": b"c"}
    assert_clean(repository.git_dir)


def test_damaged_object_heals_when_the_same_bytes_are_written_again(repository: Repository) -> None:
    head = commit(repository, {"a.md": b"one\n"})
    blob = repository.snapshot(head).entries["a.md"].oid
    (repository.git_dir / "objects" / blob[:2] / blob[2:]).write_bytes(b"")
    commit(repository, {"b.md": b"one\n"})
    assert repository.snapshot(head)["a.md"] == b"one\n"
    assert_clean(repository.git_dir)


def test_advance_moves_only_from_the_expected_commit(repository: Repository) -> None:
    first = write(repository, {"a.md": b"1"})
    second = write(repository, {"a.md": b"2"}, parent=first)
    assert not advance(repository, expected=second, new=first)
    assert repository.head() is None
    assert advance(repository, expected=None, new=first)
    assert not advance(repository, expected=None, new=second)
    assert repository.head() == first
    assert advance(repository, expected=first, new=second)
    assert repository.head() == second == git(repository.git_dir, "rev-parse", "main").decode().strip()


def test_advance_from_a_packed_branch(repository: Repository) -> None:
    first = commit(repository, {"a.md": b"1"})
    second = write(repository, {"a.md": b"2"}, parent=first)
    git(repository.git_dir, "pack-refs", "--all", "--prune")
    assert not advance(repository, expected=second, new=second)
    assert advance(repository, expected=first, new=second)
    assert git(repository.git_dir, "rev-parse", "main").decode().strip() == second


@pytest.mark.parametrize("new", ["2" * 40, "HEAD", "", "../../config"])
def test_advance_to_what_is_no_commit_is_refused(repository: Repository, new: str) -> None:
    head = commit(repository, {"a.md": b"1"})
    with pytest.raises(BaselineError, match="no such commit"):
        advance(repository, expected=head, new=new)
    assert repository.head() == head


def test_apply_needs_at_most_eleven_fsyncs_and_no_process(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    head = commit(repository, {f"{folder}/{n}.md": b"x" for folder in "ab" for n in range(20)})
    synced: list[int] = []
    fsync = os.fsync

    def count(fd: int) -> None:
        synced.append(fd)
        fsync(fd)

    def refuse(*_arguments: object, **_options: object) -> None:
        raise AssertionError("a process was started")

    monkeypatch.setattr(os, "fsync", count)
    monkeypatch.setattr(os, "fork", refuse)
    monkeypatch.setattr(subprocess, "Popen", refuse)
    with Repository(repository.git_dir) as reopened:
        assert reopened.head() == head
        assert reopened.snapshot(head)["a/1.md"] == b"x"
        commit(reopened, {"a/1.md": b"changed\n"})
    # Blob, two trees, commit; the branch and its folder. The document on disk takes two more.
    assert len(synced) == 6


def test_every_object_is_synced_before_the_branch_moves(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    fsync = os.fsync

    def note(fd: int) -> None:
        fsync(fd)
        seen.append("fsync")

    monkeypatch.setattr(os, "fsync", note)
    monkeypatch.setattr(steps, "on_step", seen.append)
    commit(repository, {"a.md": b"x"})
    stored = ["fsync", "object.written", "object.stored"] * 3
    assert seen == [*stored, "fsync", "ref.written", "ref.locked", "ref.moved", "fsync", "ref.durable"]


segments = st.sampled_from(["a", "b", "c.md", "a-b", "a.b", "é", "Z"])
paths = st.lists(segments, min_size=1, max_size=3).map("/".join)
deltas = st.dictionaries(paths, st.none() | st.binary(max_size=8), min_size=1, max_size=4)


def is_possible(documents: Mapping[str, bytes]) -> bool:
    return not any(other.startswith(path + "/") for path in documents for other in documents)


@settings(max_examples=25, deadline=None)
@given(changes=st.lists(deltas, min_size=1, max_size=6))
def test_snapshots_equal_a_dict_after_every_commit(
    tmp_path_factory: pytest.TempPathFactory, changes: list[dict[str, bytes | None]]
) -> None:
    git_dir: Path = tmp_path_factory.mktemp("model") / "x.git"
    with Repository.create(git_dir) as repository:
        model: dict[str, bytes] = {}
        for delta in changes:
            after = {path: content for path, content in {**model, **delta}.items() if content is not None}
            if not is_possible(after) or (after == model and repository.head() is not None):
                with pytest.raises(ValueError):
                    write(repository, delta, parent=repository.head())
                continue
            model = after
            head = commit(repository, delta)
            assert dict(repository.snapshot(head)) == model
        if repository.head() is not None:
            assert documents_by_git(git_dir, "main") == model
            assert_clean(git_dir)
