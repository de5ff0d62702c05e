from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryreview.core.merge import Change, Conflict, Conflicted, Merged, changes, merge3

documents = st.one_of(st.none(), st.binary(max_size=40))
line_documents = st.lists(st.sampled_from(["a", "b", "", "- c"]), max_size=7).map(
    lambda lines: "\n".join(lines).encode()
)
any_document = st.one_of(documents, line_documents)

BASE = b"one\ntwo\nthree\nfour\nfive\n"


def lines_of(document: bytes) -> list[bytes]:
    return document.split(b"\n")


@given(any_document, any_document)
def test_merge_identities(base: bytes | None, side: bytes | None) -> None:
    assert merge3(base, base, side) == Merged(side)
    assert merge3(base, side, base) == Merged(side)
    assert merge3(base, side, side) == Merged(side)


@given(any_document, any_document, any_document)
def test_merge_is_total_deterministic_and_invents_no_line(
    base: bytes | None, ours: bytes | None, theirs: bytes | None
) -> None:
    outcome = merge3(base, ours, theirs)

    assert merge3(base, ours, theirs) == outcome
    if isinstance(outcome, Conflicted):
        assert outcome.conflicts
    elif outcome.data is not None:
        known = {*lines_of(ours or b""), *lines_of(theirs or b""), b""}
        assert set(lines_of(outcome.data)) <= known


@given(any_document, any_document, any_document)
def test_merge_conflicts_whichever_side_is_ours(base: bytes | None, ours: bytes | None, theirs: bytes | None) -> None:
    assert isinstance(merge3(base, ours, theirs), Conflicted) == isinstance(merge3(base, theirs, ours), Conflicted)


@st.composite
def disjoint_edits(draw: st.DrawFn) -> tuple[bytes, bytes, bytes, bytes]:
    """Draw (base, ours, theirs, both applied) where no line or gap between lines is touched by both sides."""
    size = draw(st.integers(0, 8))
    owners = draw(st.lists(st.sampled_from(["", "", "ours", "theirs"]), min_size=size, max_size=size))
    inserters = draw(st.lists(st.sampled_from(["", "", "ours", "theirs"]), min_size=size + 1, max_size=size + 1))
    deletes = draw(st.lists(st.booleans(), min_size=size, max_size=size))
    base: list[str] = []
    results: dict[str, list[str]] = {"ours": [], "theirs": [], "both": []}
    for at in range(size + 1):
        around = {*owners[max(at - 1, 0) : at], *owners[at : at + 1]}
        inside_one_change = len(around) == 1 and 0 < at < size and around.isdisjoint({"", inserters[at]})
        if inserters[at] and not inside_one_change:
            for side in (inserters[at], "both"):
                results[side].append(f"inserted {at}")
        if at == size:
            break
        base.append(f"line {at}")
        for side in results:
            if not owners[at] or side not in (owners[at], "both"):
                results[side].append(f"line {at}")
            elif not deletes[at]:
                results[side].append(f"changed {at}")
    joined = ["".join(f"{line}\n" for line in lines).encode() for lines in (base, *results.values())]
    return joined[0], joined[1], joined[2], joined[3]


@given(disjoint_edits())
def test_merge_of_disjoint_edits_applies_both(edits: tuple[bytes, bytes, bytes, bytes]) -> None:
    base, ours, theirs, both = edits

    assert merge3(base, ours, theirs) == Merged(both)


def test_merge_keeps_changes_of_neighbouring_lines() -> None:
    ours = BASE.replace(b"three", b"3")
    theirs = BASE.replace(b"four", b"4")

    assert merge3(BASE, ours, theirs) == Merged(b"one\ntwo\n3\n4\nfive\n")


def test_merge_keeps_both_insertions_at_one_place_ours_first() -> None:
    assert merge3(b"a\nz\n", b"a\nours\nz\n", b"a\ntheirs\nz\n") == Merged(b"a\nours\ntheirs\nz\n")


