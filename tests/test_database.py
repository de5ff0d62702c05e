"""A database that is damaged, full, out of reach or too new: one sentence at every door, and no traceback."""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from django.db import connections
from django.test import Client
from pytest_django import DjangoDbBlocker

from memoryreview.database import unusable
from tests.server import Installation
from tests.template import ROOT

Ask = Callable[..., Any]  # the response of a test client

MAIN, QUEUE = "memoryreview.sqlite3", "queue.sqlite3"


def _garbage(file: Path) -> None:
    file.write_bytes(b"no database at all\n" * 500)


def _torn(file: Path) -> None:
    """Overwrite every page but the first, as a disk does that lost them."""
    with file.open("r+b") as handle:
        handle.seek(4096)
        handle.write(b"\xff" * (file.stat().st_size - 4096))


def _folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def _newer(file: Path) -> None:
    with sqlite3.connect(file) as database:
        database.execute("insert into django_migrations (app, name, applied) values ('review', '9999_later', 0)")


DAMAGE: dict[str, tuple[str, Callable[[Path], None], str]] = {
    "no database": (MAIN, _garbage, "is damaged: its file is no SQLite file"),
    "pages lost": (MAIN, _torn, "is damaged"),
    "a folder in its place": (MAIN, _folder, "cannot be opened"),
    "of a newer version": (MAIN, _newer, "was made by a newer memoryreview (9999_later)"),
    "the other one": (QUEUE, _garbage, "is damaged"),
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with databases."""
    one = Installation(tmp_path_factory.mktemp("whole"), is_migrated=True)
    assert one.json("queue") == []
    return one.home


@pytest.fixture
def one(whole: Path, tmp_path: Path) -> Installation:
    found = Installation(tmp_path)
    shutil.copytree(whole, found.home)
    return found


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_command_refuses_in_one_sentence(one: Installation, damage: str) -> None:
    name, strike, words = DAMAGE[damage]
    strike(one.home / name)
    done = one.run("queue")
    assert (done.returncode, done.stdout) == (1, "")
    assert len(done.stderr.splitlines()) == 1
    assert f"“{one.home / name}” {words}" in done.stderr
    assert "Nothing was changed" in done.stderr
    assert re.search(r"restore a backup|install that version", done.stderr)


def test_a_file_that_may_not_be_written_is_told(one: Installation) -> None:
    if os.geteuid() == 0:
        pytest.skip("root writes everything")
    (one.home / MAIN).chmod(0o400)
    done = one.run("queue")
    assert done.returncode == 1
    assert "is read-only. Nothing was changed. Give permission" in done.stderr


def test_a_disk_that_takes_nothing_is_told_even_where_the_log_cannot_be_written(one: Installation) -> None:
    limited = ["bash", "-c", 'ulimit -f 0; exec "$@"', "-", sys.executable, "-m", "memoryreview", "agent", "add", "x"]
    done = subprocess.run(limited, cwd=ROOT, env=one.environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert "Make room or check the disk, then try again." in done.stderr
    assert one.json("agent", "list") == []


class TestServer:
    """The doors of a running server, whose connection meets the damage when it is opened anew."""

    @pytest.fixture
    def ask(self, tmp_path: Path, django_db_blocker: DjangoDbBlocker) -> Iterator[Ask]:
        """Ask from a thread, as a server does: its connection is its own, and no browser's event loop runs in it."""
        file = tmp_path / MAIN
        _garbage(file)

        def answer(path: str, **headers: str) -> Any:
            default = connections["default"]
            default.settings_dict = {**default.settings_dict, "NAME": str(file)}
            try:
                return Client(raise_request_exception=False).get(path, headers=headers)
            finally:
                default.close()

        with django_db_blocker.unblock(), ThreadPoolExecutor(1) as thread:
            yield lambda path, **headers: thread.submit(answer, path, **headers).result()

    def test_a_page_is_a_sentence(self, ask: Ask) -> None:
        answer = ask("/", cookie=f"memoryreview_session={'a' * 32}")
        assert answer.status_code == 503
        assert "is damaged: its file is no SQLite file" in answer.content.decode()
        assert "Traceback" not in answer.content.decode()

    @pytest.mark.parametrize("cookie", ["", f"memoryreview_session={'a' * 32}"], ids=["no cookie", "a session"])
    def test_the_api_answers_with_a_problem(self, ask: Ask, cookie: str) -> None:
        answer = ask("/api/v1/stores", authorization="Bearer mrv_x", cookie=cookie)
        assert answer.status_code == 503
        assert answer.headers["Content-Type"] == "application/problem+json"
        problem = json.loads(answer.content)
        assert problem["type"] == "database-unusable"
        assert "Nothing is lost" in problem["detail"]


def test_only_faults_of_the_ground_are_told_as_such() -> None:
    with pytest.raises(sqlite3.OperationalError) as wrong:
        sqlite3.connect(":memory:").execute("select 1 frm x")
    assert unusable(wrong.value) is None
    assert unusable(ValueError("database is locked")) is None
    assert unusable(None) is None


def test_a_full_database_has_a_sentence(tmp_path: Path) -> None:
    database = sqlite3.connect(tmp_path / "small")
    database.execute("create table t (c)")
    database.commit()
    database.execute("pragma max_page_count = 2")
    with pytest.raises(sqlite3.OperationalError) as full:
        database.execute("insert into t values (zeroblob(100000))")
    assert "has no room on its disk" in str(unusable(full.value))
