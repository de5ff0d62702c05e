"""The demo as a person meets it: one command, a real server, a full queue, and nothing left afterwards."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from memoryreview.demo import ASK_AGAIN_S, _stage
from tests.server import Browser, Installation, free_port
from tests.template import ROOT

pytestmark = pytest.mark.xdist_group("demo")  # they share what takes long to start

Start = Callable[[int], subprocess.Popen[str]]
SCRIPT = json.loads((ROOT / "fixtures" / "demo" / "proposals.json").read_text("utf-8"))


@dataclass
class Demo:
    """A running demo. `folder` holds its data and memory folders."""

    process: subprocess.Popen[str]
    greeting: str
    one: Installation
    folder: Path

    @property
    def password(self) -> str:
        return _said(r"password (\S+)", self.greeting)

    def sign_in(self, username: str) -> Browser:
        browser = Browser(self.one)
        form = {"username": username, "password": self.password}
        status, _, text = browser.post("/sign-in", "/sign-in", form)
        assert status == 302, text
        return browser


@dataclass(frozen=True)
class Stored:
    """One attempt of the samples with what became of it."""

    attempt: dict[str, Any]
    number: int
    state: str
    kinds: frozenset[str]


def _said(pattern: str, text: str) -> str:
    found = re.search(pattern, text)
    assert found is not None, text
    return found[1]


def _start(temporary: Path, port: int) -> subprocess.Popen[str]:
    # What the environment names is somebody's real installation: the demo must not go near it.
    environment = {key: value for key, value in os.environ.items() if not key.startswith("DJANGO_")}
    environment |= {
        "TMPDIR": str(temporary),
        "MEMORYREVIEW_HOME": str(temporary / "real"),
        "MEMORYREVIEW_DATABASE_URL": f"sqlite:///{temporary}/real.sqlite3",
        "MEMORYREVIEW_ALLOWED_HOSTS": "memory.example",
    }
    return subprocess.Popen(
        [sys.executable, "-m", "memoryreview", "demo", "--no-open", "--port", str(port)],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def _greeting(process: subprocess.Popen[str]) -> str:
    """Return what a demo says until it is up."""
    assert process.stdout is not None
    lines: list[str] = []
    while not lines or "Stop with Ctrl-C" not in lines[-1]:
        lines.append(process.stdout.readline())
        assert lines[-1], f"the demo ended before it was up: {''.join(lines)}"
    return "".join(lines)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    temporary = tmp_path_factory.mktemp("demo")
    one = Installation(temporary)
    process = _start(temporary, one.port)
    try:
        greeting = _greeting(process)
        one.home = Path(_said(r"Data folder: (.+)", greeting))
        one.environment["MEMORYREVIEW_HOME"] = str(one.home)
        yield Demo(process, greeting, one, one.home.parent)
    finally:
        one.cool()
        _end(process)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start demos in the test's own folder, which end with the test whatever it found."""
    with ExitStack() as started:

        def one(port: int) -> subprocess.Popen[str]:
            process = _start(tmp_path, port)
            started.callback(_end, process)
            return process

        yield one


def _end(process: subprocess.Popen[str]) -> None:
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


@pytest.fixture(scope="module")
def stored(demo: Demo) -> list[Stored]:
    """Return what became of each attempt that was stored. Numbers count in the order of sending.

    Read from the database, because a command or a page for each of them would take a minute.
    """
    attempts = [one for one in SCRIPT["proposals"] if one["outcome"] not in ("duplicate", "secret-detected")]
    with closing(sqlite3.connect(f"file:{demo.one.home}/memoryreview.sqlite3?mode=ro", uri=True)) as database:
        states = dict(database.execute("SELECT id, state FROM review_proposal"))
        actions = dict(database.execute("SELECT proposal_id, actions FROM review_revision"))
    return [
        Stored(attempt, number, states[number], frozenset(action["kind"] for action in json.loads(actions[number])))
        for number, attempt in enumerate(attempts, start=1)
    ]


def test_demo_is_up_and_says_how_to_sign_in(demo: Demo) -> None:
    browser = demo.sign_in("ana")
    _, _, page = browser.request("GET", "/")

    assert "Promote" in page
    assert demo.sign_in("ben").request("GET", "/")[0] == 200


def test_every_proposal_ends_where_its_story_says(stored: list[Stored]) -> None:
    decided = {
        "approve": "applied",
        "ask": "changes_requested",
        "reject": "rejected",
        "rollback": "rolled_back",
        "snooze": "pending",
    }
    wanted = {}
    for one in stored:
        decisions = one.attempt.get("decisions", [])
        is_decided = decisions and "again" not in one.attempt
        wanted[one.number] = decided[decisions[-1]["verb"]] if is_decided else one.attempt["outcome"]

    assert {one.number: one.state for one in stored} == wanted


def test_every_kind_that_a_story_names_is_what_the_classifier_found(stored: list[Stored]) -> None:
    named = re.compile(r"\b(?:date|dedupe|index|format|fact|file|meta|scope|mass)\.[a-z]+")

    wrong = [one for one in stored if not set(named.findall(one.attempt["shows"])) <= one.kinds]

    assert wrong == []


