from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from memoryreview.connect.client import Client, ClientSettingError, ProblemError, UnreachableError

TOKEN = "mrv_test"
ROOT = Path(__file__).resolve().parents[2]
Answering = Callable[..., tuple[str, list[tuple[str, str, str | None, bytes]]]]


@pytest.fixture
def answering() -> Iterator[Answering]:
    """Serve one fixed answer on loopback. Returns the address and what came: (method, path, token, body)."""
    servers: list[HTTPServer] = []

    def serve(
        status: int, body: bytes, headers: dict[str, str] | None = None
    ) -> tuple[str, list[tuple[str, str, str | None, bytes]]]:
        came: list[tuple[str, str, str | None, bytes]] = []

        class Handler(BaseHTTPRequestHandler):
            def answer(self) -> None:
                sent = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                came.append((self.command, self.path, self.headers.get("Authorization"), sent))
                self.send_response(status)
                for name, value in (headers or {}).items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_POST = do_DELETE = answer  # noqa: N815

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                return

        server = HTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_port}", came

    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()


def test_call_sends_the_token_and_ascii_json(answering: Answering) -> None:
    url, came = answering(200, b'{"ok": true}')

    answer = Client(url, TOKEN).call("POST", "preview", {"title": "é\ud800"})

    assert answer == {"ok": True}
    assert came == [("POST", "/api/v1/preview", "Bearer mrv_test", b'{"title": "\\u00e9\\ud800"}')]


def test_call_keeps_the_path_of_the_address(answering: Answering) -> None:
    url, came = answering(200, b"{}")

    Client(url + "/memory/", TOKEN).store("a b/c")

    assert came[0][1] == "/memory/api/v1/stores/a%20b%2Fc"


def test_call_raises_the_sentence_of_a_problem(answering: Answering) -> None:
    document = {"type": "stale-base", "title": "Stale base", "status": 409, "detail": "It moved.", "blob": "1"}
    url, _ = answering(409, json.dumps(document).encode())

    with pytest.raises(ProblemError) as caught:
        Client(url, TOKEN).propose({})

    assert (str(caught.value), caught.value.problem, caught.value.status) == ("It moved.", "stale-base", 409)
    assert caught.value.document == document


@pytest.mark.parametrize(("status", "body"), [(200, b"<html>"), (200, b"[]"), (502, b"bad gateway"), (200, b"\xff")])
def test_call_says_when_something_else_answers(answering: Answering, status: int, body: bytes) -> None:
    url, _ = answering(status, body)

    with pytest.raises(UnreachableError, match=f"memoryreview does not answer at {url}"):
        Client(url, TOKEN).call("GET", "stores")


def test_propose_says_when_the_answer_is_not_ours(answering: Answering) -> None:
    url, _ = answering(200, b'{"hello": "world"}')

    with pytest.raises(UnreachableError):
        Client(url, TOKEN).propose({})


def test_call_carries_no_token_to_where_a_redirect_points(answering: Answering) -> None:
    elsewhere, came = answering(200, b"{}")
    url, _ = answering(302, b"{}", {"Location": elsewhere})

    with pytest.raises(ProblemError):
        Client(url, TOKEN).call("GET", "stores")

    assert came == []


def test_call_ignores_proxies(answering: Answering, monkeypatch: pytest.MonkeyPatch) -> None:
    proxy, came = answering(200, b'{"from": "proxy"}')
    url, _ = answering(200, b'{"from": "server"}')
    monkeypatch.setenv("http_proxy", proxy)

    assert Client(url, TOKEN).call("GET", "stores") == {"from": "server"}
    assert came == []


def test_server_that_is_down_is_one_sentence() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"

        with pytest.raises(UnreachableError) as caught:
            Client(url, TOKEN).call("GET", "stores")

    assert str(caught.value) == (
        f"memoryreview does not answer at {url} (connection refused). Start it with “memoryreview up” and try again."
    )


def test_server_that_hangs_up_is_one_sentence() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=lambda: listener.accept()[0].close(), daemon=True).start()

        with pytest.raises(UnreachableError):
            Client(f"http://127.0.0.1:{listener.getsockname()[1]}", TOKEN).call("GET", "stores")


def test_server_that_is_silent_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"

        with pytest.raises(UnreachableError, match="no answer in time"):
            Client(url, TOKEN, timeout_s=0.2).call("GET", "stores")


@pytest.mark.parametrize(
    "url",
    [
        "",
        "127.0.0.1:8765",
        "ftp://127.0.0.1",
        "http://",
        "http://host:port",
        "http://u:p@127.0.0.1",
        "http://a\nb",
        "file:///x",
    ],
)
def test_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(ClientSettingError):
        Client(url, TOKEN).call("GET", "stores")


@pytest.mark.parametrize("token", ["a\nb", "é", "a\x00"])
def test_token_that_is_none_is_refused(token: str) -> None:
    with pytest.raises(ClientSettingError):
        Client("http://127.0.0.1:1", token).call("GET", "stores")


def test_from_environment_reads_address_and_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORYREVIEW_TOKEN", " mrv_1 ")
    monkeypatch.delenv("MEMORYREVIEW_URL", raising=False)
    assert Client.from_environment() == Client("http://127.0.0.1:8765", "mrv_1")

    monkeypatch.setenv("MEMORYREVIEW_URL", "http://127.0.0.1:9000")
    assert Client.from_environment() == Client("http://127.0.0.1:9000", "mrv_1")

    monkeypatch.setenv("MEMORYREVIEW_TOKEN", "")
    with pytest.raises(ClientSettingError, match="MEMORYREVIEW_TOKEN is not set"):
        Client.from_environment()


def test_doors_outside_the_web_process_load_no_django() -> None:
    script = (
        "import sys\n"
        "from memoryreview.connect import client, offline, propose\n"
        "print(sorted(name for name in sys.modules if name.split('.')[0] in ('django', 'git', 'pydantic')))"
    )

    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"
