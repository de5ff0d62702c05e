from __future__ import annotations

from typing import Any

import pytest

from memoryreview.core import edits
from memoryreview.review.api.problems import SchemaInvalidError
from memoryreview.review.api.schema import Envelope, ProposalRequest, parse, to_request
from memoryreview.review.operations.receive import Promote

OID = "0123456789abcdef0123456789abcdef01234567"
DELETE = {"op": "delete", "path": "b.md"}


def body(**changes: Any) -> dict[str, Any]:
    return {"store": "notes", "operations": [DELETE], **changes}


def faults(value: object) -> list[tuple[str, str]]:
    with pytest.raises(SchemaInvalidError) as caught:
        parse(ProposalRequest, value)
    return list(caught.value.faults)


def test_to_request_carries_every_operation() -> None:
    operations = [
        {"op": "write", "path": "a.md", "content": "text\r\n", "base_blob": OID},
        {"op": "write", "path": "n.md", "content": "", "base_blob": None},
        {"op": "edit", "path": "a.md", "edits": [{"old": "x", "new": "y"}, {"old": "p", "new": ""}]},
        {"op": "delete", "path": "b.md"},
        {"op": "rename", "path": "c.md", "to": "d.md"},
        {"op": "entry.add", "path": "MEMORY.md", "text": "One more"},
        {"op": "promote", "path": "project_release.md", "to_store": "acme-team"},
        {"op": "patch", "diff": "--- a/a.md\n"},
    ]

    request = to_request(parse(ProposalRequest, body(operations=operations)))

    assert request.operations == (
        edits.Write("a.md", "text\r\n", OID),
        edits.Write("n.md", "", None),
        edits.Edit("a.md", (edits.Replacement("x", "y"), edits.Replacement("p", ""))),
        edits.Delete("b.md"),
        edits.Rename("c.md", "d.md"),
        edits.EntryAdd("MEMORY.md", "One more"),
        Promote("project_release.md", "acme-team"),
        edits.Patch("--- a/a.md\n"),
    )


def test_to_request_carries_the_submission() -> None:
    source = {"session": "s", "message_index": 7, "files": [{"path": "x.py", "line": 12, "text": "t", "extra": 1}]}
    sent = body(
        title="T", rationale="R", base=OID, kind="fact", confidence=1, source=source, scores={"stable": 0.9, "own": "x"}
    )

    request = to_request(parse(ProposalRequest, sent))

    assert (request.store, request.base) == ("notes", OID)
    assert request.submission.title == "T"
    assert request.submission.rationale == "R"
    assert request.submission.claimed_kind == "fact"
    assert request.submission.confidence == 1.0
    assert request.submission.source == source
    assert request.submission.scores == {"stable": 0.9, "own": "x"}


def test_to_request_takes_null_for_what_is_optional() -> None:
    nothing = dict.fromkeys(("title", "rationale", "base", "source", "scores", "confidence", "kind"))

    request = to_request(parse(ProposalRequest, body(**nothing)))

    assert request == to_request(parse(ProposalRequest, body()))


