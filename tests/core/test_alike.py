from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from memoryreview.core.alike import Likeness, fold, replaced, shape
from memoryreview.core.model import Action, Kind, Verdict


def action(kind: Kind, path: str = "a.md", old: str = "", new: str = "") -> Action:
    return Action(kind, Verdict.REVIEW, path, (1, 1), (1, 1), old, new, "It")


def rewrite(path: str, old: str, new: str) -> Action:
    return action(Kind.FACT_REWRITE, path, old, new)


def test_the_same_words_replaced_in_several_documents_are_alike() -> None:
    here = shape([rewrite("a.md", "Use npm for the web app.", "Use pnpm for the web app.")])
    there = shape([rewrite("b.md", "All builds call npm ci first.", "All builds call pnpm ci first.")])

    assert here == there != ""
    assert here != shape([rewrite("a.md", "Use npm for the web app.", "Use yarn for the web app.")])


def test_other_words_that_read_alike_when_joined_are_not_alike() -> None:
    here = shape([rewrite("a.md", "x a y", "x b > c y")])

    assert here != shape([rewrite("a.md", "x a > b y", "x c y")])


def test_entries_of_one_document_are_alike_and_of_two_are_not() -> None:
    assert shape([action(Kind.FACT_ADD, new="One.")]) == shape([action(Kind.FACT_ADD, new="Two.")]) != ""
    assert shape([action(Kind.FACT_ADD)]) != shape([action(Kind.FACT_ADD, "b.md")])
    assert shape([action(Kind.FACT_ADD)]) != shape([action(Kind.INDEX_ADD)])


def test_what_goes_is_looked_at_by_itself() -> None:
    for kind in (Kind.FACT_DELETE, Kind.INDEX_DROP, Kind.FILE_DELETE):
        assert shape([action(kind, old="It.")]) == ""


def test_whole_documents_and_long_rewrites_are_looked_at_by_themselves() -> None:
    for kind in (Kind.FILE_ADD, Kind.FILE_DELETE, Kind.SCOPE_PROMOTE, Kind.MASS_CHANGE, Kind.FILE_RENAME):
        assert shape([action(kind), action(Kind.FACT_ADD)]) == ""
    assert shape([rewrite("a.md", "one two three four five six seven", "eight nine ten eleven twelve thirteen")]) == ""
    assert shape([]) == ""


LIKE = Likeness(store=1, agent=1, person=None, risk=20, concerns=("always loaded",), shape="fact.add in a.md")


def test_three_that_are_alike_stand_where_the_first_one_stood() -> None:
    assert fold({9: None, 7: LIKE, 6: None, 5: LIKE, 4: None, 3: LIKE}) == ((9,), (7, 5, 3), (6,), (4,))


def test_what_only_looks_alike_is_not_folded_together() -> None:
    for other in (
        replace(LIKE, store=2),
        replace(LIKE, agent=2),
        replace(LIKE, agent=None, person=1),
        replace(LIKE, risk=21),
        replace(LIKE, concerns=("always loaded", "new command")),
        replace(LIKE, shape="index.add in a.md"),
        replace(LIKE, shape=""),
        None,
    ):
        assert fold({4: LIKE, 3: other, 2: LIKE, 1: other}) == ((4,), (3,), (2,), (1,))


def test_nothing_without_a_shape_is_alike() -> None:
    bare = replace(LIKE, shape="")
    assert fold({3: bare, 2: bare, 1: bare}) == ((3,), (2,), (1,))


@given(st.lists(st.sampled_from([None, LIKE, replace(LIKE, store=2), replace(LIKE, shape="")])))
def test_folding_loses_none_and_keeps_the_order_within_a_group(likes: list[Likeness | None]) -> None:
    found = dict(enumerate(likes))

    groups = fold(found)

    assert sorted(pk for group in groups for pk in group) == list(found)
    assert all(group == tuple(sorted(group)) for group in groups)
    assert [group[0] for group in groups] == sorted(group[0] for group in groups)
    for group in groups:
        assert len({found[pk] for pk in group}) == 1 or len(group) == 1


@given(st.lists(st.sampled_from("abc")), st.lists(st.sampled_from("abc")))
def test_the_words_between_make_one_text_of_the_other(old: list[str], new: list[str]) -> None:
    gone, come = replaced(old, new)

    places = [at for at in range(len(old) + 1) if old[at : at + len(gone)] == gone]
    assert any(old[:at] + come + old[at + len(gone) :] == new for at in places)
