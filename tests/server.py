"""A real memoryreview: its own data folder, its own process group, real HTTP."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.parse
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from .template import ROOT, migrated, own_environment
from .warm import Warm

PASSWORD = "a long enough phrase"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Installation:
    """One data folder, with the commands and the server that run on it.

    Args: is_migrated: its databases are up to date, as if something had run there before.
    """

    def __init__(self, folder: Path, *, is_migrated: bool = False) -> None:
        self.home = folder / "data"
        self.memory = folder / "memory"
        self.port = free_port()
        self.environment = {
            **own_environment(),
            "MEMORYREVIEW_HOME": str(self.home),
            "MEMORYREVIEW_URL": f"http://127.0.0.1:{self.port}",
        }
        self.process: subprocess.Popen[str] | None = None
        self.greeting = ""
        self._warm: Warm | None = None
        if is_migrated:
            migrated(self.home)

    def run(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "memoryreview", *arguments],
            cwd=ROOT,
            env={**self.environment, **environment},
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )

    def json(self, *arguments: str) -> Any:
        """Run a command in a child of a warm process and return what it printed for programs."""
        if self._warm is not None and self._warm.environment != self.environment:
            self.cool()
        self._warm = self._warm or Warm(self.environment)
        done = self._warm.run([*arguments, "--json"])
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def cool(self) -> None:
        """End the warm process; the next one reads the settings anew."""
        if self._warm is not None:
            self._warm.close()
            self._warm = None

    def store(self, name: str, **files: str) -> Path:
        root = self.memory / name
        root.mkdir(parents=True)
        for stem, text in files.items():
            (root / f"{stem}.md").write_text(text)
        self.json("adopt", str(root), "--name", name)
        return root

    def up(self) -> str:
        """Start the server in a process group of its own and wait until it answers; return what it printed."""
        self.cool()  # the address of the server is a setting
        self.process = subprocess.Popen(
            [sys.executable, "-m", "memoryreview", "up", "--no-open", "--port", str(self.port)],
            cwd=ROOT,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        assert self.process.stdout is not None
        lines: list[str] = []
        for line in self.process.stdout:
            lines.append(line)
            if "Stop with Ctrl-C" in line:
                break
        self.greeting = "".join(lines)
        assert "is up" in self.greeting, self.greeting
        return self.greeting

    def kill(self) -> None:
        """`kill -9` the whole group: supervisor, web server, worker."""
        assert self.process is not None
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.communicate()
        self._wait_for_the_port()

    def stop(self) -> int:
        assert self.process is not None
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        self.process.communicate(timeout=120)
        return self.process.returncode

    def _wait_for_the_port(self) -> None:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)):
                    return
            time.sleep(0.02)

    def post(self, path: str, body: object, token: str, method: str = "POST") -> tuple[int, dict[str, Any]]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        with closing(connection):
            connection.request(method, path, json.dumps(body), headers)
            response = connection.getresponse()
            answer = json.loads(response.read())
        return response.status, answer


class Browser:
    """The least of a browser: cookies, forms, CSRF."""

    def __init__(self, installation: Installation) -> None:
        self.installation = installation
        self.cookies: dict[str, str] = {}

    def request(self, method: str, path: str, form: dict[str, str] | None = None) -> tuple[int, str, str]:
        """Return status, Location and body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.installation.port, timeout=120)
        headers = {"Cookie": "; ".join(f"{key}={value}" for key, value in self.cookies.items())}
        body = None
        if form is not None:
            body = urllib.parse.urlencode(form)
            headers |= {
                "Content-Type": "application/x-www-form-urlencoded",
                "Origin": f"http://127.0.0.1:{self.installation.port}",
            }
        with closing(connection):  # a server that is killed answers with an exception
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            for cookie in response.headers.get_all("Set-Cookie") or []:
                key, _, value = cookie.partition(";")[0].partition("=")
                self.cookies[key] = value
            text = response.read().decode()
        return response.status, response.headers.get("Location", ""), text

    def post(self, page: str, path: str, form: dict[str, str]) -> tuple[int, str, str]:
        """Read a page for its CSRF token, then post a form."""
        _, _, text = self.request("GET", page)
        return self.request("POST", path, {"csrfmiddlewaretoken": token_in(text), **form})

    def become_owner(self) -> None:
        link = re.search(r"/welcome/[\w-]+", self.installation.greeting)
        assert link is not None, self.installation.greeting
        form = {"username": "olga", "password": PASSWORD, "again": PASSWORD}
        status, _, text = self.post(link[0], link[0], form)
        assert status == 302, text

    def sign_in(self) -> None:
        status, _, text = self.post("/sign-in", "/sign-in", {"username": "olga", "password": PASSWORD})
        assert status == 302, text


def token_in(html: str) -> str:
    found = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', html)
    assert found is not None, html[:400]
    return found[1]


@contextmanager
def installation(folder: Path, *, is_migrated: bool = False) -> Iterator[Installation]:
    one = Installation(folder, is_migrated=is_migrated)
    try:
        yield one
    finally:
        one.cool()
        if one.process is not None and one.process.poll() is None:
            os.killpg(one.process.pid, signal.SIGKILL)
            one.process.communicate()
