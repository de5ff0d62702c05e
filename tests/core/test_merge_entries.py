from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryreview.core.formats import of
from memoryreview.core.merge import Conflicted, Merged, merge3
from memoryreview.core.merge_entries import take_back
from memoryreview.core.model import FormatName
from memoryreview.core.units import Locate


def locator(form: FormatName, path: str) -> Locate:
    return lambda data: of(form).entries(path, data)


NOTES = locator(FormatName.MARKDOWN, "notes.md")
INDEX = locator(FormatName.CLAUDE, "MEMORY.md")
HERMES = locator(FormatName.HERMES, "MEMORY.md")


def text(*lines: str) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def taken_back(before: bytes, after: bytes, present: bytes, locate: Locate = NOTES) -> bytes:
    outcome = take_back(after, present, before, locate)
    assert isinstance(outcome, Merged)
    assert outcome.data is not None
    return outcome.data


LIST = text("# T", "", "- a", "- b", "- c", "", "## S", "", "- s")


def test_edit_is_taken_back_in_a_list_whose_neighbours_changed_order() -> None:
    after = LIST.replace(b"- b", b"- B")
    present = text("# T", "", "- c", "- B", "- a", "", "## S", "", "- s")

    assert taken_back(LIST, after, present) == present.replace(b"- B", b"- b")


def test_edit_is_taken_back_in_a_section_that_moved() -> None:
    after = LIST.replace(b"- s", b"- sss")
    present = text("## S", "", "- sss", "", "# T", "", "- a", "- b", "- c")

    assert isinstance(merge3(after, present, LIST), Conflicted)
    assert taken_back(LIST, after, present) == present.replace(b"sss", b"s")


def test_deletion_is_taken_back_between_neighbours_that_were_edited() -> None:
    after = LIST.replace(b"- b\n", b"")
    present = text("# T", "", "- A", "- C", "", "## S", "", "- s")

    assert isinstance(merge3(after, present, LIST), Conflicted)
    assert taken_back(LIST, after, present) == present.replace(b"- A\n", b"- A\n- b\n")


def test_addition_is_taken_back_where_the_entry_moved_to() -> None:
    after = LIST.replace(b"- b\n", b"- b\n- new\n")
    present = LIST.replace(b"- s", b"- new\n- s")

    assert merge3(after, present, LIST) == Merged(present), "by lines nothing would be taken back"
    assert taken_back(LIST, after, present) == LIST


def test_entry_that_is_there_again_does_not_come_back_twice() -> None:
    after = LIST.replace(b"- b\n", b"")
    present = after + b"- b\n"

    assert taken_back(LIST, after, present) == present


def test_entry_that_was_edited_since_is_in_the_way() -> None:
    after = LIST.replace(b"- b", b"- B")

    assert isinstance(take_back(after, LIST.replace(b"- b", b"- B2"), LIST, NOTES), Conflicted)


def test_moved_entry_that_was_deleted_since_stays_deleted() -> None:
    after = text("# T", "", "- b", "- c", "- a", "", "## S", "", "- s")
    present = text("# T", "", "- c", "- b", "", "## S", "", "- s")

    assert taken_back(LIST, after, present) == present


def test_section_goes_only_when_nothing_was_added_below_it() -> None:
    before = text("# T", "", "- a")
    after = before + text("", "## New", "", "- n")

    assert taken_back(before, after, text("# T", "", "- A", "", "## New", "", "- n")) == text("# T", "", "- A")
    assert isinstance(take_back(after, after + b"- later\n", before, NOTES), Conflicted)


def test_section_comes_back_behind_what_was_added_to_the_one_above() -> None:
    before = text("# T", "", "- a", "", "## B", "", "- b", "", "## C", "", "- c")
    after = text("# T", "", "- a", "", "## C", "", "- c")
    present = text("# T", "", "- a", "- later", "", "## C", "", "- c!")

    assert taken_back(before, after, present) == text(
        "# T", "", "- a", "- later", "", "## B", "", "- b", "", "## C", "", "- c!"
    )


