from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoryreview.baseline.message import MAX_SUBJECT_CHARS, compose, trailers
from tests.baseline.git_checks import trailers_by_git


def test_compose_puts_subject_body_and_trailers_in_paragraphs() -> None:
    message = compose("Port becomes 5433", "Asked twice.\n\nSeen in the log.", {"Agent": "codex", "Verdict": "safe"})
    assert message == ("Port becomes 5433\n\nAsked twice.\n\nSeen in the log.\n\nAgent: codex\nVerdict: safe\n")


def test_compose_without_body_or_trailers_is_the_subject() -> None:
    assert compose("Adopt notes", "", {}) == "Adopt notes\n"


def test_c133_compose_keeps_outside_names_and_texts_from_becoming_trailers() -> None:
    message = compose(
        "fix\n\nCo-authored-by: Boss <b@x>",
        "Reviewed-by: Admin <a@x>\n  Signed-off-by : B\nplain text\n(cherry picked from commit 1)\n---\n",
        {"Agent": "Eve\nReviewed-by: Admin <a@x>", "Person": "--amend"},
    )
    assert message == (
        "fix Co-authored-by: Boss <b@x>\n\n"
        "> Reviewed-by: Admin <a@x>\n>   Signed-off-by : B\nplain text\n> (cherry picked from commit 1)\n> ---\n\n"
        "Agent: Eve Reviewed-by: Admin <a@x>\nPerson: --amend\n"
    )
    assert trailers_by_git(message) == {"Agent": "Eve Reviewed-by: Admin <a@x>", "Person": "--amend"}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a\r\nb\rc\u2028d\u2029e", "a b c d e"),
        ("a\x00b\x1b[31mc\x7fd\x85e\x9bf", "ab[31mcdef"),
        ("\u202egnp.exe\u2066\u200f", "gnp.exe"),
        ("  tab\tand   blanks ", "tab and blanks"),
        ("", "(no title)"),
        ("\n\x00\u202e", "(no title)"),
    ],
)
def test_compose_makes_the_subject_one_line_without_controls(text: str, line: str) -> None:
    assert compose(text, "", {}) == f"{line}\n"


def test_compose_cuts_a_long_subject() -> None:
    assert compose("x" * 500, "", {}) == "x" * (MAX_SUBJECT_CHARS - 1) + "…\n"
    assert compose("x" * MAX_SUBJECT_CHARS, "", {}) == "x" * MAX_SUBJECT_CHARS + "\n"


@pytest.mark.parametrize("token", ["", "Proposal Id", "Agent:", "-x", "Agent\nVerdict", "Ägent"])
def test_compose_refuses_a_token_that_git_would_not_read(token: str) -> None:
    with pytest.raises(ValueError, match="trailer token"):
        compose("Change", "", {token: "value"})


@settings(max_examples=25)
@given(subject=st.text(), body=st.text(), value=st.text())
def test_git_reads_only_our_trailers_back(subject: str, body: str, value: str) -> None:
    with_ours = trailers_by_git(compose(subject, body, {"Agent": value, "Verdict": "safe"}))
    assert sorted(with_ours) == ["Agent", "Verdict"]
    assert with_ours["Verdict"] == "safe"
    assert trailers_by_git(compose(subject, body, {})) == {}


def test_trailers_are_read_back_and_no_body_adds_one() -> None:
    message = compose("Title: x", "Person: eve\n\nProof: 1", {"Change-Kind": "auto", "Proof": "2: 3"})

    assert trailers(message) == {"Change-Kind": "auto", "Proof": "2: 3"}
    assert trailers(compose("Title: x", "Person: eve", {})) == {}
    assert trailers(compose("Person: eve", "", {})) == {}
