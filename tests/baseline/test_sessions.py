from __future__ import annotations

import json
from pathlib import Path

import pytest

from memoryreview.baseline.sessions import working_directories


def _folder(tmp_path: Path, name: str, *directories: str) -> Path:
    project = tmp_path / "projects" / name
    (project / "memory").mkdir(parents=True)
    for number, directory in enumerate(directories):
        lines = [{"type": "summary"}, {"cwd": directory, "sessionId": "x"}]
        (project / f"{number}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return project / "memory"


@pytest.mark.parametrize(
    ("name", "one", "other"),
    [
        ("-w-data-hub-api", "/w/data-hub/api", "/w/data/hub-api"),
        ("D--P-----", "D:\\P\\大明科技", "D:\\P\\天成企業"),
        ("-home-ana-a-b", "/home/ana/a_b", "/home/ana/a.b"),
    ],
)
def test_c053_directories_that_share_a_folder_are_all_named(tmp_path: Path, name: str, one: str, other: str) -> None:
    assert working_directories(_folder(tmp_path, name, one, other, one)) == tuple(sorted((one, other)))


def test_c053_directories_below_the_project_are_no_clash(tmp_path: Path) -> None:
    assert working_directories(_folder(tmp_path, "-w-app", "/w/app", "/w/app/api", "/tmp")) == ("/w/app",)


def test_c053_other_folders_and_odd_transcripts_say_nothing(tmp_path: Path) -> None:
    memory = _folder(tmp_path, "-w-app")
    (memory.parent / "a.jsonl").write_bytes(b'{"cwd": "\xff"} {"cwd": 5} {"cwd": "/w\\u0000"} {"cwd": "/w/app')
    (memory.parent / "b.jsonl").symlink_to("/etc/hostname")
    (memory.parent / "c.jsonl").mkdir()

    assert working_directories(memory) == ()
    assert working_directories(tmp_path) == ()
