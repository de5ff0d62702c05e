from __future__ import annotations

from memoryreview.core.diff import document_diff
from memoryreview.core.moves import between
from memoryreview.core.shown import DocumentDiff

FACTS = b"- the build runs in Docker only\n- deploys wait for Ana on Fridays\n"


def notes(diffs: tuple[DocumentDiff, ...]) -> list[tuple[str, str]]:
    return [(diff.path, line.note) for diff in diffs for hunk in diff.hunks for line in hunk.lines if line.note]


def test_a_block_that_moves_to_another_document_is_said_once_on_both_sides() -> None:
    gone = document_diff("MEMORY.md", b"# Index\n" + FACTS + b"- end\n", b"# Index\n- end\n")
    come = document_diff("build.md", None, b"# Build\n\n" + FACTS)

    diffs = between([gone, come])

    assert notes(diffs) == [
        ("MEMORY.md", "2 lines moved to build.md, line 3"),
        ("build.md", "2 lines moved from MEMORY.md, line 2"),
    ]
    assert [line.is_moved for line in diffs[1].hunks[0].lines] == [False, False, True, True]


def test_a_line_that_stands_in_several_places_did_not_move_to_one_of_them() -> None:
    gone = document_diff("a.md", FACTS, b"")
    diffs = [gone, document_diff("b.md", None, FACTS), document_diff("c.md", None, FACTS)]

    assert between(diffs) == tuple(diffs)


def test_short_lines_and_edited_ones_did_not_move() -> None:
    diffs = [
        document_diff("a.md", b"ok\nthe port is 5000\n", b""),
        document_diff("b.md", None, b"ok\nthe port is 5001\n"),
    ]

    assert between(diffs) == tuple(diffs)
