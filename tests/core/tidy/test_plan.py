"""What a run of tidying does by itself, and what it leaves alone."""

from __future__ import annotations

import hashlib
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoryreview.core.model import Ended, History, Kind
from memoryreview.core.tidy.plan import Wishes

from .runs import planned, rules, tidied, tree_of

REPEATED = "- Staging listens on 5432.\n- Mail goes to the sink.\n- Staging listens on 5432.\n"
ROW = "- [Deploys](deploys.md) — " + "the release train leaves every week and is driven by the on-call engineer; " * 2
LONG_ROW = ROW + "the schedule is shared with the support team in their own channel.\n"
TARGET = (
    "---\nname: deploys\ndescription: Deploys\n---\n\n"
    "The schedule is shared with the support team in their own channel.\n"
)


def test_a_repeat_in_one_list_goes_and_the_first_copy_stays() -> None:
    assert tidied({"a.md": REPEATED})["a.md"] == b"- Staging listens on 5432.\n- Mail goes to the sink.\n"


def test_a_repeat_between_rules_goes_without_a_final_newline_c023() -> None:
    after = tidied({"MEMORY.md": "Reply in English.\n§\nAsk first.\n§\nReply in English."}, "hermes")

    assert after["MEMORY.md"] == "Reply in English.\n§\nAsk first.".encode()


def test_a_repeat_in_a_loose_list_takes_one_gap_with_it() -> None:
    after = tidied({"a.md": "- One thing.\n\n- Two things.\n\n- One thing.\n\nText.\n"})

    assert after["a.md"] == b"- One thing.\n\n- Two things.\n\nText.\n"


def test_a_repeated_row_goes_and_the_document_stays_reachable() -> None:
    row = "- [Ports](ports.md) — where things listen\n"

    after = tidied({"MEMORY.md": row + "- [Mail](mail.md) — the sink\n" + row, "ports.md": "x\n", "mail.md": "y\n"})

    assert after["MEMORY.md"].decode() == row + "- [Mail](mail.md) — the sink\n"


def test_a_row_over_the_limit_loses_words_that_its_document_says() -> None:
    after = tidied({"MEMORY.md": LONG_ROW, "deploys.md": TARGET})

    row = after["MEMORY.md"].decode()
    assert len(row.rstrip("\n")) <= 200
    assert row.endswith("on-call engineer…\n")
    assert LONG_ROW.startswith(row.removesuffix("…\n"))
    assert after["deploys.md"] == TARGET.encode()


def test_a_row_whose_words_stand_nowhere_else_is_kept_c038() -> None:
    assert planned({"MEMORY.md": LONG_ROW, "deploys.md": "Other words.\n"}).steps == ()


def test_blanks_go_only_where_something_else_changes() -> None:
    blank = "# T\n\n\n\nText.\n"

    assert planned({"a.md": blank}).steps == ()
    assert rules(planned({"a.md": blank + "\n" + REPEATED})) == [Kind.DEDUPE_EXACT, Kind.FORMAT_BLANK]
    assert tidied({"a.md": blank + "\n" + REPEATED})["a.md"].startswith(b"# T\n\nText.\n\n- Staging")


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("## Staging\n- Mail goes to the sink.\n\n## Production\n- Mail goes to the sink.\n", "claude"),
        ("1. Restart the worker.\n2. Check the log.\n3. Restart the worker.\n", "claude"),
        ("- [ ] ask Dana\n- [ ] ask Dana\n", "markdown"),
        ("a\n\n---\n\nb\n\n---\n", "markdown"),
        ("| a | b |\n|---|---|\n| x | y |\n| x | y |\n", "markdown"),
        ("```\nrun it\nrun it\n```\n", "markdown"),
        ("Related: [[a]], [[b]]\n\nText.\n\nRelated: [[a]], [[b]]\n", "claude"),
        ("- Related: see the note\n- Related: see the note\n", "claude"),
        ("`sync pull` → --pull, then --apply\n\n`sync push` → --push, then --apply\n", "claude"),
    ],
)
def test_what_repeats_for_a_reason_is_left_alone_c076_c077_c074(text: str, form: str) -> None:
    found = planned({"a.md": text}, form)

    assert (found.steps, found.suggestions) == ((), ())


