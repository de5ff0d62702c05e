"""Senders who dawdle, at a real server."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from memoryreview.web_worker import READ_S
from tests.server import Installation, installation

pytestmark = pytest.mark.xdist_group("web worker")  # they share what takes long to start

SENDERS = 40
THREADS = 8
HELD_S = SENDERS * READ_S / THREADS
"""What the senders cost everybody else if each of them holds a thread until its deadline."""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    with installation(tmp_path_factory.mktemp("served"), is_migrated=True) as one:
        one.store("notes", build="# Build\n\n- Port 5432.\n")
        one.up()
        yield one


def _send(one: Installation, sent: bytes) -> socket.socket:
    sender = socket.create_connection(("127.0.0.1", one.port), timeout=30)
    sender.sendall(sent)
    return sender


def _answer(sender: socket.socket) -> bytes:
    """Return what the server said until it closed."""
    answer = b""
    with contextlib.suppress(ConnectionError):
        while got := sender.recv(4096):
            answer += got
    return answer


def _health(one: Installation) -> bytes:
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", one.port, timeout=60)) as connection:
        connection.request("GET", "/health/")
        return connection.getresponse().read()


def _head(first: str, *headers: str) -> bytes:
    return "\r\n".join((first, "Host: 127.0.0.1", *headers, "", "")).encode()


HALF_BODY = ("Content-Type: application/json", "Content-Length: 1000")
SIGNED = ("webhook-id: msg_1", "webhook-timestamp: 1780000000", "webhook-signature: v1," + "A" * 43 + "=")
STALLED = {
    "nothing": b"",
    "half a line": b"GET /hea",
    "half the headers": b"GET /health/ HTTP/1.1\r\nHost: 127.0.0.1\r\nX-",
    "half the body of an unknown agent": _head("POST /hooks/v1/x HTTP/1.1", *HALF_BODY) + b"{",
    "half the body of a known agent": _head("POST /hooks/v1/claude HTTP/1.1", *HALF_BODY, *SIGNED) + b"{",
    "half a chunk of a known agent": _head(
        "POST /hooks/v1/claude HTTP/1.1", HALF_BODY[0], "Transfer-Encoding: chunked", *SIGNED
    )
    + b"ff\r\n{",
    "half a form": _head("POST /sign-in HTTP/1.1", "Content-Length: 1000") + b"u",
}


@pytest.fixture(scope="module")
def token(served: Installation) -> str:
    return str(served.json("agent", "add", "claude")["token"])


@pytest.mark.parametrize("sent", STALLED.values(), ids=STALLED.keys())
def test_stalled_senders_take_no_thread_for_long(served: Installation, token: str, sent: bytes) -> None:
    senders = [_send(served, sent) for _ in range(SENDERS)]
    try:
        started = time.monotonic()
        assert _health(served) == b"ok\n"
        assert time.monotonic() - started < HELD_S / 2
    finally:
        for sender in senders:
            sender.close()


def test_body_of_a_stranger_is_answered_before_it_came(served: Installation, token: str) -> None:
    with _send(served, STALLED["half the body of an unknown agent"]) as sender:
        answer = _answer(sender)

    assert answer.startswith(b"HTTP/1.1 401 ")
    assert b'"type": "signature-invalid"' in answer


def test_body_that_trickles_is_refused_at_the_deadline(served: Installation, token: str) -> None:
    head = _head("POST /api/v1/proposals HTTP/1.1", *HALF_BODY, f"Authorization: Bearer {token}")
    with _send(served, head) as sender:
        sender.settimeout(0.4)
        started = time.monotonic()
        first = b""
        while not first and time.monotonic() - started < 3 * READ_S:
            with contextlib.suppress(TimeoutError):
                sender.sendall(b" ")
                first = sender.recv(4096)
        took_s = time.monotonic() - started
        sender.settimeout(30)
        answer = first + _answer(sender)

    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b'"type": "body-incomplete"' in answer
    assert READ_S - 1 < took_s < 2 * READ_S


def test_body_in_pieces_is_taken(served: Installation, token: str) -> None:
    body = json.dumps({"store": "notes", "operations": [{"op": "write", "path": "n.md", "content": "# N\n"}]}).encode()
    head = _head(
        "POST /api/v1/proposals HTTP/1.1", "Connection: close", HALF_BODY[0],
        f"Content-Length: {len(body)}", f"Authorization: Bearer {token}",
    )  # fmt: skip
    with _send(served, head[:30]) as sender:
        for piece in (head[30:], body[:20], body[20:]):
            time.sleep(0.7)  # slower than prompt
            sender.sendall(piece)
        answer = _answer(sender)

    assert answer.startswith(b"HTTP/1.1 202 ")


def test_slow_senders_write_no_log(served: Installation, token: str) -> None:
    with _send(served, b"GET /welcome/hush-hush \x00 HTTP/1.1\r\n\r\n") as sender:
        assert _answer(sender).startswith(b"HTTP/1.1 400 ")

    assert Path(served.home / "web.log").read_text() == ""
