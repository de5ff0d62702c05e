"""Dates in every form: what is proved to be the same day, what waits, and what is no date at all."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoryreview.core.classify.classify import classify
from memoryreview.core.classify.document import Document, read
from memoryreview.core.classify.rules import date_normalize, relative
from memoryreview.core.classify.split import apply_proof, safe_part
from memoryreview.core.classify.verify import verify
from memoryreview.core.model import Action, Classification, Context, History, Kind, Proof, Rewrite, Verdict
from memoryreview.core.overlay import Overlay
from memoryreview.core.text import apply_rewrites

DAY = date(2026, 5, 20)
WORDS = {
    -2: "the day before yesterday|vorgestern|avant-hier|anteayer|前天|一昨日|그저께",
    -1: "yesterday|gestern|hier|ayer|昨天|昨日|어제",
    0: "today|heute|aujourd'hui|hoy|今天|今日|오늘",
}


def parsed(text: str) -> Document:
    return read("a.md", text.encode(), Context(), is_delimited=False, is_plain=False)


def normal_form(text: str, history: History | None = None) -> str:
    """Return what becomes of a document when each line is written in its normal form."""
    document = parsed(text)
    rewrites = [
        rewrite for i in range(len(document.lines)) for rewrite in date_normalize.provable(document, i, history)
    ]
    return apply_rewrites(document.data, rewrites).decode()


def change(before: str, after: str, context: Context | None = None) -> Classification:
    return classify({"a.md": before.encode()}, {"a.md": after.encode()}, context or Context())


def only(found: Classification) -> Action:
    (action,) = found.actions
    return action


def under(line: str, heading: str = "## 2026-05-20") -> str:
    return f"{heading}\n\n- {line}\n"


def forgeries(text: str) -> list[tuple[bytes, Proof]]:
    """Return each way to take one relative word of a text for a day, with the proof that would explain it."""
    found = []
    for days, words in WORDS.items():
        for word in words.split("|"):
            start = text.casefold().find(word)
            if start < 0:
                continue
            shown = text[start : start + len(word)]
            new = f"{(DAY + timedelta(days)).isoformat()} ({shown})".encode()
            rewrite = Rewrite("a.md", len(text[:start].encode()), len(text[: start + len(word)].encode()), new)
            found.append((apply_rewrites(text.encode(), [rewrite]), Proof(Kind.DATE_NORMALIZE, 1, (rewrite,))))
    return found


NO_DAY = """
tabs (Today / Yesterday / This week)
`today()` helper
day = today − 2026-03-26 + 1
when asked "what should I do today?" list tasks
The filter has Today, Yesterday and Last week.
Yesterday and today are tab labels
Yesterday is a preset of the date picker
The option yesterday was removed
`yesterday` was renamed
The dashboard tab called **Today** shows the last 24 h.
Use yesterday's date as the default
Yesterday's build failed.
Today's import folder is refreshed by the timer at 05:00
the log of yesterday was lost
yesterday() returned a date
The function yesterday was deprecated
We renamed yesterday to lastDay
We passed today as the default
He renamed the variable yesterday.
Set the range to yesterday
The report covered yesterday
We skipped today
She typed today
They wrote yesterday in the field
the file yesterday.md was removed
yesterday-log was removed
--since=yesterday failed
@yesterday failed
No background publisher exists today; `jobs/` only runs from the timer.
We shipped the format everyone uses today.
The API no longer supports XML today.
What was built in 2019 is still used today.
Today we need a new key.
Today the data moved to S3 is encrypted
Today the tool used at work is pnpm
Show failed jobs yesterday
List PRs we merged yesterday.
Compare updated totals with yesterday
Yesterday: rollout failed
Yesterday tab shows the cached rows
Yesterday Filter was removed
every morning read yesterday's log
every morning we read the log yesterday
no more than 10 requests this week
last 24 h
two days ago or older gets archived
runs older than yesterday were archived
Each job that failed yesterday was retried
If the backup ran yesterday, skip it.
When it failed yesterday, we paged
We paged once it failed yesterday
The job should have run yesterday.
Did the rollout fail yesterday?
Please check what failed yesterday
Rule: yesterday the rollout failed
Example: we deployed yesterday
Ana said the rollout failed yesterday.
until yesterday the host was slow
Just yesterday the host moved
Not yesterday but today it failed
The host failed yesterday or the day before
On 2026-05-18 the host failed, yesterday too
The plan of 18 May failed yesterday
Tomorrow we deploy.
Heute ist der Dienst abgeschaltet.
Heute testen wir den Build.
Heute hat sich das Format durchgesetzt.
Hier steht der Code.
Hier wurde der Dienst umgestellt.
Der Reiter Gestern wurde entfernt.
Der gestern deployte Build wurde entfernt.
Gestern wäre es fehlgeschlagen.
Gestern hätte der Lauf starten müssen.
Jeden Morgen das Log von gestern lesen
Das Log von gestern wurde gelöscht.
Ist der Lauf gestern fehlgeschlagen?
Wenn der Lauf gestern fehlgeschlagen ist, neu starten
Der Kunde sagte, der Lauf ist gestern fehlgeschlagen.
Aujourd'hui, le service est arrêté.
Aujourd'hui, le format a gagné.
Le bouton hier a été supprimé.
Le journal d'hier a été supprimé.
Si le déploiement a échoué hier, relancer.
Chaque matin lire le journal d'hier
Depuis hier le serveur a ralenti.
Hoy en día se desplegó todo así.
Hoy el formato es estándar.
La opción ayer se eliminó.
El registro de ayer se borró.
¿Falló el despliegue ayer?
Cada mañana leer el registro de ayer
昨天的任务顺延
今天完成
今天该发布了
今天已经没有人用了
今天这种格式已经普及了
每天早上看昨天的日志
如果昨天失败了，就重试
按钮“昨天”已删除
昨天页签已改名
昨天这个词已删除
昨天晚上发布失败了
昨日の障害は再起動で復旧。
昨日のログを削除した。
昨日から遅くなった。
昨日失敗したら再実行した。
昨日失敗したか？
昨日ボタンを削除した。
今日はもう使われなくなった
今日ではこの形式が広まった。
毎朝昨日のログを読んだ
어제 정한 규칙
오늘 할 일 버튼은 홈 화면에 있다.
어제 배포 실패, 원인은 인증서 만료.
매일 어제 로그를 읽었다
어제부터 느려졌다.
어제 실패했다고 했다.
어제 버튼을 삭제했다.
오늘날 이 형식이 널리 쓰였다.
어제 배포했니?
The job deleted everything before yesterday
The default was today
The value was yesterday
The placeholder was changed to today
The default range was today
The query returned today
It started with yesterday
We built the view for today
We set the filter to yesterday
The dashboard opened on today
The sprint ended yesterday was a filter
The calendar jumped to today
The cron that ran yesterday was kept
The tab failed yesterday was hidden
Today the world moved on
Yesterday we would have waited
Yesterday it had to be done by tomorrow
Yesterday the user asked for pnpm
A run was stale once it was from yesterday
Runs started yesterday were kept
Keep what was made yesterday
The report named Sales yesterday was removed
Rows created yesterday
Everything changed today
The deploys failed, as yesterday
It was yesterday
It was today
They thought it was yesterday
The Beatles sang Yesterday
The song was Yesterday.
The book was published by USA Today
We moved to USA Today
The channel today was renamed
We kept the folder today for drafts
We moved the notes to today
We wrote the notes in today
We moved it from yesterday to today
The template used today
The parser accepted yesterday and now
The command accepted yesterday
The test froze yesterday
The clock froze today
The test froze the clock at yesterday
The mock returned yesterday by default
The function ran today with a fake clock
We stopped today in the loop
Der Wert war gestern
Der Standard war heute
Das Feld hatte gestern als Standard
Wir haben den Wert auf gestern gesetzt
Die Voreinstellung wurde heute genannt
La valeur a été hier
Nous avons mis hier par défaut
El valor fue ayer
El filtro se llamó hoy
默认值改成了昨天
昨天被设为默认值了
昨天已改名
今天已改名
昨日だった
昨日を既定にした
昨日、という値にした
어제로 바꿨다
값을 어제 로 바꿨다
기본값은 어제 였다
gisteren is de uitrol mislukt
вчера развертывание упало
ieri il rilascio è fallito
""".strip().split("\n")


@pytest.mark.parametrize("line", NO_DAY)
def test_c058_c067_c068_word_that_dates_nothing_is_left_and_no_proof_of_it_is_believed(line: str) -> None:
    text = under(line)

    assert normal_form(text) == text
    for after, proof in forgeries(text):
        assert not verify({"a.md": text.encode()}, {"a.md": after}, proof, Context())
        assert change(text, after.decode()).verdict is Verdict.REVIEW


TOLD = """
Yesterday the rollout failed, cause: expired certificate.
yesterday the backup ran twice
Yesterday, we switched the DNS.
Yesterday CI broke.
Yesterday there was an outage of the host.
The rollout didn't finish yesterday.
The rollout was stopped yesterday because the disk was full.
We moved to pnpm yesterday, by hand
Fixed the login yesterday.
Ana fixed it yesterday.
The day before yesterday the disk filled up.
Today we renamed the host.
Today the rollout failed.
The cache was purged today.
We moved to pnpm today.
Gestern schlug der Rollout fehl.
Gestern war hier ein Ausfall.
Wir haben gestern den DNS umgestellt.
Heute wurde der Dienst neu gestartet.
Hier le déploiement a échoué à cause du certificat.
L'équipe a corrigé le bug hier.
Avant-hier, le serveur est tombé.
Ayer se cayó el servidor.
Ayer desplegamos la versión nueva.
Hoy falló el despliegue.
昨天发布失败了，原因是证书过期。
昨天接口超时了
前天数据库迁移已完成
昨日は休みだった
今日、DNSを切り替えた。
昨日ロールアウトが失敗しました
어제 배포가 인증서 때문에 실패했습니다.
우리는 어제 DNS를 바꿨다.
그저께 서버를 재시작했음.
""".strip().split("\n")


@pytest.mark.parametrize("line", TOLD)
def test_c059_statement_about_the_past_under_its_day_gets_the_day_and_keeps_the_word(line: str) -> None:
    text = under(line)
    after = normal_form(text)

    found = change(text, after)

    assert after != text
    assert (found.verdict, only(found).kind) == (Verdict.SAFE, Kind.DATE_NORMALIZE)
    assert normal_form(after) == after
    assert normal_form(under(line, "## Rollout")) == under(line, "## Rollout")


def test_c059_word_keeps_or_lowers_its_first_letter() -> None:
    before = under("Yesterday the rollout failed, cause: expired certificate.")

    for written in ("yesterday", "Yesterday"):
        found = change(before, before.replace("Yesterday", f"2026-05-19 ({written})"))
        assert (found.verdict, only(found).title) == (
            Verdict.SAFE,
            f"Yesterday becomes 2026-05-19 ({written})",
        )


LINE = "- Yesterday the rollout failed"


@pytest.mark.parametrize(("days", "verdict"), [(-2, "review"), (-1, "safe"), (0, "safe"), (1, "safe"), (2, "review")])
def test_c059_history_that_dates_the_line_more_than_a_day_away_makes_it_wait(days: int, verdict: str) -> None:
    before = f"## 2026-05-20\n\n{LINE}\n"
    context = Context(history=History(first_approved={("a.md", LINE.encode()): DAY + timedelta(days)}))

    found = change(before, before.replace("Yesterday", "2026-05-19 (yesterday)"), context)

    assert found.verdict == verdict
    assert verdict == "safe" or any(
        f"first approved on {(DAY + timedelta(days)).isoformat()}" in reason for reason in only(found).reasons
    )


def test_c059_history_that_does_not_know_the_line_makes_it_wait() -> None:
    before = f"## 2026-05-20\n\n{LINE}\n"
    other = History(first_approved={("b.md", LINE.encode()): DAY, ("a.md", b"- Yesterday"): DAY})

    for history in (History(), other):
        found = change(before, before.replace("Yesterday", "2026-05-19 (yesterday)"), Context(history=history))
        assert found.verdict is Verdict.REVIEW
        assert any("does not say since when" in reason for reason in only(found).reasons)


@pytest.mark.parametrize(
    "heading",
    [
        "2026-05-20",
        "20 May 2026",
        "May 20, 2026",
        "20. Mai 2026",
        "20 de mayo de 2026",
        "20/05/2026",
        "2026/05/20",
        "20.05.2026",
        "2026年5月20日",
        "2026년 5월 20일",
        "Wednesday, 20 May 2026",
        "2026-05-20 (Wed)",
        "2026-05-20, Wednesday",
        "2026-05-20 14:30",
        "2026-05-20 — Staging and the rest",
        "2026-05-20: Staging",
    ],
)
def test_heading_that_is_a_full_date_dates_its_section(heading: str) -> None:
    before = under(LINE[2:], f"## {heading}")

    assert normal_form(before) == before.replace("Yesterday", "2026-05-19 (Yesterday)")
    assert change(before, normal_form(before)).verdict is Verdict.SAFE


@pytest.mark.parametrize(
    "heading",
    [
        "## Log of 2026-05-20",
        "## 2026-05",
        "## 20 May",
        "## 20.05.26",
        "## 04/05/2026",
        "## 2026-13-20",
        "## 2026-05-32",
        "## 12026-05-20",
        "## 2026-05-20 – 2026-05-24",
        "## 2026-05-20/21",
        "## 2026-05-20 to Friday",
        "## 2026-05-20 and before",
        "## 2026-05-20 - Friday",
        "## 2026-05-20 — since 3 days",
        "## 2026-05-20 — deadline",
        "## 2026-05-20: planned",
        "## Due: 2026-05-20",
        "## Thursday, 2026-05-20",
        "## 2026-05-20 (Thu)",
        "## [2026-05-20](log.md)",
        "## v2026.05.20",
        "## 1.2.0 - 2026-05-20",
        "## 2026-05-20\n\n### Evening",
        "## 2026-05-20\n\nAna wrote:",
        "## 2026-05-20\n\n**Old notes**",
        "## 2026-05-20\n\n- # Old notes\n",
        "**2026-05-20**",
        "> ## 2026-05-20",
        "```\n## 2026-05-20\n```",
        "<!-- 2026-05-20 -->",
    ],
)
def test_heading_that_is_something_else_dates_nothing(heading: str) -> None:
    before = under(LINE[2:], heading)

    assert normal_form(before) == before
    for after, proof in forgeries(before):
        assert not verify({"a.md": before.encode()}, {"a.md": after}, proof, Context())


def test_word_beside_another_day_of_its_entry_waits_for_good() -> None:
    both = under("Yesterday the rollout failed. Today we fixed the login.")
    after = normal_form(both)

    assert after == under("2026-05-19 (Yesterday) the rollout failed. 2026-05-20 (Today) we fixed the login.")
    assert change(both, after).verdict is Verdict.SAFE
    half = under("2026-05-19 (Yesterday) the rollout failed. Today we fixed the login.")
    assert (change(both, half).verdict, normal_form(half)) == (Verdict.SAFE, half)


def test_deeper_heading_ends_and_next_section_is_judged_by_its_own_heading() -> None:
    before = f"# 2026-05-18\n\n{LINE}\n\n## 2026-05-20\n\n{LINE}\n\n## Rest\n\n{LINE}\n"

    assert [line[:16] for line in normal_form(before).split("\n") if "rollout" in line] == [
        "- 2026-05-17 (Ye",
        "- 2026-05-19 (Ye",
        "- Yesterday the ",
    ]


def test_every_line_that_the_rule_explains_is_mentioned() -> None:
    assert all(relative.is_mentioned(line.encode()) for line in TOLD)
    assert not any(relative.is_mentioned(line) for line in (b"", b"- moved 13/04/2025", b"port 8080", b"\xff\xfe"))


ORDINARY = """
You may retry the second job; march on; the sun icon; sat there; a note for us
port 8080, build 6005 of 629, ratio 12/5, section 3.4, 10,00 2 pieces, v2.1.207, 20260324_171545, a1b2c3d
the decade of mon ami; dec rate; jan itor; sept et mars
chapter 4, 2025 copies; figure 12.2025; 1/2 cup; 24/7; 9/11; 3.14; 192.168.10.2025
ISBN 978-3-16-148410-0, +49 30 13.04.2025x, 2025.04.13rc1, 1.13.04.2025
""".strip().split("\n")


@pytest.mark.parametrize("line", ORDINARY)
def test_c061_c062_ordinary_words_and_numbers_are_no_dates(line: str) -> None:
    assert normal_form(f"{line}\n- {line}\n") == f"{line}\n- {line}\n"


@given(
    st.dates(date(1990, 1, 1), date(2099, 12, 31)),
    st.sampled_from(["%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%Y/%m/%d", "%Y.%m.%d", "%B %d, %Y", "%d %B %Y", "%d. %b %Y"]),
)
@settings(max_examples=150, deadline=None)
def test_date_is_written_as_the_day_it_is_or_not_at_all(day: date, form: str) -> None:
    written = day.strftime(form)
    before = f"- moved {written} by hand\n"
    is_sure = "/%Y" not in form or day.day > 12
    is_sure = is_sure and (form != "%d.%m.%Y" or day.day > 12)

    after = normal_form(before)

    assert after == (before.replace(written, day.isoformat()) if is_sure else before)
    assert change(before, before.replace(written, day.isoformat())).verdict is (
        Verdict.SAFE if is_sure else Verdict.REVIEW
    )


PIECES = st.sampled_from(
    [
        *TOLD[:12],
        *NO_DAY[:12],
        *ORDINARY,
        "moved 13/04/2025 and 04/13/2025",
        "moved 13/04/2025 (yesterday)",
        "2026-05-19 (yesterday) it failed. Today we fixed it.",
        "13. April 2025 it moved",
    ]
)
LAYOUTS = st.sampled_from(["- {}", "{}", "1. {}", "> {}", "    {}", "| {} |", "  - {}", "## {}", '"{}"', "`{}`"])
HEADINGS = st.sampled_from(["## 2026-05-20", "# Log", "## 03/04/2025", "## Friday, 22 May 2026", "Notes:", "```", ""])


@given(st.lists(st.one_of(HEADINGS, st.builds(lambda a, b: a.format(b), LAYOUTS, PIECES)), max_size=8))
@settings(max_examples=120, deadline=None)
def test_normal_form_is_safe_final_and_touches_nothing_else(lines: list[str]) -> None:
    before = "".join(f"{line}\n" for line in lines)
    after = normal_form(before)

    found = change(before, after)

    assert normal_form(after) == after
    base = {"a.md": before.encode()}
    proofs = safe_part(found)
    for proof in proofs:
        assert verify(base, Overlay(base, apply_proof(base, proof)), proof, Context())
        for rewrite in proof.rewrites:
            assert date.fromisoformat(rewrite.new[:10].decode()).isoformat() in after
    assert change(after, before).verdict in (Verdict.REVIEW, Verdict.UNCHANGED)
    disagreeing = [action for action in found.actions if any("independent" in reason for reason in action.reasons)]
    assert all("13. April" in action.old for action in disagreeing)
