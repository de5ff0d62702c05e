"""What leaves this machine as a webhook: to public addresses by TLS, and to loopback ports that were named."""

from __future__ import annotations

import http.client
import socket
import ssl
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from memoryreview.core.addresses import is_loopback, is_public
from memoryreview.core.errors import MemoryReviewError

TIMEOUT_S = 10.0
MAX_URL_CHARS = 500
_PORTS = {"http": 80, "https": 443}


class TargetError(MemoryReviewError):
    """Nothing may be delivered to this address."""


class DeliveryError(MemoryReviewError):
    """A delivery did not arrive. `status` of the answer, 0 when there was none."""

    def __init__(self, reason: str, answered: int = 0) -> None:
        self.answered = answered
        super().__init__(reason)


@dataclass(frozen=True, slots=True)
class Target:
    """A checked address. `is_named`: its host and port stand in the list of allowed loopback ports."""

    scheme: str
    host: str
    port: int
    path: str
    is_named: bool


def target_of(url: str, *, allowed: Collection[str]) -> Target:
    """Read an address without asking the network. Raises TargetError.

    Args: allowed: `host:port` of loopback ports that may be reached, also without TLS.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or _PORTS.get(parts.scheme, 0)
    except ValueError:
        host, port = "", 0
    if not (host and port and url.isascii() and url.isprintable() and " " not in url and len(url) <= MAX_URL_CHARS):
        raise TargetError("Give an address such as https://example.org/hook. Nothing was saved.")
    if "@" in parts.netloc or parts.fragment:
        raise TargetError("The address may hold no name, password or “#”. Nothing was saved.")
    is_named = f"{host}:{port}" in allowed
    if parts.scheme != "https" and not is_named:
        raise TargetError(
            "The address must begin with https://. A port of this machine is reached only when "
            "MEMORYREVIEW_WEBHOOK_LOOPBACK names it. Nothing was saved."
        )
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Target(parts.scheme, host, port, path, is_named)


def deliver(target: Target, body: bytes, headers: Mapping[str, str]) -> int:
    """Post a body and return the status, one of 200 to 299. No redirect is followed, and the answer is not read.

    The name is looked up once, and what was checked is what is connected to. Raises DeliveryError with the reason.
    """
    connection = _connection(target, _checked_address(target))
    try:
        connection.request("POST", target.path, body=body, headers={"Content-Type": "application/json", **headers})
        status = connection.getresponse().status
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = "no answer in time" if isinstance(error, TimeoutError) else getattr(error, "strerror", None)
        raise DeliveryError(f"It could not be reached: {reason or 'the connection broke'}.") from error
    finally:
        connection.close()
    if not 200 <= status < 300:
        raise DeliveryError(f"It answered with status {status}.", status)
    return status


def _checked_address(target: Target) -> str:
    """Return the address that the host's name stands for. Raises DeliveryError where any of several is not allowed."""
    try:
        found = socket.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
        addresses = [str(address[0]) for *_, address in found]
        is_allowed = is_loopback if target.is_named else is_public
        fit = bool(addresses) and all(map(is_allowed, addresses))
    except (OSError, UnicodeError, ValueError) as error:
        raise DeliveryError("The name of its host cannot be looked up.") from error
    if not fit:
        raise DeliveryError("Its host is an address of a private network, and nothing is sent there.")
    return addresses[0]


def _connection(target: Target, address: str) -> http.client.HTTPConnection:
    context = ssl.create_default_context() if target.scheme == "https" else None
    return _Pinned(target, address, context)


class _Pinned(http.client.HTTPConnection):
    """A connection to one address under the name of its host, so that a second look-up cannot lead elsewhere."""

    def __init__(self, target: Target, address: str, context: ssl.SSLContext | None) -> None:
        super().__init__(target.host, target.port, timeout=TIMEOUT_S)
        self._address, self._context = address, context

    def connect(self) -> None:
        self.sock = socket.create_connection((self._address, self.port), self.timeout)
        if self._context is not None:
            self.sock = self._context.wrap_socket(self.sock, server_hostname=self.host)