def test_unknown_keys_of_source_and_scores_are_kept() -> None:
    sent = body(source={"url": "https://x.invalid", "deep": {"a": [1]}}, scores={"novel": {"why": "x"}})

    submission = to_request(parse(ProposalRequest, sent)).submission

    assert submission.source == {"url": "https://x.invalid", "deep": {"a": [1]}}
    assert submission.scores == {"novel": {"why": "x"}}


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        ([], [("body", "must be an object")]),
        (None, [("body", "must be an object")]),
        ("x", [("body", "must be an object")]),
        ({}, [("store", "is missing"), ("operations", "is missing")]),
        (body(approve=True), [("approve", "is not a known field")]),
        (body(state="applied"), [("state", "is not a known field")]),
        (body(store=7), [("store", "must be a string")]),
        (body(store=""), [("store", "must not be empty")]),
        (body(store=None), [("store", "must be a string")]),
        (body(title=["x"]), [("title", "must be a string")]),
        (body(title="x" * 301), [("title", "is longer than 300 characters")]),
        (body(title="a\x00b"), [("title", "holds a NUL character")]),
        (body(base="HEAD"), [("base", "must be 40 lower-case hex digits")]),
        (body(base=OID.upper()), [("base", "must be 40 lower-case hex digits")]),
        (body(base=OID + "\n"), [("base", "must be 40 lower-case hex digits")]),
        (body(confidence="0.9"), [("confidence", "must be a number")]),
        (body(confidence=True), [("confidence", "must be a number")]),
        (body(confidence=1.5), [("confidence", "must be at most 1")]),
        (body(scores={"stable": -1}), [("scores.stable", "must be at least 0")]),
        (body(scores=[1]), [("scores", "must be an object")]),
        (body(source={"message_index": 7.5}), [("source.message_index", "must be a whole number")]),
        (body(source={"message_index": "7"}), [("source.message_index", "must be a whole number")]),
        (body(source={"files": [{"path": "x", "line": 0}]}), [("source.files[0].line", "must be at least 1")]),
        (body(operations=[]), [("operations", "must not be empty")]),
        (body(operations={}), [("operations", "must be a list")]),
        (body(operations=[DELETE] * 201), [("operations", "has more than 200 entries")]),
        (body(operations=[7]), [("operations[0]", "must be an object")]),
        (body(operations=[DELETE, {"op": "delete"}]), [("operations[1].path", "is missing")]),
        (body(operations=[DELETE | {"force": 1}]), [("operations[0].force", "is not a known field")]),
        (body(operations=[DELETE | {"delete": 1}]), [("operations[0].delete", "is not a known field")]),
        (body(operations=[{"op": "write", "path": "a.md", "content": None}]),
         [("operations[0].content", "must be a string")]),
        (body(operations=[{"op": "write", "path": "a.md", "content": "x", "base_blob": "1"}]),
         [("operations[0].base_blob", "must be 40 lower-case hex digits")]),
        (body(operations=[{"op": "edit", "path": "a.md", "edits": []}]),
         [("operations[0].edits", "must not be empty")]),
        (body(operations=[{"op": "edit", "path": "a.md", "edits": [{"old": "x", "new": "y"}, {"old": 1, "new": "y"}]}]),
         [("operations[0].edits[1].old", "must be a string")]),
    ],
)  # fmt: skip
def test_parse_names_the_field_and_what_is_wrong(sent: object, expected: list[tuple[str, str]]) -> None:
    assert faults(sent) == expected


@pytest.mark.parametrize("operation", [{"path": "a.md"}, {"op": None}, {"op": "approve"}, {"op": ["write"]}])
def test_parse_lists_the_operations_that_there_are(operation: dict[str, Any]) -> None:
    ((place, message),) = faults(body(operations=[operation]))

    assert place == "operations[0]"
    assert message.endswith("one of write, edit, delete, rename, entry.add, promote, patch")


def test_parse_never_repeats_a_value() -> None:
    secret = "ghp_" + "a8Zk3Qw9" * 4 + "Xy12"
    sent = body(
        store={secret: secret},
        title=[secret],
        base=secret,
        confidence=secret,
        kind={"x": secret},
        source=secret,
        operations=[{"op": secret}, {"op": "write", "path": 1, "content": [secret], "base_blob": secret}, secret],
    )

    with pytest.raises(SchemaInvalidError) as caught:
        parse(ProposalRequest, sent)

    assert secret not in f"{caught.value} {caught.value.members()}"
    assert len(caught.value.faults) > 6


def test_parse_names_no_more_than_twenty_faults() -> None:
    assert len(faults(body(**{f"field{n}": 1 for n in range(500)}))) == 20


def test_parse_shows_an_unknown_field_without_control_characters() -> None:
    assert faults(body(**{"a\x1b[31m\n": 1})) == [("a\ufffd[31m\ufffd", "is not a known field")]


def test_envelope_takes_other_types_for_invalid() -> None:
    with pytest.raises(SchemaInvalidError) as caught:
        parse(Envelope, {"type": "memory.approve", "timestamp": "2026-01-01T00:00:00Z", "data": body()})

    assert caught.value.faults == (("type", "must be 'memory.proposal'"),)


def test_envelope_names_fields_from_its_own_root() -> None:
    with pytest.raises(SchemaInvalidError) as caught:
        parse(Envelope, {"type": "memory.proposal", "data": body(operations=[{"op": "delete"}])})

    assert caught.value.faults == (("data.operations[0].path", "is missing"),)
