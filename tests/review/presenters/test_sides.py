from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memoryreview.core.diff import document_diff
from memoryreview.core.portions import line_key, part_key, portions
from memoryreview.review.templatetags.review import sides

some_lines = st.lists(
    st.sampled_from(["one two three", "one two four", "other", "one  two three", "", "x y z"]), max_size=8
)


@given(some_lines, some_lines)
def test_each_changed_row_stands_below_the_bar_of_its_part(old: list[str], new: list[str]) -> None:
    tree = {"a.md": "\n".join(old).encode()}
    delta = {} if old == new else {"a.md": "\n".join(new).encode()}
    parts = [part for portion in portions(tree, delta, is_index=lambda path: False) for part in portion.parts]
    lines: dict[str, object] = {}
    for part in parts:
        assert part.change is not None
        lines |= {f"-{part.change.old_start + at}": part for at in range(part.change.old.count(b"\n") + 1)}
        lines |= {f"+{part.change.new_start + at}": part for at in range(part.change.new.count(b"\n") + 1)}

    below: object = None
    for hunk in document_diff("a.md", tree["a.md"], delta.get("a.md", tree["a.md"])).hunks:
        for left, right, bar in sides(hunk, {part_key(part): part for part in parts}):
            below = bar or below
            for line in (left, right):
                if line is not None and line_key(line):
                    assert lines[line_key(line)] is below
