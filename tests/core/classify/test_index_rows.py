"""Rows of an index that come and go by themselves."""

from __future__ import annotations

import hashlib
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from memoryreview.core.classify.classify import classify
from memoryreview.core.classify.split import apply_proof, rebase, safe_part
from memoryreview.core.classify.verify import verify
from memoryreview.core.model import (
    Action,
    Context,
    Ended,
    FormatName,
    History,
    Kind,
    Limits,
    Proof,
    Rewrite,
    Tree,
    Verdict,
)
from memoryreview.core.overlay import Overlay

CLAUDE = Context(format=FormatName.CLAUDE)


def topics(count: int, standing: int) -> dict[str, bytes]:
    """A store of an index with so many rows, of whose documents the first ones stand."""
    rows = "".join(f"- [Topic {number}](topic_{number}.md) — about topic {number}\n" for number in range(count))
    documents = {f"topic_{number}.md": b"Text %d.\n" % number for number in range(standing)}
    return {"MEMORY.md": f"# Memory\n\n{rows}".encode(), **documents}


def deleted(*numbers: int) -> Context:
    ended = [Ended(f"topic_{number}.md", "", hashlib.sha256(b"Text %d.\n" % number).hexdigest()) for number in numbers]
    return replace(CLAUDE, history=History(ended={each.path: each for each in ended}))


def without(tree: Tree, *numbers: int) -> Tree:
    names = [f"(topic_{number}.md)" for number in numbers]
    lines = tree["MEMORY.md"].decode().splitlines(keepends=True)
    kept = "".join(line for line in lines if not any(name in line for name in names))
    return Overlay(tree, {"MEMORY.md": kept.encode()})


def verdicts(actions: tuple[Action, ...]) -> list[tuple[Kind, Verdict]]:
    return [(action.kind, action.verdict) for action in actions]


def test_three_dead_rows_of_thirty_go_by_themselves() -> None:
    base = topics(30, standing=25)

    found = classify(base, without(base, 25, 26, 27), deleted(25, 26, 27, 28, 29))

    assert verdicts(found.actions) == [(Kind.INDEX_PRUNE, Verdict.SAFE)] * 3
    assert found.actions[0].title == "Remove the row “Topic 25”, whose document is gone"


def test_five_dead_rows_wait_all_together_and_count_as_lost() -> None:
    base = topics(60, standing=55)

    found = classify(base, without(base, *range(55, 60)), deleted(*range(55, 60)))

    assert verdicts(found.actions) == [(Kind.INDEX_DROP, Verdict.REVIEW)] * 5
    assert all("3 rows and a tenth" in action.reasons[0] for action in found.actions)


def test_dead_rows_of_several_indexes_are_counted_together() -> None:
    first, second = topics(30, standing=28), topics(30, standing=28)
    base = first | {f"team/{path}": text.replace(b"Text", b"Team text") for path, text in second.items()}
    base |= {f"team/topic_{number}.md": b"Team text %d.\n" % number for number in range(28)}
    gone = [f"{folder}topic_{number}.md" for folder in ("", "team/") for number in (28, 29)]
    history = History(ended={path: Ended(path, "", hashlib.sha256(path.encode()).hexdigest()) for path in gone})
    changes = {
        "MEMORY.md": without(first, 28, 29)["MEMORY.md"],
        "team/MEMORY.md": without(second, 28, 29)["MEMORY.md"],
    }

    found = classify(base, Overlay(base, changes), replace(CLAUDE, history=history))

    assert [action.verdict for action in found.actions] == [Verdict.REVIEW] * 4


def test_too_many_dead_rows_beside_a_safe_change_wait_without_it() -> None:
    base = topics(20, standing=17)
    base["topic_1.md"] = b"Moved on 13/04/2025.\n"
    proposed = Overlay(base, {**without(base, 17, 18, 19), "topic_1.md": b"Moved on 2025-04-13.\n"})

    found = classify(base, proposed, deleted(17, 18, 19))

    assert verdicts(found.actions) == [
        *[(Kind.INDEX_DROP, Verdict.REVIEW)] * 3,
        (Kind.DATE_NORMALIZE, Verdict.SAFE),
    ]


