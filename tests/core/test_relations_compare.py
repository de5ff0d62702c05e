"""How two statements relate: the same, nearly the same, another value, or nothing."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoryreview.core.relations.compare import compare, other_value
from memoryreview.core.relations.model import RelationKind

CONTRADICTION, NEAR = RelationKind.CONTRADICTION, RelationKind.NEAR_DUPLICATE


def kind(here: str, there: str) -> RelationKind | None:
    found = compare(here, there)
    return found.kind if found else None


def sentence(here: str, there: str) -> str:
    found = compare(here, there)
    return found.sentence if found else ""


@pytest.mark.parametrize(
    ("here", "there", "named"),
    [
        ("Keep five releases", "Keep 3 releases", "“five” here, “3” there."),
        ("waits 30 s", "waits 30 min", "“30 s” here, “30 min” there."),
        ("port 8088", "port 8080", "“8088” here, “8080” there."),
        ("Node 20", "Node 22", "“20” here, “22” there."),
        ("≤ 5", "≥ 5", "“≤ 5” here, “≥ 5” there."),
        ("Uploads up to 20 MB pass the proxy.", "Uploads up to 20 GB pass the proxy.", "“20 MB” here, “20 GB” there."),
        ("at least 5 reviews", "at most 5 reviews", "“least” here, “most” there."),
        ("Python 3.11 is required", "Python 3.12 is required", "“3.11” here, “3.12” there."),
        ("Backups are kept for seven days", "Backups are kept for 14 days", "“seven days” here, “14 days” there."),
        ("测试环境端口为 8088", "测试环境端口为 8080", "“8088” here, “8080” there."),
        ("监视间隔为五分钟", "监视间隔为十分钟", "“五” here, “十” there."),
        ("결제 재시도는 2회.", "결제 재시도는 3회.", "“2” here, “3” there."),
    ],
)
def test_c073_another_number_unit_or_version_is_never_a_duplicate(here: str, there: str, named: str) -> None:
    assert (kind(here, there), sentence(here, there)) == (CONTRADICTION, named)
    assert kind(there, here) is CONTRADICTION


@pytest.mark.parametrize(
    ("here", "there"),
    [
        (
            "`sync pull` → --pull (dry run), then --pull --apply",
            "`sync push` → --push (dry run), then --push --apply",
        ),
        ("sync pull → --pull (dry run), then --pull --apply", "sync push → --push (dry run), then --push --apply"),
        ("See https://a.example/terms before launch.", "See https://a.example/privacy before launch."),
        ("The terms page is built from docs/terms.md.", "The privacy page is built from docs/privacy.md."),
        ("Run `make web` before every release.", "Run `make admin` before every release."),
        ("Logs of the importer are in /var/log/importer.", "Logs of the exporter are in /var/log/exporter."),
        ("Use the --dry-run flag first.", "Use the --check flag first."),
        ("Settings live in `core.settings.BASE`.", "Settings live in `core.settings.LOCAL`."),
    ],
)
def test_c074_only_commands_addresses_and_paths_differ(here: str, there: str) -> None:
    assert compare(here, there) is None
    assert compare(there, here) is None


@pytest.mark.parametrize(
    ("here", "there", "named"),
    [
        ("Dana likes peppers.", "Dana no longer likes peppers (said on 2026-03-30).", "“no longer” stands there only."),
        ("The storage box is brand A.", "Correction: the storage box is brand B.", "“A” here, “B” there."),
        ("Do not build the project.", "Build the project.", "“not” stands here only."),
        ("Telemetry is enabled", "Telemetry is disabled", "“enabled” here, “disabled” there."),
        ("Always push to main", "Never push to main", "“Always” here, “Never” there."),
        ("The checkout is owned by Ana", "The checkout is owned by Ben", "“Ana” here, “Ben” there."),
        ("Moved to 2026-05-01 by Ana", "Moved to 2026-06-01 by Ana", "“2026-05-01” here, “2026-06-01” there."),
        ("Use npm for everything.", "Use pnpm for everything.", "“npm” here, “pnpm” there."),
        ("VAT rounds half-up per line", "VAT rounds half-even per line", "“half-up” here, “half-even” there."),
        (
            "The idle timeout is 15 minutes [Task 1]",
            "The idle timeout is 30 minutes for the admin area [Task 1]",
            "“15 minutes” here, “30 minutes” there.",
        ),
        ("Deploys sind freitags erlaubt", "Deploys sind freitags verboten", "“erlaubt” here, “verboten” there."),
        ("不要在主分支上提交代码", "可以在主分支上提交代码", "“不要” here, “可以” there."),
    ],
)  # fmt: skip
def test_another_value_of_the_same_subject_is_named(here: str, there: str, named: str) -> None:
    assert (kind(here, there), sentence(here, there)) == (CONTRADICTION, named)
    assert kind(there, here) is CONTRADICTION


def test_weekdays_against_a_window_of_one_day() -> None:
    here = "Deploy on Tuesdays between 10:00 and 12:00. Dana prefers to be called first."
    assert kind(here, "Deploy on Tuesdays and Thursdays.") is CONTRADICTION


@pytest.mark.parametrize(
    ("here", "there"),
    [
        ("Service A listens on 5000", "Service B listens on 5001"),
        ("The staging host is blue", "The production host is blue"),
        ("Mail goes to the sink in staging", "Mail goes to the sink in production"),
        ("Restart the web server by hand", "Restart the mail server by hand"),
        ("Reply in Indonesian without opening phrases.", "Reply in English when the message is in English."),
        ("First entry.", "Third entry."),
        ("Backups: every night at 02:30", "Updates: every night at 03:30"),
        ("2026-05-06: rejected on the fourth try", "2026-05-09: approved on the fifth try"),
        ("Works mostly in Python and Go.", "Host `stage-2.example.net`, restarted by the on-call person."),
        ("", "Something."),
        ("---", "***"),
    ],
)
def test_different_subjects_have_nothing_to_do_with_each_other(here: str, there: str) -> None:
    assert compare(here, there) is None
    assert compare(there, here) is None


def test_c079_a_shorter_form_names_what_it_leaves_out() -> None:
    long, short = "Do not build the project. The user does it.", "Do not build the project."
    assert kind(long, short) is RelationKind.SHORTER
    assert sentence(short, long) == "The shorter form stands here; “The user does it” is left out here."
    assert sentence(long, short) == "The shorter form stands there; “The user does it” is said here only."
    assert kind("Ask before deleting", "Ask before deleting; a backup is no excuse") is RelationKind.SHORTER
    assert kind("Do not push", "Do not push on Fridays.") is RelationKind.SHORTER


def test_a_shorter_form_that_is_denied_later_is_none() -> None:
    assert kind("The importer runs at night", "The importer runs at night no more") is CONTRADICTION


def test_c029_citations_are_no_difference_in_words() -> None:
    here, there = (f"Verify the live table before trusting a note about it [Task {number}]" for number in (1, 2))
    assert kind(here, there) is NEAR
    assert sentence(here, there) == "The same words; only the source differs: [Task 1] here, [Task 2] there."


@pytest.mark.parametrize(
    ("here", "there"),
    [
        ("User preference 01: no emoji in commit text.", "User preference 07: no emoji in commit text."),
        ("The team has 4 people.", "The team has four people."),
        ("Never force-push a shared branch.", "**Never** force-push a shared branch"),
        ("Keep answers short and direct.", "Keep answers direct and short."),
        (
            "Reproduce a bug as a failing test before touching the code.",
            "Reproduce a bug as a failing test before you touch the code",
        ),
        (
            "Env: phone terminal, aarch64. Agent repo in ~/agent (1.3 GB), venv in ~/agent/venv. Short answers.",
            "Has the agent source repo in ~/agent (~1.3GB), uses the venv at ~/agent/venv. Activate before running.",
        ),
    ],
)
def test_nearly_the_same_words(here: str, there: str) -> None:
    assert kind(here, there) is NEAR
    assert kind(there, here) is NEAR


def test_exact_words_are_compared_without_blanks_and_composition() -> None:
    assert kind("Caf\u00e9  opens at 8.", "Cafe\u0301 opens at 8. ") is RelationKind.DUPLICATE
    assert kind("Opens at 8", "Opens  at\u00a08") is not RelationKind.DUPLICATE


def test_very_long_statements_are_compared_for_equality_only() -> None:
    long = "word " * 2_000
    assert kind(long, long) is RelationKind.DUPLICATE
    assert kind(long, long + "more") is None


@pytest.mark.parametrize(
    ("row", "description", "said"),
    [
        ("approved on 2026-04-27", "waiting for review", "“approved” here, “waiting” there."),
        ("4 people", "five people", "“4” here, “five” there."),
        ("4 people", "four people", ""),
        ("PostgreSQL 15 in containers", "PostgreSQL 16 in containers", "“15” here, “16” there."),
        ("the second retry waits 30 s, a third never happens", "second retry waits 30 s", ""),
        ("who is called when", "Who is called when, and what to do in the first ten minutes", ""),
        ("half-even everywhere, tests pin 2.675", "half-even everywhere", ""),
    ],
)
def test_a_row_and_the_description_of_its_document(row: str, description: str, said: str) -> None:
    assert other_value(row, description) == said


def test_of_two_ways_to_align_both_sides_take_the_same() -> None:
    assert kind("8088 the", "the 8088") is kind("the 8088", "8088 the")


_PIECES = """the|port|is|8088|8080|not|never|`run it`|--flag|a/b.md|https://x.example|端口为八|五分钟|30|s|min|≤|Ana
[Task 1]|.|;|:|(2026-05-01)|Correction:|Rule 3:|~~x~~|\u202e|\x00"""
WORDS = st.sampled_from([piece for line in _PIECES.split("\n") for piece in line.split("|")])


@settings(max_examples=150, deadline=None)
@given(st.lists(WORDS, max_size=14).map(" ".join), st.lists(WORDS, max_size=14).map(" ".join) | st.text(max_size=60))
def test_comparing_is_total_and_symmetric(here: str, there: str) -> None:
    forth, back = compare(here, there), compare(there, here)
    assert (forth and forth.kind) == (back and back.kind)
    assert compare(here, here) is not None
