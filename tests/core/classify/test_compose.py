"""Safe-looking rewrites that meet: in one region, over one copy, or over one document that another edit changes."""

from __future__ import annotations

from hashlib import sha256

import pytest

from memoryreview.core.classify import turns
from memoryreview.core.classify.budget import Budget
from memoryreview.core.classify.classify import classify
from memoryreview.core.classify.draft import Draft
from memoryreview.core.classify.split import apply_proof, rebase, safe_part
from memoryreview.core.model import Context, Ended, FormatName, History, Kind, Rewrite, Tree
from memoryreview.core.overlay import Overlay

CLAUDE = Context(format=FormatName.CLAUDE)
HERMES = Context(format=FormatName.HERMES)

HEAD = "staging is quiet and the team watches the dashboard for the whole morning"
TAIL = "the release branch is tagged and the notes are published on the page of the team"
MORE = "the on-call engineer writes the summary for the channel"
LONG = f"- [Release flow](release.md) — {HEAD}, {TAIL}, {MORE}\n"
SHORT = f"- [Release flow](release.md) — {HEAD}, {TAIL}…\n"
GONE = Ended("old.md", "old", "0" * 64)


def after_safe(base: Tree, proposed: Tree, context: Context = CLAUDE) -> tuple[set[Kind], dict[str, bytes]]:
    """Return the safe kinds of a change and the tree after they landed."""
    proofs = safe_part(classify(base, proposed, context))
    tree: Tree = base
    for proof in rebase(proofs):
        tree = Overlay(tree, apply_proof(tree, proof))
    return {proof.rule for proof in proofs}, dict(tree)


def one(text: str, path: str = "a.md") -> dict[str, bytes]:
    return {path: text.encode()}


@pytest.mark.parametrize(
    ("base", "proposed"),
    [
        ("- use pnpm\n- port 1\n- use pnpm\n", "- port 1\n"),
        ("- use pnpm\n- port 1\n- use pnpm\n", "- use npm\n- port 1\n"),
        ("- use pnpm\n- port 1\n- use pnpm\n", "- use pnpm, not npm\n- port 1\n"),
        ("- use pnpm\n- port 1\n- use pnpm\n", "1. use pnpm\n\n- port 1\n"),
        ("- use pnpm\n- port 1\n- use pnpm\n", "- port 1\n\n# Old\n\n- use pnpm\n"),
        ("- use pnpm\n- port 1\n- use pnpm\n- use pnpm\n", "- port 1\n"),
        ("- a\n  more\n- port 1\n- a\n  more\n", "- a\n- port 1\n  more\n"),
    ],
)
def test_repeat_waits_when_the_copy_goes_changes_or_moves(base: str, proposed: str) -> None:
    kinds, tree = after_safe(one(base), one(proposed))

    assert (kinds, tree) == (set(), one(base))


def test_section_waits_when_both_copies_go() -> None:
    base = one("Project uses uv\n§\nCI has no ffmpeg\n§\nProject uses uv", "MEMORY.md")

    assert after_safe(base, one("CI has no ffmpeg", "MEMORY.md"), HERMES) == (set(), base)


def test_section_waits_when_the_copy_is_edited() -> None:
    base = one("Project uses uv\n§\nCI has no ffmpeg\n§\nProject uses uv", "MEMORY.md")

    assert after_safe(base, one("Project uses pip\n§\nCI has no ffmpeg", "MEMORY.md"), HERMES) == (set(), base)


def test_of_three_copies_two_may_go() -> None:
    kinds, tree = after_safe(one("- use pnpm\n- use pnpm\n- port 1\n- use pnpm\n"), one("- use pnpm\n- port 1\n"))

    assert (kinds, tree) == ({Kind.DEDUPE_EXACT}, one("- use pnpm\n- port 1\n"))


def test_copy_in_another_document_is_no_copy() -> None:
    base = one("- use pnpm\n- port 1\n") | one("- use pnpm\n- port 2\n", "b.md")

    assert after_safe(base, one("- port 1\n") | one("- use pnpm\n- port 2\n", "b.md")) == (set(), base)


def test_repeat_of_a_line_that_only_gets_its_date_is_removed_first() -> None:
    kinds, tree = after_safe(
        one("- moved 13/04/2025\n- port 1\n- moved 13/04/2025\n"), one("- moved 2025-04-13\n- port 1\n")
    )

    assert kinds == {Kind.DEDUPE_EXACT, Kind.DATE_NORMALIZE}
    assert tree == one("- moved 2025-04-13\n- port 1\n")


