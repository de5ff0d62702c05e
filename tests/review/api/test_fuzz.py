"""Whatever is sent: only 2xx and 4xx, every refusal a problem document, and nothing stored by a refusal."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memoryreview.review.models import Delivery, Proposal, Store
from tests.conftest import on_disk
from tests.review.api.conftest import DATE, FACT, NOTE, Api

pytestmark = pytest.mark.django_db

FUZZ = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
FIELDS = ["store", "title", "rationale", "base", "operations", "source", "scores", "confidence", "kind", "op", "path",
          "content", "base_blob", "edits", "old", "new", "to", "text", "to_store", "diff"]  # fmt: skip
WORDS = ["notes", "build.md", "MEMORY.md", "write", "edit", "patch", "§", "", "../x.md", "a\x00b", "é.md"]
texts = st.sampled_from(WORDS) | st.text(max_size=12)
scalars = st.none() | st.booleans() | st.integers() | st.floats() | texts
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS) | texts, inner, max_size=4),
    max_leaves=8,
)
operations = st.one_of(
    st.sampled_from([FACT, DATE]),
    st.fixed_dictionaries({"op": st.just("write"), "path": texts, "content": texts}),
    st.fixed_dictionaries({"op": st.just("delete"), "path": texts}),
    st.fixed_dictionaries({"op": st.just("rename"), "path": texts, "to": texts}),
    st.fixed_dictionaries({"op": st.just("entry.add"), "path": texts, "text": texts}),
    st.fixed_dictionaries({"op": st.just("promote"), "path": texts, "to_store": texts}),
    st.fixed_dictionaries({"op": st.just("patch"), "diff": texts}),
    st.fixed_dictionaries(
        {
            "op": st.just("edit"),
            "path": texts,
            "edits": st.lists(st.fixed_dictionaries({"old": texts, "new": texts}), max_size=2),
        }
    ),
    values,
)
requests = st.fixed_dictionaries(
    {"store": st.just("notes") | texts, "operations": st.lists(operations, max_size=3)},
    optional={"title": values, "base": values, "source": values, "scores": values, "confidence": values, "kind": texts},
)
header_values = st.text(st.characters(min_codepoint=1, max_codepoint=255), max_size=40) | st.sampled_from(
    [
        "application/json",
        "text/plain",
        "gzip",
        "identity",
        "v1,",
        "msg_1",
        "1780000000",
        "chunked",
        "0",
        "-1",
        "9" * 40,
        "k",
    ]
)


def check(api: Api, store: Store, response: Any, before: tuple[int, int, int]) -> None:
    assert 200 <= response.status_code < 300 or 400 <= response.status_code < 500
    if response.status_code >= 400:
        document = response.json()
        assert response.headers["Content-Type"] == "application/problem+json"
        assert {"type", "title", "status", "detail"} <= set(document)
        assert document["status"] == response.status_code
        assert rows() == before


def rows() -> tuple[int, int, int]:
    repeats = sum(Proposal.objects.values_list("repeats", flat=True))
    return Proposal.objects.count(), Delivery.objects.count(), repeats


@FUZZ
@given(body=requests | values)
def test_any_json_is_answered(api: Api, store: Store, body: Any) -> None:
    sent = json.dumps(body).encode()
    for address in ("proposals", "preview"):
        before = rows()
        check(api, store, api.post(address, sent), before)


@FUZZ
@given(body=st.binary(max_size=200))
def test_any_bytes_are_answered(api: Api, store: Store, body: bytes) -> None:
    before = rows()
    check(api, store, api.post("proposals", body), before)
    check(api, store, api.deliver(body), before)
    assert rows() == before


@FUZZ
@given(
    headers=st.dictionaries(
        st.sampled_from(["idempotency-key", "content-encoding", "authorization", "if-none-match", "accept", "cookie"]),
        header_values,
        max_size=3,
    ),
    media_type=st.just("application/json") | header_values,
)
def test_any_headers_are_answered(api: Api, store: Store, headers: dict[str, str], media_type: str) -> None:
    before = rows()
    body = {"store": "notes", "operations": [FACT]}
    check(api, store, api.post("proposals", body, headers=headers, content_type=media_type), before)
    check(api, store, api.get("stores/notes/files/build.md", headers=headers), rows())


@FUZZ
@given(webhook_id=header_values, signature=header_values, at=st.integers(0, 2**40))
def test_any_signature_headers_are_refused(api: Api, store: Store, webhook_id: str, signature: str, at: int) -> None:
    before = rows()
    response = api.deliver({"type": "memory.proposal"}, webhook_id=webhook_id, signature=signature, at=at)

    check(api, store, response, before)
    assert response.status_code == 401
    assert on_disk(store, "build.md") == NOTE.encode()


@FUZZ
@given(
    address=st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
    prefix=st.sampled_from(["proposals/", "stores/", "stores/notes/", "stores/notes/files/", "", "proposals/1?wait="]),
)
def test_any_address_is_answered(api: Api, store: Store, address: str, prefix: str) -> None:
    before = rows()
    check(api, store, api.get(prefix + address), before)
