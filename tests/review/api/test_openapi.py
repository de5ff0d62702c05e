from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from django.urls import URLPattern

from memoryreview.review.api import openapi, urls


def references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(reference := value.get("$ref"), str):
            yield reference
        for inner in value.values():
            yield from references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from references(inner)


def addresses(patterns: list[URLPattern], prefix: str) -> set[str]:
    shown = {prefix + re.sub(r"<\w+:(\w+)>", r"{\1}", str(pattern.pattern)) for pattern in patterns}
    return {address for address in shown if not address.endswith(("/", "{rest}"))}


def test_document_is_openapi_3_1_and_plain_json() -> None:
    document = openapi.document()

    assert document["openapi"] == "3.1.0"
    assert json.loads(json.dumps(document)) == document


def test_document_lists_every_address_and_no_other() -> None:
    expected = addresses(urls.urlpatterns, "/") | addresses(urls.hook_urlpatterns, "/hooks/v1/")

    assert set(openapi.document()["paths"]) == expected


def test_document_refers_only_to_what_it_holds() -> None:
    document = openapi.document()
    found = set(references(document))

    assert "#/components/schemas/ProposalRequest" in found
    assert {reference.removeprefix("#/components/schemas/") for reference in found} <= set(
        document["components"]["schemas"]
    )


def test_document_says_that_unknown_fields_are_refused_but_kept_in_source() -> None:
    schemas = openapi.document()["components"]["schemas"]

    assert schemas["ProposalRequest"]["additionalProperties"] is False
    assert schemas["Source"]["additionalProperties"] is True
    assert schemas["ProposalRequest"]["properties"]["operations"]["maxItems"] == 200


def test_document_asks_for_a_token_except_for_itself_and_the_webhook() -> None:
    document = openapi.document()
    without_token = [
        (address, method)
        for address, methods in document["paths"].items()
        for method, operation in methods.items()
        if isinstance(operation, dict) and operation.get("security") == []
    ]

    assert document["security"] == [{"token": []}]
    assert without_token == [("/openapi.json", "get"), ("/hooks/v1/{agent}", "post")]