def test_entry_that_nobody_moved_never_changes_its_heading() -> None:
    before = text("## A", "", "- a0", "- a1", "", "## B", "", "- b0", "- b1")
    after = text("## A", "", "- a0", "- a1", "- b0", "", "## B", "", "- b1")
    present = text("## A", "", "- a0", "- b0", "- a1", "", "## B", "", "- b1")

    assert isinstance(take_back(after, present, before, NOTES), Conflicted)


def test_index_row_is_taken_back_in_an_index_that_was_sorted_anew() -> None:
    before = text("# Memory", "", "- [Ports](ports.md) — which", "- [Build](build.md) — how", "- [Ci](ci.md) — where")
    after = before.replace("— how".encode(), "— how to build".encode())
    present = text(
        "# Memory", "", "- [Build](build.md) — how to build", "- [Ci](ci.md) — where", "- [Ports](ports.md) — all"
    )

    assert taken_back(before, after, present, INDEX) == present.replace(b" to build", b"")


def hermes(*entries: str) -> bytes:
    return "\n§\n".join(entries).encode() + b"\n"


@pytest.mark.parametrize(
    ("before", "after", "present", "result"),
    [
        (("one", "two", "three"), ("one", "TWO", "three"), ("three!", "TWO", "one"), ("three!", "two", "one")),
        (("one", "two", "three"), ("one", "three"), ("three!", "one"), ("three!", "one", "two")),
        (("one", "three"), ("one", "two", "three"), ("three!", "one", "two"), ("three!", "one")),
        (("one",), ("one", "two\nlines"), ("two\nlines", "one!"), ("one!",)),
    ],
    ids=["edit", "deletion", "addition", "first goes"],
)
def test_section_sign_entries_are_units(
    before: Sequence[str], after: Sequence[str], present: Sequence[str], result: Sequence[str]
) -> None:
    assert taken_back(hermes(*before), hermes(*after), hermes(*present), HERMES) == hermes(*result)


def test_two_edits_of_one_entry_meet_when_their_lines_do_not() -> None:
    before = b"# T\n\n- build\n  with npm\n  on port 5432\n  by night\n- x\n- y\n"
    after = before.replace(b"with npm", b"with pnpm").replace(b"- y", b"- Y")
    present = b"# T\n\n- build\n  with pnpm\n  on port 5432\n  by day\n- Y\n- x\n"

    assert taken_back(before, after, present) == present.replace(b"pnpm", b"npm").replace(b"- Y", b"- y")


@given(st.one_of(st.none(), st.binary(max_size=60)), st.binary(max_size=60), st.binary(max_size=60))
def test_taking_back_is_total_and_exact_without_later_edits(before: bytes | None, after: bytes, other: bytes) -> None:
    outcome = take_back(after, other, before, NOTES)

    assert outcome == take_back(after, other, before, NOTES)
    assert take_back(after, after, before, NOTES) == Merged(before)
    assert take_back(after, other, after, NOTES) == Merged(other)


@dataclass(frozen=True)
class Story:
    """A list before a change, after it, and after later changes of other entries. Entries are lines that occur once."""

    before: bytes
    after: bytes
    present: bytes
    written: frozenset[bytes]
    removed: frozenset[bytes]


Sections = list[list[str]]
WORDS = ["alpha", "bravo", "cobalt", "dune", "elm", "fjord", "gulf", "honey", "ivory", "jigsaw", "kiwi", "lynx"]


def joined(sections: Sections, *, is_section_sign: bool) -> bytes:
    if is_section_sign:
        return hermes(*(entry for section in sections for entry in section))
    return "\n".join(
        f"## {section[0]}\n\n" + "".join(f"- {entry}\n" for entry in section[1:]) for section in sections
    ).encode()


