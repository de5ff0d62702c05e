"""The main job by its commands and its HTTP doors, in real processes."""

from __future__ import annotations

import os
import random
import re
import signal
import socket
import subprocess
import threading
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.server import Browser, Installation, installation, token_in
from tests.test_watch import until

NOTE = "# Build\n\n- Moved on 13/04/2025.\n- The database listens on port 5432.\n"


def test_up_serves_reviews_and_stops_cleanly(tmp_path: Path) -> None:
    with installation(tmp_path, is_migrated=True) as one:
        root = one.store("acme", build=NOTE)
        token = one.json("agent", "add", "claude")["token"]
        one.up()
        browser = Browser(one)
        browser.become_owner()

        status, fixed = one.post("/api/v1/proposals", _edit("13/04/2025", "2025-04-13"), token)
        assert (status, fixed["state"]) == (201, "applied")
        status, flipped = one.post("/api/v1/proposals", _edit("5432", "5433") | {"kind": "cosmetic"}, token)
        assert (status, flipped["state"]) == (202, "pending")
        assert [row["id"] for row in one.json("queue")] == [flipped["id"]]
        assert root.joinpath("build.md").read_text() == NOTE.replace("13/04/2025", "2025-04-13")

        _approve(browser, flipped["id"])

        assert "5433" in root.joinpath("build.md").read_text()
        assert [row["kind"] for row in one.json("history", "acme")] == ["approved", "auto", "adopt"]
        assert one.json("verify") == {"ok": True, "faults": []}
        assert one.stop() == 0
        assert _processes_with(str(one.home)) == []


def test_first_start_prints_the_owner_link_and_later_ones_do_not(tmp_path: Path) -> None:
    with installation(tmp_path) as one:
        assert "/welcome/" in one.up()
        Browser(one).become_owner()
        one.stop()

        assert "/welcome/" not in one.up()


def test_a_worker_and_a_watcher_that_die_are_started_again(tmp_path: Path) -> None:
    with installation(tmp_path, is_migrated=True) as one:
        root = one.store("acme", build=NOTE)
        one.up()
        first = until(lambda found: len(found) == 2, lambda: _beside_web(one))
        assert sorted(first) == ["qcluster", "watch"]

        for pid in first.values():
            os.kill(pid, signal.SIGKILL)
        second = until(
            lambda found: len(found) == 2 and not set(found.values()) & set(first.values()), lambda: _beside_web(one)
        )

        assert sorted(second) == ["qcluster", "watch"]
        assert not set(second.values()) & set(first.values())
        root.joinpath("build.md").write_text(f"{NOTE}- Written by the way.\n")
        (captured,) = until(bool, lambda: one.json("queue"))
        assert captured["title"] == "Add “Written by the way.”"
        assert one.stop() == 0
        assert _beside_web(one) == {}


def _beside_web(one: Installation) -> dict[str, int]:
    """Return the process ids of what runs beside the web server, by the command."""
    assert one.process is not None
    listing = subprocess.run(["ps", "axww", "-o", "ppid=,pid=,args="], capture_output=True, text=True, check=True)
    found = {}
    for line in listing.stdout.splitlines():
        parent, pid, arguments = line.split(maxsplit=2)
        started = re.search(r"-m memoryreview (watch|qcluster)$", arguments)
        if int(parent) == one.process.pid and started is not None:
            found[started[1]] = int(pid)
    return found


def test_two_servers_on_one_data_folder_serve_one_store(tmp_path: Path) -> None:
    lines = "".join(f"- Service {number} listens on port {5000 + number}.\n\n" for number in range(10))
    with installation(tmp_path, is_migrated=True) as one, installation(tmp_path) as other:
        root = one.store("acme", ports=lines)
        token = one.json("agent", "add", "claude")["token"]
        browsers = Browser(one), Browser(other)
        one.up()
        browsers[0].become_owner()
        other.up()
        browsers[1].sign_in()
        sent = [
            one.post("/api/v1/proposals", _edit(f"port {5000 + n}.", f"port {6000 + n}.", "ports.md"), token)[1]["id"]
            for n in range(10)
        ]
        clicks = [
            threading.Thread(target=_approve_some, args=(browser, sent[number::2]))
            for number, browser in enumerate(browsers)
        ]
        for click in clicks:
            click.start()
        for click in clicks:
            click.join()

        assert root.joinpath("ports.md").read_text() == lines.replace("port 50", "port 60")
        assert len(one.json("history", "acme")) == 11
        assert one.stop() == 0
        assert browsers[1].request("GET", "/")[0] == 200
        assert one.json("verify") == {"ok": True, "faults": []}