@pytest.mark.parametrize(
    "pair",
    [
        ("Keep five releases", "Keep 3 releases"),
        ("The job waits 30 s", "The job waits 30 min"),
        ("port 8088 is open", "port 8080 is open"),
        ("Use Node 20", "Use Node 22"),
        ("Retries ≤ 5", "Retries ≥ 5"),
        ("Ask before deleting", "Never ask before deleting"),
    ],
)
def test_what_differs_in_a_value_is_never_edited_c073(pair: tuple[str, str]) -> None:
    assert planned({"a.md": f"- {pair[0]}\n- {pair[1]}\n"}).steps == ()


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("merged.md", "<<<<<<< HEAD\n- runs at 05:00\n=======\n- runs at 06:00\n>>>>>>> other\n\n" + REPEATED),
        ("unclosed.md", "---\nname: x\n\n" + REPEATED),
        ("2026-03-23 (conflicted copy 2026-03-24 070952).md", REPEATED),
        ("x.sync-conflict-20260324-101112-ABCDEFG.md", REPEATED),
        ("latin.md", REPEATED.encode() + b"value is 5\xff units\n"),
        ("notes.txt", REPEATED),
        ("large.md", REPEATED + "word " * 60_000),
    ],
)
def test_a_document_that_is_not_whole_is_skipped_with_a_reason_c049_c050(path: str, content: str | bytes) -> None:
    found = planned({path: content, "x.md": "X.\n"})

    assert (found.steps, found.suggestions) == ((), ())
    assert found.survey.skipped[path].endswith(".")


def test_a_generated_file_is_skipped() -> None:
    found = planned({"raw_memories.md": REPEATED, "memory_summary.md": "v1\n"}, "codex")

    assert found.steps == ()
    assert list(found.survey.skipped) == ["raw_memories.md"]


def test_a_second_run_finds_nothing() -> None:
    files = {"a.md": "# T\n\n\n" + REPEATED, "MEMORY.md": LONG_ROW + LONG_ROW, "deploys.md": TARGET}

    assert planned(tidied(files)).steps == ()


def test_what_the_store_switches_off_becomes_one_suggestion_per_document() -> None:
    off = frozenset({Kind.DEDUPE_EXACT})

    found = planned({"a.md": REPEATED + "- Mail goes to the sink.\n", "b.md": REPEATED}, switched_off=off)

    assert found.steps == ()
    assert [(each.kind, list(each.delta)) for each in found.suggestions] == [
        ("dedupe.exact", ["a.md"]),
        ("dedupe.exact", ["b.md"]),
    ]
    assert found.suggestions[0].delta["a.md"] == b"- Staging listens on 5432.\n- Mail goes to the sink.\n"


def test_a_stopped_rule_does_and_suggests_nothing() -> None:
    found = planned({"a.md": REPEATED}, wishes=Wishes(stopped={Kind.DEDUPE_EXACT}))

    assert (found.steps, found.suggestions) == ((), ())


def test_an_edit_that_was_taken_back_is_not_made_again() -> None:
    def known(rule: str, path: str, old: str, new: str) -> bool:
        return (rule, path, old, new) == ("dedupe.exact", "a.md", "- Staging listens on 5432.\n", "")

    found = planned({"a.md": REPEATED, "b.md": REPEATED}, wishes=Wishes(known=known))

    [step] = found.steps
    assert list(step.delta) == ["b.md"]
    assert found.suggestions == ()


def test_no_more_edits_than_allowed_and_the_rest_is_counted() -> None:
    files = {f"{name}.md": REPEATED for name in "abcd"}

    found = planned(files, wishes=Wishes(most=3))

    assert (found.edits, found.postponed) == (3, 1)
    assert sorted(found.steps[0].delta) == ["a.md", "b.md", "c.md"]


