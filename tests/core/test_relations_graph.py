from __future__ import annotations

from memoryreview.core.model import FormatName
from memoryreview.core.relations import Node, NodeKind, StoreIndex, graph


def _graph(**documents: str) -> dict[str, Node]:
    index = StoreIndex(FormatName.CLAUDE)
    for name, text in documents.items():
        index.put(f"{name}.md", text.encode())
    return {node.path: node for node in graph(index.documents, lambda path: path == "MEMORY.md")}


def test_documents_stand_in_the_order_in_which_links_reach_them() -> None:
    nodes = _graph(
        a="# A\n", b="# B\n\n[c](c.md), [a](a.md)\n", c="# C\n", d="# D\n", MEMORY="- [B](b.md) — b\n- [D](d.md) — d\n"
    )

    assert list(nodes) == ["MEMORY.md", "b.md", "d.md", "c.md", "a.md"]
    assert nodes["b.md"] == Node("b.md", NodeKind.DOCUMENT, ("c.md", "a.md"), ("MEMORY.md",))


def test_missing_targets_and_orphans_are_told_apart() -> None:
    nodes = _graph(MEMORY="- [Gone](gone.md) — x\n", left="# Left\n\n[web](https://a.b/c.md) [[prose]]\n")

    assert {path: node.kind for path, node in nodes.items()} == {
        "MEMORY.md": NodeKind.INDEX,
        "gone.md": NodeKind.MISSING,
        "left.md": NodeKind.ORPHAN,
    }
    assert nodes["gone.md"].led_from == ("MEMORY.md",)


def test_links_in_a_circle_and_to_oneself_end() -> None:
    nodes = _graph(a="[b](b.md) [a](a.md) [b](b.md)\n", b="[a](a.md)\n")

    assert [(node.path, node.kind, node.leads_to) for node in nodes.values()] == [
        ("a.md", NodeKind.DOCUMENT, ("b.md",)),
        ("b.md", NodeKind.DOCUMENT, ("a.md",)),
    ]


def test_nothing_has_no_picture() -> None:
    assert graph({}, lambda path: True) == ()
