"""What a reviewer is told of dates that no rule proves, and the much larger part of which nothing is told."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from memoryreview.core.classify import dates
from memoryreview.core.model import Classification, Context, Finding, History, Severity, Verdict

from .test_dates import NO_DAY, ORDINARY, TOLD, change, only, parsed, under

WEDNESDAY = date(2026, 3, 4)
NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)


def since(day: date, *lines: str) -> Context:
    return Context(history=History(first_approved={("a.md", line.encode()): day for line in lines}))


def remarks(text: str, context: Context | None = None) -> list[tuple[int, str]]:
    return list(dates.suggestions(parsed(text), context or Context()))


def told(line: str, day: date = WEDNESDAY) -> str:
    """Return what is told of one line that was first approved on a day, "" for nothing."""
    found = remarks(f"{line}\n", since(day, line))
    return " ".join(sentence for _, sentence in found)


@pytest.mark.parametrize("line", [*ORDINARY, *(line for line in NO_DAY if line[0] < "\u0400" and "2026" not in line)])
def test_c058_c061_c062_c068_nothing_is_told_of_what_is_no_date(line: str) -> None:
    for layout in ("{}", "- {}", "> {}", "`{}`", "| {} | x |"):
        text = layout.format(line)
        if "18 May" not in line:
            assert told(text) == ""


@pytest.mark.parametrize(
    "line",
    [
        "每天早上看昨天的日志",
        "如果昨天失败了，就重试",
        "按钮“昨天”已删除",
        "今天按钮在首页",
        "今天该发布了",
        "毎朝昨日のログを読んだ",
        "昨日ボタンを削除した。",
        "今日のタスクボタン",
        "오늘 할 일 버튼",
        "오늘 할 일 버튼은 홈 화면에 있다.",
        "매일 어제 로그를 읽었다",
        "금요일 배포 금지",
        "Every Friday we switch the DNS",
        "No deploys on Friday",
        "Fridays are slow",
        "Friday is a holiday",
        "The Friday report was late",
        "Deploy on Friday?",
        "Freitags deployen wir nicht",
        "Nie am Freitag deployen",
        "le vendredi on ne déploie pas",
        "[[Friday]]",
        "version 27.08 GB",
        "27.08 GB",
        "3.04 seconds",
        "12.11 works",
        "10.00 Uhr",
        "32.13 call",
        "you may 15 times retry",
        "march 3 steps on",
        "`Apr 15` appeal",
        '"Apr 15" appeal',
        "Apr-15.log",
        "v6/4/25",
        "logs/6/4/25/x",
        "the late Juneau call",
        "2026-04-15 appeal",
        "13/04/2025 appeal",
        "2026年6月3日",
        "１３／０４",
    ],
)
def test_look_alikes_and_habits_in_every_language_are_left_alone(line: str) -> None:
    assert told(line) == ""
    assert told(f"- {line}") == ""


def test_c064_date_without_year_is_suggested_in_the_year_of_its_first_approval() -> None:
    assert "2026-04-15" in told("Apr 15 appeal")
    assert "2026-08-27" in told("27.08 call")
    assert "2026-08-27" in told("- am 27.08. Anruf")
    assert "2026-04-15" in told("appeal on 15 April")
    assert "2026-04-15" in told("Einspruch am 15. April")
    assert "2026-04-15" in told("recours le 15 avril")
    assert "2026-04-15" in told("recurso el 15 de abril")
    assert "has no such day" in told("Feb 29 appeal")
    assert remarks("Apr 15 appeal\n") == [(1, "“Apr 15” names no year, and nothing here says which is meant.")]
    assert "its heading says 2026-05-20, so it may be 2026-04-15" in remarks(under("Apr 15 appeal"))[0][1]


def test_c064_short_year_and_part_of_a_month_are_named_without_a_guess() -> None:
    for line in ("6/4/25 0730", "mid-June", "early June", "Mitte Juni"):
        assert "kept as it is written" in told(line)
        assert "20" not in told(line).replace("2025", "x").replace("6/4/25", "")


def test_c064_change_that_guesses_the_year_waits_with_the_suggestion() -> None:
    guesses = [
        ("Apr 15 appeal", "2025-04-15 appeal", "2026-04-15"),
        ("27.08 call", "2025-08-27 call", "2026-08-27"),
    ]
    for before, after, wanted in guesses:
        action = only(change(f"{before}\n", f"{after}\n", since(WEDNESDAY, before)))
        assert action.verdict is Verdict.REVIEW
        assert any("names no year" in reason and wanted in reason for reason in action.reasons)


def test_ambiguous_date_is_told_with_both_readings() -> None:
    assert told("Moved 03/04/2025.") == "“03/04/2025” can mean 2025-03-04 or 2025-04-03, by which comes first."
    assert "2025-03-04 or 2025-04-03" in told("Moved 03.04.2025.")
    assert told("Moved 13/04/2025.") == ""


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("Friday we switch the DNS", "2026-03-06"),
        ("switched the DNS on Friday", "2026-02-27"),
        ("We switched the DNS on Friday.", "2026-02-27"),
        ("On Friday the rollout failed", "2026-02-27"),
        ("Wednesday the rollout failed", "2026-02-25"),
        ("Wednesday we switch the DNS", "2026-03-11"),
        ("Monday we test the host", "2026-03-09"),
        ("Am Freitag haben wir den DNS umgestellt", "2026-02-27"),
        ("Freitag stellen wir den DNS um", "2026-03-06"),
        ("El despliegue falló el viernes", "2026-02-27"),
        ("Vendredi, le déploiement a échoué", "2026-02-27"),
    ],
)
def test_c065_weekday_is_suggested_by_its_tense_and_never_safe(line: str, wanted: str) -> None:
    assert f"may be {wanted}" in told(line)

    found = change(f"{line}\n", f"{line.replace('Friday', wanted)} x\n", since(WEDNESDAY, line))
    assert found.verdict is Verdict.REVIEW


def test_c065_added_line_is_counted_from_the_day_it_is_written_on() -> None:
    for line, wanted in (("Friday we switch the DNS", "2026-03-06"), ("switched the DNS on Friday", "2026-02-27")):
        action = only(change("# Notes\n", f"# Notes\n\n- {line}\n", Context(now=NOW)))
        assert any(f"“Friday” may be {wanted}" in reason for reason in action.reasons)
    assert not any("Friday" in reason for reason in only(change("x\n", "x\n\n- Friday we test\n")).reasons)


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("어제 정한 규칙", "2026-05-19"),
        ("어제 배포 실패, 원인은 인증서 만료.", "2026-05-19"),
        ("昨日の障害", "2026-05-19"),
        ("先週の金曜日", "2026-05-15"),
        ("지난주 금요일 배포", "2026-05-15"),
        ("上周五发布", "2026-05-15"),
        ("今天完成", "2026-05-20"),
        ("昨天的任务顺延", "2026-05-19"),
    ],
)
def test_c067_word_under_its_day_that_no_rule_proves_is_suggested(line: str, wanted: str) -> None:
    ((number, sentence),) = remarks(under(line))

    assert number == 3
    assert f"may be {wanted}: its heading says 2026-05-20" in sentence


def test_c067_proved_word_is_no_suggestion_and_one_without_a_dated_heading_is() -> None:
    for line in TOLD:
        assert remarks(under(line)) == []
        ((_, sentence),) = remarks(under(line, "## Log"))
        assert "under no heading that is a full date" in sentence
    assert "may be 2026-03-03: it was first approved on 2026-03-04" in told("昨天已通知")


def test_asked_lines_are_those_whose_day_the_suggestions_need() -> None:
    text = "Apr 15 appeal\n\nport 8080\n\nFriday we switch the DNS\n\n昨天已通知\n\n- use pnpm\n"

    assert [body.decode() for _, body in dates.asked(parsed(text))] == [
        "Apr 15 appeal",
        "Friday we switch the DNS",
        "昨天已通知",
    ]


NOVEMBER = "# Log\n\n" + "".join(f"- 2025-11-{day:02} — fixed the job\n" for day in (14, 17, 20))
MISTAKE = "- 2025-01-16 — mistake found\n"
FAR = "2025-01-16 lies 302 days before its neighbours"


def flags(found: Classification) -> list[Finding]:
    return [finding for finding in found.findings if finding.rule == "date-far-off"]


def test_c070_date_far_from_its_neighbours_waits_with_a_finding() -> None:
    context = Context(history=History(began=date(2025, 11, 1)))
    found = change(NOVEMBER, NOVEMBER + MISTAKE, context)

    assert found.verdict is Verdict.REVIEW
    assert f"{FAR} and before the first commit of this store." in only(found).reasons
    assert [(flag.scanner, flag.severity, flag.line) for flag in flags(found)] == [("text", Severity.REVIEW, 6)]


def test_c070_first_commit_is_named_only_where_it_is_known_and_later() -> None:
    for context in (Context(), Context(history=History()), Context(history=History(began=date(2024, 1, 1)))):
        assert f"{FAR}." in only(change(NOVEMBER, NOVEMBER + MISTAKE, context)).reasons


def test_c070_changed_and_coming_dates_are_told_too() -> None:
    changed = change(NOVEMBER, NOVEMBER.replace("2025-11-20", "2024-11-20"))
    coming = change(NOVEMBER, NOVEMBER + "- 2026-11-16 — fixed\n", Context(now=NOW))

    assert any("lies 359 days before its neighbours" in reason for reason in only(changed).reasons)
    assert any("361 days after its neighbours and has not come yet" in reason for reason in only(coming).reasons)
    assert flags(changed)
    assert flags(coming)


@pytest.mark.parametrize(
    ("text", "added"),
    [
        (NOVEMBER, "- 2025-12-01 — fixed\n"),
        (NOVEMBER, "- 2025-09-15 — fixed\n"),
        (NOVEMBER, "- port 2025, v2025.1, 01/02/2025\n"),
        ("# Log\n\n- 2025-11-14 a\n- 2025-11-15 b\n", MISTAKE),
        (NOVEMBER + "- 2024-10-01 — began\n- 2026-02-01 — ended\n", MISTAKE),
        ("# Log\n", MISTAKE),
    ],
)
def test_c070_date_near_or_among_scattered_ones_is_no_finding(text: str, added: str) -> None:
    assert flags(change(text, text + added)) == []


@pytest.mark.parametrize(
    "after",
    [
        "Release was moved on 2023-10-04.",
        "2023-10-04: Release was moved.",
        "Release was moved on October 4, 2023.",
        "Release was moved on 13/10/2023.",
        "Release was moved (el 4 de octubre de 2023).",
    ],
)
def test_c071_added_date_waits_and_is_named_as_underivable(after: str) -> None:
    action = only(change("Release was moved.\n", f"{after}\n"))

    assert action.verdict is Verdict.REVIEW
    assert any("stands nowhere in the old text" in reason for reason in action.reasons)


def test_remarks_are_few_and_of_prose_alone() -> None:
    many = "".join(f"- Apr {day} appeal\n" for day in range(1, 20))
    action = only(change("x\n", "x\n\n```\nApr 15 appeal\n```\n"))

    assert not any("names no year" in reason for reason in action.reasons)
    assert len(remarks(many)) == 19
    for each in change("x\n", f"x\n\n{many}").actions:
        assert sum("names no year" in reason for reason in each.reasons) <= dates.MAX_REMARKS
