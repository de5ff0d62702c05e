"""What memory says already about a change, and what the change would leave without a way to it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoryreview.core.model import FormatName
from memoryreview.core.relations import (
    Beside,
    Links,
    Relation,
    RelationKind,
    Statement,
    StoreIndex,
    beside,
    statements,
)
from memoryreview.core.relations.beside import MAX_STATEMENTS
from tests.core.folders import topic, tree

CONTRADICTION, DUPLICATE, ELSEWHERE = RelationKind.CONTRADICTION, RelationKind.DUPLICATE, RelationKind.ELSEWHERE
_LINKS = (RelationKind.LINKS_IN, RelationKind.LINKS_OUT, RelationKind.ORPHAN)


def index_of(documents: dict[str, bytes], name: str = "notes", form: FormatName = FormatName.CLAUDE) -> StoreIndex:
    index = StoreIndex(form, name)
    for path, data in documents.items():
        index.put(path, data)
    return index


def change(
    base: dict[str, bytes],
    delta: dict[str, str | None],
    *,
    others: Sequence[StoreIndex] = (),
    rejected: Sequence[Statement] = (),
    apart: Sequence[tuple[str, str]] = (),
) -> Beside:
    own = index_of(base)
    written = {path: None if text is None else text.encode() for path, text in delta.items()}
    return beside(written, own, Links(own.documents), others=others, rejected=rejected, apart=apart)


def told(found: Beside) -> list[tuple[RelationKind, str, str]]:
    return [(r.kind, r.here.text, r.there.text) for r in found.relations if r.kind not in _LINKS]


def ways(found: Beside) -> list[tuple[str, str, str, int | None]]:
    return [(r.kind.value, r.here.path, r.there.path, r.there.line) for r in found.relations if r.kind in _LINKS]


def only(found: Beside) -> Relation:
    [relation] = [relation for relation in found.relations if relation.kind not in _LINKS]
    return relation


BASE = tree(ports="# Ports\n\n- The API listens on port 8080.\n", mail="- Mail goes to the catch-all mailbox.\n")


def test_now_and_what_it_would_become() -> None:
    relation = only(change(BASE, {"api.md": "- The API listens on port 8088.\n"}))
    assert (relation.kind, relation.sentence) == (CONTRADICTION, "“8088” here, “8080” there.")
    assert (relation.here.path, relation.here.line, relation.here.store) == ("api.md", 1, "notes")
    assert (relation.there.path, relation.there.line, relation.there.store) == ("ports.md", 3, "notes")


def test_what_the_change_replaces_is_no_contradiction() -> None:
    assert told(change(BASE, {"ports.md": "# Ports\n\n- The API listens on port 8088.\n"})) == []


def test_what_stays_in_a_changed_document_is_compared() -> None:
    text = "# Ports\n\n- The API listens on port 8080.\n- The API listens on port 8088.\n"
    assert told(change(BASE, {"ports.md": text})) == [
        (CONTRADICTION, "The API listens on port 8088.", "The API listens on port 8080.")
    ]


def test_lines_that_only_moved_are_not_compared() -> None:
    base = tree(a="# A\n\n- Port 8080 is free\n- Port 8088 is free\n", b="Port 8080 is free\n")
    assert told(change(base, {"a.md": "# A\n\nMore.\n\n- Port 8088 is free\n- Port 8080 is free\n"})) == []


def test_a_repeat_in_the_same_place_and_in_another_document() -> None:
    base = tree(a="- Keep answers short and plain\n- Other\n")
    again = "- Keep answers short and plain\n- Other\n- Keep answers short and plain\n"
    assert [kind for kind, *_ in told(change(base, {"a.md": again}))] == [DUPLICATE]
    assert [kind for kind, *_ in told(change(base, {"b.md": "- Keep answers short and plain\n"}))] == [ELSEWHERE]


def test_other_stores_are_compared_when_they_are_given_and_only_then() -> None:
    team = index_of(tree(window="Deploy on Tuesdays and Thursdays.\n"), "team")
    delta: dict[str, str | None] = {"window.md": "Deploy on Tuesdays between 10:00 and 12:00.\n"}
    relation = only(change(BASE, delta, others=[team]))
    assert (relation.kind, relation.there.store, relation.there.path) == (CONTRADICTION, "team", "window.md")
    assert told(change(BASE, delta)) == []
    assert told(change(BASE, delta, others=[team], apart=[("team", "window.md")])) == []


def test_c082_a_rule_that_another_store_gives_as_an_instruction() -> None:
    repo = index_of({"CLAUDE.md": b"# Rules\n\n- Deploy on Tuesdays 10:00-12:00\n"}, "repo", FormatName.MARKDOWN)
    relation = only(change(BASE, {"w.md": topic("w", "Deploy on Tuesdays 10:00-12:00")}, others=[repo]))
    assert (relation.kind, relation.there.path) == (ELSEWHERE, "CLAUDE.md")
    assert "CLAUDE.md" in relation.sentence


@pytest.mark.parametrize("said", ["likes peppers", "Likes peppers."])
def test_an_earlier_rejection_of_the_same_claim(said: str) -> None:
    [earlier] = statements("food.md", f"- {said}\n".encode(), FormatName.CLAUDE)
    relation = only(change(BASE, {"dana.md": "- likes peppers\n"}, rejected=[earlier]))
    assert (relation.kind, relation.there.path) == (RelationKind.REJECTED_BEFORE, "food.md")
    assert told(change(BASE, {"dana.md": "- plays the piano\n"}, rejected=[earlier])) == []


def test_c080_a_deleted_fact_that_stands_elsewhere_is_told_and_a_lost_one_is_not() -> None:
    base = tree(a="# A\n\n- Dana likes peppers\n- Other\n", b="Dana likes peppers\n")
    relation = only(change(base, {"a.md": "# A\n\n- Other\n"}))
    assert (relation.kind, relation.there.path) == (ELSEWHERE, "b.md")
    assert relation.sentence.startswith("What goes here would still stand in b.md.")
    assert told(change(base, {"a.md": "# A\n\n- Dana likes peppers\n"})) == []


def test_a_row_that_belies_its_document() -> None:
    base = tree(review=topic("review", "Body.").replace("description: d", "description: waiting for review"))
    relation = only(change(base, {"MEMORY.md": "- [Review](review.md) — approved on 2026-04-27\n"}))
    assert (relation.kind, relation.there.path, relation.there.line) == (CONTRADICTION, "review.md", 3)
    standing = base | {"MEMORY.md": b"- [Review](review.md) \xe2\x80\x94 approved\n"}
    assert told(change(standing, {"other.md": "Something else.\n"})) == []


def test_a_deletion_names_links_that_break_and_documents_that_are_orphaned() -> None:
    base = tree(
        MEMORY="- [Build](build.md) — how\n- [Git](git.md) — habits\n",
        build="See [caches](cache.md) and [[git]].\n",
        cache="Old ones go.\n",
        git="Never force-push. See [[build]].\n",
    )
    found = change(base, {"build.md": None})
    assert ways(found) == [
        ("links-in", "build.md", "MEMORY.md", 1),
        ("links-in", "build.md", "git.md", 1),
        ("links-out", "build.md", "cache.md", None),
        ("links-out", "build.md", "git.md", None),
        ("orphan", "build.md", "cache.md", None),
    ]
    whole = change(base, {"build.md": None, "MEMORY.md": "- [Git](git.md) — habits\n", "git.md": "Never.\n"})
    assert [way for way in ways(whole) if way[0] == "links-in" and way[1] == "build.md"] == []


def test_a_dropped_row_orphans_its_document_unless_another_leads_there() -> None:
    base = tree(MEMORY="- [A](a.md) — a\n- [B](b.md) — b\n", a="See [[b]].\n", b="Text.\n")
    dropped_b = change(base, {"MEMORY.md": "- [A](a.md) — a\n"})
    assert [way for way in ways(dropped_b) if way[0] == "orphan"] == []
    dropped_a = change(base, {"MEMORY.md": "- [B](b.md) — b\n"})
    assert [way for way in ways(dropped_a) if way[0] == "orphan"] == [("orphan", "MEMORY.md", "a.md", None)]


def test_a_large_change_is_compared_in_part_and_says_so() -> None:
    lines = "".join(f"- The {name} is kept in the {name} cupboard\n" for name in map(chr, range(0x3B1, 0x3B1 + 60)))
    found = change(BASE, {"many.md": lines})
    assert found.left_out == 60 - MAX_STATEMENTS


def test_c077_boilerplate_gets_nothing() -> None:
    base = tree(**dict.fromkeys("abcd", "Written by the nightly run.\n"))
    assert told(change(base, {"e.md": "Written by the nightly run.\n"})) == []


@settings(max_examples=60, deadline=None)
@given(
    st.dictionaries(st.sampled_from(["MEMORY.md", "a.md", "b.md"]), st.binary(max_size=120)),
    st.dictionaries(st.sampled_from(["MEMORY.md", "a.md", "c.md"]), st.none() | st.binary(max_size=120)),
)
def test_total_on_arbitrary_bytes(base: dict[str, bytes], delta: dict[str, bytes | None]) -> None:
    own = index_of(base)
    assert beside(delta, own, Links(own.documents)) == beside(delta, own, Links(own.documents))