def test_merge_keeps_equal_insertions_once_also_where_one_side_inserted_more() -> None:
    assert merge3(b"a\nz\n", b"a\nnew\nz\n", b"a\nnew\nmore\nz\n") == Merged(b"a\nnew\nmore\nz\n")


def test_merge_of_two_new_paragraphs_at_the_end_keeps_their_blank_lines() -> None:
    assert merge3(b"# T\n", b"# T\n\nours\n", b"# T\n\ntheirs\n") == Merged(b"# T\n\nours\n\ntheirs\n")


@pytest.mark.parametrize(
    ("ours", "expected"),
    [
        (b"one\nNEW\ntwo\nthree\nfour\nfive\n", b"one\nNEW\n2\n3\nfour\nfive\n"),
        (b"one\ntwo\nthree\nNEW\nfour\nfive\n", b"one\n2\n3\nNEW\nfour\nfive\n"),
    ],
)
def test_merge_insertion_beside_a_replacement_keeps_both(ours: bytes, expected: bytes) -> None:
    theirs = b"one\n2\n3\nfour\nfive\n"

    assert merge3(BASE, ours, theirs) == Merged(expected)
    assert merge3(BASE, theirs, ours) == Merged(expected)


def test_merge_insertion_inside_a_replacement_conflicts() -> None:
    ours = b"one\ntwo\nNEW\nthree\nfour\nfive\n"
    theirs = b"one\n2\n3\nfour\nfive\n"

    assert merge3(BASE, ours, theirs) == Conflicted((Conflict(base=(2, 4), ours=(2, 5), theirs=(2, 4)),))


def test_merge_deletion_against_change_conflicts() -> None:
    ours = b"one\ntwo\nfive\n"
    theirs = BASE.replace(b"three", b"3")

    assert merge3(BASE, ours, theirs) == Conflicted((Conflict(base=(3, 5), ours=(3, 3), theirs=(3, 5)),))


def test_merge_deleted_document_against_change_conflicts() -> None:
    assert merge3(b"a\n", None, b"b\n") == Conflicted((Conflict(base=(1, 2), ours=(1, 1), theirs=(1, 2)),))


def test_merge_two_different_new_documents_conflict_even_where_one_is_empty() -> None:
    assert merge3(None, b"", b"b\n") == Conflicted((Conflict(base=(1, 1), ours=(1, 1), theirs=(1, 2)),))


def test_merge_names_every_conflict_beside_clean_changes() -> None:
    ours = b"1\ntwo\n3\nfour\nfive!\n"
    theirs = b"I\nTWO\nIII\nfour\nfive\n"

    outcome = merge3(BASE, b"head\n" + ours, theirs)

    assert outcome == Conflicted((Conflict(base=(1, 4), ours=(1, 5), theirs=(1, 4)),))


@pytest.mark.parametrize(
    ("landed", "proposed"),
    [
        (b"one\ntwo\n3\nfour\nfive\n", b"one\ntwo\n3\n4\nfive\n"),  # a change and its neighbour
        (b"one\ntwo\nfour\nfive\n", b"one\ntwo\nfive\n"),  # one of two deletions
        (b"one\ntwo\n3\nfour\nfive\n", b"one\ntwo\n3\n4a\n4b\nfive\n"),  # the rest grew
    ],
)
def test_merge_of_a_part_that_landed_with_the_whole_is_the_whole(landed: bytes, proposed: bytes) -> None:
    assert merge3(BASE, landed, proposed) == Merged(proposed)
    assert merge3(BASE, proposed, landed) == Merged(proposed)


def test_merge_line_that_one_side_removed_does_not_come_back() -> None:
    ours = b"one\ntwo\nX\nY\nfive\n"
    theirs = b"one\ntwo\nX\nY\nfour\nfive\n"

    assert merge3(BASE, ours, theirs) == Merged(ours)
    assert merge3(BASE, theirs, ours) == Merged(ours)


