"""Rows of an index that come and go by themselves."""

from __future__ import annotations

import hashlib
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from memoryreview.core.classify.classify import classify
from memoryreview.core.classify.split import apply_proof, safe_part
from memoryreview.core.classify.verify import verify
from memoryreview.core.model import Action, Context, Ended, FormatName, History, Kind, Limits, Tree, Verdict
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
    proposed = Overlay(base, {**without(base, 17, 18, 19).delta, "topic_1.md": b"Moved on 2025-04-13.\n"})  # type: ignore[attr-defined]

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
