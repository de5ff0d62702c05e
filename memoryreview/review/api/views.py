"""The HTTP API for agents: they propose and read, and decide nothing."""

from __future__ import annotations

import hashlib
import re
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseNotModified, JsonResponse
from django.urls import reverse
from django.utils.http import parse_etags

from memoryreview.core.names import shown
from memoryreview.review.models import UNDECIDED_STATES, Agent, Store
from memoryreview.review.operations import receive
from memoryreview.review.operations.errors import NotFoundError
from memoryreview.review.operations.keyed import keyed_digest
from memoryreview.review.operations.proposals import DeliveryKey
from memoryreview.review.operations.receive import Receipt
from memoryreview.review.operations.stores import reading

from . import openapi
from .answers import preview_answer, proposal_answer, receipt_answer, store_answer
from .auth import agent_of
from .body import parse_json, read_body
from .door import door
from .problems import RouteNotFoundError, SchemaInvalidError
from .schema import ProposalRequest, parse, to_request
from .waiting import wait_for_change

HEAD_HEADER = "Memoryreview-Head"
_KEY = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?")
_WAIT = re.compile(r"[0-9]{1,4}")


@door("POST")
def proposals(request: HttpRequest) -> HttpResponse:
    agent = agent_of(request)
    key = _idempotency_key(request)
    raw = read_body(request)
    wanted = parse(ProposalRequest, parse_json(raw))
    delivery = delivery_key("api", key, raw) if key else None
    return submitted(receive.submit(to_request(wanted), agent=agent, delivery=delivery))


def delivery_key(door_name: str, stated: str, raw: bytes) -> DeliveryKey:
    """Return what tells a delivery that came before: a sender may put a secret into its key as well."""
    return DeliveryKey(door_name, _digest(stated.encode()), _digest(raw))


def _digest(content: bytes) -> str:
    return keyed_digest(hashlib.sha256(content).hexdigest().encode())


def submitted(receipt: Receipt) -> HttpResponse:
    """Answer 201 for what was decided at once, 202 for what waits, 200 for what made no new proposal."""
    status = 200
    if receipt.proposal is not None and receipt.duplicate_of is None and not receipt.replayed:
        status = 202 if receipt.proposal.state in UNDECIDED_STATES else 201
    response = JsonResponse(receipt_answer(receipt), status=status)
    if receipt.proposal is not None and status != 200:
        response.headers["Location"] = reverse("api-proposal", args=[receipt.proposal.pk])
    return response


def _idempotency_key(request: HttpRequest) -> str:
    key = request.headers.get("Idempotency-Key")
    if key is None:
        return ""
    if not _KEY.fullmatch(key):
        raise SchemaInvalidError([("Idempotency-Key", "must be 1 to 255 printable ASCII characters")])
    return key


@door("GET", "PUT", "DELETE")
def proposal(request: HttpRequest, proposal_id: int) -> HttpResponse:
    agent = agent_of(request)
    if request.method == "PUT":
        return _revise(request, proposal_id, agent)
    if request.method == "DELETE":
        return JsonResponse(proposal_answer(receive.withdraw(proposal_id, agent=agent)))
    wait_s = _wait_s(request)
    wait_for_change(receive.own_proposal(proposal_id, agent), wait_s=wait_s)
    return JsonResponse(proposal_answer(receive.own_proposal(proposal_id, agent)))


def _revise(request: HttpRequest, proposal_id: int, agent: Agent) -> HttpResponse:
    wanted = parse(ProposalRequest, parse_json(read_body(request)))
    standing = receive.own_proposal(proposal_id, agent)
    if wanted.store != standing.store.slug:
        raise SchemaInvalidError([("store", "must be the store of the proposal")])
    receipt = receive.revise(proposal_id, to_request(wanted), agent=agent)
    if receipt.proposal is None:
        return JsonResponse(receipt_answer(receipt))
    return JsonResponse(receipt_answer(receipt), status=202 if receipt.proposal.state in UNDECIDED_STATES else 200)


def _wait_s(request: HttpRequest) -> int:
    stated = request.GET.get("wait", "0")
    if not _WAIT.fullmatch(stated):
        raise SchemaInvalidError([("wait", "must be a number of seconds")])
    return int(stated)


@door("POST")
def preview(request: HttpRequest) -> HttpResponse:
    agent = agent_of(request)
    wanted = parse(ProposalRequest, parse_json(read_body(request)))
    return JsonResponse(preview_answer(receive.preview(to_request(wanted), agent=agent)))


@door("GET")
def stores(request: HttpRequest) -> HttpResponse:
    agent = agent_of(request)
    usable = receive.stores_for(agent).order_by("slug")
    return JsonResponse({"stores": [_described(store) for store in usable]})


@door("GET")
def store(request: HttpRequest, slug: str) -> HttpResponse:
    return JsonResponse(_described(receive.store_for(agent_of(request), slug)))


def _described(described: Store) -> dict[str, Any]:
    with reading(described) as repository:
        return store_answer(described, repository)


@door("GET")
def files(request: HttpRequest, slug: str) -> HttpResponse:
    found = receive.store_for(agent_of(request), slug)
    with reading(found) as repository:
        head = repository.head() or ""
        entries = repository.snapshot(head).entries if head else {}
        listed = [{"path": path, "blob": entry.oid} for path, entry in sorted(entries.items())]
    return _headed(JsonResponse({"store": slug, "head": head, "files": listed}), head)


@door("GET")
def file(request: HttpRequest, slug: str, path: str) -> HttpResponse:
    found = receive.store_for(agent_of(request), slug)
    with reading(found) as repository:
        head = repository.head() or ""
        snapshot = repository.snapshot(head) if head else None
        entry = snapshot.entry(path) if snapshot is not None else None
        if snapshot is None or entry is None:
            raise NotFoundError("document", shown(path))
        tag = f'"{entry.oid}"'
        known = parse_etags(request.headers.get("If-None-Match", ""))
        if tag in known or "*" in known or f"W/{tag}" in known:
            return _headed(HttpResponseNotModified(headers={"ETag": tag}), head)
        content = snapshot[path]
    return _headed(HttpResponse(content, content_type=_media_type(content), headers={"ETag": tag}), head)


def _media_type(content: bytes) -> str:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return "application/octet-stream"
    return "text/markdown; charset=utf-8"


def _headed(response: HttpResponse, head: str) -> HttpResponse:
    response.headers[HEAD_HEADER] = head
    return response


@door("GET")
def schema(request: HttpRequest) -> HttpResponse:
    return JsonResponse(openapi.document())


@door("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
def unknown(request: HttpRequest, rest: str = "") -> HttpResponse:
    """Answer addresses that are none. It comes last, so that no page of the interface answers an agent's door."""
    raise RouteNotFoundError("address")
