"""Hosts that share a PostgreSQL database and the folder of baselines, but not one lock file.

Each act runs in a process of its own. A host has its own data folder; `baselines` in it leads to the shared storage,
and its flocks have names of their own, as on storage that keeps locks to each machine.
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import pytest

from tests.settings import SERVER

ROOT = Path(__file__).resolve().parents[2]
ANSWER_S = 120.0
FOUND = """
from memoryreview.review.management.base import migrate
from memoryreview.review.operations import accounts
migrate()
User.objects.create_user("olga", password="correct horse battery", is_superuser=True)
accounts.add_agent("claude", person=User.objects.get())
"""
ADOPT = """
from pathlib import Path
from memoryreview.review.operations.adopt import adopt
adopt(Path(sys.argv[1]), name="notes")
"""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.xdist_group("postgres"))
            if not SERVER.startswith("postgres"):
                reason = "needs PostgreSQL: name a server in MEMORYREVIEW_TEST_DATABASE_URL (postgres://…)"
                item.add_marker(pytest.mark.skip(reason))


class Act:
    """A process of one host, which tells lines of JSON and hears lines of text."""

    def __init__(self, door: Path, **asked: object) -> None:
        self._stream = socket.socket(socket.AF_UNIX)
        self._stream.settimeout(ANSWER_S)
        self._stream.connect(str(door))
        self._lines = self._stream.makefile("r")
        self.tell(json.dumps(asked))
        self.process: int = self.hear()["process"]

    def hear(self) -> Any:
        """Return the next thing that it tells."""
        told = json.loads(self._lines.readline() or '{"raised": "the act is gone"}')
        assert "raised" not in told, told["raised"]
        return told

    def tell(self, word: str = "") -> None:
        self._stream.sendall(f"{word}\n".encode())

    def end(self) -> list[Any]:
        """Wait for its end and return the rest of what it told."""
        *told, last = map(json.loads, self._lines)
        assert last == {"raised": ""}, last
        self._stream.close()
        return told

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.process, signal.SIGKILL)
        self._stream.close()


@dataclass
class Hosts:
    folder: Path
    database: str
    door: Path
    acts: list[Act] = field(default_factory=list)

    @property
    def memory(self) -> Path:
        return self.folder / "memory"

    def start(self, host: str, code: str, *arguments: str) -> Act:
        home = self.folder / host
        if not home.exists():
            home.mkdir(mode=0o700)
            (home / "baselines").symlink_to(self.folder / "shared")
        act = Act(self.door, home=str(home), database=self.database, host=host, code=code, arguments=arguments)
        self.acts.append(act)
        return act

    def run(self, host: str, code: str, *arguments: str) -> Any:
        """Let a host do something to its end and return the last thing that it told, None when it told nothing."""
        return [None, *self.start(host, code, *arguments).end()][-1]

    def query(self, text: str, *values: object) -> list[tuple[Any, ...]]:
        import psycopg

        with psycopg.connect(address(self.database), autocommit=True) as connection:
            done = connection.execute(text, values)
            return list(done) if done.description is not None else []

    def end_session(self, number: int) -> None:
        """Let the server end a session, as its restart or a lost network would, and wait until its locks are free."""
        assert self.query("SELECT pg_terminate_backend(%s, 10000)", number) == [(True,)]

    def locks(self) -> int:
        """Return how many locks between hosts are held."""
        text = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database "
        return int(self.query(text + "WHERE datname = current_database())")[0][0])


def address(database: str) -> str:
    return urlunsplit(urlsplit(SERVER)._replace(path=f"/{database}"))


def _administer(text: str) -> None:
    import psycopg

    with psycopg.connect(address("postgres"), autocommit=True) as connection:
        connection.execute(text)


@pytest.fixture(scope="session")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The socket of the warm process."""
    folder = tmp_path_factory.mktemp("warm")
    own = {key: value for key, value in os.environ.items() if not key.startswith(("MEMORYREVIEW_", "DJANGO_"))}
    stated = {"MEMORYREVIEW_HOME": str(folder / "home"), "MEMORYREVIEW_DATABASE_URL": address("nobody")}
    with subprocess.Popen(
        [sys.executable, "-m", "tests.postgres.warm", str(folder / "door")],
        cwd=ROOT, env={**own, **stated, "DJANGO_SETTINGS_MODULE": "memoryreview.settings"},
        stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield folder / "door"
        process.kill()


@pytest.fixture(scope="session")
def template(door: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A database with its tables, an owner and an agent, from which each test has its own."""
    name = f"memoryreview_{secrets.token_hex(6)}"
    _administer(f"CREATE DATABASE {name}")
    folder = tmp_path_factory.mktemp("template")
    Hosts(folder, name, door).run("template", FOUND)
    yield name
    _administer(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def hosts(template: str, door: Path, tmp_path: Path) -> Iterator[Hosts]:
    """Hosts with the store `notes`: an index and a document, adopted by host a."""
    name = f"memoryreview_{secrets.token_hex(6)}"
    _administer(f"CREATE DATABASE {name} TEMPLATE {template}")
    one = Hosts(tmp_path, name, door)
    (one.folder / "shared").mkdir(mode=0o700)
    one.memory.mkdir()
    (one.memory / "MEMORY.md").write_text("# Memory\n\n- [One](one.md) — the first\n")
    (one.memory / "one.md").write_text("# One\n\nDeploys run on Monday.\n")
    one.run("a", ADOPT, str(one.memory))
    yield one
    for act in one.acts:
        act.kill()
    _administer(f"DROP DATABASE {name} WITH (FORCE)")