def test_c112_merge_rollback_under_a_later_edit_conflicts_without_marker_text() -> None:
    before, changed, again = b"l1\nl2\nl3\n", b"l1\nl2 changed\nl3\n", b"l1\nl2 changed again\nl3\n"

    assert merge3(changed, again, before) == Conflicted((Conflict(base=(2, 3), ours=(2, 3), theirs=(2, 3)),))


def test_c100_merge_second_of_three_changes_leaves_the_others_pending() -> None:
    head = BASE.replace(b"three", b"3")

    assert merge3(BASE, head, BASE.replace(b"one", b"1")) == Merged(b"1\ntwo\n3\nfour\nfive\n")
    assert merge3(BASE, head, BASE.replace(b"five", b"5")) == Merged(b"one\ntwo\n3\nfour\n5\n")


def test_c110_merge_counts_lines_as_git_does() -> None:
    base = "one\u2028still one\nx\x0cy\nz\x85z\n".encode()

    assert merge3(base, base.replace(b"one", b"1", 1), base.replace(b"x\x0cy\n", b"")) == Merged(
        "1\u2028still one\nz\x85z\n".encode()
    )


def test_merge_line_ends_are_content() -> None:
    base = b"a\r\nb\r\nc\r\n"

    assert merge3(base, b"a\r\nB\r\nc\r\n", b"a\r\nb\r\nc\n") == Merged(b"a\r\nB\r\nc\n")
    assert isinstance(merge3(base, base.replace(b"\r\n", b"\n"), b"a\r\nB\r\nc\r\n"), Conflicted)


def test_merge_two_additions_after_a_line_without_newline_conflict_unless_equal() -> None:
    base = b"A\n\xc2\xa7\nB"

    assert merge3(base, base + b"\n\xc2\xa7\nC", base + b"\n\xc2\xa7\nD") == Conflicted(
        (Conflict(base=(3, 4), ours=(3, 6), theirs=(3, 6)),)
    )


def test_merge_addition_after_a_line_without_newline_keeps_a_change_elsewhere() -> None:
    assert merge3(b"A\nB", b"A2\nB", b"A\nB\nC") == Merged(b"A2\nB\nC")


def test_merge_never_glues_text_to_a_last_line_without_newline() -> None:
    assert merge3(b"A\n", b"A\nours", b"A\ntheirs\n") == Merged(b"A\ntheirs\nours")
    assert isinstance(merge3(b"A\nB\n", b"A\nB", b"A\nB\nC\n"), Conflicted)


def test_changes_returns_runs_with_their_line_numbers() -> None:
    new = b"one\nTWO\nthree\nfour\nnew\nfive\n"

    assert changes(BASE, new) == (
        Change(old_start=2, old=b"two\n", new_start=2, new=b"TWO\n"),
        Change(old_start=5, old=b"", new_start=5, new=b"new\n"),
    )


def test_changes_of_a_new_and_of_a_deleted_document() -> None:
    assert changes(None, b"a\nb") == (Change(1, b"", 1, b"a\nb"),)
    assert changes(b"a\nb", None) == (Change(1, b"a\nb", 1, b""),)


@given(documents, documents)
def test_changes_rebuild_the_new_document(old: bytes | None, new: bytes | None) -> None:
    old_lines = _split(old or b"")
    out: list[bytes] = []
    copied = 0
    for change in changes(old, new):
        out += old_lines[copied : change.old_start - 1]
        assert b"".join(old_lines[change.old_start - 1 :]).startswith(change.old)
        out.append(change.new)
        copied = change.old_start - 1 + len(_split(change.old))
    assert b"".join([*out, *old_lines[copied:]]) == (new or b"")


def _split(document: bytes) -> list[bytes]:
    parts = [part + b"\n" for part in document.split(b"\n")]
    parts[-1] = parts[-1][:-1]
    return [part for part in parts if part]
