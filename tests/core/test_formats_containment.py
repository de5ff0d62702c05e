from __future__ import annotations

import pytest

from memoryreview.core.formats.containment import Relation, problems, relation, statements
from tests.core.folders import tree


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("- a a\n", "# T\n\n- a  a\n- b b\n", Relation.INSIDE),
        ("- a\n- b\n", "- b\n", Relation.AROUND),
        ("- a\n- b\n", "# X\n\n* b\n* a\n", Relation.EQUAL),
        ("- a\n- c\n", "- a\n- b\n", None),
        ("", "- a\n", None),
        ("# Title only\n", "- a\n", None),
        ("- not a\n", "- a\n", None),
    ],
)
def test_relation_compares_what_is_said(one: str, other: str, expected: Relation | None) -> None:
    assert relation(statements(tree(a=one)), statements(tree(b=other))) is expected


def test_c055_folders_of_one_agent_in_a_tree_are_compared() -> None:
    documents = tree(
        repo__reviewer__MEMORY="- a\n- b\n",
        home__reviewer__MEMORY="- a\n",
        repo__tester__MEMORY="- a\n",
        one__topics__x="- a\n",
        two__topics__x="- a\n",
        one__memory__MEMORY="- a\n",
        two__memory__MEMORY="- a\n",
    )

    [problem] = problems(documents)

    assert (problem.kind, problem.path) == ("contained", "home/reviewer/MEMORY.md")
    assert "All that “home/reviewer” says stands in “repo/reviewer” too" in problem.message


def test_statements_are_total() -> None:
    assert statements({"a.md": b"\xff\xfe", "b.py": b"x", "MEMORY.md": b""}) == {"��"}
