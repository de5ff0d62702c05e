"""Changes that once were applied without a person although they change what a memory says, or may."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memoryreview.core.classify.classify import classify
from memoryreview.core.model import Context, Evidence, Verdict

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)


def verdict(before: str, after: str, context: Context | None = None, path: str = "a.md", **others: str) -> Verdict:
    beside = {f"{name}.md": text.encode() for name, text in others.items()}
    base, proposed = beside | {path: before.encode()}, beside | {path: after.encode()}
    return classify(base, proposed, context or Context(now=NOW, evidence=Evidence.FOUND)).verdict


@pytest.mark.parametrize(
    "line",
    [
        "The user prefers 13/04/2025 over ISO dates.",
        "Write dates like 13/04/2025, never like 2025-04-13.",
        "Reports show 13/04/2025 where 2025-04-13 is wanted.",
        "The format\nof 13/04/2025 is what the form wants.",
        "The importer parses 13/04/2025 as day first.",
        "Das Feld 13/04/2025 ist so geschrieben.",
        "日期 13/04/2025 的格式不能改",
        "grep for 13/04/2025 in the log",
        "git log --since 13/04/2025",
        "$ report 13/04/2025",
        "The folder 13/04/2025 holds the scans",
        "A branch called 13/04/2025 is kept",
        "Version 13/04/2025 is on sale",
        "The key 13/04/2025 opens it",
    ],
)
def test_date_that_is_a_sample_or_a_name_waits(line: str) -> None:
    assert verdict(f"{line}\n", line.replace("13/04/2025", "2025-04-13", 1) + "\n") is Verdict.REVIEW


@pytest.mark.parametrize("before", ["yt-dlp ", "upgrade to ", "pin Home Assistant at ", "- ", "since "])
def test_dotted_year_first_that_may_be_a_version_waits(before: str) -> None:
    assert verdict(f"{before}2025.04.13 works\n", f"{before}2025-04-13 works\n") is Verdict.REVIEW


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("Closed from 12 to 13 April 2025.", "13 April 2025"),
        ("Closed on 12 and 13 April 2025.", "13 April 2025"),
        ("Closed 12–13 and 14 April 2025.", "14 April 2025"),
        ("Geschlossen am 3. und am 13. April 2025.", "13. April 2025"),
        ("Open from March to 13 April 2025.", "13 April 2025"),
        ("Open April 3 and April 13, 2025.", "April 13, 2025"),
        ("Open April 13, 2025 and 14.", "April 13, 2025"),
        ("Open April 13, 2025 to May 2.", "April 13, 2025"),
        ("Open 13 to 15/04/2025.", "15/04/2025"),
        ("Open 13/04/2025 and 05/06.", "13/04/2025"),
        ("tests may 13, 2025 times", "may 13, 2025"),
    ],
)
def test_date_from_which_another_day_has_its_month_or_year_waits(line: str, shown: str) -> None:
    day = {"13": "2025-04-13", "14": "2025-04-14", "15": "2025-04-15"}[
        next(n for n in ("15", "14", "13") if n in shown)
    ]
    iso = "2025-05-13" if "may" in shown else day
    assert verdict(f"{line}\n", f"{line.replace(shown, iso)}\n") is Verdict.REVIEW


def test_date_that_tells_how_another_is_read_waits() -> None:
    log = "Open from 13/04/2025 to 05/06/2025.\n"
    assert verdict(log, log.replace("13/04/2025", "2025-04-13")) is Verdict.REVIEW
    clear = log.replace("05/06/2025", "25/06/2025")
    assert verdict(clear, clear.replace("13/04/2025", "2025-04-13")) is Verdict.SAFE