def test_repeats_that_are_equal_only_after_a_date_changed_wait_for_the_next_run() -> None:
    base = one("- moved 13/04/2025\n- port 1\n- moved 2025-04-13\n")

    kinds, tree = after_safe(base, one("- moved 2025-04-13\n- port 1\n"))

    assert tree in (base, one("- moved 2025-04-13\n- port 1\n- moved 2025-04-13\n"))
    assert Kind.DEDUPE_EXACT not in kinds


def test_date_and_blank_of_one_line_land_together_and_wait_together() -> None:
    kinds, tree = after_safe(one("- moved 13/04/2025 \n"), one("- moved 2025-04-13\n"))
    assert (len(kinds), tree) == (2, one("- moved 2025-04-13\n"))

    base = one("- moved 03/04/2025 \n")
    assert after_safe(base, one("- moved 2025-04-03\n")) == (set(), base)


def test_row_and_bullet_repeats_of_one_index_land_together() -> None:
    row = "- [Ports](ports.md): where\n"
    notes = "\n## Notes\n\n- use pnpm\n- port 1\n"
    base = one(row + "- [Hosts](hosts.md): who\n" + row + notes + "- use pnpm\n", "MEMORY.md")

    kinds, tree = after_safe(base, one(row + "- [Hosts](hosts.md): who\n" + notes, "MEMORY.md"))

    assert kinds == {Kind.DEDUPE_EXACT, Kind.DEDUPE_INDEX}
    assert tree == one(row + "- [Hosts](hosts.md): who\n" + notes, "MEMORY.md")


def test_both_rows_of_one_target_wait() -> None:
    row = "- [Ports](ports.md): where\n"
    base = one(row + "- [Hosts](hosts.md): who\n" + row, "MEMORY.md") | one("Text.\n", "ports.md")

    kinds, tree = after_safe(base, base | one("- [Hosts](hosts.md): who\n", "MEMORY.md"))

    assert (kinds, tree) == (set(), base)


def test_repeated_row_waits_when_the_other_one_is_trimmed() -> None:
    target = one(f"{MORE}\n", "release.md")
    base = one(LONG + LONG, "MEMORY.md") | target

    kinds, tree = after_safe(base, one(SHORT, "MEMORY.md") | target)

    assert Kind.DEDUPE_INDEX not in kinds
    assert tree["MEMORY.md"].count(MORE.encode()) == 2 - (Kind.INDEX_TRIM in kinds)


@pytest.mark.parametrize("after", ["Text.\n", f"Not so: {MORE}\n", f"<!-- {MORE} -->\n", f"~~{MORE}~~\n"])
def test_trim_waits_when_its_document_stops_to_say_the_words(after: str) -> None:
    base = one(LONG, "MEMORY.md") | one(f"{MORE}\n", "release.md")

    kinds, tree = after_safe(base, one(SHORT, "MEMORY.md") | one(after, "release.md"))

    assert (kinds, tree) == (set(), base)


def test_trim_waits_when_its_document_goes() -> None:
    base = one(LONG, "MEMORY.md") | one(f"{MORE}\n", "release.md")

    assert after_safe(base, one(SHORT, "MEMORY.md")) == (set(), base)


def test_two_trims_that_bring_words_to_one_document_wait() -> None:
    other = LONG.replace("Release flow", "Release day").replace(MORE, f"{MORE} of the group")
    base = one(LONG + other, "MEMORY.md") | one("Text.\n", "release.md")
    proposed = one(SHORT + SHORT.replace("Release flow", "Release day"), "MEMORY.md")

    kinds, tree = after_safe(base, proposed | one(f"Text.\n\n- {MORE}\n- {MORE} of the group\n", "release.md"))

    assert (kinds, tree) == (set(), base)


def test_trim_does_not_carry_another_change_of_its_document() -> None:
    base = one(LONG, "MEMORY.md") | one("Text. \n", "release.md")

    kinds, tree = after_safe(base, one(SHORT, "MEMORY.md") | one(f"Other text.\n\n{MORE}\n", "release.md"))

    assert (kinds, tree) == (set(), base)


