from __future__ import annotations

import os
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from memoryreview.review.models import Change, Proposal, State, Store
from memoryreview.review.operations.capture import capture
from memoryreview.review.presenters import links
from tests.conftest import MakeStore, Propose, on_disk, replaced

from .conftest import Browser
from .reading import read

NAMES = [
    "q&a.md",
    "50%25.md",
    "100%.md",
    "%FF.md",
    "a#b?c=d.md",
    "cafe\u0301.md",
    "two words+plus;semi.md",
    "sub folder/in [brackets].md",
    "<img src=x onerror=alert(1)>.md",
    '"><b>.md',
    "日本語/メモ.md",
    "history.md",
    "a:b@c.md",
]


@pytest.mark.parametrize("name", NAMES)
def test_c119_document_of_any_name_has_an_address(name: str, owner_client: Client, make_store: MakeStore) -> None:
    store = make_store({name: "# Found\n\nIt is here.\n"}, name="odd")
    assert Change.objects.get(store=store).paths == [name]

    listed = read(owner_client.get("/stores/odd/"))
    [link] = [link for link in listed.all("a") if link.text == name]
    page = read(owner_client.get(link.attributes["href"]))

    assert page.one("h1", class_="mono").text == name
    assert "It is here." in page.text
    assert page.one("title").text == f"{name} · odd · memoryreview"
    assert page.all("img") == []
    tabs = page.one("nav", aria_label="View")
    for tab in [link for link in page.all("a") if tabs in link.ancestors]:
        answer = owner_client.get(tab.attributes["href"])
        assert (answer.status_code, read(answer).one("h1", class_="mono").text) == (200, name)


@pytest.mark.parametrize("name", ["line\nbreak.md", "bidi\u202e.md", "escape\x1b[31m.md"])
def test_name_with_control_characters_is_shown_as_chips(name: str, owner_client: Client, make_store: MakeStore) -> None:
    store = make_store({name: "# Found\n\nIt is here.\n"}, name="odd")
    if Change.objects.get(store=store).paths != [name]:
        pytest.skip("such a name is not adopted")

    answer = owner_client.get(links.document_url("odd", name))

    assert answer.status_code == 200
    assert name not in answer.content.decode()


def test_bytes_that_are_not_utf8_survive_the_address() -> None:
    path = os.fsdecode(b"caf\xe9 \xff.md")

    url = links.document_url("odd", path)

    assert url == "/stores/odd/caf%E9%20%FF.md"
    assert path in links.readings("caf%E9 %FF.md")


def test_store_page_says_what_looks_wrong(owner_client: Client, make_store: MakeStore) -> None:
    index = "# Index\n\n- [Gone](gone.md) — not there\n"
    make_store({"MEMORY.md": index, "a.md": "---\nname: A\ndescription: x\ntype: project\n---\nText.\n"}, name="odd")

    page = read(owner_client.get("/stores/odd/"))

    assert "What looks wrong" in [h.text for h in page.all("h2")]
    assert any(link.text == "MEMORY.md, line 3" for link in page.all("a"))


def test_store_page_shows_budgets_of_its_index(owner_client: Client, make_store: MakeStore) -> None:
    topic = "---\nname: A\ndescription: first\ntype: project\n---\nText.\n"
    make_store({"MEMORY.md": "# Index\n\n- [A](a.md) — first\n", "a.md": topic}, name="claude")

    assert "3 of 200 lines" in read(owner_client.get("/stores/claude/")).text


def test_direct_write_that_waits_is_told(owner_client: Client, store: Store) -> None:
    (Path(store.root) / "build.md").write_text("# Build\n\nAll of it is new.\n")
    capture(store)

    page = read(owner_client.get("/stores/notes/"))

    assert "Running unreviewed text. 1 direct write stands on disk and waits in the queue" in page.text


