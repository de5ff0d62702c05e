"""Links that follow a document that is gone, and those that nobody may move."""

from __future__ import annotations

import hashlib

from hypothesis import given, settings
from hypothesis import strategies as st

from memoryreview.core import markdown
from memoryreview.core.classify.budget import Budget
from memoryreview.core.classify.classify import classify
from memoryreview.core.classify.rules import link_retarget
from memoryreview.core.classify.rules.outcome import Declined
from memoryreview.core.classify.rules.successors import Successors
from memoryreview.core.formats import Catalogue, LinkState
from memoryreview.core.model import Classification, Context, Ended, FormatName, History, Kind, Rewrite, Tree, Verdict
from memoryreview.core.text import apply_rewrites

TEXT = b"# Warm up\n\nText.\n"
DIGEST = hashlib.sha256(TEXT).hexdigest()


def context(*gone: Ended, name: FormatName = FormatName.CLAUDE) -> Context:
    return Context(format=name, history=History(ended={ended.path: ended for ended in gone}))


def renamed(path: str = "old.md", to: str = "new.md") -> Context:
    return context(Ended(path, "", DIGEST, to))


def judged(base: Tree, known: Context, **changed: str) -> Classification:
    proposed = dict(base) | {f"{name.replace('__', '/')}.md": text.encode() for name, text in changed.items()}
    return classify(base, proposed, known)


def test_c013_links_by_name_and_loose_links_are_never_moved() -> None:
    base = {
        "project_log.md": b"---\nname: project-log-format\n---\nText.\n",
        "a.md": b"[[project-log-format]]\n[[project_log]]\n[[project-log]]\n[[project_log.md]]\n",
        "b.md": b"B.\n",
    }

    found = judged(base, Context(), a="[[b]]\n[[b]]\n[[b]]\n[[b]]\n")

    assert found.verdict is Verdict.REVIEW
    assert any("so the link is not dead" in reason for reason in found.actions[0].reasons)


def test_c031_rows_of_every_form_keep_their_words_when_their_document_is_renamed() -> None:
    rows = (
        "- [Crew game; concept](old.md); pass-and-play\n- [old.md](old.md) — hook\n- [y](old.md): hook\n- [z](old.md)\n"
    )
    base = {"MEMORY.md": rows.encode(), "new.md": TEXT}

    found = judged(base, renamed(), MEMORY=rows.replace("(old.md)", "(new.md)"))

    assert [(action.kind, action.verdict) for action in found.actions] == [("link.retarget", "safe")] * 4


def test_c040_no_link_of_an_incomplete_folder_is_moved() -> None:
    rows = "".join(f"- [T{i}](t{i}.md): hook\n" for i in range(60))
    base = {"MEMORY.md": rows.encode(), "t0.md": b"a", "t1.md": b"b", "new.md": TEXT}
    known = renamed("t59.md")

    found = judged(base, known, MEMORY=rows.replace("t59.md", "new.md"))

    assert found.verdict is Verdict.REVIEW
    assert "58 of 60 targets in “MEMORY.md” are missing: the folder looks incomplete." in found.actions[0].reasons
    (link,) = (link for link in markdown.links(base["MEMORY.md"]) if link.target == "t59.md")
    assert isinstance(link_retarget.candidate("MEMORY.md", link, link_retarget.successors_in(base, known)), Declined)


def test_c043_targets_with_blanks_parentheses_and_codes_are_found_and_written_alike() -> None:
    text = "[a](<palette (v1).md>) [b](palette%20(v1).md) [c](palette%20%28v1%29.md#warm-up 'title')\n"
    base = {"a.md": text.encode(), "palette (v2).md": TEXT}

    found = judged(base, renamed("palette (v1).md", "palette (v2).md"), a=text.replace("v1", "v2"))

    assert found.verdict is Verdict.SAFE
    standing = {"a.md": text.encode(), "palette (v1).md": TEXT, "palette (v2).md": TEXT}
    assert judged(standing, renamed(), a=text.replace("v1", "v2")).verdict is Verdict.REVIEW


def test_c044_two_that_come_near_are_both_named_and_one_of_the_same_name_is_taken() -> None:
    row = "- [Cache](project_cache.md): what\n"
    base = {"MEMORY.md": row.encode(), "project_cache_warmup.md": TEXT, "project_cache_limits.md": TEXT}
    known = context(Ended("project_cache.md", "cache", "", ""))
    after = row.replace("cache.md", "cache_warmup.md")

    unsure = judged(base, known, MEMORY=after)
    sure = judged({**base, "project_cache_warmup.md": b"---\nname: cache\n---\nText.\n"}, known, MEMORY=after)

    near = "“project_cache_limits.md” and “project_cache_warmup.md” come near."
    assert unsure.actions[0].reasons[0].endswith(near)
    assert [(a.kind, a.verdict, a.new) for a in sure.actions] == [("link.retarget", "safe", after)]


def test_one_action_tells_all_links_of_a_line_and_waits_as_a_whole() -> None:
    text = "See [x](old.md), [y](old.md) and [z](gone.md).\n"
    base = {"a.md": text.encode(), "new.md": TEXT}

    both = judged(base, renamed(), a=text.replace("old.md", "new.md"))
    more = judged(base, renamed(), a=text.replace("old.md", "new.md").replace("gone.md", "new.md"))

    assert [action.title for action in both.actions] == ["Point the link to new.md instead of old.md, and 1 more"]
    assert more.verdict is Verdict.REVIEW