@pytest.mark.parametrize("mode", ["taken port", "strange host", "unwritable"])
def test_up_refuses_with_one_sentence(tmp_path: Path, mode: str) -> None:
    one = Installation(tmp_path)
    arguments = ["up", "--no-open", "--port", str(one.port)]
    environment = {}
    with socket.socket() as other:
        if mode == "taken port":
            other.bind(("127.0.0.1", one.port))
            other.listen()
        elif mode == "strange host":
            arguments += ["--host", "0.0.0.0"]
        else:
            (tmp_path / "file").write_text("")
            environment["MEMORYREVIEW_HOME"] = str(tmp_path / "file" / "data")

        done = one.run(*arguments, **environment)

    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr


def test_missing_git_is_said_in_one_sentence(tmp_path: Path) -> None:
    one = Installation(tmp_path)

    done = one.run("adopt", str(tmp_path), PATH=str(tmp_path))

    assert (done.returncode, "git is not installed" in done.stderr) == (1, True)


def test_kill_at_twenty_points_leaves_one_truth(tmp_path: Path) -> None:
    """`kill -9` of the whole server while 50 approvals run: nothing is lost, nothing is applied twice."""
    lines = "".join(f"- Service {number} listens on port {5000 + number}.\n\n" for number in range(50))
    choose = random.Random(20)
    with installation(tmp_path, is_migrated=True) as one:
        root = one.store("acme", ports=lines)
        token = one.json("agent", "add", "claude")["token"]
        one.up()
        browser = Browser(one)
        browser.become_owner()
        wanted = {}
        for number in range(50):
            old, new = (
                f"Service {number} listens on port {5000 + number}.",
                f"Service {number} listens on port {6000 + number}.",
            )
            wanted[one.post("/api/v1/proposals", _edit(old, new, "ports.md"), token)[1]["id"]] = new
        for _ in range(20):
            clicks = threading.Thread(target=_approve_some, args=(browser, choose.sample(sorted(wanted), 12)))
            clicks.start()
            time.sleep(choose.uniform(0.02, 0.6))
            one.kill()
            clicks.join()
            one.up()
        _approve_some(browser, sorted(wanted))

        states = {pk: one.json("show", str(pk)) for pk in wanted}
        text = root.joinpath("ports.md").read_text()
        assert Counter(shown["state"] for shown in states.values()) == {"applied": 50}
        assert {pk: len(shown["changes"]) for pk, shown in states.items()} == dict.fromkeys(wanted, 1)
        assert [new for new in wanted.values() if new not in text] == []
        assert len(one.json("history", "acme")) == 51
        assert one.json("verify") == {"ok": True, "faults": []}
        assert [path.name for path in root.iterdir()] == ["ports.md"]


def _edit(old: str, new: str, path: str = "build.md") -> dict[str, object]:
    return {"store": "acme", "operations": [{"op": "edit", "path": path, "edits": [{"old": old, "new": new}]}]}


def _approve(browser: Browser, pk: int) -> None:
    _, _, page = browser.request("GET", f"/proposals/{pk}")
    fields = {name: re.search(rf'name="{name}" value="(\w+)"', page) for name in ("version", "shown")}
    form = {name: found[1] for name, found in fields.items() if found} | {"csrfmiddlewaretoken": token_in(page)}
    status, _, text = browser.request("POST", f"/proposals/{pk}/approve", form)
    assert status in (302, 303), text


def _approve_some(browser: Browser, ids: list[int]) -> None:
    for pk in ids:
        try:
            _approve(browser, pk)
        except (OSError, AssertionError):
            continue  # the server was killed under this click, or the proposal is applied already


def _processes_with(text: str) -> list[str]:
    listing = subprocess.run(["ps", "axeww", "-o", "pid,args"], capture_output=True, text=True, check=True)
    mine = str(os.getpid())
    return [line for line in listing.stdout.splitlines() if text in line and "gunicorn" in line and mine not in line]
