"""Signed deliveries of agents: `POST /hooks/v1/{agent}`."""

from __future__ import annotations

import time

from django.http import HttpRequest, HttpResponse

from memoryreview.core.signing import decoded_secret
from memoryreview.review.models import Agent
from memoryreview.review.operations import receive

from .body import parse_json, read_body
from .door import door
from .schema import Envelope, parse, to_request
from .signature import SignatureHeaders, SignatureInvalidError, candidates_of, check
from .views import delivery_key, submitted


@door("POST")
def delivery(request: HttpRequest, agent: str) -> HttpResponse:
    """Take what a known sender signed; nothing is read from anybody else, whose body may never end."""
    headers = SignatureHeaders(
        webhook_id=request.headers.get("webhook-id", ""),
        timestamp=request.headers.get("webhook-timestamp", ""),
        signatures=request.headers.get("webhook-signature", ""),
    )
    candidates_of(headers)
    sender, key = _sender(agent)
    raw = read_body(request)
    check(headers, raw, keys=[key], now_s=time.time())
    envelope = parse(Envelope, parse_json(raw))
    seen = delivery_key("webhook", headers.webhook_id, raw)
    return submitted(receive.submit(to_request(envelope.data), agent=sender, delivery=seen))


def _sender(name: str) -> tuple[Agent, bytes]:
    """Return an agent and the key that it signs with. Raises SignatureInvalidError, as for a wrong signature."""
    is_a_name = name.isascii() and name.isprintable()
    agent = Agent.objects.active().filter(name=name).first() if is_a_name else None
    key = decoded_secret(agent.webhook_secret) if agent is not None else None
    if agent is None or key is None:
        raise SignatureInvalidError
    return agent, key
