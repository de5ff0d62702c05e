"""A client of the HTTP API that costs a hook nothing to start: standard library only, no redirects, no proxies."""

from __future__ import annotations

import http.client
import json
import os
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit

from memoryreview.core.errors import MemoryReviewError

DEFAULT_URL = "http://127.0.0.1:8765"
TIMEOUT_S = 60.0
MAX_ANSWER_BYTES = 32 * 1024 * 1024


class ClientSettingError(MemoryReviewError):
    """The address or the token cannot be used."""


class UnreachableError(MemoryReviewError):
    """Nothing that speaks our protocol answers at the address."""

    problem = "unreachable"
    status = 503

    def __init__(self, url: str, reason: str) -> None:
        self.url = url
        super().__init__(
            f"memoryreview does not answer at {url} ({reason}). Start it with “memoryreview up” and try again."
        )


class ProblemError(MemoryReviewError):
    """The server refused. `str(error)` is its sentence, `problem` its stable word, `document` all that it said."""

    def __init__(self, status: int, document: Mapping[str, Any]) -> None:
        self.status = status
        self.problem = str(document.get("type", ""))
        self.document = document
        super().__init__(str(document.get("detail") or f"The server answered {status} without a reason."))


@dataclass(frozen=True, slots=True)
class Client:
    """One server and the token of one agent. `url` is the server's address without `/api/v1`."""

    url: str
    token: str
    timeout_s: float = TIMEOUT_S

    @classmethod
    def from_environment(cls) -> Client:
        """Read MEMORYREVIEW_URL and MEMORYREVIEW_TOKEN. Raises ClientSettingError."""
        token = os.environ.get("MEMORYREVIEW_TOKEN", "").strip()
        if not token:
            raise ClientSettingError(
                "MEMORYREVIEW_TOKEN is not set. “memoryreview agent add NAME” prints a token; nothing was sent."
            )
        return cls(os.environ.get("MEMORYREVIEW_URL", "").strip() or DEFAULT_URL, token)

    def propose(self, proposal: Mapping[str, Any]) -> dict[str, Any]:
        """Send a proposal. Raises ProblemError, UnreachableError, ClientSettingError."""
        answer = self.call("POST", "proposals", proposal)
        if not {"id", "url", "state"} <= answer.keys():
            raise UnreachableError(self.url, "the answer is not ours")
        return answer

    def store(self, slug: str) -> dict[str, Any]:
        return self.call("GET", f"stores/{quote(slug, safe='')}")

    def call(self, method: str, route: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Send one request below `/api/v1/` and return the JSON object of the answer.

        Raises: ProblemError for a refusal; UnreachableError when no memoryreview answers; ClientSettingError.
        """
        status, content = self._exchange(method, route, body)
        try:
            answer = json.loads(content)
        except ValueError as error:
            raise UnreachableError(self.url, f"the answer with status {status} is not JSON") from error
        if not isinstance(answer, dict):
            raise UnreachableError(self.url, f"the answer with status {status} is not ours")
        if not 200 <= status < 300:
            raise ProblemError(status, answer)
        return answer

    def _exchange(self, method: str, route: str, body: Mapping[str, Any] | None) -> tuple[int, bytes]:
        connection, prefix = self._connection()
        headers = {"Authorization": f"Bearer {self.token}", "Accept": "application/json, application/problem+json"}
        payload = None
        if body is not None:
            payload = json.dumps(body).encode("ascii")
            headers["Content-Type"] = "application/json"
        try:
            connection.request(method, f"{prefix}/api/v1/{route}", body=payload, headers=headers)
            response = connection.getresponse()
            content = response.read(MAX_ANSWER_BYTES)
        except (OSError, http.client.HTTPException) as error:
            raise UnreachableError(self.url, _reason(error)) from error
        finally:
            connection.close()
        return response.status, content

    def _connection(self) -> tuple[http.client.HTTPConnection, str]:
        if not (self.token.isascii() and self.token.isprintable()):
            raise ClientSettingError("The token holds characters that no token has. Nothing was sent.")
        try:
            parts = urlsplit(self.url)
            host, port = parts.hostname, parts.port
        except ValueError:
            host, port = None, None
        if host is None or parts.scheme not in ("http", "https") or not self.url.isprintable() or "@" in parts.netloc:
            raise ClientSettingError(
                "MEMORYREVIEW_URL must be an address such as http://127.0.0.1:8765. Nothing was sent."
            )
        prefix = parts.path.rstrip("/")
        if parts.scheme == "https":
            context = ssl.create_default_context()
            return http.client.HTTPSConnection(host, port, timeout=self.timeout_s, context=context), prefix
        return http.client.HTTPConnection(host, port, timeout=self.timeout_s), prefix


def _reason(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "no answer in time"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    return "the connection broke"
