"""Moments in the frontmatter: what they land with, and that no other byte of a head ever moves unasked."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoryreview.core.classify.classify import classify
from memoryreview.core.classify.verify import verify
from memoryreview.core.model import Classification, Context, Evidence, FormatName, Kind, Proof, Rewrite, Verdict

NOW = datetime(2026, 9, 1, 12, tzinfo=timezone(timedelta(hours=2)))
HEAD = """---
name: ports
description: "Which port"
metadata: \n  type: project
  modified: 2026-08-20T10:02:11.000Z
owner: ana
verified_at: 2026-05-19
---
"""
STAMPED = HEAD.replace("08-20T10", "08-31T10")
SEEN = HEAD.replace("05-19", "09-01")
BOTH = STAMPED.replace("05-19", "09-01")


def judged(before: str, after: str, **more: object) -> Classification:
    known = {"format": FormatName.CLAUDE, "now": NOW, "evidence": Evidence.FOUND} | more
    return classify({"a.md": before.encode()}, {"a.md": after.encode()}, Context(**known))  # type: ignore[arg-type]


def told(found: Classification) -> list[tuple[str, str]]:
    return [(action.kind, action.verdict) for action in found.actions]


def test_stamp_and_verification_date_are_two_safe_actions_with_their_values_in_the_title() -> None:
    found = judged(HEAD + "Body.\n", BOTH + "Body.\n")

    assert told(found) == [("meta.stamp", "safe"), ("verified.update", "safe")]
    assert [action.title for action in found.actions] == [
        "modified: 2026-08-20T10:02:11.000Z becomes 2026-08-31T10:02:11.000Z",
        "verified_at: 2026-05-19 becomes 2026-09-01",
    ]


def test_both_land_with_other_changes_of_the_document_when_these_are_safe() -> None:
    found = judged(HEAD + "Moved on 13/04/2025.  \n", BOTH + "Moved on 2025-04-13.\n")

    assert found.verdict is Verdict.SAFE
    assert told(found) == [
        ("meta.stamp", "safe"),
        ("verified.update", "safe"),
        ("date.normalize", "safe"),
        ("format.blank", "safe"),
    ]


@pytest.mark.parametrize(
    "after",
    [
        BOTH + "Use npm.\n\nMoved on 13/04/2025.\n",
        BOTH + "Use pnpm.\n\nMoved on 13/04/2025.\n\nMore.\n",
        BOTH + "Use pnpm.\n\nMoved on 13/04/2025.",
        BOTH.replace("ana", "bo") + "Use pnpm.\n\nMoved on 13/04/2025.\n",
    ],
)
def test_both_wait_while_anything_else_in_the_document_does(after: str) -> None:
    found = judged(HEAD + "Use pnpm.\n\nMoved on 13/04/2025.\n", after)

    assert found.verdict is Verdict.REVIEW
    assert all("lands with it" in a.reasons[-1] for a in found.actions if a.kind in ("meta.stamp", "verified.update"))


def test_only_the_rest_lands_when_a_part_of_the_text_is_safe_and_a_part_waits() -> None:
    found = judged(HEAD + "Use pnpm.\n\nMoved on 13/04/2025.\n", STAMPED + "Use npm.\n\nMoved on 2025-04-13.\n")

    assert told(found) == [("meta.stamp", "review"), ("fact.rewrite", "review"), ("date.normalize", "safe")]


def test_stamp_waits_with_a_verification_date_without_evidence() -> None:
    found = judged(HEAD + "Body.\n", BOTH + "Body.\n", evidence=Evidence.NONE)

    assert told(found) == [("meta.stamp", "review"), ("meta.change", "review")]


def test_stamp_waits_with_a_link_that_follows_a_rename() -> None:
    base = {"a.md": (HEAD + "See [x](x.md).\n").encode(), "x.md": b"X.\n"}
    proposed = {"a.md": (STAMPED + "See [x](y.md).\n").encode(), "y.md": b"X.\n"}

    found = classify(base, proposed, Context(format=FormatName.CLAUDE, now=NOW))

    assert told(found) == [("meta.stamp", "review"), ("file.rename", "review")]


def test_stamp_of_one_document_lands_while_another_document_waits() -> None:
    base = {"a.md": (HEAD + "A.\n").encode(), "b.md": b"B.\n"}
    proposed = {"a.md": (STAMPED + "A.\n").encode(), "b.md": b"C.\n"}

    found = classify(base, proposed, Context(format=FormatName.CLAUDE, now=NOW))

    assert told(found) == [("meta.stamp", "safe"), ("fact.rewrite", "review")]


def test_c007_values_that_yaml_would_convert_stay_as_they_are_written() -> None:
    odd = "wake: 10:00\ncountry: no\nversion: 1.10\nroom: 0012\nmodified: 2026-08-20T10:02:11Z\n"
    base = f"---\n{odd}---\nBody.\n"

    found = judged(base, base.replace("08-20", "08-21"))

    (action,) = found.actions
    assert action.proof
    assert [r.new for r in action.proof.rewrites] == [b"2026-08-21T10:02:11Z"]


def test_a_now_without_a_zone_proves_nothing() -> None:
    naive = NOW.replace(tzinfo=None)

    assert judged(HEAD, STAMPED, now=naive).verdict is Verdict.REVIEW
    assert judged(HEAD, SEEN, now=naive).verdict is Verdict.REVIEW


FIRST, LAST = date(2026, 1, 1), date(2027, 1, 1)
TIMES = st.builds(datetime.combine, st.dates(FIRST, LAST), st.times())
MOMENTS = st.one_of(
    TIMES.map(lambda at: at.isoformat() + "Z"),
    TIMES.map(lambda at: at.isoformat(" ", "seconds") + "+02:00"),
    st.dates(FIRST, LAST).map(str),
    st.sampled_from(["", "now", "2026-02-30", "2026-08-20T24:00:00Z", "2026-08-20T10:02:11+99:00", "20260820", "''"]),
)
LINES = st.sampled_from(
    [
        "name: a",
        "note: |",
        "  text",
        "metadata:",
        "sources:",
        '"q": x',
        "note: 'open",
        "  - modified",
        "a: b: c",
        "",
    ]
)
KEYS = st.sampled_from(["modified: ", "  modified: ", "verified_at: ", "  verified: '", "- modified: "])


@settings(max_examples=150, deadline=None)
@given(st.lists(LINES, max_size=4), KEYS, MOMENTS, MOMENTS, st.lists(LINES, max_size=3))
def test_rule_and_check_agree_on_any_head(above: list[str], key: str, old: str, new: str, below: list[str]) -> None:
    base, proposed = (
        "\n".join(["---", *above, f"{key}{value}{key[-1:].strip()}", *below, "---", "Body.", ""])
        for value in (old, new)
    )

    found = judged(base, proposed)

    assert not any("independent check" in reason for action in found.actions for reason in action.reasons)
    for action in found.actions:
        if action.proof:
            assert old < new
            assert action.proof.rewrites[0].new == new.encode()


@settings(max_examples=100, deadline=None)
@given(st.integers(0, len(BOTH)), st.integers(0, 12), st.binary(max_size=24), st.sampled_from(list(Kind)))
def test_check_believes_no_rewrite_elsewhere_in_the_head(start: int, length: int, new: bytes, rule: Kind) -> None:
    base = {"a.md": HEAD.encode()}
    end = min(start + length, len(HEAD))
    result = {"a.md": base["a.md"][:start] + new + base["a.md"][end:]}
    proof = Proof(rule, 1, (Rewrite("a.md", start, end, new),))
    if start > end or rule not in (Kind.META_STAMP, Kind.VERIFIED_UPDATE):
        return

    assert not verify(base, result, proof, Context(now=NOW, evidence=Evidence.FOUND))
