from __future__ import annotations

import ctypes
import errno
import os
import signal
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoryreview.baseline import aside, steps
from memoryreview.baseline import exchange as exchange_module
from memoryreview.baseline import folder as folder_module
from memoryreview.baseline.worktree import Worktree, WorktreeError
from tests.baseline.git_checks import start_python

HOSTILE_NAMES = [
    "メモ.md",
    "a b/c.md",
    "x\ny.md",
    "-rf.md",
    "tab\there.md",
    "cafe\u0301.md",
    "caf\u00e9.md",
    "q&a.md",
    "50%25.md",
    "README.MD",
    "back\\slash.md",
]
HOSTILE_PATHS = [
    "",
    ".",
    "..",
    "/etc/passwd",
    "../../.ssh/config",
    "a/../../b.md",
    "a/./b.md",
    "a//b.md",
    "a.md/",
    "ok.md\0.png",
    ".git/hooks/x.md",
    "a/.GIT/x.md",
    "git~1/x.md",
    ".g\u200cit/x.md",
]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    created = tmp_path / "memory"
    created.mkdir()
    return created


def names_in(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


@pytest.mark.parametrize("make", [lambda _path: None, lambda path: path.write_bytes(b"")])
def test_worktree_of_what_is_no_folder_is_an_error(tmp_path: Path, make: Callable[[Path], object]) -> None:
    make(tmp_path / "memory")
    with pytest.raises(WorktreeError, match="Nothing was changed"):
        Worktree(tmp_path / "memory")


def test_scan_lists_documents_of_all_names_and_bytes(root: Path) -> None:
    expected = {name: f"{name!r}\r\n".encode() for name in HOSTILE_NAMES} | {
        "all.md": bytes(range(256)),
        "empty.md": b"",
    }
    for name, content in expected.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_bytes(content)
    listing = Worktree(root).scan()
    assert listing.documents == expected
    assert listing.skipped == {}


@pytest.mark.parametrize(
    "name",
    [
        "notes.txt",
        "md",
        ".md",
        ".hidden.md",
        ".git/config.md",
        ".obsidian/x.md",
        "a/.trash/x.md",
        "MEMORY.md.lock",
        ".mem_123.tmp",
        "a.md~",
        ".mr-0123456789abcdef.tmp",
        ".mr-0123456789abcdef.md",
        "a.md.tmp",
        ".a.md.swp",
        ".a.md.1234.patch-tmp",
        "MEMORY.md.bak.1700000000",
        "MEMORY.bak.md",
        "phase2_workspace_diff.md",
        "PHASE2_workspace_diff.MD",
    ],
)
def test_scan_leaves_out_what_is_no_document(root: Path, name: str) -> None:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_bytes(b"x")
    (root / "kept.md").write_bytes(b"kept\n")
    listing = Worktree(root).scan()
    assert (dict(listing.documents), dict(listing.skipped)) == ({"kept.md": b"kept\n"}, {})


@pytest.mark.parametrize("path", ["a.md", "a/b.MD", "mr-x.md", "bak.md", "a.bakery.md", "git/x.md", "lock.md", "x~.md"])
def test_document_path_is_listed(root: Path, path: str) -> None:
    (root / path).parent.mkdir(exist_ok=True)
    (root / path).write_bytes(b"x")
    assert dict(Worktree(root).scan().documents) == {path: b"x"}


def test_c107_scan_names_links_and_reads_none(root: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_bytes(b"secret\n")
    (root / "sub").mkdir()
    (root / "sub" / "real.md").write_bytes(b"real\n")
    links: dict[str, str | Path] = {
        "inside.md": "sub/real.md",
        "absolute.md": root / "sub" / "real.md",
        "outside.md": outside / "secret.md",
        "relative-outside.md": "../outside/secret.md",
        "folder": "sub",
        "outside-folder": outside,
        "up": "..",
        "dangling.md": "missing.md",
        "dangling-outside.md": outside / "missing.md",
        "circle.md": "circle.md",
        "plain-link.txt": "sub/real.md",
        "self": ".",
    }
    for name, target in links.items():
        (root / name).symlink_to(target)
    listing = Worktree(root).scan()
    assert listing.documents == {"sub/real.md": b"real\n"}
    assert listing.skipped == {
        "inside.md": "link to sub/real.md inside the folder",
        "absolute.md": "link to sub/real.md inside the folder",
        "outside.md": "link that leaves the folder",
        "relative-outside.md": "link that leaves the folder",
        "folder": "link to sub inside the folder",
        "outside-folder": "link that leaves the folder",
        "up": "link that leaves the folder",
        "dangling.md": "link that leads to no file",
        "dangling-outside.md": "link that leaves the folder",
        "circle.md": "link that leads to no file",
        "self": "link to . inside the folder",
    }


def test_scan_names_fifos_sockets_and_reserved_folders(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(root / "fifo.md")
    (root / "git~1").mkdir()
    (root / "git~1" / "x.md").write_bytes(b"x")
    monkeypatch.chdir(root)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket.md")
        listing = Worktree(root).scan()
    assert listing.documents == {}
    assert listing.skipped == {
        "fifo.md": "not a regular file",
        "socket.md": "not a regular file",
        "git~1": "name that git keeps for itself",
    }


def test_scan_keeps_hard_linked_documents(root: Path, tmp_path: Path) -> None:
    (tmp_path / "other").write_bytes(b"shared\n")
    os.link(tmp_path / "other", root / "a.md")
    assert Worktree(root).scan().documents == {"a.md": b"shared\n"}


def test_scan_skips_documents_over_the_hard_cap(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder_module, "MAX_DOCUMENT_BYTES", 3 * 1024 * 1024)
    (root / "large.md").write_bytes(b"x" * (3 * 1024 * 1024))
    (root / "huge.md").write_bytes(b"x" * (3 * 1024 * 1024 + 1))
    listing = Worktree(root).scan()
    assert {path: len(content) for path, content in listing.documents.items()} == {"large.md": 3 * 1024 * 1024}
    assert listing.skipped == {"huge.md": "larger than 3 MiB"}
    with pytest.raises(WorktreeError, match="larger than 3 MiB"):
        Worktree(root).read("huge.md")


def test_scan_of_very_deep_folders_ends(root: Path) -> None:
    deep = root
    for _ in range(70):
        deep /= "d"
        deep.mkdir()
    (deep / "x.md").write_bytes(b"x")
    listing = Worktree(root).scan()
    assert listing.documents == {}
    assert listing.skipped == {"/".join(["d"] * 64): "too deep"}
    assert listing.is_unknown("/".join([*["d"] * 70, "x.md"]))
    assert not listing.is_unknown("other.md")


def stand_in(name: str, fails: Callable[[int, tuple[Any, ...]], bool], code: int) -> Callable[..., Any]:
    """Return an `os` function that fails as the system would where `fails` says so."""
    real = getattr(os, name)
    calls: list[int] = []

    def call(*arguments: Any, **options: Any) -> Any:
        calls.append(1)
        if fails(len(calls), arguments):
            raise OSError(code, os.strerror(code))
        return real(*arguments, **options)

    return call


def test_scan_names_what_the_system_refuses_to_open(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "closed").mkdir()
    (root / "closed" / "x.md").write_bytes(b"x")
    (root / "a.md").write_bytes(b"a")
    (root / "b.md").write_bytes(b"b")
    refused = stand_in("open", lambda _n, arguments: arguments[0] in {"closed", "a.md"}, errno.EACCES)
    monkeypatch.setattr(os, "open", refused)
    listing = Worktree(root).scan()
    assert listing.documents == {"b.md": b"b"}
    assert listing.skipped == {"a.md": "Permission denied", "closed": "Permission denied"}
    assert listing.is_unknown("closed/x.md")
    with pytest.raises(WorktreeError, match=r"a\.md.*Permission denied"):
        Worktree(root).read("a.md")
    with pytest.raises(WorktreeError, match=r"x\.md.*Permission denied"):
        Worktree(root).read("closed/x.md")


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read everything")
def test_scan_names_unreadable_documents(root: Path) -> None:
    (root / "a.md").write_bytes(b"a")
    (root / "a.md").chmod(0)
    assert Worktree(root).scan().skipped == {"a.md": "Permission denied"}


@pytest.mark.parametrize("name", ["a.md", "sub"])
def test_scan_without_descriptors_left_is_an_error_and_no_short_listing(
    root: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (root / "sub").mkdir()
    (root / "a.md").write_bytes(b"a")
    worktree = Worktree(root)
    monkeypatch.setattr(os, "open", stand_in("open", lambda _n, arguments: arguments[0] == name, errno.EMFILE))
    with pytest.raises(WorktreeError, match="Too many open files"):
        worktree.scan()


def test_scan_of_a_folder_that_went_away_is_an_error(root: Path) -> None:
    worktree = Worktree(root)
    root.rename(root.with_name("moved"))
    for look in (worktree.scan, lambda: worktree.read("a.md"), worktree.sweep):
        with pytest.raises(WorktreeError, match="No such file or directory"):
            look()


def test_folder_that_takes_the_place_of_the_root_is_not_used(root: Path) -> None:
    worktree = Worktree(root)
    root.rename(root.with_name("moved"))
    root.mkdir()
    (root / "a.md").write_bytes(b"other\n")
    with pytest.raises(WorktreeError, match="Another folder now stands"):
        worktree.scan()
    with pytest.raises(WorktreeError, match="Another folder now stands"):
        worktree.replace("a.md", expected=b"other\n", new=b"x")
    assert (root / "a.md").read_bytes() == b"other\n"


def test_link_that_takes_the_place_of_the_root_is_not_followed(root: Path) -> None:
    worktree = Worktree(root)
    root.rename(root.with_name("moved"))
    root.symlink_to(root.with_name("moved"))
    with pytest.raises(WorktreeError):
        worktree.scan()


def test_root_may_be_reached_by_a_link(root: Path) -> None:
    (root / "a.md").write_bytes(b"a")
    alias = root.with_name("alias")
    alias.symlink_to(root)
    worktree = Worktree(alias)
    assert worktree.root == root
    assert worktree.scan().documents == {"a.md": b"a"}


def test_file_that_changes_while_it_is_read_is_read_again(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = root / "a.md"
    path.write_bytes(b"old\n")
    real, writes = os.read, [b"longer text\n", b"even longer text\n"]

    def read_and_write(fd: int, size: int) -> bytes:
        content = real(fd, size)
        if content == b"" and writes:
            path.write_bytes(writes.pop(0))
        return content

    monkeypatch.setattr(os, "read", read_and_write)
    assert Worktree(root).read("a.md") == b"even longer text\n"


def test_file_that_never_rests_is_read_as_it_was_last_seen(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = root / "a.md"
    path.write_bytes(b"start\n")
    real, count = os.read, iter(range(1, 100))

    def read_and_write(fd: int, size: int) -> bytes:
        content = real(fd, size)
        if content == b"":
            path.write_bytes(b"x" * next(count))
        return content

    monkeypatch.setattr(os, "read", read_and_write)
    assert Worktree(root).scan().documents == {"a.md": b"xx"}
    assert Worktree(root).scan().documents == {"a.md": b"x" * 5}


def test_fifo_that_takes_the_place_of_a_file_is_not_read(root: Path) -> None:
    os.mkfifo(root / "a.md")
    fd = os.open(root / "a.md", os.O_RDONLY | os.O_NONBLOCK)
    try:
        with pytest.raises(folder_module.UnreadableError, match="not a regular file"):
            folder_module._read_steady(fd)
    finally:
        os.close(fd)


@pytest.mark.parametrize(("call", "name"), [("stat", "a.md"), ("open", "a.md"), ("open", "sub")])
def test_scan_takes_what_vanishes_meanwhile_for_gone(
    root: Path, monkeypatch: pytest.MonkeyPatch, call: str, name: str
) -> None:
    (root / "sub").mkdir()
    (root / "sub" / "x.md").write_bytes(b"x")
    (root / "a.md").write_bytes(b"a")
    (root / "b.md").write_bytes(b"b")
    worktree = Worktree(root)
    monkeypatch.setattr(os, call, stand_in(call, lambda _n, arguments: arguments[0] == name, errno.ENOENT))
    listing = worktree.scan()
    expected = {"a.md": b"a", "b.md": b"b", "sub/x.md": b"x"}
    gone = "sub/x.md" if name == "sub" else name
    assert listing.documents == {path: content for path, content in expected.items() if path != gone}
    assert listing.skipped == {}


def test_scan_takes_what_vanishes_between_the_listing_and_the_look_for_gone(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "a.md").write_bytes(b"a")
    (root / "b.md").write_bytes(b"b")
    real = os.scandir

    @contextmanager
    def list_then_remove(fd: int) -> Iterator[list[os.DirEntry[str]]]:
        with real(fd) as entries:
            listed = list(entries)
        (root / "a.md").unlink()
        yield listed

    monkeypatch.setattr(os, "scandir", list_then_remove)
    assert Worktree(root).scan().documents == {"b.md": b"b"}


def test_scan_of_an_unreadable_root_is_an_error(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    worktree = Worktree(root)
    monkeypatch.setattr(os, "scandir", stand_in("scandir", lambda _n, _arguments: True, errno.EIO))
    with pytest.raises(WorktreeError, match="Input/output error"):
        worktree.scan()


@pytest.mark.parametrize("path", HOSTILE_PATHS)
def test_c118_paths_that_lead_elsewhere_are_refused(root: Path, path: str) -> None:
    worktree = Worktree(root)
    (root / ".git" / "hooks").mkdir(parents=True)
    before = names_in(root.parent)
    for use in (
        lambda: worktree.read(path),
        lambda: worktree.resolve(path),
        lambda: worktree.replace(path, expected=None, new=b"x"),
        lambda: worktree.replace(path, expected=b"", new=None),
    ):
        with pytest.raises(WorktreeError) as caught:
            use()
        assert str(caught.value).isprintable()
    assert names_in(root.parent) == before


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_c109_documents_with_hostile_names_are_read_changed_and_removed(root: Path, name: str) -> None:
    worktree = Worktree(root)
    assert worktree.read(name) is None
    assert worktree.replace(name, expected=None, new=b"one\n")
    assert worktree.read(name) == b"one\n"
    assert worktree.replace(name, expected=b"one\n", new=b"two\r\n")
    assert worktree.scan().documents == {name: b"two\r\n"}
    assert worktree.replace(name, expected=b"two\r\n", new=None)
    assert worktree.scan().documents == {}


def test_read_is_none_where_there_is_no_document(root: Path) -> None:
    (root / "folder.md").mkdir()
    (root / "file.md").write_bytes(b"x")
    for path in ("missing.md", "missing/deep.md", "folder.md", "file.md/below.md", "file.md/below/deep.md"):
        assert Worktree(root).read(path) is None


def test_read_refuses_what_is_no_regular_file(root: Path) -> None:
    os.mkfifo(root / "fifo.md")
    (root / "circle.md").symlink_to("circle.md")
    for path in ("fifo.md", "circle.md"):
        with pytest.raises(WorktreeError):
            Worktree(root).read(path)


def test_name_that_the_system_finds_too_long_is_an_error(root: Path) -> None:
    with pytest.raises(WorktreeError, match="File name too long"):
        Worktree(root).replace("x" * 300 + ".md", expected=None, new=b"x")


@pytest.mark.parametrize(
    ("on_disk", "expected"), [(None, b"old\n"), (b"old\n", None), (b"other\n", b"old\n"), (b"old\r\n", b"old\n")]
)
@pytest.mark.parametrize("new", [b"new\n", None])
def test_replace_changes_nothing_when_the_file_is_not_as_expected(
    root: Path, on_disk: bytes | None, expected: bytes | None, new: bytes | None
) -> None:
    if on_disk is not None:
        (root / "a.md").write_bytes(on_disk)
    before = names_in(root)
    assert Worktree(root).replace("a.md", expected=expected, new=new) is False
    assert Worktree(root).read("a.md") == on_disk
    assert names_in(root) == before


def test_replace_with_what_stands_there_writes_nothing(root: Path) -> None:
    (root / "a.md").write_bytes(b"same\n")
    before = (root / "a.md").stat()
    assert Worktree(root).replace("a.md", expected=b"same\n", new=b"same\n")
    assert Worktree(root).replace("b.md", expected=None, new=None)
    assert (root / "a.md").stat() == before
    assert names_in(root) == ["a.md"]


@pytest.mark.parametrize("mode", [0o640, 0o600, 0o644, 0o755, 0o666])
def test_replace_keeps_the_mode(root: Path, mode: int) -> None:
    (root / "a.md").write_bytes(b"old\n")
    (root / "a.md").chmod(mode)
    assert Worktree(root).replace("a.md", expected=b"old\n", new=b"new\n")
    assert stat.S_IMODE((root / "a.md").stat().st_mode) == mode


def test_replace_gives_a_new_document_the_mode_that_any_editor_would(root: Path) -> None:
    (root / "plain.md").write_bytes(b"x")
    assert Worktree(root).replace("new.md", expected=None, new=b"x")
    assert (root / "new.md").stat().st_mode == (root / "plain.md").stat().st_mode
    assert (root / "new.md").stat().st_nlink == 1


@pytest.mark.parametrize(
    ("modes", "expected"),
    [
        ([0o600, 0o600], 0o600),
        ([0o640, 0o660], 0o640),
        ([0o644, 0o600], 0o600),
        ([0o755], 0o644),
        ([0o444], 0o644),
        ([0o400], 0o600),
    ],
)
@pytest.mark.parametrize("path", ["new.md", "sub/deep/new.md"])
def test_a_new_document_is_read_by_nobody_who_may_not_read_those_beside_it(
    root: Path, modes: list[int], expected: int, path: str
) -> None:
    for number, mode in enumerate(modes):
        (root / f"{number}.md").write_bytes(b"x")
        (root / f"{number}.md").chmod(mode)
    root.chmod(0o750)
    worktree = Worktree(root)
    assert worktree.replace(path, expected=None, new=b"y\n")
    assert stat.S_IMODE((root / path).stat().st_mode) == expected
    with worktree.staged([(f"staged/{path}", None, b"z\n")]) as staged:
        assert staged.replace() == ()
    assert stat.S_IMODE((root / "staged" / path).stat().st_mode) == expected
    assert {stat.S_IMODE(one.stat().st_mode) for one in root.rglob("*") if one.is_dir()} == {0o750}


def test_documents_of_a_folder_of_its_own_go_by_that_folder(root: Path) -> None:
    (root / "a.md").write_bytes(b"x")
    (root / "private").mkdir()
    (root / "private/b.md").write_bytes(b"x")
    (root / "private/b.md").chmod(0o600)
    assert Worktree(root).replace("private/c.md", expected=None, new=b"y\n")
    assert Worktree(root).replace("d.md", expected=None, new=b"y\n")
    assert stat.S_IMODE((root / "private/c.md").stat().st_mode) == 0o600
    assert (root / "d.md").stat().st_mode == (root / "a.md").stat().st_mode


def test_a_renamed_document_is_read_by_nobody_new(root: Path) -> None:
    for name in ("a.md", "b.md"):
        (root / name).write_bytes(b"x\n")
    (root / "b.md").chmod(0o600)
    worktree = Worktree(root)
    with worktree.staged([("b.md", b"x\n", None), ("old/b.md", None, b"x\n")]) as staged:
        assert staged.replace() == ()
    assert stat.S_IMODE((root / "old/b.md").stat().st_mode) == 0o600


def test_c107_replace_through_an_inside_link_changes_the_target_and_keeps_the_link(root: Path) -> None:
    (root / "sub").mkdir()
    real = root / "sub" / "real_target.md"
    real.write_bytes(b"old\n")
    real.chmod(0o640)
    (root / "linked.md").symlink_to("sub/real_target.md")
    (root / "folder").symlink_to("sub")
    worktree = Worktree(root)
    assert worktree.resolve("linked.md") == worktree.resolve("folder/real_target.md") == "sub/real_target.md"
    assert worktree.replace("linked.md", expected=b"old\n", new=b"new\n")
    assert worktree.replace("folder/real_target.md", expected=b"new\n", new=b"newer\n")
    assert (root / "linked.md").readlink() == Path("sub/real_target.md")
    assert (root / "folder").readlink() == Path("sub")
    assert real.read_bytes() == b"newer\n"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


def test_c107_links_that_leave_the_folder_are_neither_read_nor_written(root: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.md").write_bytes(b"theirs\n")
    (root / "file.md").symlink_to(outside / "a.md")
    (root / "relative.md").symlink_to("../outside/a.md")
    (root / "folder").symlink_to(outside)
    (root / "chain.md").symlink_to("file.md")
    worktree = Worktree(root)
    for path in ("file.md", "relative.md", "folder/a.md", "folder/new.md", "chain.md", "folder"):
        with pytest.raises(WorktreeError, match="leaves the folder"):
            worktree.read(path)
        with pytest.raises(WorktreeError, match="leaves the folder"):
            worktree.replace(path, expected=b"theirs\n", new=b"ours\n")
    assert names_in(outside) == ["a.md"]
    assert (outside / "a.md").read_bytes() == b"theirs\n"


def test_link_into_the_git_folder_is_refused(root: Path) -> None:
    (root / ".git").mkdir()
    (root / ".git" / "config").write_bytes(b"[core]\n")
    (root / "config.md").symlink_to(".git/config")
    with pytest.raises(WorktreeError, match="git keeps for itself"):
        Worktree(root).replace("config.md", expected=b"[core]\n", new=b"x")
    assert (root / ".git" / "config").read_bytes() == b"[core]\n"


def test_write_never_follows_a_link_that_is_swapped_in(root: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.md").write_bytes(b"old\n")
    (root / "sub").mkdir()
    (root / "sub" / "a.md").write_bytes(b"old\n")
    done = threading.Event()

    def swap() -> None:
        while not done.is_set():
            (root / "sub").rename(root / "away")
            (root / "sub").symlink_to(outside)
            (root / "sub").unlink()
            (root / "away").rename(root / "sub")

    thread = threading.Thread(target=swap)
    thread.start()
    worktree = Worktree(root)
    try:
        for _ in range(200):
            for expected, new in ((b"old\n", b"new\n"), (b"new\n", b"old\n")):
                with suppress(WorktreeError):
                    worktree.replace("sub/a.md", expected=expected, new=new)
    finally:
        done.set()
        thread.join()
    assert (outside / "a.md").read_bytes() == b"old\n"
    assert names_in(outside) == ["a.md"]


@pytest.mark.parametrize("swapped_at", [1, 2])
def test_folder_that_becomes_a_link_between_the_look_and_the_use_is_refused(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, swapped_at: int
) -> None:
    outside = tmp_path / "outside"
    for folder in (outside, root / "sub"):
        folder.mkdir()
        (folder / "a.md").write_bytes(b"old\n")
    real, opened = os.open, []

    def open_after_a_swap(path: Any, *arguments: Any, **options: Any) -> int:
        opened.append(path)
        if path == "sub" and opened.count("sub") == swapped_at:
            (root / "sub").rename(root / "away")
            (root / "sub").symlink_to(outside)
        return real(path, *arguments, **options)

    monkeypatch.setattr(os, "open", open_after_a_swap)
    with pytest.raises(WorktreeError):
        Worktree(root).replace("sub/a.md", expected=b"old\n", new=b"new\n")
    assert names_in(outside) == ["a.md"]
    assert (outside / "a.md").read_bytes() == b"old\n"
    assert (root / "away" / "a.md").read_bytes() == b"old\n"


def test_replace_makes_missing_folders_and_leaves_emptied_ones(root: Path) -> None:
    worktree = Worktree(root)
    assert worktree.replace("a/b/c.md", expected=None, new=b"x")
    assert names_in(root) == ["a", "a/b", "a/b/c.md"]
    assert worktree.replace("a/b/c.md", expected=b"x", new=None)
    assert names_in(root) == ["a", "a/b"]


def test_replace_does_not_put_a_document_in_the_place_of_a_folder_or_below_a_document(root: Path) -> None:
    (root / "folder.md").mkdir()
    (root / "file.md").write_bytes(b"x")
    with pytest.raises(WorktreeError, match="Is a directory"):
        Worktree(root).replace("folder.md", expected=None, new=b"x")
    with pytest.raises(WorktreeError, match="Not a directory"):
        Worktree(root).replace("file.md/below/deep.md", expected=None, new=b"x")
    assert names_in(root) == ["file.md", "folder.md"]


def test_replace_of_one_name_of_a_hard_link_leaves_the_other_name_alone(root: Path, tmp_path: Path) -> None:
    (tmp_path / "other").write_bytes(b"old\n")
    os.link(tmp_path / "other", root / "a.md")
    assert Worktree(root).replace("a.md", expected=b"old\n", new=b"new\n")
    assert (tmp_path / "other").read_bytes() == b"old\n"


@pytest.mark.parametrize("new", [b"new\n", None])
def test_c106_read_only_document_is_not_forced(root: Path, new: bytes | None) -> None:
    (root / "a.md").write_bytes(b"old\n")
    (root / "a.md").chmod(0o444)
    with pytest.raises(WorktreeError, match="Permission denied"):
        Worktree(root).replace("a.md", expected=b"old\n", new=new)
    assert (root / "a.md").read_bytes() == b"old\n"
    assert stat.S_IMODE((root / "a.md").stat().st_mode) == 0o444
    assert names_in(root) == ["a.md"]


def test_c106_read_only_folder_is_not_forced(root: Path) -> None:
    (root / "sub").mkdir()
    (root / "sub" / "a.md").write_bytes(b"old\n")
    (root / "sub").chmod(0o555)
    worktree = Worktree(root)
    try:
        for path, expected, new in (
            ("sub/a.md", b"old\n", b"new\n"),
            ("sub/a.md", b"old\n", None),
            ("sub/new.md", None, b"new\n"),
            ("sub/deep/new.md", None, b"new\n"),
        ):
            with pytest.raises(WorktreeError, match="Permission denied"):
                worktree.replace(path, expected=expected, new=new)
        assert names_in(root) == ["sub", "sub/a.md"]
        assert (root / "sub" / "a.md").read_bytes() == b"old\n"
        assert stat.S_IMODE((root / "sub").stat().st_mode) == 0o555
    finally:
        (root / "sub").chmod(0o755)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EACCES])
@pytest.mark.parametrize("name", ["open", "write", "fsync", "fchmod", "replace", "stat", "read", "fstat"])
@pytest.mark.parametrize("nth", [1, 2, 3, 5])
def test_c106_system_call_that_fails_leaves_the_old_bytes_and_no_temp_file(
    root: Path, monkeypatch: pytest.MonkeyPatch, name: str, nth: int, code: int
) -> None:
    (root / "a.md").write_bytes(b"old\n")
    worktree = Worktree(root)
    with monkeypatch.context() as patch:
        patch.setattr(os, name, stand_in(name, lambda n, _arguments: n == nth, code))
        try:
            done: bool | str = worktree.replace("a.md", expected=b"old\n", new=b"new\n")
        except WorktreeError as error:
            done = str(error)
    assert names_in(root) == ["a.md"]
    if done is True:
        assert (root / "a.md").read_bytes() == b"new\n"
    elif name == "fsync" and nth == 2:
        assert f"was changed, but the change may not survive a power cut: {os.strerror(code)}" in str(done)
        assert (root / "a.md").read_bytes() == b"new\n"
    else:
        assert f"{os.strerror(code)}. Nothing was changed" in str(done)
        assert (root / "a.md").read_bytes() == b"old\n"


@pytest.mark.parametrize("name", ["open", "write", "fsync", "link", "mkdir", "stat"])
@pytest.mark.parametrize("nth", [1, 2, 3, 4, 5, 6])
def test_c106_failed_new_document_leaves_neither_file_nor_folders(
    root: Path, monkeypatch: pytest.MonkeyPatch, name: str, nth: int
) -> None:
    worktree = Worktree(root)
    with monkeypatch.context() as patch:
        patch.setattr(os, name, stand_in(name, lambda n, _arguments: n == nth, errno.ENOSPC))
        try:
            done: bool | str = worktree.replace("a/b/c.md", expected=None, new=b"new\n")
        except WorktreeError as error:
            done = str(error)
    if done is True:
        assert names_in(root) == ["a", "a/b", "a/b/c.md"]
        return
    assert "No space left on device" in str(done)
    assert [path for path in names_in(root) if path.endswith(".tmp")] == []


REPLACE_WITH_A_SMALL_FILE_LIMIT = """
import os, resource, sys
from pathlib import Path
from memoryreview.baseline.worktree import Worktree, WorktreeError

resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
try:
    Worktree(Path(sys.argv[1])).replace("a.md", expected=b"old\\n", new=b"x" * 100_000)
except WorktreeError as error:
    print(error)
"""


def test_c106_real_limit_of_the_system_leaves_the_old_bytes(root: Path) -> None:
    (root / "a.md").write_bytes(b"old\n")
    output, errors = start_python(REPLACE_WITH_A_SMALL_FILE_LIMIT, str(root)).communicate()
    assert errors == ""
    assert "“a.md” cannot be written: File too large" in output
    assert names_in(root) == ["a.md"]
    assert (root / "a.md").read_bytes() == b"old\n"


def test_replace_gives_up_when_the_file_changes_before_the_rename(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "a.md").write_bytes(b"old\n")
    real = os.fsync

    def fsync_and_edit(fd: int) -> None:
        real(fd)
        (root / "a.md").write_bytes(b"edited by an agent\n")

    monkeypatch.setattr(os, "fsync", fsync_and_edit)
    for new in (b"new\n", b"other\n"):
        assert Worktree(root).replace("a.md", expected=b"old\n", new=new) is False
    assert (root / "a.md").read_bytes() == b"edited by an agent\n"
    assert names_in(root) == ["a.md"]


def test_new_document_never_takes_the_place_of_one_that_appears_at_the_last_moment(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.link

    def link_late(*arguments: Any, **options: Any) -> None:
        (root / "a.md").write_bytes(b"from an agent\n")
        real(*arguments, **options)

    monkeypatch.setattr(os, "link", link_late)
    assert Worktree(root).replace("a.md", expected=None, new=b"ours\n") is False
    assert (root / "a.md").read_bytes() == b"from an agent\n"
    assert names_in(root) == ["a.md"]


def test_new_document_where_the_file_system_has_no_hard_links(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "link", stand_in("link", lambda _n, _arguments: True, errno.EOPNOTSUPP))
    assert Worktree(root).replace("a.md", expected=None, new=b"x")
    assert (root / "a.md").read_bytes() == b"x"
    assert names_in(root) == ["a.md"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser can give files away")
def test_replace_keeps_the_owner(root: Path) -> None:
    (root / "a.md").write_bytes(b"old\n")
    os.chown(root / "a.md", 12345, 12346)
    assert Worktree(root).replace("a.md", expected=b"old\n", new=b"new\n")
    now = (root / "a.md").stat()
    assert (now.st_uid, now.st_gid) == (12345, 12346)


def test_replace_is_refused_when_the_owner_cannot_be_kept(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "a.md").write_bytes(b"old\n")
    real = os.stat

    def of_another_owner(*arguments: Any, **options: Any) -> os.stat_result:
        seen = list(real(*arguments, **options))
        seen[5] = 12346
        return os.stat_result(seen)

    monkeypatch.setattr(os, "stat", of_another_owner)
    monkeypatch.setattr(os, "fchown", stand_in("fchown", lambda _n, _arguments: True, errno.EPERM))
    with pytest.raises(WorktreeError, match="Operation not permitted"):
        Worktree(root).replace("a.md", expected=b"old\n", new=b"new\n")
    assert (root / "a.md").read_bytes() == b"old\n"
    assert names_in(root) == ["a.md"]


REPLACE_AND_DIE = """
import os, signal, sys
from pathlib import Path
from memoryreview.baseline import steps
from memoryreview.baseline.worktree import Worktree

deadly = sys.argv[3]

def on_step(name):
    if name == deadly:
        os.kill(os.getpid(), signal.SIGKILL)

steps.on_step = on_step
expected, new = {"edit": (b"old\\n", b"new\\n"), "create": (None, b"new\\n"), "remove": (b"old\\n", None)}[sys.argv[2]]
Worktree(Path(sys.argv[1])).replace("sub/a.md", expected=expected, new=new)
"""


@pytest.mark.parametrize(
    ("kind", "deadly", "is_done"),
    [
        *(
            (kind, f"document.{step}", is_done)
            for kind in ("edit", "create")
            for step, is_done in (
                ("created", False),
                ("written", False),
                ("compared", False),
                ("replaced", True),
                ("durable", True),
            )
        ),
        ("remove", "document.found", False),
        ("remove", "document.removed", True),
        ("remove", "document.durable", True),
    ],
)
def test_kill_at_any_step_leaves_the_old_or_the_new_document(root: Path, kind: str, deadly: str, is_done: bool) -> None:
    path = root / "sub" / "a.md"
    path.parent.mkdir()
    old, new = {"edit": (b"old\n", b"new\n"), "create": (None, b"new\n"), "remove": (b"old\n", None)}[kind]
    if old is not None:
        path.write_bytes(old)
    process = start_python(REPLACE_AND_DIE, str(root), kind, deadly)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    worktree = Worktree(root)
    now = new if is_done else old
    assert worktree.scan().documents == ({} if now is None else {"sub/a.md": now})
    worktree.sweep()
    assert names_in(root) == (["sub"] if now is None else ["sub", "sub/a.md"])
    assert worktree.replace("sub/a.md", expected=now, new=b"next\n")


@pytest.fixture
def write_at(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, Callable[[], object]], None]:
    """Do something at a step, once."""

    def arm(name: str, act: Callable[[], object]) -> None:
        waiting = [act]

        def on_step(step: str) -> None:
            if step == name and waiting:
                waiting.pop()()

        monkeypatch.setattr(steps, "on_step", on_step)

    return arm


def _over(path: Path) -> None:
    path.with_name("theirs").write_bytes(b"theirs\n")
    path.with_name("theirs").replace(path)


def _into_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


LATE_WRITES: list[tuple[Callable[[Path], object], bytes | None]] = [
    (lambda path: path.write_bytes(b"theirs\n"), b"theirs\n"),
    (_over, b"theirs\n"),
    (lambda path: path.unlink(), None),
    (_into_folder, None),
]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux exchanges two names")
@pytest.mark.parametrize(("late", "left"), LATE_WRITES)
@pytest.mark.parametrize("is_staged", [False, True])
def test_write_between_our_look_and_our_rename_stays(
    root: Path,
    write_at: Callable[[str, Callable[[], object]], None],
    late: Callable[[Path], object],
    left: bytes | None,
    is_staged: bool,
) -> None:
    path = root / "a.md"
    path.write_bytes(b"old\n")
    write_at("document.compared", lambda: late(path))
    worktree = Worktree(root)

    if is_staged:
        with worktree.staged([("a.md", b"old\n", b"new\n")]) as files:
            done = files.replace() == ()
    else:
        done = worktree.replace("a.md", expected=b"old\n", new=b"new\n")

    assert (done, path.read_bytes() if path.is_file() else None, names_in(root)) == (
        False,
        left,
        ["a.md"] if path.exists() else [],
    )


@pytest.mark.parametrize(("late", "left"), [*LATE_WRITES[:2], LATE_WRITES[3]])
def test_write_between_our_look_and_our_removal_stays(
    root: Path,
    write_at: Callable[[str, Callable[[], object]], None],
    late: Callable[[Path], object],
    left: bytes | None,
) -> None:
    path = root / "a.md"
    path.write_bytes(b"old\n")
    write_at("document.found", lambda: late(path))

    done = Worktree(root).replace("a.md", expected=b"old\n", new=None)

    assert (done, path.read_bytes() if path.is_file() else None, names_in(root)) == (False, left, ["a.md"])


WRITE_LATE_AND_DIE = """
import os, signal, sys
from pathlib import Path
from memoryreview.baseline import steps
from memoryreview.baseline.worktree import Worktree

path, kind = Path(sys.argv[1]) / "sub" / "a.md", sys.argv[2]

def on_step(name):
    if name in ("document.compared", "document.found"):
        path.write_bytes(b"theirs\\n")
    if name in ("document.exchanged", "document.aside"):
        os.kill(os.getpid(), signal.SIGKILL)

steps.on_step = on_step
Worktree(Path(sys.argv[1])).replace("sub/a.md", expected=b"old\\n", new=b"new\\n" if kind == "edit" else None)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux exchanges two names")
@pytest.mark.parametrize("kind", ["edit", "remove"])
@pytest.mark.parametrize("later", [None, b"later\n"])
def test_late_write_outlives_a_kill_before_we_looked_at_it(root: Path, kind: str, later: bytes | None) -> None:
    path = root / "sub" / "a.md"
    path.parent.mkdir()
    path.write_bytes(b"old\n")
    process = start_python(WRITE_LATE_AND_DIE, str(root), kind)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    if later is not None:
        path.write_bytes(later)

    Worktree(root).sweep()

    assert path.read_bytes() == (later or b"theirs\n")
    assert sorted(Worktree(root).scan().documents.values()) == sorted(filter(None, [b"theirs\n", later]))
    assert not [name for name in names_in(root) if name.endswith(".tmp")]


@pytest.mark.parametrize("text", [b"old\n", b"new\n"])
def test_sweep_drops_what_was_moved_aside_and_is_kept_elsewhere(root: Path, text: bytes) -> None:
    (root / "a.md").write_bytes(b"next\n")
    name = aside._aside_name("a.md", b"new\n", b"old\n")
    (root / name).write_bytes(text)

    assert Worktree(root).sweep() == (name,)

    assert names_in(root) == ["a.md"]


def test_sweep_keeps_a_late_write_to_a_name_that_is_too_long_to_note(root: Path) -> None:
    name = "ü" * 100 + ".md"
    (root / name).write_bytes(b"new\n")
    (root / aside._aside_name(name, b"new\n", b"old\n")).write_bytes(b"theirs\n")

    Worktree(root).sweep()

    assert sorted(Worktree(root).scan().documents.values()) == [b"new\n", b"theirs\n"]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux exchanges two names")
def test_two_late_writes_are_both_kept(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = root / "a.md"
    path.write_bytes(b"old\n")
    late = {"document.compared": b"one\n", "document.exchanged": b"two\n"}
    monkeypatch.setattr(steps, "on_step", lambda name: path.write_bytes(late[name]) if name in late else None)

    assert not Worktree(root).replace("a.md", expected=b"old\n", new=b"new\n")

    assert path.read_bytes() == b"two\n"
    assert sorted(Worktree(root).scan().documents.values()) == [b"one\n", b"two\n"]


def test_without_an_exchange_the_file_is_renamed(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange_module, "_renameat2", lambda: lambda *_arguments: ctypes.set_errno(errno.EINVAL) or -1)
    (root / "a.md").write_bytes(b"old\n")

    assert Worktree(root).replace("a.md", expected=b"old\n", new=b"new\n")
    assert ((root / "a.md").read_bytes(), names_in(root)) == (b"new\n", ["a.md"])


def test_sweep_removes_only_temp_files_of_ours(root: Path) -> None:
    (root / "sub").mkdir()
    (root / ".git").mkdir()
    ours = ["sub/.mr-0123456789abcdef.tmp", ".mr-aaaaaaaaaaaaaaaa.tmp"]
    theirs = [".mr-notes.tmp", ".mem_1.tmp", "a.md", ".git/.mr-0123456789abcdef.tmp", "sub/.mr-0123456789ABCDEF.tmp"]
    for name in ours + theirs:
        (root / name).write_bytes(b"x")
    (root / ".mr-bbbbbbbbbbbbbbbb.tmp").symlink_to("a.md")
    assert Worktree(root).sweep() == tuple(sorted(ours))
    assert names_in(root) == sorted([*theirs, ".git", "sub", ".mr-bbbbbbbbbbbbbbbb.tmp"])


def test_sweep_goes_on_past_a_folder_that_the_system_refuses(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("closed", "open"):
        (root / name).mkdir()
        (root / name / ".mr-0123456789abcdef.tmp").write_bytes(b"x")
    monkeypatch.setattr(os, "open", stand_in("open", lambda _n, arguments: arguments[0] == "closed", errno.EACCES))
    assert Worktree(root).sweep() == ("open/.mr-0123456789abcdef.tmp",)


def test_removal_gives_up_when_the_file_changes_before_it(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "a.md").write_bytes(b"old\n")
    real, looks = os.open, iter(range(100))

    def open_and_edit(path: Any, *arguments: Any, **options: Any) -> int:
        if path == "a.md" and next(looks) == 1:
            (root / "a.md").write_bytes(b"edited by an agent\n")
        return real(path, *arguments, **options)

    monkeypatch.setattr(os, "open", open_and_edit)
    assert Worktree(root).replace("a.md", expected=b"old\n", new=None) is False
    assert (root / "a.md").read_bytes() == b"edited by an agent\n"


def test_replace_of_a_known_document_makes_no_folders(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "sub").mkdir()
    (root / "sub" / "a.md").write_bytes(b"old\n")
    worktree = Worktree(root)
    real_read = Worktree.read

    def read_then_lose_the_folder(self: Worktree, path: str) -> bytes | None:
        content = real_read(self, path)
        (root / "sub").rename(root / "away")
        return content

    monkeypatch.setattr(Worktree, "read", read_then_lose_the_folder)
    with pytest.raises(WorktreeError, match="No such file or directory"):
        worktree.replace("sub/a.md", expected=b"old\n", new=b"new\n")
    assert names_in(root) == ["away", "away/a.md"]


def test_replace_syncs_the_file_before_it_takes_the_place_and_the_folder_after(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "a.md").write_bytes(b"old\n")
    seen: list[str] = []
    real = os.fsync

    def note(fd: int) -> None:
        seen.append("fsync")
        real(fd)

    monkeypatch.setattr(os, "fsync", note)
    monkeypatch.setattr(steps, "on_step", lambda name: seen.append(name) if name.startswith("document.r") else None)
    assert Worktree(root).replace("a.md", expected=b"old\n", new=b"new\n")
    assert seen == ["fsync", "document.replaced", "fsync"]


def test_a_git_folder_in_the_memory_folder_is_never_touched(root: Path) -> None:
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    (root / "a.md").write_bytes(b"a\n")
    before = {path: path.stat() for path in (root / ".git").rglob("*")}
    worktree = Worktree(root)
    worktree.scan()
    worktree.replace("a.md", expected=b"a\n", new=b"b\n")
    worktree.sweep()
    after = {path: path.stat() for path in (root / ".git").rglob("*")}
    assert {path: (s.st_mtime_ns, s.st_size) for path, s in after.items()} == {
        path: (s.st_mtime_ns, s.st_size) for path, s in before.items()
    }


segments = st.text(st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1, max_size=8)


@settings(max_examples=60, deadline=None)
@given(path=st.lists(segments, min_size=1, max_size=3).map("/".join))
def test_any_path_is_written_inside_or_refused(tmp_path_factory: pytest.TempPathFactory, path: str) -> None:
    root = tmp_path_factory.mktemp("any") / "memory"
    root.mkdir()
    try:
        done = Worktree(root).replace(path, expected=None, new=b"x")
    except WorktreeError:
        done = False
    assert names_in(root.parent)[:1] == ["memory"]
    assert [path for path in root.parent.iterdir() if path.name != "memory"] == []
    if done:
        assert Worktree(root).read(path) == b"x"


def test_name_that_is_not_utf8_is_left_out_with_the_reason(root: Path) -> None:
    (root / os.fsdecode(b"latin-\xe9.md")).write_bytes(b"text\n")
    listing = Worktree(root).scan()
    assert listing.documents == {}
    assert listing.skipped == {"latin-\\udce9.md": "its name is not UTF-8"}


def test_staged_writes_change_nothing_before_they_are_placed(root: Path) -> None:
    (root / "a.md").write_bytes(b"a\n")
    (root / "b.md").write_bytes(b"b\n")
    worktree = Worktree(root)
    writes = [("a.md", b"a\n", b"new\n"), ("b.md", b"b\n", None), ("deep/c.md", None, b"c\n")]
    with worktree.staged(writes) as files:
        assert worktree.scan().documents == {"a.md": b"a\n", "b.md": b"b\n"}
        assert files.replace() == ()
    assert worktree.scan().documents == {"a.md": b"new\n", "deep/c.md": b"c\n"}
    assert worktree.sweep() == ()


def test_staged_writes_that_are_not_placed_leave_no_trace(root: Path) -> None:
    (root / "a.md").write_bytes(b"a\n")
    with pytest.raises(RuntimeError), Worktree(root).staged([("a.md", b"a\n", b"x\n"), ("deep/c.md", None, b"c\n")]):
        raise RuntimeError
    assert [path.name for path in root.rglob("*")] == ["a.md"]


def test_staged_write_names_the_file_that_changed_meanwhile(root: Path) -> None:
    (root / "a.md").write_bytes(b"a\n")
    (root / "b.md").write_bytes(b"b\n")
    worktree = Worktree(root)
    with worktree.staged([("a.md", b"a\n", b"x\n"), ("b.md", b"b\n", b"y\n")]) as files:
        (root / "a.md").write_bytes(b"somebody else\n")
        assert files.replace() == ("a.md",)
    assert worktree.scan().documents == {"a.md": b"somebody else\n", "b.md": b"y\n"}


def test_staged_write_to_a_read_only_file_is_refused_before_any_other_is_touched(root: Path) -> None:
    (root / "a.md").write_bytes(b"a\n")
    (root / "b.md").write_bytes(b"b\n")
    (root / "b.md").chmod(0o444)
    worktree = Worktree(root)
    writes = [("a.md", b"a\n", b"x\n"), ("b.md", b"b\n", b"y\n")]
    with pytest.raises(WorktreeError, match="read-only"), worktree.staged(writes) as files:
        files.replace()
    assert worktree.scan().documents == {"a.md": b"a\n", "b.md": b"b\n"}
    assert worktree.sweep() == ()
