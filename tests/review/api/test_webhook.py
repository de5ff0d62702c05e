from __future__ import annotations

import base64
import hashlib
import json
import time
from typing import Any

import pytest
from django.test import Client

from memoryreview.review.models import Delivery, Proposal, Store
from memoryreview.review.operations import accounts
from memoryreview.review.operations.keyed import keyed_digest
from tests.conftest import on_disk
from tests.review.api.conftest import DATE, FACT, NOTE, Api, UnreadStream

pytestmark = pytest.mark.django_db


def envelope(*operations: dict[str, Any], kind: str = "memory.proposal", **fields: Any) -> dict[str, Any]:
    proposal = {"store": "notes", "operations": list(operations), **fields}
    return {"type": kind, "timestamp": "2026-12-01T09:00:00Z", "data": proposal}


def assert_refused(response: Any, status: int, problem: str) -> None:
    assert (response.status_code, response.json()["type"]) == (status, problem)
    assert response.headers["Content-Type"] == "application/problem+json"
    assert Proposal.objects.count() == Delivery.objects.count() == 0


def test_signed_proposal_is_answered_as_the_api_answers(api: Api, store: Store) -> None:
    response = api.deliver(envelope(FACT, title="Port moved"))

    proposal = Proposal.objects.get()
    assert response.status_code == 202
    assert response.json() == api.get(f"proposals/{proposal.pk}").json()
    assert (proposal.agent, proposal.claimed_title) == (api.agent.agent, "Port moved")


def test_signed_proposal_that_is_proved_lands(api: Api, store: Store) -> None:
    response = api.deliver(envelope(DATE))

    assert (response.status_code, response.json()["state"]) == (201, "applied")
    assert on_disk(store, "build.md") == NOTE.replace("13/04/2025", "2025-04-13").encode()


def test_c130_signature_is_over_the_raw_body(api: Api, store: Store) -> None:
    odd = json.dumps(envelope(FACT, title="é", confidence=1.0), indent=3, ensure_ascii=False).encode()
    again = json.dumps(json.loads(odd)).encode()

    assert_refused(api.deliver(odd, raw=again), 401, "signature-invalid")
    assert api.deliver(odd).status_code == 202


def test_c131_delivery_that_comes_twice_makes_one_proposal(api: Api, store: Store) -> None:
    first = api.deliver(envelope(FACT))
    second = api.deliver(envelope(FACT), at=time.time() + 5)

    assert (second.status_code, second.json()) == (200, first.json())
    assert (Proposal.objects.count(), Proposal.objects.get().repeats) == (1, 0)


def test_c131_old_delivery_is_refused(api: Api, store: Store) -> None:
    assert_refused(api.deliver(envelope(FACT), at=time.time() - 20 * 60), 401, "timestamp-out-of-range")
    assert_refused(api.deliver(envelope(FACT), at=time.time() + 20 * 60), 401, "timestamp-out-of-range")


def test_c131_same_content_under_a_new_id_is_already_present(api: Api, store: Store) -> None:
    first = api.deliver(envelope(FACT), webhook_id="msg_1").json()
    second = api.deliver(envelope(FACT), webhook_id="msg_2")

    assert (second.status_code, second.json()["id"], second.json()["duplicate_of"]) == (200, first["id"], first["id"])


def test_used_id_with_another_body_is_refused(api: Api, store: Store) -> None:
    api.deliver(envelope(FACT))

    response = api.deliver(envelope(DATE))

    assert (response.status_code, response.json()["type"]) == (409, "idempotency-key-reuse")
    assert Proposal.objects.count() == 1


def test_ids_of_webhook_and_api_do_not_meet(api: Api, store: Store) -> None:
    api.deliver(envelope(FACT), webhook_id="one")

    assert api.propose(DATE, headers={"idempotency-key": "one"}).status_code == 201


def test_id_is_kept_for_good(api: Api, store: Store) -> None:
    first = api.deliver(envelope(FACT)).json()
    api.call("DELETE", f"/api/v1/proposals/{first['id']}")

    again = api.deliver(envelope(FACT))

    assert (again.status_code, again.json()["id"], again.json()["state"]) == (200, first["id"], "withdrawn")


