from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memoryreview.core.diff import document_diff
from memoryreview.core.shown import DiffLine, beside

some_lines = st.lists(
    st.sampled_from(["one two three", "one two four", "other", "one  two three", "", "x y z"]), max_size=8
)


def numbers(lines: list[DiffLine | None]) -> list[tuple[int | None, int | None]]:
    return [(line.old_number, line.new_number) for line in lines if line is not None]


@given(some_lines, some_lines)
def test_each_line_stands_once_on_its_side_in_order(old: list[str], new: list[str]) -> None:
    diff = document_diff("a.md", "\n".join(old).encode(), "\n".join(new).encode(), context_lines=1)

    for hunk in diff.hunks:
        rows = beside(hunk.lines)
        assert numbers([left for left, _ in rows]) == numbers([one for one in hunk.lines if one.old_number])
        assert numbers([right for _, right in rows]) == numbers([one for one in hunk.lines if one.new_number])
        for left, right in rows:
            if left and right and left.partner:
                assert right.new_number == left.partner


def test_what_became_of_a_line_stands_beside_it() -> None:
    diff = document_diff(
        "a.md", b"- tests run with pytest\n- deploys on Friday\n", b"- unrelated: 42\n- tests run with pytest -q\n"
    )

    texts = [(left and left.text, right and right.text) for left, right in beside(diff.hunks[0].lines)]

    assert texts == [
        (None, "- unrelated: 42"),
        ("- tests run with pytest", "- tests run with pytest -q"),
        ("- deploys on Friday", None),
    ]
