from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memoryreview.core.diff import document_diff
from memoryreview.core.merge import Merged, merge3
from memoryreview.core.model import Delta, Tree
from memoryreview.core.portions import Bond, Portion, line_key, part_key, portions, without
from memoryreview.core.text import raw_lines

NOTE = b"# Ports\n\n- Staging listens on 5432.\n\n- Mail goes to the sink.\n\n- Logs go to disk.\n"
INDEX = b"# Index\n\n- [Ports](ports.md): which\n"

documents = st.one_of(
    st.none(),
    st.binary(max_size=30),
    st.lists(
        st.sampled_from([b"one\n", b"two\n", b"\n", b"- [a](a.md)\n", b"- a longer line\n", b"x\r\n", b"end"]),
        max_size=9,
    ).map(b"".join),
)
paths = st.sampled_from(["a.md", "b.md", "MEMORY.md"])
trees = st.dictionaries(paths, documents)


def is_index(path: str) -> bool:
    return path == "MEMORY.md"


def split(tree: Tree, delta: Delta) -> tuple[Portion, ...]:
    return portions(tree, delta, is_index=is_index)


@given(trees, trees, st.data())
def test_any_choice_is_the_base_outside_of_what_is_kept(
    base: dict[str, bytes | None], wanted: dict[str, bytes | None], data: st.DataObject
) -> None:
    tree = {path: text for path, text in base.items() if text is not None}
    delta = {path: new for path, new in wanted.items() if new != tree.get(path)}
    found = split(tree, delta)
    dropped = [portion for portion in found if data.draw(st.booleans())]

    kept = without(tree, delta, dropped)

    assert without(tree, delta, ()) == delta
    assert without(tree, delta, found) == {}
    assert [portion.number for portion in found] == list(range(1, len(found) + 1))
    assert kept.keys() <= delta.keys()
    for path, new in kept.items():
        staying = [p.change for portion in found if portion not in dropped for p in portion.parts if p.path == path]
        if None in staying:
            assert new == delta[path]
            continue
        # Undo what was kept, from the top: byte for byte the base must come back.
        lines = raw_lines(new or b"")
        for change in staying:
            assert change is not None
            start = change.old_start - 1
            assert b"".join(lines[start : start + len(raw_lines(change.new))]) == change.new
            lines[start : start + len(raw_lines(change.new))] = raw_lines(change.old)
        assert b"".join(lines) == tree[path]


@given(trees, trees, st.data())
def test_what_is_dropped_can_be_asked_for_again(
    base: dict[str, bytes | None], wanted: dict[str, bytes | None], data: st.DataObject
) -> None:
    tree = {path: text for path, text in base.items() if text is not None}
    delta = {path: new for path, new in wanted.items() if new != tree.get(path)}
    kept = without(tree, delta, [portion for portion in split(tree, delta) if data.draw(st.booleans())])

    for path, new in kept.items():
        assert merge3(tree.get(path), new, delta[path]) == Merged(delta[path])


@given(trees, trees)
def test_the_first_line_of_every_part_is_on_the_page(
    base: dict[str, bytes | None], wanted: dict[str, bytes | None]
) -> None:
    tree = {path: text for path, text in base.items() if text is not None}
    delta = {path: new for path, new in wanted.items() if new != tree.get(path)}
    parts = [part for portion in split(tree, delta) for part in portion.parts if part.change]

    for part in parts:
        shown = document_diff(part.path, tree[part.path], delta[part.path])
        assert part_key(part) in {line_key(line) for hunk in shown.hunks for line in hunk.lines}


def test_edits_of_one_document_are_pieces_of_their_own() -> None:
    new = NOTE.replace(b"5432", b"6432").replace(b"the sink", b"the relay").replace(b"to disk", b"to a queue")
    found = split({"ports.md": NOTE}, {"ports.md": new})

    assert len(found) == 3
    assert without({"ports.md": NOTE}, {"ports.md": new}, found[1:2]) == {
        "ports.md": NOTE.replace(b"5432", b"6432").replace(b"to disk", b"to a queue")
    }


def test_a_row_goes_with_the_document_that_comes_goes_or_is_renamed() -> None:
    row = INDEX + b"- [New](new.md)\n"
    for tree, delta in (
        ({"MEMORY.md": INDEX}, {"new.md": b"# New\n", "MEMORY.md": row}),
        ({"MEMORY.md": row, "new.md": b"# New\n"}, {"new.md": None, "MEMORY.md": INDEX}),
        (
            {"MEMORY.md": row, "new.md": b"# New\n"},
            {"new.md": None, "other.md": b"# New\n", "MEMORY.md": row.replace(b"new.md", b"other.md")},
        ),
    ):
        [portion] = split(tree, delta)
        assert Bond.ROW in portion.bonds


def test_a_row_of_its_own_is_a_piece_of_its_own() -> None:
    tree = {"MEMORY.md": INDEX, "ports.md": NOTE}
    delta = {
        "ports.md": NOTE.replace(b"5432", b"6432"),
        "MEMORY.md": INDEX.replace(b"which", b"which of them"),
        "new.md": b"# New\n",
    }

    assert [len(portion.parts) for portion in split(tree, delta)] == [1, 1, 1]


def test_a_line_that_moves_is_one_piece_within_and_between_documents() -> None:
    moved = b"- Mail goes to the sink.\n"
    within = NOTE.replace(moved + b"\n", b"").replace(b"# Ports\n\n", b"# Ports\n\n" + moved + b"\n")
    between = {"ports.md": NOTE.replace(moved + b"\n", b""), "mail.md": b"# Mail\n\n" + moved}

    [first] = split({"ports.md": NOTE}, {"ports.md": within})
    [second] = split({"ports.md": NOTE, "mail.md": b"# Mail\n"}, between)

    assert [one.bonds for one in (first, second)] == [frozenset({Bond.MOVE})] * 2


def test_chance_repeats_of_short_lines_bind_nothing() -> None:
    old = b"- a\n\n---\n\n- b\n\n- c\n"
    new = b"- x\n\n---\n\n- b\n\n- a\n"

    assert len(split({"a.md": old}, {"a.md": new})) == 2