def test_pruned_row_and_repeated_row_land_one_after_the_other() -> None:
    base = topics(20, standing=18)
    lines = base["MEMORY.md"].decode().splitlines(keepends=True)
    base["MEMORY.md"] = "".join([*lines, lines[2]]).encode()
    proposed = Overlay(base, {"MEMORY.md": "".join(lines[:-2]).encode()})

    found = classify(base, proposed, deleted(18, 19))

    assert {action.kind for action in found.actions} == {Kind.INDEX_PRUNE, Kind.DEDUPE_INDEX}
    assert found.verdict is Verdict.SAFE


def test_store_too_large_to_look_through_prunes_nothing() -> None:
    base = topics(30, standing=29)
    base |= {f"large_{number}.md": b"x" * 2_000_000 for number in range(9)}

    found = classify(base, without(base, 29), deleted(29))

    assert "too large" in found.actions[0].reasons[0]


def test_c038_row_whose_document_stands_is_never_dropped_by_itself() -> None:
    base = topics(240, standing=238)

    found = classify(base, without(base, *range(0, 238, 7)), deleted(*range(240)))

    assert all(action.verdict is Verdict.REVIEW for action in found.actions)


def test_c040_index_without_its_documents_loses_no_row_by_itself() -> None:
    base = topics(60, standing=3)

    found = classify(base, without(base, 59), deleted(59))

    assert verdicts(found.actions) == [(Kind.INDEX_DROP, Verdict.REVIEW)]
    assert found.actions[0].reasons[0] == "57 of 60 targets of the index are missing: the folder looks incomplete."


def test_c044_row_of_a_lost_document_waits_beside_two_likely_successors() -> None:
    base = {
        "MEMORY.md": b"- [Ports](ports.md): where\n- [Cache](project_cache.md): how\n",
        "ports.md": b"Web listens on 8080.\n",
        "project_cache_warmup.md": b"The cache is warmed at six.\n",
        "project_cache_limits.md": b"The cache holds ten thousand rows.\n",
    }
    proposed = Overlay(base, {"MEMORY.md": b"- [Ports](ports.md): where\n"})

    found = classify(base, proposed, replace(CLAUDE, history=History()))

    assert verdicts(found.actions) == [(Kind.INDEX_DROP, Verdict.REVIEW)]


@settings(max_examples=40, deadline=None)
@given(
    count=st.integers(1, 40),
    standing=st.sets(st.integers(0, 39)),
    approved=st.sets(st.integers(0, 39)),
    dropped=st.sets(st.integers(0, 39), max_size=5),
)
def test_only_few_approved_deletions_ever_leave_the_index(
    count: int, standing: set[int], approved: set[int], dropped: set[int]
) -> None:
    base = topics(count, standing=0) | {f"topic_{number}.md": b"Text %d.\n" % number for number in standing}
    proposed, context = without(base, *dropped), deleted(*approved)

    found = classify(base, proposed, context)

    gone = {number for number in dropped if number < count}
    is_few = len(gone) <= 1 or (len(gone) <= 3 and len(gone) * 10 <= count)
    dead = count - len([number for number in standing if number < count])
    is_bulk = dead > 5 and dead * 5 > count
    may_go = bool(gone) and is_few and not is_bulk and not gone & standing and gone <= approved
    assert (found.verdict is Verdict.SAFE) == may_go
    for proof in safe_part(found):
        assert verify(base, Overlay(base, apply_proof(base, proof)), proof, context)
        assert not verify(base, Overlay(base, apply_proof(base, proof)), proof, replace(context, history=None))
        assert not verify(
            base, Overlay(base, apply_proof(base, proof)), proof, replace(context, limits=Limits(index_row_chars=20))
        )


def note(name: str, description: str) -> bytes:
    return f"---\nname: {name}\ndescription: {description}\n---\nText of {name}.\n".encode()


