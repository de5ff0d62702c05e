"""What agents hold in these tests: a token, a webhook secret, and a store to propose to."""

from __future__ import annotations

import base64
import io
import json
import time
from dataclasses import dataclass
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from memoryreview.core.signing import decoded_secret, signature_of
from memoryreview.review.models import Store
from memoryreview.review.operations import accounts
from memoryreview.review.operations.accounts import NewAgent
from tests.conftest import MakeStore

NOTE = (
    "# Build\n\n- Moved to the new runner on 13/04/2025.\n- Use npm for everything.\n"
    "- The database listens on port 5432.\n"
)


class UnreadStream(io.RawIOBase):
    """A body that never comes: whoever reads it would wait for good."""

    def read(self, size: int = -1, /) -> bytes:
        raise AssertionError("the body was read")


@dataclass(frozen=True, slots=True)
class Api:
    """One agent at the doors. CSRF is enforced, as it is outside of tests."""

    agent: NewAgent
    http: Client

    def call(self, method: str, address: str, body: object = None, **options: Any) -> Any:
        headers = {"authorization": f"Bearer {self.agent.token}", **options.pop("headers", {})}
        payload = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        options.setdefault("content_type", "application/json")
        return self.http.generic(method, address, payload, headers=headers, **options)

    def get(self, address: str, **options: Any) -> Any:
        return self.call("GET", f"/api/v1/{address}", **options)

    def post(self, address: str, body: object, **options: Any) -> Any:
        return self.call("POST", f"/api/v1/{address}", body, **options)

    def propose(self, *operations: dict[str, Any], store: str = "notes", **fields: Any) -> Any:
        headers = fields.pop("headers", {})
        return self.post("proposals", {"store": store, "operations": list(operations), **fields}, headers=headers)

    def deliver(self, body: object, *, webhook_id: str = "msg_1", at: float | None = None, **options: Any) -> Any:
        """Sign and send a webhook. Options replace parts: name, secret, signature, raw (sent, not what was signed)."""
        signed = body if isinstance(body, bytes) else json.dumps(body).encode()
        timestamp = str(int(time.time() if at is None else at))
        key = decoded_secret(options.get("secret", self.agent.webhook_secret))
        assert key is not None
        signature = "v1," + base64.b64encode(signature_of(key, webhook_id, timestamp, signed)).decode()
        return self.http.generic(
            "POST",
            f"/hooks/v1/{options.get('name', self.agent.agent.name)}",
            options.get("raw", signed),
            content_type=options.get("content_type", "application/json"),
            headers={
                "webhook-id": webhook_id,
                "webhook-timestamp": timestamp,
                "webhook-signature": options.get("signature", signature),
            },
            **options.get("environ", {}),
        )


def edit(old: str, new: str, path: str = "build.md") -> dict[str, Any]:
    return {"op": "edit", "path": path, "edits": [{"old": old, "new": new}]}


FACT = edit("port 5432", "port 5433")
DATE = edit("13/04/2025", "2025-04-13")


@pytest.fixture
def api(owner: User) -> Api:
    return Api(accounts.add_agent("claude", person=owner), Client(enforce_csrf_checks=True))


@pytest.fixture
def other_api(owner: User) -> Api:
    return Api(accounts.add_agent("codex", person=owner), Client(enforce_csrf_checks=True))


@pytest.fixture
def store(make_store: MakeStore) -> Store:
    return make_store({"build.md": NOTE, "odd/q&a.md": "# Questions\n"})