ENTRIES = st.lists(
    max_size=6, elements=st.sampled_from(["Ask first.", "Ask  first.", "Mail goes out.", "x", "", "Port 1.", "Port 2."])
)
FILES = st.dictionaries(
    st.sampled_from(["a.md", "MEMORY.md", "b/c.md"]),
    st.builds(
        lambda entries, mark, gap, end: gap.join(f"{mark}{entry}" for entry in entries) + end,
        ENTRIES,
        st.sampled_from(["- ", "* ", "1. ", "", "  - "]),
        st.sampled_from(["\n", "\n\n", "\r\n", "\n§\n", "\n\n\n"]),
        st.sampled_from(["", "\n", " \n"]),
    ),
)


@given(FILES, st.sampled_from(["claude", "codex", "hermes", "markdown"]))
@settings(max_examples=60, deadline=None)
def test_each_step_verifies_and_runs_settle(files: dict[str, str], form: str) -> None:
    """What only the whole of several edits keeps from being proved is proved one run after the other."""
    after = tidied(files, form)

    assert set(after) == set(files)
    for _ in range(8):
        before, after = after, tidied(after, form)
    assert before == after


@given(st.dictionaries(st.sampled_from(["a.md", "MEMORY.md", "x.txt"]), st.binary(max_size=200)))
@settings(max_examples=40, deadline=None)
def test_planning_is_total_on_any_bytes(files: dict[str, bytes]) -> None:
    for form in ("claude", "codex", "hermes", "markdown"):
        assert planned(files, form) == planned(files, form)


NOTES = {f"n{number}.md": f"---\nname: note {number}\n---\n\nAbout {number}.\n" for number in range(12)}
INDEX = "".join(f"- [Note {number}](n{number}.md) — about {number}\n" for number in range(12))


def _ended(*paths: str) -> History:
    return History(ended={path: Ended(path, "", hashlib.sha256(path.encode()).hexdigest()) for path in paths})


def test_a_row_goes_whose_document_was_deleted_with_approval() -> None:
    files = {"MEMORY.md": INDEX, **{path: text for path, text in NOTES.items() if path != "n3.md"}}

    after = tidied(files, history=_ended("n3.md"))

    assert after["MEMORY.md"].decode() == INDEX.replace("- [Note 3](n3.md) — about 3\n", "")


def test_of_many_such_rows_only_as_many_go_as_one_change_may_prune() -> None:
    index = "".join(f"- [Note {number}](n{number}.md) — about {number}\n" for number in range(40))
    gone = [f"n{number}.md" for number in range(5)]
    files = {"MEMORY.md": index} | {f"n{number}.md": f"About {number}.\n" for number in range(5, 40)}

    found = planned(files, history=_ended(*gone))

    assert (rules(found), found.edits) == ([Kind.INDEX_PRUNE], 3)


def test_a_dead_row_that_nobody_approved_is_suggested() -> None:
    files = {"MEMORY.md": INDEX, **{path: text for path, text in NOTES.items() if path != "n3.md"}}

    found = planned(files, history=History())

    assert found.steps == ()
    [suggestion] = found.suggestions
    assert suggestion.delta["MEMORY.md"] == INDEX.replace("- [Note 3](n3.md) — about 3\n", "").encode()
    assert suggestion.why.startswith("The row points to “n3.md”, which is not there")


def test_c040_nothing_is_pruned_or_suggested_where_the_folder_looks_incomplete() -> None:
    files = {"MEMORY.md": INDEX, "n0.md": NOTES["n0.md"], "n1.md": NOTES["n1.md"]}

    found = planned(files, history=_ended(*(f"n{number}.md" for number in range(2, 12))))

    assert (found.steps, found.suggestions, found.survey.is_incomplete) == ((), (), True)
    assert [problem.kind for problem in found.survey.problems] == ["bulk-dead"]