def indexed(rows: int, *missing: str) -> dict[str, bytes]:
    """A store whose index has so many rows, and notes without one."""
    lines = "".join(f"- [Row {number}](row_{number}.md) — about {number}\n" for number in range(rows))
    return {"MEMORY.md": lines.encode(), **{f"{name}.md": note(name, f"about {name}") for name in missing}}


def with_rows(tree: Tree, *names: str) -> Tree:
    new = "".join(f"- [{name}]({name}.md) — about {name}\n" for name in names)
    return Overlay(tree, {"MEMORY.md": tree["MEMORY.md"] + new.encode()})


def test_missing_rows_are_added_one_by_one_and_named() -> None:
    base = indexed(3, "alpha", "beta")

    found = classify(base, with_rows(base, "alpha", "beta"), CLAUDE)

    assert verdicts(found.actions) == [(Kind.INDEX_SYNC, Verdict.SAFE)] * 2
    assert found.actions[0].title == "Add the missing row “alpha — about alpha”"


def test_rows_before_another_addition_are_safe_and_rows_after_it_wait() -> None:
    base = indexed(3, "alpha", "beta", "gamma")
    base["gamma.md"] = b"No head.\n"

    found = classify(base, with_rows(base, "alpha", "gamma", "beta"), CLAUDE)

    assert [action.verdict for action in found.actions] == [Verdict.SAFE, Verdict.REVIEW, Verdict.REVIEW]


def test_c037_row_that_no_agent_would_load_waits() -> None:
    base = indexed(200, "alpha")

    found = classify(base, with_rows(base, "alpha"), CLAUDE)

    assert found.verdict is Verdict.REVIEW
    assert found.actions[0].reasons[0] == "The index would grow beyond what an agent loads of it."


def test_row_that_pushes_another_out_of_the_loaded_part_waits() -> None:
    base = indexed(3, "alpha")
    base["MEMORY.md"] += b"\n" + b"Text.\n" * 196

    found = classify(base, _after_rows(base, "- [alpha](alpha.md) — about alpha\n"), CLAUDE)

    assert found.verdict is Verdict.REVIEW


def _after_rows(tree: Tree, row: str) -> Tree:
    text = tree["MEMORY.md"].decode()
    last = text.index("\n\n") + 1
    return Overlay(tree, {"MEMORY.md": f"{text[:last]}{row}{text[last:]}".encode()})


def test_rows_that_fit_only_one_by_one_wait_all_together() -> None:
    base = indexed(199, "alpha", "beta")

    alone = classify(base, with_rows(base, "alpha"), CLAUDE)
    together = classify(base, with_rows(base, "alpha", "beta"), CLAUDE)

    assert alone.verdict is Verdict.SAFE
    assert [action.verdict for action in together.actions] == [Verdict.REVIEW] * 2


def test_nothing_comes_to_an_index_that_is_too_long_already() -> None:
    base = indexed(201, "alpha")

    found = classify(base, with_rows(base, "alpha"), CLAUDE)

    assert found.actions[0].reasons[0] == "The index would grow beyond what an agent loads of it."


def test_row_of_a_document_that_is_too_large_waits() -> None:
    base = indexed(3, "alpha")
    base["alpha.md"] += b"Text.\n" * 50_000

    found = classify(base, with_rows(base, "alpha"), CLAUDE)

    assert "too large to be listed" in found.actions[0].reasons[0]


def test_bullet_that_is_no_row_is_no_missing_row() -> None:
    base = indexed(3, "alpha")
    end = len(base["MEMORY.md"])
    proof = Proof(Kind.INDEX_SYNC, 1, (Rewrite("MEMORY.md", end, end, b"- deploy at will\n"),))

    assert not verify(base, Overlay(base, apply_proof(base, proof)), proof, CLAUDE)


def test_dead_row_goes_beside_the_deletion_of_another_document() -> None:
    base = topics(3, standing=2)
    proposed = Overlay(base, {"MEMORY.md": without(base, 2)["MEMORY.md"], "topic_0.md": None})

    found = classify(base, proposed, deleted(2))

    assert verdicts(found.actions) == [(Kind.INDEX_PRUNE, Verdict.SAFE), (Kind.FILE_DELETE, Verdict.REVIEW)]