def test_links_of_several_documents_are_checked_together() -> None:
    base = {f"n/{i}.md": b"See [it](../old.md).\n" for i in range(30)} | {"new.md": TEXT}
    proposed = {path: data.replace(b"old", b"new") for path, data in base.items()}

    found = classify(base, proposed, renamed())

    assert (found.verdict, len(found.actions)) == (Verdict.SAFE, 30)


def test_store_that_is_too_large_to_be_read_gives_no_answer() -> None:
    base = {"a.md": b"See [it](old.md).\n", "new.md": TEXT}
    (link,) = markdown.links(base["a.md"])

    budgets = (Budget(searched_bytes=20), Budget(parsed=0), Budget(searched_bytes=99))
    unsearched, unparsed, ample = (Successors(base, base, renamed(), each).of("a.md", link) for each in budgets)

    for answer in (unsearched, unparsed):
        assert isinstance(answer, Declined)
        assert "too large to look in all of it" in answer.reason
    assert not isinstance(ample, Declined)


def repaired(base: Tree, known: Context, path: str = "a.md") -> list[str]:
    successors = link_retarget.successors_in(base, known)
    answers = [
        link_retarget.candidate(path, link, successors)
        for link in (*markdown.links(base[path]), *markdown.definitions(base[path]))
    ]
    return [a.new.decode() if isinstance(a, Rewrite) else a.reason for a in answers]


def test_candidate_writes_each_link_as_it_was_written() -> None:
    text = b"[a](./old.md#warm-up) [b](<old.md>) [[old|c]] [d](old) [e](https://x.example)\n\n[f]: old.md 'F'\n"
    base = {"a.md": text, "new (2).md": TEXT}

    assert repaired(base, renamed(to="new (2).md")) == [
        "./new%20%282%29.md",
        "new (2).md",
        "new (2)",
        "new%20%282%29",
        "Only a link to a document of the store can follow it to another place.",
        "new%20%282%29.md",
    ]


def test_candidate_says_why_there_is_none() -> None:
    base = {"a.md": b"[a](old.md#cool) [b](b.md) [c](c.md) [[old.md]]\n", "b.md": b"B.\n", "new.md": TEXT}

    assert repaired(base, renamed()) == [
        "“new.md” has no heading “#cool”.",
        "“b.md” leads to “b.md”, so the link is not dead.",
        "Nothing took the place of “c.md”: no approved rename, and no document of its name.",
        "No way to write the link leads to “new.md” alone.",
    ]


NAMES = st.sampled_from(
    ["old", "new", "project_cache", "n/old", "n/new", "Old", "日本 語", "a (b)", "x%41", "MEMORY", "q&a"]
)
FORMS = st.sampled_from(
    ["[t]({0}.md)", "[t](<{0}.md>)", "[[{0}]]", "[t]({0}.md#warm-up)", "[[{0}|t]]", "[r]: <{0}.md>"]
)


@st.composite
def broken_stores(draw: st.DrawFn) -> tuple[dict[str, bytes], Context, str]:
    names = draw(st.lists(NAMES, min_size=1, max_size=4, unique=True))
    heads = draw(st.lists(st.sampled_from(["", "---\nname: old\n---\n", "---\nname: cache\n---\n"]), min_size=4))
    base = {f"{name}.md": head.encode() + TEXT for name, head in zip(names, heads, strict=False)}
    path = draw(st.sampled_from(["a.md", "n/a.md", "MEMORY.md"]))
    lines = [draw(FORMS).format(draw(NAMES)) for _ in range(draw(st.integers(1, 3)))]
    base[path] = ("\n\n".join(lines) + draw(st.sampled_from(["\n", ""]))).encode()
    gone = [
        Ended(f"{draw(NAMES)}.md", draw(st.sampled_from(["", "cache", "old"])), DIGEST, f"{draw(NAMES)}.md")
        for _ in range(draw(st.integers(0, 2)))
    ]
    return base, context(*(each for each in gone if each.path not in base)), path


@settings(max_examples=150, deadline=None)
@given(broken_stores())
def test_what_the_rule_proposes_is_safe_and_repairs_the_link(store: tuple[dict[str, bytes], Context, str]) -> None:
    base, known, path = store
    catalogue, successors = Catalogue(base), link_retarget.successors_in(base, known)
    for link in (*markdown.links(base[path]), *markdown.definitions(base[path])):
        rewrite = link_retarget.candidate(path, link, successors)
        if isinstance(rewrite, Declined):
            continue
        after = apply_rewrites(base[path], [rewrite])

        found = classify(base, {**base, path: after}, known)

        assert [(a.kind, a.verdict) for a in found.actions] == [(Kind.LINK_RETARGET, Verdict.SAFE)]
        pairs = zip(_all(base[path]), _all(after), strict=True)
        moved = [new for old, new in pairs if old.target != new.target]
        assert moved
        assert all(catalogue.state(path, new) is LinkState.EXACT for new in moved)


def _all(data: bytes) -> list[markdown.Link]:
    return [*markdown.links(data), *markdown.definitions(data)]


@settings(max_examples=150, deadline=None)
@given(broken_stores(), NAMES, FORMS)
def test_a_link_that_resolves_is_never_moved_and_rule_and_check_agree(
    store: tuple[dict[str, bytes], Context, str], name: str, form: str
) -> None:
    base, known, path = store
    lines = base[path].decode().split("\n\n")
    lines[0] = form.format(name)
    found = classify(base, {**base, path: "\n\n".join(lines).encode()}, known)

    for action in found.actions:
        assert not any("independent check" in reason for reason in action.reasons)
        if action.proof:
            old, new = (_all(text.encode())[0] for text in (action.old, action.new))
            assert Catalogue(base).find_link(path, old).paths == ()
            assert Catalogue(base).state(path, new) is LinkState.EXACT