def test_queue_holds_the_waiting_ones_and_the_quarantined_one(demo: Demo) -> None:
    queue = demo.one.json("queue")

    waiting = [
        one
        for one in SCRIPT["proposals"]
        if one["outcome"] in ("pending", "quarantined") and ("decisions" not in one or "again" in one)
    ]
    direct = [one for one in SCRIPT["direct_writes"] if one["outcome"] == "pending"]
    assert Counter(row["state"] for row in queue) == {"pending": len(waiting) + len(direct) - 1, "quarantined": 1}
    assert {row["agent"] for row in queue} == {"claude-code", "codex-nightly", "hermes", "direct"}
    assert {row["store"] for row in queue} == {"acme-web", "acme-team", "hermes-home", "ledger"}


def test_an_agent_that_was_asked_sent_its_proposal_again(demo: Demo, stored: list[Stored]) -> None:
    [again] = [one.number for one in stored if "again" in one.attempt]
    _, _, page = demo.sign_in("ana").request("GET", f"/proposals/{again}?compare=1-2")

    assert "Revision 2 against revision 1" in page
    assert "Since when is it 60 days, and on which boards?" in page


def test_date_fix_is_a_commit_and_stands_on_disk(demo: Demo) -> None:
    note = demo.folder / "memory" / "acme-web" / "project_feature_flags.md"
    before = (ROOT / "fixtures/demo/stores/acme-web/project_feature_flags.md").read_text()

    fixes = [row for row in demo.one.json("history", "acme-web") if row["paths"] == [note.name]]

    assert [(row["kind"], row["agent"], row["person"]) for row in fixes] == [("auto", "claude-code", None)]
    assert before.count("13/11/2026") == 1
    written = SCRIPT["direct_writes"][0]["documents"][0]
    assert note.read_text() == before.replace("13/11/2026", "2026-11-13").replace(written["old"], written["new"])


def test_history_shows_decisions_of_both_people_and_a_roll_back(demo: Demo) -> None:
    history = demo.one.json("history")

    by_people = Counter((row["kind"], row["person"]) for row in history if row["kind"] in ("approved", "rollback"))
    assert by_people == {("approved", "ana"): 2, ("approved", "ben"): 1, ("rollback", "ana"): 1}
    assert "captured" in {row["kind"] for row in history}


def test_second_edit_of_an_approved_line_cannot_be_approved(demo: Demo, stored: list[Stored]) -> None:
    (late,) = [one.number for one in stored if "in conflict" in one.attempt["shows"]]
    browser = demo.sign_in("ana")
    _, _, page = browser.request("GET", f"/proposals/{late}")
    form = {name: _said(rf'name="{name}" value="(\w+)"', page) for name in ("version", "shown")}

    status, _, _ = browser.post(f"/proposals/{late}", f"/proposals/{late}/approve", form)

    assert status == 409
    assert "on port 5433." in (demo.folder / "memory" / "acme-web" / "reference_staging.md").read_text()


def test_everything_verifies(demo: Demo) -> None:
    assert demo.one.json("verify") == {"ok": True, "faults": []}


def test_fake_key_is_stored_nowhere(demo: Demo) -> None:
    key = re.compile(rb"AK" + rb"IA[A-Z2-7]{16}")
    holding = [path for path in demo.folder.rglob("*") if path.is_file() and key.search(path.read_bytes())]

    assert holding == []
    assert not key.search((ROOT / "fixtures" / "demo" / "proposals.json").read_bytes())


def test_sigterm_leaves_no_process_and_no_folder(tmp_path: Path, start: Start) -> None:
    port = free_port()
    process = start(port)
    _greeting(process)

    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=120)

    assert process.returncode == 0
    assert _group_members(process.pid) == []
    assert list(tmp_path.iterdir()) == []
    assert not _answers(port)


def test_sigterm_while_it_starts_leaves_no_folder(tmp_path: Path, start: Start) -> None:
    process = start(free_port())
    deadline = time.monotonic() + 120
    while not list(tmp_path.glob("memoryreview-demo-*/data/*")) and time.monotonic() < deadline:
        time.sleep(0.05)

    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=120)

    assert process.returncode == 0
    assert _group_members(process.pid) == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_sigterm_that_a_finalizer_swallows_is_heard_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Swallows:
        def __del__(self) -> None:
            signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    heard = True
    with _stage(free_port()):
        Swallows()
        time.sleep(20 * ASK_AGAIN_S)
        heard = False

    assert heard
    assert list(tmp_path.iterdir()) == []
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_taken_port_is_said_in_one_sentence_and_leaves_nothing(tmp_path: Path, start: Start) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        process = start(port)
        said, _ = process.communicate(timeout=120)

    assert process.returncode == 1
    assert said.startswith(f"Port {port} on 127.0.0.1 cannot be used")
    assert said.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def _group_members(group: int) -> list[str]:
    listing = subprocess.run(["ps", "-eo", "pgid,args"], capture_output=True, text=True, check=True)
    return [line for line in listing.stdout.splitlines() if line.split()[0] == str(group)]


def _answers(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request("GET", "/health/")
    except OSError:
        return False
    finally:
        connection.close()
    return True
