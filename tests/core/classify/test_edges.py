"""Rare corners of verdicts: what a rule, a reader or the second check does where few changes ever lead."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from functools import partial

import pytest

from memoryreview.core.classify import dates, health, loaded
from memoryreview.core.classify import reasons as reasons_
from memoryreview.core.classify.budget import MAX_SINGLE_CHECKS, Budget
from memoryreview.core.classify.changed import _is_accounted
from memoryreview.core.classify.claim import Claim, code_after
from memoryreview.core.classify.classify import _Revision, _verdict, classify
from memoryreview.core.classify.document import Document, read
from memoryreview.core.classify.draft import Draft
from memoryreview.core.classify.invariants import between
from memoryreview.core.classify.questions import questions
from memoryreview.core.classify.rules import VERSIONS, format_blank, moment, tense
from memoryreview.core.classify.rules.cut import why_not_cut
from memoryreview.core.classify.rules.index_trim import Targets, explain_row
from memoryreview.core.classify.rules.outcome import Declined
from memoryreview.core.classify.steps import Comparison, Step, _trim
from memoryreview.core.classify.verify import verify
from memoryreview.core.classify.whole import read_within
from memoryreview.core.formats import Catalogue
from memoryreview.core.model import Context, FormatName, History, Kind, Limits, Proof, Rewrite, Tree, Verdict

from .test_verify_mutation import CLAUDE, DATE, EXACT, HEAD, ROW, TAIL, Lie, row

CODEX = Context(format=FormatName.CODEX)
HERMES = Context(format=FormatName.HERMES)


def document(text: str, context: Context = CLAUDE, path: str = "a.md") -> Document:
    is_delimited = context.format is FormatName.HERMES
    return read(path, text.encode(), context, is_delimited=is_delimited, is_plain=False)


def verdicts(before: str, after: str, context: Context = CLAUDE, path: str = "a.md") -> list[tuple[Kind, Verdict]]:
    found = classify({path: before.encode()}, {path: after.encode()}, context)
    return [(action.kind, action.verdict) for action in found.actions]


def reasons(before: str, after: str, context: Context = CLAUDE, path: str = "a.md") -> str:
    found = classify({path: before.encode()}, {path: after.encode()}, context)
    return " ".join(reason for action in found.actions for reason in action.reasons)


def test_budget_charges_nothing_that_does_not_fit() -> None:
    budget = Budget(split_lines=2, known_bytes=3)

    assert (budget.pays_splitting(b"a\nb\nc"), budget.pays_knowing(b"four")) == (False, False)
    assert (budget.split_lines, budget.known_bytes) == (2, 3)


def test_blank_line_that_gets_another_line_end_makes_the_document_wait_as_a_whole() -> None:
    assert verdicts("x\n\r\ny\n", "x\n\ny\n") == [(Kind.FACT_REWRITE, Verdict.REVIEW)]


def test_lines_that_differ_outside_the_steps_are_noticed() -> None:
    assert not _is_accounted(document("- port 1\n"), document("- port 2\n"), Comparison((), frozenset()))


def test_rewrites_in_each_others_way_are_not_applied() -> None:
    base, proposed = {"a.md": b"- port 1\n"}, {"a.md": b"- port\n"}
    draft = Draft(Kind.FORMAT_BLANK, "a.md", (0, 1), (0, 1), "", "", "", rewrites=(Rewrite("a.md", 2, 6, b""),))
    revision = _Revision(base, proposed, proposed, CLAUDE)

    assert revision._applied([draft, replace(draft, rewrites=(Rewrite("a.md", 4, 8, b""),))]) == {}
    assert not revision._verifies([draft, draft])


def test_no_action_at_all_waits() -> None:
    assert _verdict(()) is Verdict.REVIEW


def test_too_large_document_gets_no_remarks_on_dates() -> None:
    large = read("a.md", b"- moved Apr 15\n\n- port\n", CLAUDE, is_delimited=False, is_plain=True)

    assert dates.suggestions(large, CLAUDE) == ()
    assert [block.span for block in large.blocks] == [(0, 1), (2, 3)]


def test_repeat_with_another_line_end_goes_with_its_own_or_waits() -> None:
    found = classify({"a.md": b"- a b\n- c d\r\n- a b\n- e f"}, {"a.md": b"- a b\n- c d\r\n- e f"}, CLAUDE)

    assert found.verdict is Verdict.SAFE


def test_empty_section_of_the_base_is_no_entry() -> None:
    assert [block.text for block in document("A a\n§\n\n§\nB b", HERMES, "MEMORY.md").blocks] == [b"A a", b"B b"]


def test_new_hermes_document_with_an_empty_entry_is_refused() -> None:
    found = classify({}, {"MEMORY.md": "A a\n§\n\n§\nB b".encode()}, HERMES)

    assert [(action.kind, action.verdict) for action in found.actions] == [(Kind.DELIMITER, Verdict.REFUSED)]


def test_document_in_a_folder_named_like_a_document_clashes() -> None:
    tree: Tree = {"notes.md": b"x\n", "notes.md/a.md": b"y\n"}

    assert health.name_clashes(["notes.md/a.md"], tree) == {"notes.md/a.md": "notes.md"}


@pytest.mark.parametrize(
    "lie",
    [
        Lie(DATE, "", "moved | {13/04/2025} at last\n", "2025-04-13"),
        Lie(DATE, "", "x = {13/04/2025} at last\n", "2025-04-13"),
        Lie(DATE, "", "moved {13/04/2025} = 3 at last\n", "2025-04-13"),
        Lie(EXACT, "", "- use pnpm\n- use make\n- {use pnpm\n}- end\n"),
        Lie(EXACT, "", "- use pnpm\n{- use pnpm}\n- use make\n"),
        Lie(EXACT, "", "- a b\n\n{Text.\n\n}- c d\n"),
        Lie(EXACT, "", "- a b\n{- }c d\n"),
        Lie(EXACT, "", "- a b\n- c d\n{- a b}"),
        Lie(EXACT, "", "{\ufeff- a b\n}- c d\n"),
        Lie(DATE, "", f"# 2025-04-14\n\n- {'Text. ' * 2000}It failed {{yesterday}}.\n", "2025-04-13 (yesterday)"),
        Lie(
            Kind.INDEX_TRIM,
            "",
            row("la squadra marca il ramo e la pagina", f"{'che gli della sono nella anche, ' * 5}fine"),
            "…",
            "MEMORY.md",
            CLAUDE,
            others={"release.md": "la squadra marca il ramo e la pagina\n"},
        ),
        Lie(EXACT, "", "- use pnpm\n- use make{\n- use pnpm\n}- end\n"),
        Lie(ROW, "", "1. [A](a.md): x\n{2. [A](a.md): x\n}", "", "MEMORY.md", CLAUDE),
        Lie(ROW, "", "- [A](a.md): x\n{- no row\n}", "", "MEMORY.md", CLAUDE),
        Lie(Kind.INDEX_TRIM, "", row(TAIL), "…", "MEMORY.md", CLAUDE),
        Lie(
            Kind.INDEX_TRIM,
            "",
            row(TAIL),
            "…",
            "MEMORY.md",
            CLAUDE,
            others={"release.md": "Text.\n"},
            added={"release.md": f"{TAIL}\n"},
        ),
        Lie(EXACT, "", "{- use pnpm\n}- use make\n- use pnpm\n- one\n\n1. two\n"),
    ],
    ids=lambda lie: f"{lie.rule}: {lie.text[:40]}",
)
def test_second_check_refuses(lie: Lie) -> None:
    base, proposed, proof = lie.claim()

    assert not verify(base, proposed, proof, lie.context)


@pytest.mark.parametrize(
    ("entry", "removed", "context", "path", "why"),
    [
        ((0, 1), (0, 1), CODEX, "MEMORY.md", "cite lines"),
        ((0, 2), (1, 2), CLAUDE, "a.md", "A part of the entry stays."),
        ((0, 1), (0, 2), CLAUDE, "a.md", "More than the entry goes."),
    ],
)
def test_entry_is_not_cut(
    entry: tuple[int, int], removed: tuple[int, int], context: Context, path: str, why: str
) -> None:
    assert why in why_not_cut(document("- a\n- b\n- c\n", context, path), entry, removed)


def test_separator_in_a_list_may_repeat() -> None:
    assert "A separator may repeat." in reasons("- a\n- ...\n- b\n- ...\n", "- a\n- ...\n- b\n")


@pytest.mark.parametrize(
    ("before", "after", "context", "path", "why"),
    [
        ("A a\n\n\nmore\n\n§\nB b", "A a\n\nmore\n§\nB b", HERMES, "MEMORY.md", ""),
        ("A a\n§\n\n\n§\nB b", "A a\n§\n\n§\nB b", HERMES, "MEMORY.md", "belong to the format"),
        ("A a\n \n§\nB b", "A a\n\n§\nB b", HERMES, "MEMORY.md", "belong to the format"),
        ("```\na\n\n\nb\n```\n", "```\na\n\nb\n```\n", CLAUDE, "a.md", ""),
        ("a\n\n ", "a\n\n", CLAUDE, "a.md", ""),
    ],
)
def test_blank_lines_wait(before: str, after: str, context: Context, path: str, why: str) -> None:
    found = classify({path: before.encode()}, {path: after.encode()}, context)

    assert not any(action.proof for action in found.actions)
    assert why in " ".join(reason for action in found.actions for reason in action.reasons)


def test_gaps_that_hold_more_than_blanks_are_no_surplus() -> None:
    old, new = document("a\n\n\nb\n"), document("a\n\nb\n")

    assert format_blank.explain_gap(old, (0, 3), new, (1, 2)) is None


@pytest.mark.parametrize(
    ("before", "span", "after"), [("```\n\n\nx\n```\n", (1, 3), "```\n\nx\n```\n"), ("a\n\n ", (1, 3), "a\n\n")]
)
def test_gap_in_code_or_at_an_open_end_is_kept(before: str, span: tuple[int, int], after: str) -> None:
    outcome = format_blank.explain_gap(document(before), span, document(after), (1, 2))

    assert isinstance(outcome, Declined)


def test_targets_that_cannot_be_paid_or_read_say_nothing() -> None:
    assert Targets(Budget(parsed=0)).read(b"Told here.\n") is None
    unreadable = Targets(Budget()).read(b"Told \xff here.\n")
    assert unreadable is not None
    assert not unreadable.says("Told here", "Told here")


@pytest.mark.parametrize(
    ("tail", "limit", "why"),
    [
        (TAIL, 500, ""),
        ("и дежурный инженер пишет сводку в канал", 200, "not one whose negations"),
        ("a zespół pisze krótką notatkę i wysyła ją wszystkim z działu", 200, "not one whose negations"),
    ],
)
def test_row_is_not_cut(tail: str, limit: int, why: str) -> None:
    long, short = row(tail).replace("{", "").replace("}", ""), f"- [Release flow](release.md) — {HEAD}…\n"
    context = Context(format=FormatName.CLAUDE, limits=Limits(index_row_chars=limit))
    base = {"MEMORY.md": long.encode(), "release.md": f"{tail}\n".encode()}

    found = classify(base, base | {"MEMORY.md": short.encode()}, context)

    assert not any(action.proof for action in found.actions)
    assert why in " ".join(reason for action in found.actions for reason in action.reasons)


def test_added_document_says_that_it_holds_an_unresolved_merge() -> None:
    text = b"Port:\n\n<<<<<<< HEAD\nfive\n=======\nsix\n>>>>>>> other\n"

    (action,) = classify({}, {"a.md": text}, CLAUDE).actions

    assert "It holds an unresolved merge." in action.reasons


def test_document_that_nothing_pays_for_is_read_as_empty() -> None:
    assert read_within("a.md", b"- a\n- b\n", CLAUDE, Budget(parsed=0, split_lines=0)).blocks == ()


def test_many_changes_of_one_kind_wait_when_not_all_are_confirmed() -> None:
    lines = [f"- moved 13/04/2025, host {number}" for number in range(101)]
    odd = "13. April 2025 it moved"
    before = "\n".join([odd, "", *lines, ""])
    after = before.replace("13/04/2025", "2025-04-13").replace("13. April 2025", "2025-04-13")

    found = classify({"a.md": before.encode()}, {"a.md": after.encode()}, CLAUDE)

    assert found.verdict in (Verdict.REVIEW, Verdict.MIXED)


def test_limit_of_rows_has_to_make_sense() -> None:
    long, short = row(f"{TAIL}, {TAIL}, {TAIL}, {TAIL}").replace("{", "").replace("}", ""), HEAD
    base = {"MEMORY.md": (long + long).encode(), "release.md": f"{TAIL}\n".encode()}
    context = Context(format=FormatName.CLAUDE, limits=Limits(index_row_chars=401))
    cut = f"- [Release flow](release.md) — {short}…\n"

    found = classify(base, base | {"MEMORY.md": (cut + long).encode()}, context)

    assert "The limit of a row has to be 120 to 400 characters." in found.actions[0].reasons


@pytest.mark.parametrize(
    ("language", "before", "word", "after", "is_today"),
    [
        ("en", "", "Yesterday", ".", False),
        ("de", "Der Dienst fiel ", "gestern", " Abend aus.", False),
        ("de", "Der Dienst fiel und ", "gestern", ".", False),
        ("fr", "Le service est tombé ", "hier", " soir.", False),
        ("fr", "Le service est tombé et ", "hier", ".", False),
        ("fr", "Le service est tombé, ", "hier", ".", False),
        ("fr", "Le groupe a cliqué sur le bouton ", "hier", ".", False),
        ("fr", "Le groupe a parlé ", "hier", ".", False),
        ("es", "El servicio falló en el botón ", "ayer", ".", False),
        ("es", "El servicio habló ", "ayer", ".", False),
        ("es", "El servicio falló porque ", "ayer", ".", False),
        ("zh", "端口变化 ", "昨天", "完成了", False),
        ("zh", "", "昨天", "的任务完成了", False),
        ("zh", "", "昨天", "", False),
        ("en", "", "Yesterday", ", then nothing.", False),
        ("ko", "", "어제", " 라고 배포를 완료했다", False),
        ("ko", "", "어제", " 배포를 한다", False),
        ("ko", "", "어제", " 문제가 있다", False),
        ("ko", "", "어제", "의 배포를 완료했다", False),
    ],
)
def test_no_plain_statement_about_the_past(language: str, before: str, word: str, after: str, is_today: bool) -> None:
    assert not tense.tells_of_past(language, before, word, after, is_today=is_today)


@pytest.mark.parametrize(
    "text", [f"- The {'very ' * 90}old host failed yesterday\n", f"- {'x' * 40} failed yesterday\n"]
)
def test_word_in_an_endless_sentence_is_no_sure_day(text: str) -> None:
    before = f"# 2025-04-14\n\n{text}"
    after = before.replace("yesterday", "2025-04-13 (yesterday)")
    history = History({}, {("a.md", text.strip().encode()): date(2025, 4, 14)})

    assert verdicts(before, after, replace(CLAUDE, history=history)) == [(Kind.FACT_REWRITE, Verdict.REVIEW)]
    start = before.encode().index(b"yesterday")
    rewrite = Rewrite("a.md", start, start + len(b"yesterday"), b"2025-04-13 (yesterday)")
    trees = {"a.md": before.encode()}, {"a.md": after.encode()}
    assert not verify(*trees, Proof(DATE, VERSIONS[DATE], (rewrite,)), replace(CLAUDE, history=history))


@pytest.mark.parametrize("date_", ["13/04/1850", "2222/04/13"])
def test_date_of_another_age_is_kept(date_: str) -> None:
    assert verdicts(f"- moved {date_}\n", "- moved 1850-04-13\n") == [(Kind.FACT_REWRITE, Verdict.REVIEW)]


def test_short_dates_that_are_none_get_no_remark() -> None:
    text = "# 2025-04-14\n\n- build 31/30/25, “moved 3/4/25 and 5/6/2025” it says\n"

    assert dates.suggestions(document(text), CLAUDE) == ()


def test_row_that_would_lose_a_mark_alone_is_not_cut() -> None:
    head = f"- [Release flow](release.md) — {HEAD}"
    hook = f"{HEAD} {'x' * (199 - len(head) - 1)}"
    base = {"MEMORY.md": f"- [Release flow](release.md) — {hook} — — —\n".encode(), "release.md": b"Text.\n"}
    cut = f"- [Release flow](release.md) — {hook}…\n".encode()

    found = classify(base, base | {"MEMORY.md": cut}, CLAUDE)

    assert "Nothing but a mark goes." in found.actions[0].reasons


def test_row_is_not_cut_when_nothing_pays_for_its_document() -> None:
    long, short = row(TAIL).replace("{", "").replace("}", ""), f"- [Release flow](release.md) — {HEAD}…"
    index, tree = document(long, path="MEMORY.md"), {"MEMORY.md": long.encode(), "release.md": TAIL.encode()}
    targets = Targets(Budget(searched_bytes=0))

    outcome = explain_row(index, index.rows[0], short.encode(), (tree, tree), targets, 200)

    assert isinstance(outcome, Declined)
    assert "too large" in outcome.reason


def test_changed_line_that_gets_another_line_end_waits() -> None:
    assert "The line end changes with the line." in reasons("- a b \r\n- c d\n", "- a b\n- c d\n")


def test_step_of_equal_lines_is_none() -> None:
    same = document("a\n\nb\n")

    assert _trim(same, same, Step((1, 2), (1, 2), None, None)) is None


def test_two_task_groups_that_come_together_are_two_actions() -> None:
    groups = [
        f"# Task Group: {name}\nscope: {name} alone\n\n## Task 1: {name} first\n\n- does {name}\n" for name in "abc"
    ]

    found = classify({"MEMORY.md": groups[0].encode()}, {"MEMORY.md": "\n".join(groups).encode()}, CODEX)

    assert [action.title for action in found.actions if "Task Group" in action.new] != []
    assert found.verdict is Verdict.REVIEW


def test_more_changes_than_are_checked_alone_wait_unchecked() -> None:
    base, proposed = {"a.md": b"- port 1\n"}, {"a.md": b"- port\n"}
    draft = Draft(Kind.FORMAT_BLANK, "a.md", (0, 1), (0, 1), "", "", "", rewrites=(Rewrite("a.md", 2, 6, b""),))
    revision = _Revision(base, proposed, proposed, CLAUDE)
    drafts = [replace(draft, title=str(number)) for number in range(MAX_SINGLE_CHECKS + 1)]

    assert revision._verified(drafts) == []
    assert all(reasons_.UNCHECKED in revision._unconfirmed(draft).reasons for draft in drafts)


def test_what_is_pushed_out_is_not_told_for_many_documents() -> None:
    trees: Tree = {f"{number}.md": b"x\n" for number in range(loaded.MAX_DOCUMENTS + 1)}
    drafts = [Draft(Kind.FACT_ADD, path, (0, 0), (0, 1), "", "x", "") for path in trees]

    assert loaded.held(drafts, {}, trees, CLAUDE) == set()
    assert loaded.told(drafts, {}, trees, CLAUDE) == drafts


def test_of_what_pushes_rows_out_only_added_text_says_so() -> None:
    rows = "".join(f"- [Note {number}](note_{number}.md): where\n" for number in range(199))
    before = f"{rows}- [Last](last.md): who\n"
    after = before.replace("Note 7]", "Note]").replace("- [Note 3]", "- [New](new.md): what\n- [Note 3]")

    found = classify({"MEMORY.md": before.encode()}, {"MEMORY.md": after.encode()}, CLAUDE)

    said = {action.title: any("past the limit" in reason for reason in action.reasons) for action in found.actions}
    assert list(said.values()) == [True, False]


def test_links_from_here_are_asked_for_by_their_path() -> None:
    base, context = {"a.md": b"- see [x](./gone.md)\n"}, CLAUDE

    assert questions(base, {"a.md": b"- see [x](b.md)\n"}, context).paths[0] == "gone.md"


def test_relative_word_of_a_wrapped_entry_gets_its_day() -> None:
    entry = "- The rollout failed yesterday\n  on the host of the team.\n"
    before = f"# 2025-04-14\n\n{entry}"
    lines = {("a.md", b"- The rollout failed yesterday"): date(2025, 4, 14)}
    context = replace(CLAUDE, history=History({}, lines))

    found = verdicts(before, before.replace("yesterday", "2025-04-13 (yesterday)"), context)

    assert found == [(Kind.DATE_NORMALIZE, Verdict.SAFE)]


def test_run_of_other_length_leaves_a_code_span_open() -> None:
    assert (code_after(0, b"run `` a ` b"), code_after(2, b"c `` d")) == (2, 0)


def test_blank_lines_alone_count_nothing() -> None:
    base, proposed, proof = Lie(EXACT, "", "- a b\n{\n}- c d\n").claim()

    paths = frozenset(base)

    assert between.counts_nothing(Claim(base, proposed, proof, CLAUDE, paths, paths, partial(Catalogue, base)))


def test_heading_in_html_makes_no_day_sure() -> None:
    before = "# 2025-04-14\n\n<h2>Older</h2>\n\n- The rollout failed yesterday.\n"
    after = before.replace("yesterday", "2025-04-13 (yesterday)")
    history = History({}, {("a.md", b"- The rollout failed yesterday."): date(2025, 4, 14)})
    start = before.encode().index(b"yesterday")
    proof = Proof(DATE, VERSIONS[DATE], (Rewrite("a.md", start, start + 9, b"2025-04-13 (yesterday)"),))

    assert verdicts(before, after, replace(CLAUDE, history=history)) == [(Kind.FACT_REWRITE, Verdict.REVIEW)]
    trees = {"a.md": before.encode()}, {"a.md": after.encode()}
    assert not verify(*trees, proof, replace(CLAUDE, history=history))


def test_short_weekday_behind_a_date_has_to_agree() -> None:
    assert "Mon" in reasons("- moved 13/04/2025 (Mon)\n", "- moved 2025-04-13 (Mon)\n")


def test_section_sign_with_blanks_stays_text() -> None:
    assert "A line of “§” with blanks is text" in reasons("Text.\n\n§ \n\nMore.\n", "Text.\n\n§\n\nMore.\n")


@pytest.mark.parametrize("written", ["2026-01-01T08:00:00+99:00", "2026-01-01T08:00:00+01:75"])
def test_time_in_a_zone_that_is_none_is_no_moment(written: str) -> None:
    assert moment.read(written) is None


def test_endless_heading_is_no_day() -> None:
    before = f"# 2025-04-14 — {'notes of the team ' * 30}\n\n- The rollout failed yesterday.\n"
    history = History({}, {("a.md", b"- The rollout failed yesterday."): date(2025, 4, 14)})

    found = verdicts(before, before.replace("yesterday", "2025-04-13 (yesterday)"), replace(CLAUDE, history=history))

    assert found == [(Kind.FACT_REWRITE, Verdict.REVIEW)]


def test_blank_lines_that_come_before_a_changed_line_belong_to_its_change() -> None:
    (action,) = classify({"a.md": b"port 5432\n"}, {"a.md": b"\n\nport 5433\n"}, CLAUDE).actions

    assert (action.kind, action.lines, action.new_lines) == (Kind.FACT_REWRITE, (1, 1), (1, 3))


def test_last_entry_that_loses_its_last_line_is_not_cut_up() -> None:
    before = {"MEMORY.md": "Uses uv\n§\nPort 5432\non staging\nsince May".encode()}
    after = {"MEMORY.md": "Uses uv\n§\nPort 5432\non staging".encode()}

    found = classify(before, after, Context(format=FormatName.HERMES))

    assert [(action.kind, action.verdict) for action in found.actions] == [(Kind.FACT_REWRITE, Verdict.REVIEW)]