def test_missing_row_and_dead_row_land_one_after_the_other() -> None:
    base = topics(3, standing=3) | {"alpha.md": note("alpha", "about alpha")}
    del base["topic_1.md"]
    proposed = with_rows(Overlay(base, {"MEMORY.md": without(base, 1)["MEMORY.md"]}), "alpha")

    found = classify(base, dict(proposed), deleted(1))

    assert verdicts(found.actions) == [(Kind.INDEX_PRUNE, Verdict.SAFE), (Kind.INDEX_SYNC, Verdict.SAFE)]
    tree: Tree = base
    for proof in rebase(safe_part(found)):
        after = dict(Overlay(tree, apply_proof(tree, proof)))
        assert verify(tree, after, proof, deleted(1))
        tree = after
    assert tree == dict(proposed)


def test_new_row_in_the_place_of_a_dead_one_waits() -> None:
    base = topics(3, standing=2) | {"alpha.md": note("alpha", "about alpha")}
    proposed = with_rows(Overlay(base, {"MEMORY.md": without(base, 2)["MEMORY.md"]}), "alpha")

    found = classify(base, dict(proposed), deleted(2))

    assert [action.verdict for action in found.actions] == [Verdict.REVIEW]


def test_document_of_a_store_too_large_to_read_is_not_looked_up_for_a_wiki_row() -> None:
    base = {
        "MEMORY.md": b"- [[ports]]: where\n",
        "alpha.md": note("alpha", "about alpha"),
        **{f"large_{number}.md": b"x" * 2_000_000 for number in range(9)},
    }
    proposed = Overlay(base, {"MEMORY.md": base["MEMORY.md"] + b"- [[alpha]]: about alpha\n"})

    found = classify(base, proposed, CLAUDE)

    assert "answer to the name" in found.actions[0].reasons[0]


WORDS = st.text(st.sampled_from("abc xyz,.:;—()'\"`*_[]<>#&é語-|\\!~"), min_size=1, max_size=20)


@settings(max_examples=80, deadline=None)
@given(
    name=WORDS,
    description=WORDS,
    separator=st.sampled_from([" — ", ": ", " - ", " "]),
    bullet=st.sampled_from("-*+"),
    other=WORDS,
)
def test_row_says_what_the_head_says_or_waits(
    name: str, description: str, separator: str, bullet: str, other: str
) -> None:
    base = {
        "MEMORY.md": f"{bullet} [Ports](ports.md){separator}which port\n\nText.\n".encode(),
        "alpha.md": f"---\nname: {name}\ndescription: {description}\n---\nText.\n".encode(),
    }
    row, wrong = (f"{bullet} [{name}](alpha.md){separator}{text}\n" for text in (description, other))

    right, changed = (classify(base, _after_rows(base, text), CLAUDE) for text in (row, wrong))

    for action in (*right.actions, *changed.actions):
        assert "independent check" not in " ".join(action.reasons)
    if right.verdict is Verdict.SAFE:
        (proof,) = safe_part(right)
        assert [rewrite.new.decode() for rewrite in proof.rewrites] == [row]
        assert verify(base, _after_rows(base, row), proof, CLAUDE)
    assert (changed.verdict is Verdict.SAFE) == (right.verdict is Verdict.SAFE and row == wrong)


def test_row_of_a_plain_head_is_safe_in_every_plain_form() -> None:
    for separator in (" — ", ": ", " - ", " "):
        for bullet in "-*+":
            base = {
                "MEMORY.md": f"{bullet} [Ports](ports.md){separator}which port\n\nText.\n".encode(),
                "alpha.md": note("alpha", "about alpha"),
            }
            proposed = _after_rows(base, f"{bullet} [alpha](alpha.md){separator}about alpha\n")

            assert classify(base, proposed, CLAUDE).verdict is Verdict.SAFE
