from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import URLPattern, URLResolver, get_resolver
from pytest_django import DjangoAssertNumQueries

from memoryreview.review.models import Decision, Proposal, Store
from memoryreview.review.operations.stores import reading
from tests.conftest import on_disk
from tests.review.api.conftest import FACT, NOTE, Api

pytestmark = pytest.mark.django_db

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
WITHOUT_SIGN_IN = frozenset({"sign-in", "welcome", "health", "api-schema"})
OF_AGENTS = ("api/", "hooks/")


def all_patterns(resolver: URLResolver | None = None, prefix: str = "") -> Iterator[tuple[str, URLPattern]]:
    for pattern in (resolver or get_resolver()).url_patterns:
        address = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from all_patterns(pattern, address)
        else:
            yield address, pattern


def filled(address: str, pattern: URLPattern, known: dict[str, Any]) -> str:
    """Fill an address with what exists, so that a refusal is one of permission and not of a wrong number."""
    for name in pattern.pattern.converters:
        start = address.index("<")
        end = address.index(">", start)
        address = f"{address[:start]}{known.get(name, 'x')}{address[end + 1 :]}"
    return "/" + address


@pytest.fixture
def known(api: Api, store: Store) -> dict[str, Any]:
    proposal = api.propose(FACT).json()["id"]
    with reading(store) as repository:
        head = repository.head()
    return {
        "pk": proposal,
        "proposal_id": proposal,
        "slug": "notes",
        "oid": head,
        "path": "build.md",
        "agent": "claude",
    }


def test_c140_token_opens_no_page_and_decides_nothing(api: Api, store: Store, known: dict[str, Any]) -> None:
    """Every page of the interface times every method, with a token and even without the CSRF check."""
    decisions = Decision.objects.count()
    form = {"version": 1, "shown": "x", "decision": 1, "store": "notes", "path": "build.md", "to": "notes", "note": "x"}
    opened = []
    pages = [(address, p) for address, p in all_patterns() if not address.startswith(OF_AGENTS)]
    for address, pattern in pages:
        for method in METHODS:
            response = Client().generic(
                method,
                filled(address, pattern, known),
                "&".join(f"{key}={value}" for key, value in form.items()).encode(),
                content_type="application/x-www-form-urlencoded",
                headers={"authorization": f"Bearer {api.agent.token}"},
            )
            if response.status_code < 300 and pattern.name not in WITHOUT_SIGN_IN:
                opened.append((method, address))
            body = b"".join(response) if response.streaming else response.content
            assert b"port 543" not in body, f"{method} {address} shows memory"

    assert len(pages) > 20
    assert opened == []
    assert Decision.objects.count() == decisions
    assert Proposal.objects.get().state == "pending"
    assert on_disk(store, "build.md") == NOTE.encode()


def test_c140_doors_of_agents_name_nothing_that_decides() -> None:
    names = [address + " " + str(p.name) for address, p in all_patterns() if address.startswith(OF_AGENTS)]

    assert len(names) > 8
    for word in ("approve", "reject", "release", "rollback", "undo", "decide", "erase", "role", "invite"):
        assert not [name for name in names if word in name]


def test_only_doors_of_agents_are_exempt_from_csrf() -> None:
    exempt = [address for address, p in all_patterns() if getattr(p.callback, "csrf_exempt", False)]

    assert len(exempt) > 8
    assert [address for address in exempt if not address.startswith(OF_AGENTS)] == []
    assert all(
        getattr(p.callback, "csrf_exempt", False) for address, p in all_patterns() if address.startswith(OF_AGENTS)
    )


def test_every_door_of_agents_wants_a_token_or_a_signature(store: Store, known: dict[str, Any]) -> None:
    answers = {}
    for address, pattern in all_patterns():
        if not address.startswith(OF_AGENTS) or pattern.name in WITHOUT_SIGN_IN:
            continue
        for method in METHODS:
            response = Client().generic(method, filled(address, pattern, known), b"{}", content_type="application/json")
            answers[f"{method} {address}"] = response.status_code
            assert response.headers["Content-Type"] == "application/problem+json"

    assert set(answers.values()) == {401, 404, 405}


@pytest.mark.parametrize("address", ["/api/", "/api/v2/stores", "/hooks/", "/hooks/v2/claude", "/api/v1/nothing"])
def test_stray_address_of_an_agent_is_told_as_a_problem(client: Client, address: str) -> None:
    answer = client.get(address)

    assert (answer.status_code, answer.headers["Content-Type"]) == (404, "application/problem+json")
    assert answer.json()["type"] == "not-found"


def test_doors_of_agents_never_look_for_a_session(
    api: Api, store: Store, owner_client: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    headers = {"authorization": f"Bearer {api.agent.token}"}
    with CaptureQueriesContext(connection) as alone:
        Client().get("/api/v1/stores", headers=headers)

    with django_assert_num_queries(len(alone)):
        answer = owner_client.get("/api/v1/stores", headers=headers)

    assert answer.json()["stores"]
    assert answer.cookies == {}
