"""Signed deliveries of agents: `POST /hooks/v1/{agent}` (`design.md` §9.3)."""

from __future__ import annotations

import hashlib
import secrets
import time

from django.http import HttpRequest, HttpResponse

from memoryreview.review.models import Agent
from memoryreview.review.operations import receive
from memoryreview.review.operations.proposals import DeliveryKey

from .body import parse_json, read_body
from .door import door
from .schema import Envelope, parse, to_request
from .signature import SignatureHeaders, SignatureInvalidError, check, decoded_secret
from .views import submitted


@door("POST")
def delivery(request: HttpRequest, agent: str) -> HttpResponse:
    raw = read_body(request)
    headers = SignatureHeaders(
        webhook_id=request.headers.get("webhook-id", ""),
        timestamp=request.headers.get("webhook-timestamp", ""),
        signatures=request.headers.get("webhook-signature", ""),
    )
    sender = _sender(agent, headers, raw)
    envelope = parse(Envelope, parse_json(raw))
    key = DeliveryKey("webhook", headers.webhook_id, hashlib.sha256(raw).hexdigest())
    return submitted(receive.submit(to_request(envelope.data), agent=sender, delivery=key))


def _sender(name: str, headers: SignatureHeaders, raw: bytes) -> Agent:
    """Return the agent that signed. An unknown name costs the time, and gets the answer, of a wrong signature."""
    is_a_name = name.isascii() and name.isprintable()
    agent = Agent.objects.active().filter(name=name).first() if is_a_name else None
    key = decoded_secret(agent.webhook_secret) if agent is not None else None
    check(headers, raw, keys=[key or secrets.token_bytes(32)], now_s=time.time())
    if agent is None or key is None:
        raise SignatureInvalidError
    return agent