def test_sender_that_is_none_and_wrong_secret_get_the_same_answer(api: Api, other_api: Api, store: Store) -> None:
    wrong = "whsec_" + base64.b64encode(b"w" * 32).decode()
    responses = [
        api.deliver(envelope(FACT), secret=wrong),
        api.deliver(envelope(FACT), secret=other_api.agent.webhook_secret),
        api.deliver(envelope(FACT), name="codex"),
        api.deliver(envelope(FACT), name="nobody"),
        api.deliver(envelope(FACT), name="direct"),
        api.deliver(envelope(FACT), name="n\u00f6"),
        api.deliver(envelope(FACT), name="%00"),
        api.deliver(envelope(FACT), signature="v1,"),
        api.deliver(envelope(FACT), signature=""),
        api.deliver(envelope(FACT), webhook_id="a.b"),
    ]

    assert len({response.content for response in responses}) == 1
    for response in responses:
        assert_refused(response, 401, "signature-invalid")


NO_BODY = {"wsgi.input": UnreadStream(), "CONTENT_LENGTH": "1000"}


@pytest.mark.parametrize(
    "options",
    [
        {"name": "nobody"},
        {"name": "direct"},
        {"name": "%00"},
        {"signature": ""},
        {"signature": "v1,"},
        {"signature": "v1a," + "A" * 43 + "="},
        {"webhook_id": ""},
        {"webhook_id": "a.b"},
    ],
)
def test_body_of_nobody_is_never_read(api: Api, store: Store, options: dict[str, Any]) -> None:
    assert_refused(api.deliver(envelope(FACT), environ=NO_BODY, **options), 401, "signature-invalid")


def test_body_of_a_revoked_sender_is_never_read(api: Api, store: Store) -> None:
    accounts.revoke_agent(api.agent.agent)

    assert_refused(api.deliver(envelope(FACT), environ=NO_BODY), 401, "signature-invalid")


def test_id_of_a_delivery_is_kept_as_a_digest_that_confirms_no_guess(api: Api, store: Store) -> None:
    api.deliver(envelope(FACT), webhook_id="msg_7")

    (delivery,) = Delivery.objects.all()
    guess = hashlib.sha256(b"msg_7").hexdigest()
    assert delivery.key == keyed_digest(guess.encode())
    assert guess not in (delivery.key, delivery.body_hash)


def test_revoked_sender_is_refused(api: Api, store: Store) -> None:
    accounts.revoke_agent(api.agent.agent)

    assert_refused(api.deliver(envelope(FACT)), 401, "signature-invalid")


def test_token_without_signature_is_refused(api: Api, store: Store) -> None:
    response = api.call("POST", "/hooks/v1/claude", envelope(FACT))

    assert_refused(response, 401, "signature-invalid")


@pytest.mark.parametrize(
    "body",
    [
        envelope(FACT, kind="memory.approve"),
        {"data": envelope(FACT)["data"]},
        {"type": "memory.proposal", "timestamp": "x"},
        {"type": "memory.proposal", "data": []},
        envelope(FACT, approve=True),
        [],
        b"not json",
    ],
)
def test_signed_body_of_another_shape_is_refused(api: Api, store: Store, body: Any) -> None:
    assert_refused(api.deliver(body), 422, "schema-invalid")


def test_signed_body_that_is_too_large_is_refused(api: Api, store: Store) -> None:
    assert_refused(api.deliver(b" " * (1024 * 1024 + 1)), 413, "payload-too-large")


def test_signed_body_of_another_media_type_is_refused(api: Api, store: Store) -> None:
    assert_refused(api.deliver(envelope(FACT), content_type="text/plain"), 415, "unsupported-media-type")


def test_agent_reaches_only_its_stores(api: Api, store: Store) -> None:
    api.agent.agent.stores.set([])
    narrow = Api(accounts.add_agent("narrow", [store]), Client())

    assert_refused(
        narrow.deliver({**envelope(FACT), "data": {"store": "other", "operations": [FACT]}}), 404, "not-found"
    )
