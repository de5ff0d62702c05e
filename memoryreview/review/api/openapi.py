"""The OpenAPI 3.1 document, made from the models that requests are checked with and answers have."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from .answers import FilesAnswer, PreviewAnswer, ProblemAnswer, ProposalAnswer, StoreAnswer, StoresAnswer
from .schema import Envelope, ProposalRequest

_MODELS: tuple[type[BaseModel], ...] = (
    ProposalRequest,
    Envelope,
    ProposalAnswer,
    PreviewAnswer,
    StoreAnswer,
    StoresAnswer,
    FilesAnswer,
    ProblemAnswer,
)
_DESCRIPTION = (
    "Agents propose changes of memory and read what is approved. A token proposes and reads; no token decides. "
    "Every refusal is a problem document whose `type` is a stable word."
)


@cache
def document() -> dict[str, Any]:
    """Return the document as JSON values."""
    _, schemas = models_json_schema(
        [(model, "validation") for model in _MODELS], ref_template="#/components/schemas/{model}"
    )
    return {
        "openapi": "3.1.0",
        "info": {"title": "memoryreview", "version": _version(), "description": _DESCRIPTION},
        "servers": [{"url": "/api/v1"}],
        "security": [{"token": []}],
        "paths": _paths(),
        "components": {
            "schemas": schemas["$defs"],
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer", "bearerFormat": "mrv_…"}},
        },
    }


def _version() -> str:
    try:
        return version("memoryreview")
    except PackageNotFoundError:
        return "0"


def _paths() -> dict[str, Any]:
    return {
        "/proposals": {"post": _propose()},
        "/proposals/{proposal_id}": {
            "parameters": [_in_path("proposal_id", "integer")],
            "get": _operation(
                "Read one of your own proposals; with `wait`, not before it is decided or the time is over",
                {200: ProposalAnswer},
                parameters=[_optional("wait", "query", {"type": "integer", "minimum": 0, "maximum": 25})],
            ),
            "put": _operation(
                "Put a new revision in place of a waiting one",
                {200: ProposalAnswer, 202: ProposalAnswer},
                body=ProposalRequest,
            ),
            "delete": _operation("Withdraw a waiting proposal", {200: ProposalAnswer}),
        },
        "/preview": {
            "post": _operation(
                "Ask what a proposal would do; stores nothing", {200: PreviewAnswer}, body=ProposalRequest
            )
        },
        "/stores": {"get": _operation("List the stores that you may use", {200: StoresAnswer})},
        "/stores/{slug}": {
            "parameters": [_in_path("slug", "string")],
            "get": _operation("Describe a store", {200: StoreAnswer}),
        },
        "/stores/{slug}/files": {
            "parameters": [_in_path("slug", "string")],
            "get": _operation("List the approved documents", {200: FilesAnswer}),
        },
        "/stores/{slug}/files/{path}": {
            "parameters": [_in_path("slug", "string"), _in_path("path", "string")],
            "get": _read_file(),
        },
        "/openapi.json": {
            "get": {"summary": "This document", "security": [], "responses": {"200": _plain("OpenAPI 3.1")}}
        },
        "/hooks/v1/{agent}": {
            "servers": [{"url": "/"}],
            "parameters": [_in_path("agent", "string")],
            "post": _deliver(),
        },
    }


def _propose() -> dict[str, Any]:
    return _operation(
        "Propose a change: 201 decided at once, 202 waits, 200 unchanged, repeated or already waiting",
        {200: ProposalAnswer, 201: ProposalAnswer, 202: ProposalAnswer},
        body=ProposalRequest,
        parameters=[_optional("Idempotency-Key", "header", {"type": "string", "minLength": 1, "maxLength": 255})],
    )


def _read_file() -> dict[str, Any]:
    read = _operation(
        "Read the approved text of a document",
        {},
        parameters=[_optional("If-None-Match", "header", {"type": "string"})],
    )
    text = {name: {"schema": {"type": "string"}} for name in ("ETag", "Memoryreview-Head")}
    read["responses"]["200"] = {"description": "The bytes", "headers": text, "content": {"text/markdown": {}}}
    read["responses"]["304"] = {"description": "Still the blob that you know", "headers": text}
    return read


def _deliver() -> dict[str, Any]:
    names = ("webhook-id", "webhook-timestamp", "webhook-signature")
    signed = [{**_optional(name, "header", {"type": "string"}), "required": True} for name in names]
    answers = {200: ProposalAnswer, 201: ProposalAnswer, 202: ProposalAnswer}
    deliver = _operation("Propose by signed webhook (Standard Webhooks)", answers, body=Envelope, parameters=signed)
    return {**deliver, "security": []}


def _operation(
    summary: str,
    answers: Mapping[int, type[BaseModel]],
    *,
    body: type[BaseModel] | None = None,
    parameters: list[dict[str, Any]] | None = None,
) -> dict[str, Any]:
    operation: dict[str, Any] = {"summary": summary}
    if parameters:
        operation["parameters"] = parameters
    if body is not None:
        operation["requestBody"] = {"required": True, "content": {"application/json": {"schema": _reference(body)}}}
    operation["responses"] = {
        **{str(status): _answer("Done", "application/json", model) for status, model in answers.items()},
        "default": _answer("Refused", "application/problem+json", ProblemAnswer),
    }
    return operation


def _answer(description: str, media_type: str, model: type[BaseModel]) -> dict[str, Any]:
    return {"description": description, "content": {media_type: {"schema": _reference(model)}}}


def _plain(description: str) -> dict[str, Any]:
    return {"description": description, "content": {"application/json": {}}}


def _reference(model: type[BaseModel]) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{model.__name__}"}


def _in_path(name: str, kind: str) -> dict[str, Any]:
    return {"name": name, "in": "path", "required": True, "schema": {"type": kind}}


def _optional(name: str, place: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "in": place, "schema": schema}
