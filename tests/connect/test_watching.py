from __future__ import annotations

import shutil
import time
from pathlib import Path

import pytest

from memoryreview.connect import watching
from memoryreview.connect.watching import Bursts, FolderWatch


def test_writes_that_follow_each_other_are_one_burst() -> None:
    bursts = Bursts()
    for now_s in (0.0, 0.3, 0.6):
        bursts.note(1, now_s)
    bursts.note(2, 0.5)

    assert [bursts.due(now_s) for now_s in (0.8, 0.95, 1.1, 2.0)] == [[], [2], [1], []]


def test_writes_without_a_pause_are_captured_all_the_same() -> None:
    bursts = Bursts()
    due = []
    for tick in range(1, 65):
        bursts.note(1, tick / 10)
        due += [tick / 10] * len(bursts.due(tick / 10))

    assert due == [3.1, 6.2]


def noticed(watch: FolderWatch) -> set[int]:
    """Wait until something is noticed."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        if found := watch.changed():
            return found
    return set()


def nothing_noticed(watch: FolderWatch) -> bool:
    """Whether all notices so far say nothing: a write to a marker, made after them, is the first that is seen."""
    return not any(watch.changed() for _ in range(3))


@pytest.fixture
def folders(tmp_path: Path) -> dict[int, Path]:
    made = {1: tmp_path / "one", 2: tmp_path / "one-more"}
    for folder in made.values():
        folder.mkdir()
    return made


def test_write_is_noticed_in_its_store_alone(folders: dict[int, Path]) -> None:
    watch = FolderWatch()
    watch.follow(folders)
    (folders[2] / "sub").mkdir()
    assert noticed(watch) == {2}
    (folders[2] / "sub" / "a.md").write_text("a\n")

    assert noticed(watch) == {2}


@pytest.mark.parametrize("name", [".git/index", ".mr-0123456789abcdef.tmp", ".a.md.swp"])
def test_hidden_names_say_nothing(folders: dict[int, Path], name: str) -> None:
    (folders[1] / name).parent.mkdir(exist_ok=True)
    watch = FolderWatch()
    watch.follow(folders)
    (folders[1] / name).write_text("x")
    assert nothing_noticed(watch)
    (folders[1] / "a.md").write_text("a\n")

    assert noticed(watch) == {1}


def test_folder_that_vanishes_and_returns_is_watched_again(folders: dict[int, Path], tmp_path: Path) -> None:
    watch = FolderWatch()
    first = watch.follow(folders)
    shutil.rmtree(folders[1])
    gone = watch.follow(folders)
    folders[1].mkdir()
    back = watch.follow(folders)
    (folders[1] / "a.md").write_text("a\n")

    assert (first, gone, back, watch.follow(folders)) == ({1, 2}, {1, 2}, {1, 2}, set())
    assert noticed(watch) == {1}


def test_folders_that_come_later_are_watched(folders: dict[int, Path]) -> None:
    watch = FolderWatch()
    assert (watch.follow({}), watch.changed()) == (set(), set())
    watch.follow(folders)
    (folders[1] / "a.md").write_text("a\n")

    assert noticed(watch) == {1}


def test_folder_that_cannot_be_watched_hides_no_other(folders: dict[int, Path], tmp_path: Path) -> None:
    notices = watching._opened([tmp_path / "missing", folders[1]])
    assert notices is not None
    (folders[1] / "a.md").write_text("a\n")

    assert any(next(notices) for _ in range(200))


def test_watching_that_ended_begins_anew(folders: dict[int, Path]) -> None:
    watch = FolderWatch()
    watch.follow(folders)
    watch._notices = iter(())

    assert watch.changed() == {1, 2}
    assert watch.follow(folders) == {1, 2}
    (folders[1] / "a.md").write_text("a\n")
    assert noticed(watch) == {1}


def test_flood_of_notices_means_every_store(folders: dict[int, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "MAX_NOTICES", 20)
    watch = FolderWatch()
    watch.follow(folders)
    deadline = time.monotonic() + 120
    found: set[int] = set()
    while found != {1, 2} and time.monotonic() < deadline:  # a slow machine may tell of a flood bit by bit
        for number in range(40):
            (folders[1] / f"{number}.md").write_text("x")
        time.sleep(0.1)
        found = noticed(watch)

    assert found == {1, 2}