def entries(data: bytes, locate: Locate) -> Counter[bytes]:
    return Counter(data[entry.start : entry.end] for entry in locate(data))


@st.composite
def stories(draw: st.DrawFn, *, keeps_order: bool, is_section_sign: bool) -> Story:
    """Draw a change of one section, then later ones that leave alone what it wrote and removed."""
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    names = iter(WORDS)
    before: Sections = [[f"Head {number}", *islice(names, size)] for number, size in enumerate(sizes)]
    after = [list(section) for section in before]
    section = after[draw(st.integers(0, len(after) - 1))]
    at = draw(st.integers(1, len(section) - 1))
    act = draw(st.sampled_from(["edit", "delete", "add"]))
    if act == "edit":
        section[at] = "written"
    elif act == "delete":
        del section[at]
    else:
        section.insert(at, "written")
    present = [list(one) for one in after]
    for number in range(draw(st.integers(0, 4))):
        _later(draw, present, number, keeps_order=keeps_order)
    first, middle, last = (joined(one, is_section_sign=is_section_sign) for one in (before, after, present))
    locate = HERMES if is_section_sign else NOTES
    was, now = entries(first, locate), entries(middle, locate)
    return Story(first, middle, last, written=frozenset(now - was), removed=frozenset(was - now))


def _later(draw: st.DrawFn, present: Sections, number: int, *, keeps_order: bool) -> None:
    section = present[draw(st.integers(0, len(present) - 1))]
    others = [at for at in range(1, len(section)) if section[at] != "written"]
    act = draw(
        st.sampled_from(["edit", "append", "delete"] if keeps_order else ["edit", "append", "delete", "shuffle"])
    )
    if act == "append":
        section.append(f"quite new ({number})")
    elif act == "shuffle":
        section[1:] = draw(st.permutations(section[1:]))
        present[:] = draw(st.permutations(present))
    elif others and act == "edit":
        section[draw(st.sampled_from(others))] += f", {number}"
    elif len(others) > 1:
        del section[draw(st.sampled_from(others))]


@pytest.mark.parametrize("is_section_sign", [False, True], ids=["bullets", "section signs"])
@given(st.data())
def test_later_edits_survive_and_nothing_stands_twice(is_section_sign: bool, data: st.DataObject) -> None:
    story = data.draw(stories(keeps_order=False, is_section_sign=is_section_sign))
    locate = HERMES if is_section_sign else NOTES
    outcome = take_back(story.after, story.present, story.before, locate)

    if isinstance(outcome, Conflicted):
        return
    result = entries(outcome.data or b"", locate)
    assert result == entries(story.present, locate) - Counter(story.written) + Counter(story.removed)
    assert max(result.values(), default=0) <= 1


@pytest.mark.parametrize("is_section_sign", [False, True], ids=["bullets", "section signs"])
@given(st.data())
def test_doing_it_again_gives_what_stood_before_or_nothing(is_section_sign: bool, data: st.DataObject) -> None:
    story = data.draw(stories(keeps_order=True, is_section_sign=is_section_sign))
    locate = HERMES if is_section_sign else NOTES
    outcome = take_back(story.after, story.present, story.before, locate)

    if isinstance(outcome, Merged):
        again = take_back(story.before, outcome.data, story.after, locate)
        assert isinstance(again, Conflicted) or again == Merged(story.present)
        assert take_back(outcome.data, outcome.data, story.present, locate) == Merged(story.present)


def test_stories_of_one_edit_are_never_in_conflict() -> None:
    """Whatever became of the order: an entry that stands is found."""
    after = LIST.replace(b"- b", b"- B")
    for order in (("a", "c", "B"), ("B", "a", "c"), ("c", "B", "a")):
        present = text("# T", "", *(f"- {entry}" for entry in order), "", "## S", "", "- s")
        assert taken_back(LIST, after, present) == present.replace(b"- B", b"- b")