def test_dates_with_one_reading_are_written_in_iso_form() -> None:
    after = tidied({"a.md": "- Moved on 13/04/2025 and April 20, 2025.\n- Keep `13/04/2025` as it is.\n"})

    assert after["a.md"] == b"- Moved on 2025-04-13 and 2025-04-20.\n- Keep `13/04/2025` as it is.\n"


def test_c059_a_word_under_a_dated_heading_is_dated_and_kept() -> None:
    text = "## 2026-05-20\n\n- Yesterday the rollout failed, cause: expired certificate.\n"
    line = text.splitlines()[2].encode()

    near = History(first_approved={("log.md", line): date(2026, 5, 20)})
    far = History(first_approved={("log.md", line): date(2026, 5, 29)})

    assert b"- 2026-05-19 (Yesterday) the rollout failed" in tidied({"log.md": text}, history=near)["log.md"]
    found = planned({"log.md": text}, history=far)
    assert found.steps == ()
    assert [suggestion.kind for suggestion in found.suggestions] == ["date.normalize"]


@pytest.mark.parametrize(
    "text",
    [
        "- tabs (Today / Yesterday / This week)\n- `today()` helper\n- day = today − 2026-03-26 + 1\n",
        "- You may retry the second job; march on; the sun icon\n",
        "- port 8080, build 6005 of 629, ratio 12/5, section 3.4, v2.1.207, 20260324_171545, a1b2c3d\n",
        "- every morning read yesterday's log; no more than 10 requests this week\n",
    ],
)
def test_what_only_looks_like_a_date_is_left_alone_c058_c061_c062_c068(text: str) -> None:
    found = planned({"a.md": text})

    assert (found.steps, found.suggestions, found.noticed) == ((), (), ())


BODY = b"How it is kept.\n"


def test_c044_a_row_follows_its_document_after_an_approved_rename() -> None:
    files = {"MEMORY.md": "- [Cache](project_cache.md) — how it is kept\n", "project_store.md": BODY.decode()}
    ended = Ended("project_cache.md", "", hashlib.sha256(BODY).hexdigest(), "project_store.md")

    found = planned(files, history=History(ended={ended.path: ended}))

    assert (rules(found), found.suggestions) == ([Kind.LINK_RETARGET], ())
    after = tidied(files, history=History(ended={ended.path: ended}))
    assert after["MEMORY.md"].decode() == "- [Cache](project_store.md) — how it is kept\n"


def test_a_missing_row_is_added_as_the_index_writes_its_rows() -> None:
    head = "---\nname: Ports\ndescription: where things listen\n---\n\nText.\n"
    files = {"MEMORY.md": "# Index\n\n- [Mail](mail.md) — the sink\n", "mail.md": "Sink.\n", "ports.md": head}

    after = tidied(files)

    assert after["MEMORY.md"].decode() == files["MEMORY.md"] + "- [Ports](ports.md) — where things listen\n"


@pytest.mark.parametrize(("end", "runs"), [("\n", 1), ("", 3)])
def test_all_missing_rows_are_added_as_many_at_once_as_are_proved(end: str, runs: int) -> None:
    """Where no newline ends the index, one row at a time is proved."""
    files = {
        "MEMORY.md": f"- [Mail](mail.md) — the sink\n- [Time](time.md) — zones{end}",
        "mail.md": "Sink.\n",
        "time.md": "UTC.\n",
        **{f"{n}.md": f"---\nname: Note {n}\ndescription: about {n}\n---\n\nText.\n" for n in "abc"},
    }

    after = tree_of(files)
    for _ in range(runs):
        after = tidied(after)

    rows = "".join(f"\n- [Note {n}]({n}.md) — about {n}" for n in "abc")
    assert after["MEMORY.md"].decode() == files["MEMORY.md"].rstrip("\n") + rows + end
    assert planned(after).steps == ()
