"""A receiver of webhooks on a loopback port."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Receiver:
    """Answers with `statuses`, the last one for good, and keeps what came."""

    port: int
    statuses: list[int]
    came: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook?a=1"

    @property
    def named(self) -> str:
        return f"127.0.0.1:{self.port}"


@contextmanager
def receiver(*statuses: int) -> Iterator[Receiver]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            one.came.append((self.path, {name.lower(): value for name, value in self.headers.items()}, body))
            status = one.statuses.pop(0) if len(one.statuses) > 1 else one.statuses[0]
            self.send_response(status)
            self.send_header("Location", f"http://127.0.0.1:{one.port}/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    one = Receiver(server.server_address[1], list(statuses or (204,)))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield one
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
