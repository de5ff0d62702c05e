from __future__ import annotations

import pytest

from memoryreview.core import formats
from memoryreview.core.formats import LinkState, Match
from memoryreview.core.markdown import links
from memoryreview.core.model import FormatName
from tests.core.folders import lint, topic, tree


def states(documents: dict[str, bytes], source: str) -> list[str]:
    catalogue = formats.Catalogue(documents)
    return [catalogue.state(source, link).value for link in links(documents[source])]


def test_c013_wiki_links_resolve_by_stem_name_and_loosely() -> None:
    body = "[[project-log-format]] [[project_log]] [[project-log]] [[project_log.md]] [[Project Log]] [[log]]"
    documents = tree(project_log=topic("project-log-format"), a=body)

    assert states(documents, "a.md") == ["exact", "exact", "loose", "loose", "loose", "unresolved"]
    assert lint(documents, FormatName.CLAUDE) == [("unresolved-link", "a.md", 1)]


def test_find_says_how_well_it_fits() -> None:
    catalogue = formats.Catalogue(tree(project_log=topic("project-log-format"), sub__other="# O\n"))

    assert catalogue.find("a.md", "project_log.md") == formats.Found(Match.EXACT, ("project_log.md",))
    assert catalogue.find("a.md", "project-log") == formats.Found(Match.LOOSE, ("project_log.md",))
    assert catalogue.find("a.md", "other") == formats.Found(Match.EXACT, ("sub/other.md",))
    assert catalogue.find("sub/a.md", "../project_log.md").match is Match.EXACT
    assert catalogue.find("a.md", "log") == formats.Found(Match.NONE)
    assert catalogue.find("a.md", "../../x.md") == formats.Found(Match.NONE)


def test_equal_names_in_two_folders_prefer_the_own() -> None:
    documents = tree(a__note="x", b__note="y", b__z="[[note]]")

    assert formats.Catalogue(documents).find("b/z.md", "note").paths == ("b/note.md", "a/note.md")


def test_c043_valid_targets_resolve() -> None:
    body = (
        '[a](<palette (v2).md>) [b](palette%20(v2).md) [c](x.md "title") [d](x.md#a-b) '
        "[e](https://h.example/f_(g).md) [f](./x.md) [g](sub/../x.md) [h](x.md#gone) [i](50%25.md)"
    )
    documents = tree(n=body, x="# A b\n") | {"palette (v2).md": b"", "50%25.md": b"", "sub/y.md": b""}

    assert states(documents, "n.md") == [
        "exact",
        "exact",
        "exact",
        "exact",
        "elsewhere",
        "exact",
        "exact",
        "anchor-missing",
        "exact",
    ]
    assert lint(documents, FormatName.MARKDOWN) == [("anchor-missing", "n.md", 1)]


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("gone.md", LinkState.MISSING),
        ("./gone.md", LinkState.MISSING),
        ("sub/gone.md", LinkState.MISSING),
        ("sub/deep/gone.md", LinkState.MISSING),
        ("docs/adr/gone.md", LinkState.REPOSITORY),
        ("src/main.py", LinkState.REPOSITORY),
        ("main.py", LinkState.REPOSITORY),
        ("../outside.md", LinkState.OUTSIDE),
        ("/etc/x.md", LinkState.OUTSIDE),
        ("~/x.md", LinkState.OUTSIDE),
        ("C:/x.md", LinkState.OUTSIDE),
        ("subscription", LinkState.PROSE),
        ("mailto:a@b.example", LinkState.ELSEWHERE),
        ("//h.example/x.md", LinkState.ELSEWHERE),
        ("#part", LinkState.ANCHOR_MISSING),
    ],
)
def test_what_leads_nowhere_has_a_class(target: str, expected: LinkState) -> None:
    documents = tree(n=f"[a]({target})", sub__x="x")

    assert states(documents, "n.md") == [expected.value]
    kinds = {LinkState.MISSING: ["dead-link"], LinkState.ANCHOR_MISSING: ["anchor-missing"]}.get(expected, [])
    assert [kind for kind, _, _ in lint(documents, FormatName.MARKDOWN)] == kinds


def test_c046_c047_prose_and_remarks_are_no_dead_links() -> None:
    documents = tree(n="use [[:space:]], if [[ -f x ]]; [[project_plan]](subscription)", project_plan="x")

    assert lint(documents, FormatName.MARKDOWN) == []


def test_names_in_other_normal_forms_and_scripts_resolve() -> None:
    documents = {
        "cafe\u0301.md": b"",
        "会議.md": b"",
        "n.md": "[a](caf\u00e9.md) [b](%E4%BC%9A%E8%AD%B0.md)".encode(),
    }

    assert states(documents, "n.md") == ["exact", "exact"]


def test_each_dead_target_is_reported_once() -> None:
    assert lint(tree(n="[a](x.md) [b](x.md)\n\n[c](y.md)"), FormatName.MARKDOWN) == [
        ("dead-link", "n.md", 1),
        ("dead-link", "n.md", 3),
    ]
