"""gunicorn's threaded worker, with patience that ends: a sender who dawdles loses the connection, not us a thread."""

from __future__ import annotations

import contextlib
import errno
import socket
import threading
import time
from typing import Any

from gunicorn.workers.gthread import _DEFER, ThreadWorker

READ_S = 10.0  # for the whole of a request, from its first byte
PROMPT_S = 0.25  # after that long without a byte a sender is slow
LINGER_S = 0.3  # after the answer, for what was sent and not read: closing on it could cost the sender the answer
LINGER_BYTES = 64 * 1024
MAX_SLOW = 1
"""Per process, of the four threads that `memoryreview.serve` gives it. Whoever is slow while another is, is cut off."""

_places = threading.BoundedSemaphore(MAX_SLOW)


class SlowSenderError(TimeoutError):
    """The request did not arrive in time. gunicorn knows it by its number as a lost connection, and logs nothing."""

    def __init__(self) -> None:
        super().__init__(errno.ECONNRESET, "The request did not arrive in time.")


class ImpatientSocket(socket.socket):
    """A blocking socket whose reads end at a deadline, however many bytes trickle in before it."""

    __slots__ = ("deadline_s",)

    deadline_s: float

    def recv(self, bufsize: int, flags: int = 0, /) -> bytes:
        """Return what comes. Raises SlowSenderError at the deadline, or sooner when another sender is slow, too."""
        try:
            return self._recv_within(PROMPT_S, bufsize, flags)
        except SlowSenderError:
            if time.monotonic() >= self.deadline_s or not _places.acquire(blocking=False):
                self.hurry(0.0)
                raise
        try:
            return self._recv_within(READ_S, bufsize, flags)
        finally:
            _places.release()

    def hurry(self, left_s: float) -> None:
        """Bring the deadline nearer, never farther."""
        self.deadline_s = min(self.deadline_s, time.monotonic() + left_s)

    def _recv_within(self, patience_s: float, bufsize: int, flags: int) -> bytes:
        before_s = self.gettimeout()
        self.settimeout(max(0.0, min(patience_s, self.deadline_s - time.monotonic())))
        try:
            return super().recv(bufsize, flags)
        except (TimeoutError, BlockingIOError) as error:
            raise SlowSenderError from error
        finally:
            self.settimeout(before_s)


class Worker(ThreadWorker):  # type: ignore[misc]  # gunicorn carries no types
    """Takes a thread only once something was sent, and reads it through an impatient socket."""

    def handle(self, conn: Any) -> Any:
        """Carry out one request of a connection, in a thread of the pool."""
        if not isinstance(conn.sock, ImpatientSocket):
            conn.sock = ImpatientSocket(fileno=conn.sock.detach())
        if not conn.initialized and not conn.wait_for_data(0):
            return _DEFER
        conn.sock.deadline_s = time.monotonic() + READ_S
        kept = super().handle(conn)
        if kept is False:
            _say_goodbye(conn.sock)
        return kept

    def handle_request(self, req: Any, conn: Any) -> bool:
        try:
            kept: bool = super().handle_request(req, conn)
        finally:
            conn.sock.hurry(LINGER_S)
        return kept


def _say_goodbye(sock: ImpatientSocket) -> None:
    """End our side and take what is on its way: here, for gunicorn would wait for it where connections come in."""
    sock.hurry(LINGER_S)
    taken_bytes = 0
    with contextlib.suppress(OSError):
        sock.shutdown(socket.SHUT_WR)
        while taken_bytes < LINGER_BYTES and (taken := sock.recv(4096)):
            taken_bytes += len(taken)
    sock.hurry(0.0)