def test_row_is_not_pruned_while_a_document_of_that_name_comes() -> None:
    context = Context(format=FormatName.CLAUDE, history=History({"old.md": GONE}))
    rows = "- [Ports](ports.md): where\n- [Old](old.md): gone\n"
    base = one(rows, "MEMORY.md") | one("Text.\n", "ports.md")
    new = "---\nname: old\ndescription: where it went\ntype: project\n---\nText.\n"

    kinds, tree = after_safe(
        base, base | one("- [Ports](ports.md): where\n", "MEMORY.md") | one(new, "new.md"), context
    )

    assert (kinds, tree) == (set(), base)


def test_row_is_pruned_and_another_added_only_each_by_its_own_proof() -> None:
    context = Context(format=FormatName.CLAUDE, history=History({"old.md": GONE}))
    cache = one("---\nname: Cache\ndescription: how it is warmed\ntype: project\n---\nText.\n", "cache.md")
    base = one("- [Ports](ports.md): where\n- [Old](old.md): gone\n", "MEMORY.md") | one("Text.\n", "ports.md") | cache
    wanted = one("- [Ports](ports.md): where\n- [Cache](cache.md): how it is warmed\n", "MEMORY.md")

    _, tree = after_safe(base, base | wanted, context)

    # A row that replaces another one is one change of a row; whatever lands, no row of a document that stands is lost.
    assert b"(ports.md)" in tree["MEMORY.md"]
    assert tree["MEMORY.md"] in (base["MEMORY.md"], wanted["MEMORY.md"])


def test_row_follows_no_rename_that_the_same_change_makes() -> None:
    text = b"---\nname: ports\n---\nText.\n"
    context = Context(
        format=FormatName.CLAUDE, history=History({"old.md": Ended("old.md", "ports", sha256(text).hexdigest())})
    )
    base = one("- [Old](old.md): gone\n- [Ports](ports.md): where\n", "MEMORY.md") | {"ports.md": text}

    kinds, tree = after_safe(base, one("- [Ports](ports.md): where\n", "MEMORY.md") | {"moved.md": text}, context)

    assert (kinds, tree) == (set(), base)


def test_stamp_and_text_of_one_document_wait_together() -> None:
    head = "---\nname: a\nmetadata:\n  type: project\n  modified: 2026-0{}-10T08:00:00.000Z\n---\n\nPort {}.\n"
    base = one(head.format(1, 5432))

    assert after_safe(base, one(head.format(2, 5433))) == (set(), base)


def test_safe_edit_of_one_document_lands_beside_a_waiting_one_in_another() -> None:
    base = one("- use pnpm \n") | one("- port 1\n", "b.md")

    kinds, tree = after_safe(base, one("- use pnpm\n") | one("- port 2\n", "b.md"))

    assert (kinds, tree) == ({Kind.FORMAT_BLANK}, one("- use pnpm\n") | one("- port 1\n", "b.md"))


def test_blanks_wait_that_a_removed_repeat_brings_beside_a_comment() -> None:
    base = one("- use pnpm  \n- use pnpm  \n<!-- kept as a hint \n")

    kinds, tree = after_safe(base, one("- use pnpm\n<!-- kept as a hint \n"))

    # Two blanks before the comment break the line there, which they did not before the repeat went.
    assert (kinds, tree) == ({Kind.DEDUPE_EXACT}, one("- use pnpm  \n<!-- kept as a hint \n"))


def test_part_waits_that_nothing_is_left_to_look_at_again_for() -> None:
    proposed = one("- use pnpm\n- port 1\n")
    first = Draft(Kind.DEDUPE_EXACT, "a.md", (1, 2), (1, 1), "", "", "", rewrites=(Rewrite("a.md", 12, 23, b""),))
    second = Draft(Kind.FORMAT_BLANK, "a.md", (0, 1), (0, 1), "", "", "", rewrites=(Rewrite("a.md", 10, 11, b""),))
    base = one("- use pnpm \n- use pnpm\n- port 1\n")

    assert turns.held([first, second], base, CLAUDE, Budget()) == set()
    assert turns.held([first, second], base, CLAUDE, Budget(parsed=0)) == {id(second)}
    assert apply_proof(base, turns.proof_of([first]))["a.md"] == proposed["a.md"].replace(b"pnpm\n", b"pnpm \n")
