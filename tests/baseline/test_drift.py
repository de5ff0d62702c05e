from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from memoryreview.baseline import drift, seen
from memoryreview.baseline.drift import Drift, compare
from memoryreview.baseline.folder import PinnedFolder, WorktreeError
from memoryreview.baseline.repository import Repository
from memoryreview.baseline.scan import scan_folder
from tests.baseline.git_checks import commit

DOCUMENTS = {
    "MEMORY.md": b"- [A](a.md)\n",
    "a.md": b"port 5432\r\n",
    "sub/b.md": b"b\n",
    "sub/deep/c.md": b"c\n",
    "caf\u00e9.md": b"",
    "-x.md": b"$Id$\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "memory"
    for path, content in DOCUMENTS.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    (folder / "notes.txt").write_bytes(b"no document\n")
    return folder


@pytest.fixture
def repository(tmp_path: Path) -> Iterator[Repository]:
    with Repository.create(tmp_path / "baseline.git") as created:
        commit(created, DOCUMENTS)
        yield created


Look = Callable[[], Drift]


@pytest.fixture(params=["from here", "by git"])
def look(request: pytest.FixtureRequest, root: Path, repository: Repository) -> Look:
    """Compare the folder with the head, once the first look was kept."""
    many = 0 if request.param == "by git" else 1_000_000

    def compared() -> Drift:
        return compare(PinnedFolder(root), repository.snapshot(repository.head() or ""), many=many)

    return compared


def settle(root: Path) -> None:
    """Wait until a write must show in the whole seconds of a file's times."""
    newest = max(path.lstat().st_ctime for path in [root, *root.rglob("*")])
    while int(time.time()) <= int(newest):
        time.sleep(0.02)


def no_reading(*_arguments: Any) -> bytes:
    raise AssertionError("a document was read")


def test_untouched_folder_is_not_read_again(look: Look, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settle(root)
    first = look()
    monkeypatch.setattr(drift, "read_document", no_reading)

    assert (first, look()) == (Drift({}, {}), Drift({}, {}))


def _edit(root: Path) -> None:
    (root / "a.md").write_bytes(b"port 6432\r\n")


def _edit_in_disguise(root: Path) -> None:
    before = (root / "a.md").stat()
    (root / "a.md").write_bytes(b"port 6432\r\n")
    os.utime(root / "a.md", ns=(before.st_atime_ns, before.st_mtime_ns))


def _replace_file(root: Path) -> None:
    (root / "new").write_bytes(b"port 6432\r\n")
    shutil.copystat(root / "a.md", root / "new")
    (root / "new").replace(root / "a.md")


def _rename_folder(root: Path) -> None:
    (root / "sub").rename(root / "moved")


def _swap_folder(root: Path) -> None:
    (root / "sub").rename(root / ".away")
    (root / "sub" / "deep").mkdir(parents=True)
    (root / "sub" / "b.md").write_bytes(b"B\n")


def _hide_in_repository(root: Path) -> None:
    (root / "sub" / ".git").mkdir()
    (root / "sub" / "new.md").write_bytes(b"new\n")
    (root / "fresh" / ".git" / "refs").mkdir(parents=True)
    (root / "fresh" / ".git" / "objects").mkdir()
    (root / "fresh" / ".git" / "HEAD").write_bytes(b"ref: refs/heads/main\n")
    (root / "fresh" / "new.md").write_bytes(b"new\n")


def _hide_by_attributes(root: Path) -> None:
    (root / ".gitattributes").write_bytes(b"*.md text eol=lf ident filter=x\n")
    (root / ".gitignore").write_bytes(b"*\n")
    (root / "a.md").write_bytes(b"port 5432\n")
    (root / "-x.md").write_bytes(b"$Id: forged $\n")
    (root / "ignored.md").write_bytes(b"new\n")


def _touch_all(root: Path) -> None:
    for path in root.rglob("*.md"):
        path.touch()


def _add_folder(root: Path) -> None:
    (root / "other").mkdir()
    (root / "other" / "new.md").write_bytes(b"new\n")


def _make_folder_of_it(root: Path) -> None:
    (root / "a.md").unlink()
    (root / "a.md").mkdir()


CHANGES: list[Callable[[Path], object]] = [
    _edit,
    _edit_in_disguise,
    _replace_file,
    _rename_folder,
    _swap_folder,
    _hide_in_repository,
    _hide_by_attributes,
    _touch_all,
    lambda root: (root / "a.md").unlink(),
    lambda root: shutil.rmtree(root / "sub"),
    lambda root: (root / "a.md").rename(root / "A.md"),
    lambda root: (root / "a.md").rename(root / "sub" / "a.md"),
    lambda root: (root / "sub" / "deep" / "new.md").write_bytes(b"new\n"),
    _add_folder,
    lambda root: (root / "a.md").chmod(0o700),
    _make_folder_of_it,
    lambda root: (root / "a.md").write_bytes(b""),
    lambda root: (root / "caf\u00e9.md").rename(root / "cafe\u0301.md"),
]


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_shows_as_in_a_full_reading(look: Look, root: Path, change: Callable[[Path], object]) -> None:
    settle(root)
    look()
    change(root)

    found = [look(), look()]

    documents = scan_folder(PinnedFolder(root)).documents
    expected: dict[str, bytes | None] = {path: new for path, new in documents.items() if DOCUMENTS.get(path) != new}
    expected |= {path: None for path in DOCUMENTS if path not in documents}
    assert [dict(each.documents) for each in found] == [expected, expected]


def test_write_in_the_same_tick_as_the_look_is_found(look: Look, root: Path) -> None:
    settle(root)
    look()
    for number in range(30):
        (root / "a.md").write_bytes(b"port 5432\r\n")
        look()
        (root / "a.md").write_bytes(b"port %d\r\n" % (6000 + number))

        assert look().documents == {"a.md": b"port %d\r\n" % (6000 + number)}


def test_links_are_skipped_and_not_gone(look: Look, root: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "b.md").write_bytes(b"secret\n")
    settle(root)
    look()
    (root / "a.md").unlink()
    (root / "a.md").symlink_to(tmp_path / "outside" / "b.md")
    shutil.rmtree(root / "sub")
    (root / "sub").symlink_to(tmp_path / "outside")

    found = look()

    assert (dict(found.documents), {*found.skipped} >= {"a.md", "sub"}) == ({}, True)


def test_moved_head_is_compared_with_what_is_on_disk(look: Look, root: Path, repository: Repository) -> None:
    settle(root)
    look()
    commit(repository, {"a.md": b"port 6432\r\n", "sub/b.md": None})

    assert look().documents == {"a.md": b"port 5432\r\n", "sub/b.md": b"b\n"}
    (root / "a.md").write_bytes(b"port 6432\r\n")
    (root / "sub" / "b.md").unlink()
    assert (look().documents, look().documents) == ({}, {})


def _put_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _forge(path: Path) -> None:
    """A well-formed git index that says nothing of ours."""
    path.write_bytes(b"DIRC\0\0\0\x02\0\0\0\0" + bytes.fromhex("39d890139ee5356c7ef572216cebcd27aa41f9df"))


@pytest.mark.parametrize(
    "spoil",
    [
        lambda path: path.unlink(),
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(path.read_bytes()[:-1]),
        lambda path: path.write_bytes(path.read_bytes().replace(b"a.md", b"b.md")),
        lambda path: path.write_bytes(bytes(len(path.read_bytes()))),
        _put_folder,
        _forge,
    ],
)
def test_spoilt_record_is_ignored(
    look: Look, root: Path, repository: Repository, spoil: Callable[[Path], object]
) -> None:
    settle(root)
    look()
    spoil(repository.git_dir / seen.NAME)
    _edit_in_disguise(root)

    assert [dict(look().documents) for _ in range(2)] == [{"a.md": b"port 6432\r\n"}] * 2


def test_write_that_shows_in_no_time_is_found_within_a_day(look: Look, root: Path, repository: Repository) -> None:
    (root / "a.md").write_bytes(b"port 6432\r\n")
    settle(root)
    tree = repository.snapshot(repository.head() or "")
    # Memory that is mapped from a file can change after its time did: the state says "as approved", the bytes do not.
    documents = {path: (entry.oid, seen.state_of((root / path).stat())) for path, entry in tree.entries.items()}
    for ago_s, found in ((60, {}), (drift.READ_ALL_AFTER_S + 60, {"a.md": b"port 6432\r\n"}), (-3600, None)):
        seen.save(repository.git_dir, tree.root, int(time.time()) - ago_s, documents, {})
        assert look().documents == ({"a.md": b"port 6432\r\n"} if found is None else found)


def test_record_holds_what_was_found_as_approved(look: Look, root: Path, repository: Repository) -> None:
    settle(root)
    _edit(root)
    look()

    kept = seen.load(repository.git_dir)

    assert kept is not None
    assert (kept.count, {*kept.states()}) == (len(DOCUMENTS), {*DOCUMENTS} - {"a.md"})
    assert {path for path, state in kept.folders.items() if state != seen.UNKNOWN} == {"", "sub", "sub/deep"}


def test_without_git_the_files_are_looked_at_from_here(look: Look, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settle(root)
    look()
    monkeypatch.setenv("PATH", str(root))
    _edit(root)

    assert look().documents == {"a.md": b"port 6432\r\n"}


def test_lost_folder_is_an_error_and_no_deletion(look: Look, root: Path, tmp_path: Path) -> None:
    settle(root)
    look()
    root.rename(tmp_path / "away")

    with pytest.raises(WorktreeError, match="Nothing was changed"):
        look()


def test_nothing_runs_that_the_folder_asks_for(look: Look, root: Path, tmp_path: Path) -> None:
    settle(root)
    look()
    ran = tmp_path / "ran"
    (root / ".git").mkdir()
    (root / ".git" / "config").write_text(f'[core]\n\tfsmonitor = "touch {ran}"\n[filter "x"]\n\tclean = touch {ran}\n')
    _hide_by_attributes(root)

    assert (set(look().documents), ran.exists()) == ({"a.md", "-x.md", "ignored.md"}, False)
