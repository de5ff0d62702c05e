"""A rename is one action, together with everything that follows it and nothing else."""

from __future__ import annotations

import pytest

from memoryreview.core import formats
from memoryreview.core.classify.classify import classify
from memoryreview.core.model import Classification, Context, FormatName

NOTE = b"---\nname: cache-notes\ndescription: d\n---\n# Warm up\n\nText.\n"
CLAUDE = Context(format=FormatName.CLAUDE)


def renaming(before: str, after: str, path: str = "a.md", old: str = "old.md", new: str = "new.md") -> Classification:
    kept = {"b.md": b"B.\n"}
    return classify({path: before.encode(), old: NOTE, **kept}, {path: after.encode(), new: NOTE, **kept}, CLAUDE)


def titles(found: Classification) -> list[tuple[str, str]]:
    return [(action.kind, action.title) for action in found.actions]


def test_c115_rename_with_two_rows_and_a_link_is_one_action_and_leaves_no_dead_link() -> None:
    base = {
        "MEMORY.md": b"- [Cache](old.md): what\n- [b](b.md): b\n\n## Again\n\n- [old.md](old.md) \xe2\x80\x94 more\n",
        "old.md": NOTE,
        "b.md": b"See [[old]].\n",
    }
    proposed = {path: data.replace(b"old", b"new") for path, data in base.items() if path != "old.md"} | {
        "new.md": NOTE
    }

    found = classify(base, proposed, CLAUDE)

    assert titles(found) == [("file.rename", "Rename old.md to new.md, 3 links follow")]
    assert found.actions[0].proof is None
    assert not [p for p in formats.of(FormatName.CLAUDE).lint(proposed) if "dead" in p.kind or "link" in p.kind]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[x](old.md)", "[x](new.md)"),
        ("[old.md](old.md)", "[new.md](new.md)"),
        ("[old](./old.md#warm-up 'T')", "[new](./new.md#warm-up 'T')"),
        ("[x](old.md) and [b](b.md)", "[x](new.md) and [b](b.md)"),
        ("[[old]]", "[[new]]"),
        ("[[old|the notes]]", "[[new|the notes]]"),
        ("[[old#Warm up]]", "[[new#Warm up]]"),
        ("[[old]]", "[[cache-notes]]"),
        ("[[cache-notes]]", "[[new]]"),
        ("[x][r]\n\n[r]: old.md 'T'", "[x][r]\n\n[r]: new.md 'T'"),
        ("[x](<old.md>)", "[x](new.md)"),
        ("| [x](old.md) | c |\n|---|---|", "| [x](new.md) | c |\n|---|---|"),
        ("> [x](old.md)", "> [x](new.md)"),
        ("[![i](i.png)](old.md)", "[![i](i.png)](new.md)"),
    ],
)
def test_link_of_every_form_follows(before: str, after: str) -> None:
    assert titles(renaming(before + "\n", after + "\n")) == [("file.rename", "Rename old.md to new.md, 1 link follows")]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[x](old.md 'T')", "[x](new.md 'U')"),
        ("[x](old.md)", "[y](new.md)"),
        ("[x](old.md#warm-up)", "[x](new.md#text)"),
        ("[[old|the notes]]", "[[new|the secret]]"),
        ("[x](old.md)", "[[new]]"),
        ("[x](old.md)", "[x](b.md)"),
        ("[x](old.md) now", "[x](new.md) then"),
        ("[x](b.md)", "[x](new.md)"),
        ("[x][r]\n\n[r]: old.md 'T'", "[x][r]\n\n[r]: new.md 'U'"),
        ("[![i](i.png)](old.md)", "[![j](i.png)](new.md)"),
        ("`[x](old.md)`", "`[x](new.md)`"),
    ],
)
def test_link_that_changes_in_another_way_is_an_action_of_its_own(before: str, after: str) -> None:
    found = titles(renaming(before + "\n", after + "\n"))

    assert ("file.rename", "Rename old.md to new.md") in found
    assert len(found) == 2


def test_all_links_of_a_line_are_counted_for_the_document_that_they_follow() -> None:
    base = {"a.md": b"[x](old.md), [y](old.md#warm-up) and [z](one.md).\n", "old.md": NOTE, "one.md": b"One.\n"}
    after = b"[x](n/new.md), [y](n/new.md#warm-up) and [z](two.md).\n"

    found = classify(base, {"a.md": after, "n/new.md": NOTE, "two.md": b"One.\n"}, CLAUDE)

    assert titles(found) == [
        ("file.rename", "Rename old.md to n/new.md, 2 links follow"),
        ("file.rename", "Rename one.md to two.md, 1 link follows"),
    ]