def test_missing_folder_gets_no_button_that_needs_it(owner_client: Client, store: Store) -> None:
    Path(store.root).rename(Path(store.root).with_name("elsewhere"))
    capture(store)

    page = owner_client.get("/stores/notes/").content.decode()

    assert "No such file or directory" in page
    assert f"/settings/{store.slug}/#folder" in page
    assert "Put the approved documents back" not in page
    assert "They are meant to be gone" not in page


def test_alarm_and_differing_documents_are_told(owner_client: Client, store: Store) -> None:
    Store.objects.filter(pk=store.pk).update(alarm="The folder is gone.", differing=["build.md"])

    page = read(owner_client.get("/stores/notes/"))

    assert "The folder looks lost. The folder is gone." in page.text
    assert "These documents differ on disk" in page.text
    assert "The file on disk differs" in read(owner_client.get("/stores/notes/build.md")).text


def test_stores_page_counts_what_waits(owner_client: Client, store: Store, propose: Propose) -> None:
    propose(store, replaced("build.md", "5432", "5433"))

    page = read(owner_client.get("/stores/"))

    assert page.one("a", href="/?store=notes").text == "1 waiting"


def test_document_shows_the_approved_text_not_the_disk(owner_client: Client, store: Store) -> None:
    (Path(store.root) / "build.md").write_text("# Build\n\nunapproved\n")

    page = read(owner_client.get("/stores/notes/build.md"))

    assert "unapproved" not in page.text
    assert "Use npm for everything." in page.text


def test_frontmatter_values_are_shown_as_written(owner_client: Client, make_store: MakeStore) -> None:
    head = "---\nat: 10:00\nok: no\nversion: 1.10\nid: 0012\n---\n\nText.\n"
    make_store({"a.md": head}, name="odd")

    page = read(owner_client.get("/stores/odd/a.md", {"view": "rendered"}))

    values = [element.text for element in page.all("dd")]
    assert values == ["10:00", "no", "1.10", "0012"]


def test_history_of_a_document_lists_its_changes(owner_client: Client, store: Store) -> None:
    page = read(owner_client.get("/stores/notes/build.md", {"view": "history"}))

    assert "Adopt notes: 2 documents" in page.text


def test_unknown_document_is_not_found(owner_client: Client, store: Store) -> None:
    for path in ("nope.md", "../notes/build.md", "build.md/", "%2e%2e/build.md"):
        assert owner_client.get(f"/stores/notes/{path}").status_code == 404


def test_document_that_is_not_utf8_is_shown(owner_client: Client, make_store: MakeStore) -> None:
    make_store({"a.md": b"# A\n\ncaf\xe9\n"}, name="odd")

    page = read(owner_client.get("/stores/odd/a.md"))

    assert "U+FFFD byte E9" in [chip.text for chip in page.all("span", class_="chip")]


def test_promotion_from_a_page_waits_for_a_decision(owner_client: Client, store: Store, make_store: MakeStore) -> None:
    make_store({"a.md": "# A\n"}, name="shared", team=True)
    form = read(owner_client.get("/stores/notes/git.md")).form("/promote")

    first = owner_client.post("/promote", {**form, "to": "shared"})
    second = owner_client.post("/promote", {**form, "to": "shared"})

    proposal = Proposal.objects.get()
    assert (proposal.state, proposal.promoted_path) == (State.PENDING, "git.md")
    assert first.headers["Location"] == second.headers["Location"] == f"/proposals/{proposal.pk}"


def test_promotion_of_nothing_is_refused(owner_client: Client, store: Store, make_store: MakeStore) -> None:
    make_store({"a.md": "# A\n"}, name="shared", team=True)

    answer = owner_client.post("/promote", {"store": "notes", "path": "nope.md", "to": "shared"})

    assert answer.status_code == 404
    assert not Proposal.objects.exists()


def test_without_a_team_there_is_nothing_to_promote_to(
    owner_client: Client, store: Store, make_store: MakeStore, browser: Browser, second: User
) -> None:
    assert read(owner_client.get("/stores/notes/git.md")).all("form", action="/promote") == []


