"""Web server, worker and watcher as one process group: started together, stopped together."""

from __future__ import annotations

import ctypes
import http.client
import os
import signal
import socket
import subprocess
import sys
import time
import webbrowser
from collections.abc import Callable
from pathlib import Path
from types import FrameType

from .core.errors import MemoryReviewError

START_TIMEOUT_S = 30.0
STOP_TIMEOUT_S = 10.0
BESIDE_WEB = {"worker": ("memoryreview", "qcluster"), "watcher": ("memoryreview", "watch")}
"""What runs beside the web server, and is started again when it ends."""
RESTART_S = 2.0  # one that ends at once must not keep a core busy
LOOPBACK = ("127.0.0.1", "localhost", "::1")


class ServeError(MemoryReviewError):
    """The server cannot start."""


def check_address(host: str, port: int) -> None:
    """Refuse an address that strangers reach, and a port that is taken. Raises ServeError."""
    if host not in LOOPBACK and not os.environ.get("MEMORYREVIEW_ALLOWED_HOSTS"):
        raise ServeError(
            f"“{host}” is not a loopback address: anyone who reaches it could read your memory. "
            "Use 127.0.0.1, or set MEMORYREVIEW_ALLOWED_HOSTS to the names that may be served."
        )
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise ServeError(
                f"Port {port} on {host} cannot be used: {error.strerror}. Stop what uses it, or "
                "choose another with --port."
            ) from error


def _die_with_parent() -> None:
    """Ask Linux to stop a child when its parent is killed, so that no orphan keeps the port."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # 1 is PR_SET_PDEATHSIG


class Server:
    """gunicorn (threads, not ASGI: see the measurements), the django-q2 cluster and the watcher, each with its log."""

    def __init__(self, *, host: str, port: int, home: Path) -> None:
        self.host, self.port, self.home = host, port, home
        self.children: dict[str, subprocess.Popen[bytes]] = {}
        self.started_s: dict[str, float] = {}

    @property
    def url(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"

    def start(self) -> None:
        """Start the web server, wait until it answers, then start what runs beside it. Raises ServeError."""
        check_address(self.host, self.port)
        try:
            (self.home / "address").write_text(self.url)
        except OSError as error:
            raise ServeError(
                f"The data folder “{self.home}” cannot be written to: {error.strerror}. Nothing was started; make room "
                "or give permission, then try again."
            ) from error
        bind = f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"
        self._spawn(
            "web",
            *("gunicorn", "memoryreview.wsgi:application", "--bind", bind),
            *("--worker-class", "memoryreview.web_worker.Worker"),
            *("--workers", "2", "--threads", "4", "--graceful-timeout", "5"),
            *("--log-level", "error"),  # its warnings quote the requests of strangers
            *("--preload", "--no-control-socket", "--worker-tmp-dir", str(self.home)),
        )
        deadline = time.monotonic() + START_TIMEOUT_S
        while not self._answers():
            if self.children["web"].poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise ServeError(f"The web server did not start; the reason is in {self.home / 'web.log'}.")
            time.sleep(0.05)
        for name, module in BESIDE_WEB.items():
            self._spawn(name, *module)

    def _spawn(self, name: str, *module: str) -> None:
        self.started_s[name] = time.monotonic()
        with (self.home / f"{name}.log").open("ab") as log:
            self.children[name] = subprocess.Popen(
                [sys.executable, "-m", *module],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, "DJANGO_SETTINGS_MODULE": "memoryreview.settings"},
                preexec_fn=_die_with_parent,  # only a system call runs there
            )

    def _answers(self) -> bool:
        connection = http.client.HTTPConnection(self.host, self.port, timeout=2)
        try:
            connection.request("GET", "/health/")
            return connection.getresponse().status == 200
        except OSError:
            return False
        finally:
            connection.close()

    def wait(self) -> None:
        """Stay until Ctrl-C, SIGTERM, or the web server ends; a worker or watcher that dies is started again."""
        stopping = False

        def stop(signum: int, frame: FrameType | None) -> None:
            nonlocal stopping
            stopping = True

        previous = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            while not stopping and self.children["web"].poll() is None:
                for name, module in BESIDE_WEB.items():
                    is_due = time.monotonic() - self.started_s[name] >= RESTART_S
                    if is_due and self.children[name].poll() is not None:
                        self._spawn(name, *module)
                time.sleep(0.2)
        finally:
            self.stop()
            for number, handler in previous.items():
                signal.signal(number, handler)
        if not stopping:
            raise ServeError(f"The web server ended by itself; the reason is in {self.home / 'web.log'}.")

    def stop(self) -> None:
        """Stop all of them, politely first."""
        for child in self.children.values():
            if child.poll() is None:
                child.terminate()
        deadline = time.monotonic() + STOP_TIMEOUT_S
        for child in self.children.values():
            try:
                child.wait(max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()


def open_browser(url: str, say: Callable[[str], None]) -> None:
    """Open the address in a graphical browser, if this machine has one."""
    graphical = sys.platform in ("darwin", "win32") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if graphical and not webbrowser.open(url):
        say("No browser could be opened; open the address yourself.")
