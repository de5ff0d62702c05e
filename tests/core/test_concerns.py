from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryreview.core.classify.classify import classify
from memoryreview.core.concerns import Concern, concerns, deletes, ordered, rank
from memoryreview.core.model import Action, Context, Finding, Kind, Severity, Verdict
from memoryreview.core.overlay import Overlay

LONG = b"".join(b"- Fact number %d of this document is told here.\n" % n for n in range(20))


def found(before: bytes | None, after: bytes | None, *, always: bool = False) -> set[Concern]:
    tree = {} if before is None else {"a.md": before}
    delta = {"a.md": after}
    judged = classify(tree, Overlay(tree, delta), Context())
    waiting = [action for action in judged.actions if action.verdict is not Verdict.SAFE]
    return set(concerns(waiting, judged.findings, tree, delta, is_always_loaded=lambda *_: always))


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (b"- One.\n", b"- One.\n- Two.\n", set()),
        (b"- One.\n- Two.\n", b"- One.\n", {Concern.DELETES}),
        (LONG, LONG[:200], {Concern.DELETES, Concern.SHRINKS}),
        (b"- One.\n", b"- One.\n- Docs at https://docs.example.org/start.\n", {Concern.ADDRESS}),
        (b"- One.\n", b"- One.\n- The host is 10.0.0.7:5432.\n", {Concern.ADDRESS}),
        (b"- One.\n", b"- One.\n- Build with `make release -j4`.\n", {Concern.COMMAND}),
        (b"- One.\n", b"- One.\n\n```sh\n$ sudo rm -rf build\n```\n", {Concern.COMMAND}),
        (b"- One.\n", b"- One.\n- The key is `retries`.\n", set()),
        (None, b"See <https://example.org>.\n", {Concern.ADDRESS}),
    ],
)
def test_each_reason_to_look_closely_is_told_by_itself(
    before: bytes | None, after: bytes | None, expected: set[Concern]
) -> None:
    told = found(before, after)

    assert told - {Concern.MASS} == expected


def test_an_address_that_only_moves_is_no_new_one() -> None:
    tree = {"a.md": b"- See https://example.org/a.\n", "b.md": b"- Two.\n"}
    delta = {"a.md": b"- One.\n", "b.md": b"- Two.\n- See https://example.org/a.\n"}

    assert concerns([], (), tree, delta, is_always_loaded=lambda *_: False) == ()


def test_a_document_that_every_session_loads_is_named_once_it_changes() -> None:
    assert Concern.ALWAYS_LOADED in found(b"- One.\n", b"- One.\n- Two.\n", always=True)
    assert concerns([], (), {"a.md": b"x"}, {"b.md": b"y"}, is_always_loaded=lambda *_: True) == ()


@pytest.mark.parametrize(
    ("scanner", "severity", "expected"),
    [
        ("injection", Severity.REVIEW, (Concern.INSTRUCTS,)),
        ("secret", Severity.REVIEW, (Concern.CREDENTIAL,)),
        ("unicode", Severity.BLOCK, (Concern.STOPPED, Concern.HIDDEN)),
        ("personal", Severity.REVIEW, (Concern.PERSONAL,)),
        ("secret", Severity.NOTE, ()),
    ],
)
def test_findings_are_reasons_but_notes_are_not(
    scanner: str, severity: Severity, expected: tuple[Concern, ...]
) -> None:
    finding = Finding(scanner, "rule", severity, 1, 1, 1, "Look.")

    assert concerns([], [finding], {}, {}, is_always_loaded=lambda *_: False) == expected


def test_a_reason_never_lowers_the_rank_and_quarantine_comes_first() -> None:
    everything_else = [concern for concern in Concern if concern is not Concern.STOPPED]

    assert rank([Kind.FACT_ADD], [Concern.STOPPED]) > rank(Kind, everything_else)
    assert rank([Kind.FACT_ADD, Kind.FILE_DELETE], ()) == rank([Kind.FILE_DELETE], ())


@given(st.lists(st.sampled_from(Concern)), st.sampled_from(Concern))
def test_more_reasons_rank_at_least_as_high(some: list[Concern], more: Concern) -> None:
    assert rank([Kind.FACT_ADD], [*some, more]) >= rank([Kind.FACT_ADD], some)
    assert ordered([*some, more, more]) == ordered({*some, more})


@given(st.binary(max_size=300), st.binary(max_size=300))
def test_any_bytes_get_their_reasons(before: bytes, after: bytes) -> None:
    action = Action(Kind.FACT_DELETE, Verdict.REVIEW, "a.md", (1, 1), None, "", "", "Remove it")

    told = concerns([action], (), {"a.md": before}, {"a.md": after}, is_always_loaded=lambda *_: False)

    assert deletes([action])
    assert Concern.DELETES in told
    assert list(told) == [concern for concern in Concern if concern in told]
