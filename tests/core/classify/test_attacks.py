"""Changes that once were applied without a person although they change what a memory says, or may."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memoryreview.core.classify.classify import classify
from memoryreview.core.model import Context, Evidence, FormatName, Verdict

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


HERMES = Context(format=FormatName.HERMES)


@pytest.mark.parametrize(
    "lines",
    [
        ["The port is 5432", "The port is 5433", "The port is 5432"],
        ["mode: on", "mode: off", "mode: on"],
        ["Use pnpm in CI", "Use make first", "Use yarn in CI", "Use pnpm in CI"],
        ["use pnpm", "never use pnpm", "use pnpm"],
        ["端口是 5432", "端口是 5433", "端口是 5432"],
    ],
)
def test_entry_that_has_the_last_word_of_its_subject_stays(lines: list[str]) -> None:
    assert without_last(lines) is Verdict.REVIEW


@pytest.mark.parametrize(
    "lead",
    ["Staging", "For prod", "DO NOT", "Prod →", "Prod ->", "Prod —", "*Prod*", "[Prod]", "# Prod", "Prod:\u200b"],
)
def test_entry_below_another_lead_in_stays(lead: str) -> None:
    assert without_last(["Dev", "use the sink", lead, "use the sink"]) is Verdict.REVIEW


def test_hermes_entry_below_another_lead_in_stays() -> None:
    before = "\n§\n".join(["Dev:", "use fake", "Prod:", "use fake"])
    assert verdict(before, before.removesuffix("\n§\nuse fake"), HERMES, "MEMORY.md") is Verdict.REVIEW


@pytest.mark.parametrize(
    "text", ["Step 2", "1st: push", "10:00 restart", "then restart", "+1", "same as above", "User: ok", "See previous"]
)
def test_entry_that_counts_answers_or_points_stays(text: str) -> None:
    assert without_last([text, "another thing", text]) is Verdict.REVIEW


def test_entry_beside_one_that_points_to_it_stays() -> None:
    before = "- use the sink\n- keep the logs\n- use the sink\n- the line above is outdated\n"
    assert verdict(before, before.replace("logs\n- use the sink\n", "logs\n")) is Verdict.REVIEW


def test_repeat_among_unlike_entries_still_goes() -> None:
    assert without_last(["use the sink", "Port 80 is closed", "keep the logs", "use the sink"]) is Verdict.SAFE


def without_last(lines: list[str]) -> Verdict:
    bullets = [f"- {line}\n" for line in lines]
    return verdict("".join(bullets), "".join(bullets[:-1]))


@pytest.mark.parametrize("text", ["``make \nall`` now\n", "keep <!-- a> \nb --> now\n", "`a``b` ``c \nd``\n"])
def test_blank_inside_a_code_span_or_comment_of_two_lines_stays(text: str) -> None:
    assert verdict(text, text.replace(" \n", "\n")) is Verdict.REVIEW


@pytest.mark.parametrize(
    "between",
    [
        "2026-05-12\n\n",
        "*2026-05-12*\n\n",
        "- From 12 May\n",
        "<h2>2026-05-12</h2>\n\n",
        "- Monday\n",
    ],
)
def test_relative_word_below_another_day_than_its_heading_waits(between: str) -> None:
    assert yesterday(f"## 2026-05-20\n\n{between}") is Verdict.REVIEW


@pytest.mark.parametrize("above", ["# Examples\n\n## ", "# How to write an entry\n\n## ", "# Mails from Bob\n\n## "])
def test_relative_word_of_a_sample_waits(above: str) -> None:
    assert yesterday(f"{above}2026-05-20\n\n") is Verdict.REVIEW
    assert yesterday("# Log\n\n## 2026-05-20\n\n") is Verdict.SAFE


@pytest.mark.parametrize("line", ["Did the job fail yesterday", "Had the job failed yesterday, we would know."])
def test_relative_word_of_a_question_or_condition_waits(line: str) -> None:
    assert yesterday("## 2026-05-20\n\n", line) is Verdict.REVIEW


def yesterday(above: str, line: str = "We moved the server yesterday.") -> Verdict:
    before = f"{above}- {line}\n"
    return verdict(before, before.replace("yesterday", "2026-05-19 (yesterday)"))


@pytest.mark.parametrize("name", ["Ports.", "Ｐorts", "✅ Ports", "**Cache**", "`x`", "http://x.example"])
def test_row_whose_title_imitates_another_waits(name: str) -> None:
    assert listed(name) is Verdict.REVIEW
    assert listed("Cache") is Verdict.SAFE


@pytest.mark.parametrize("remark", ["Removed on purpose: `cache.md`\n\n", "<!-- cache.md is hidden -->\n\n"])
def test_row_for_a_document_of_which_the_index_speaks_waits(remark: str) -> None:
    assert listed("Cache", remark) is Verdict.REVIEW


def listed(name: str, remark: str = "") -> Verdict:
    before = f"{remark}- [Ports](ports.md) — which ports\n"
    head = f'---\nname: "{name}"\ndescription: how it is\n---\n'
    after = f"{before}- [{name}](cache.md) — how it is\n"
    return verdict(before, after, Context(format=FormatName.CLAUDE), "MEMORY.md", ports="Text.\n", cache=head)