def test_document_is_listed_with_its_size_entries_and_last_change(
    owner_client: Client, store: Store, propose: Propose
) -> None:
    proposal = propose(store, replaced("build.md", "5432", "5433"))
    shown = read(owner_client.get(f"/proposals/{proposal.pk}")).form(f"/proposals/{proposal.pk}/approve")
    owner_client.post(f"/proposals/{proposal.pk}/approve", shown)
    change = Change.objects.get(proposal=proposal)

    page = read(owner_client.get("/stores/notes/"))

    rows = [
        [cell.text for cell in page.elements if row in cell.ancestors and cell.tag == "td"] for row in page.all("tr")
    ]
    size = f"{len(on_disk(store, 'build.md'))} bytes"
    assert rows[1] == [size, "5 entries", change.title, "claude and olga", "just now"]
    assert rows[2][2:4] == ["Adopt notes: 2 documents", "olga"]


def test_many_documents_are_listed_page_by_page(
    owner_client: Client, make_store: MakeStore, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    make_store({f"n{number:03}.md": f"# N{number}\n" for number in range(205)}, name="many")
    owner_client.get("/stores/many/")

    with django_assert_num_queries(13):
        first = read(owner_client.get("/stores/many/"))
    last = read(owner_client.get(first.one("a", href="/stores/many/?from=100#documents").attributes["href"]))
    end = read(owner_client.get(last.one("a", href="/stores/many/?from=200#documents").attributes["href"]))
    found = read(owner_client.get("/stores/many/", {"q": "N20"}))

    assert [link.text for link in first.all("a") if link.text.endswith(".md")] == [f"n{n:03}.md" for n in range(100)]
    assert [link.text for link in end.all("a") if link.text.endswith(".md")] == [f"n{n}.md" for n in range(200, 205)]
    assert "Documents 201–205 of 205" in end.text
    assert [link.text for link in found.all("a") if link.text.endswith(".md")] == [f"n{n}.md" for n in range(200, 205)]


def test_index_is_shown_as_the_agent_sees_it(owner_client: Client, make_store: MakeStore) -> None:
    rows = "".join(f"- [T{number}](t{number}.md)\n" for number in range(1, 204))
    make_store({"MEMORY.md": f"---\nname: I\n---\n<!-- unseen -->\n{rows}", "a.md": "# A\n"}, name="claude")
    listed = read(owner_client.get("/stores/claude/"))

    page = read(owner_client.get(listed.one("a", href="/stores/claude/MEMORY.md?view=agent").attributes["href"]))

    before, _, after = page.text.partition(
        "Here the budget of 200 lines ends, at row 201: the agent does not see the 3"
    )
    assert "[T1](t1.md)" in before
    assert "[T200](t200.md)" in before
    assert "unseen" not in page.text
    assert "205- [T201](t201.md)" in after
    assert "As the agent sees it" not in read(owner_client.get("/stores/claude/a.md", {"view": "agent"})).text


def test_entries_past_the_limit_of_hermes_are_shown_as_read(owner_client: Client, make_store: MakeStore) -> None:
    make_store({"MEMORY.md": "First.\n§\n" + "x" * 2200 + "\n§\nLast one.\n"}, name="hermes")

    page = read(owner_client.get("/stores/hermes/MEMORY.md", {"view": "agent"}))

    assert "2,201: the agent still reads what is below, but no more can be added." in page.text
    assert "Last one." in page.text


def test_entries_of_a_document_lead_to_their_history(owner_client: Client, store: Store) -> None:
    page = read(owner_client.get("/stores/notes/git.md", {"view": "entries"}))

    cells = [cell.text for cell in page.all("th", scope="row")]
    assert cells == ["Git", "Never force-push to main.", "Rebase before review."]
    link = page.one("a", aria_label="History of line 4")
    assert link.attributes["href"] == "/history/?store=notes&path=git.md&entry=4"
