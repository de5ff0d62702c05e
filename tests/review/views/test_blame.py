"""Blame, the history of one entry, and a document as it stood after a change."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from memoryreview.core.edits import Delete, Rename
from memoryreview.review.models import Agent, Change, Store
from memoryreview.review.operations import blame as operation
from memoryreview.review.operations import rollback
from memoryreview.review.presenters import blame as presenter
from tests.conftest import MakeStore, Propose, replaced
from tests.review.operations.test_decide import approve
from tests.review.operations.test_rollback import land

from .conftest import BUILD, GIT, Browser
from .reading import Page, read

Land = Callable[..., Change]
SOURCE = {
    "session": "5d0c",
    "message_index": 7,
    "evidence": "We moved it <yesterday>.",
    "files": [{"path": "compose.yml", "line": 12, "text": "5433:5432"}],
}


@pytest.fixture
def port(store: Store, propose: Propose, owner: User) -> Change:
    proposal = propose(store, replaced("build.md", "port is 5432", "port is 5433"), source=SOURCE)
    change = approve(proposal, owner).change
    assert change is not None
    return change


def groups(page: Page) -> list[tuple[str, list[str]]]:
    """Return what each gutter says, and the numbers of its lines."""
    found = []
    for gutter in page.all("th", scope="rowgroup"):
        body = gutter.ancestors[-2]
        numbers = [one.text for one in page.all("td", class_="diff__number") if body in one.ancestors]
        found.append((gutter.text, numbers))
    return found


def test_every_line_names_its_change_agent_and_approver(owner_client: Client, store: Store, port: Change) -> None:
    page = read(owner_client.get("/stores/notes/build.md", {"view": "blame"}))

    (before, first), (approved, changed), (_, last) = groups(page)
    assert before.startswith(f"Adopted on {Change.objects.get(kind='adopt').at:%Y-%m-%d}")
    assert approved.startswith(f"{port.title} claude and olga, ")
    assert [first, changed, last] == [["1", "2", "3", "4", "5"], ["6"], ["7", "8", "9", "10"]]
    assert page.all("a", class_="blame__title")[1].attributes["href"] == f"/changes/{port.oid}"


def test_one_line_leads_to_proposal_session_evidence_and_approver(
    owner_client: Client, store: Store, port: Change
) -> None:
    page = read(owner_client.get("/stores/notes/build.md", {"view": "blame", "line": "6"}))

    origin = page.by_id("origin")
    for part in (
        port.title,
        f"Proposal {port.proposal_id}",
        "claude",
        "message 7 of session 5d0c",
        "We moved it <yesterday>.",
        "compose.yml:12: 5433:5432",
        "olga approved",
        f"{port.at:%Y-%m-%d %H:%M} UTC",
    ):
        assert part in origin.text
    assert page.one("a", href="/history/?store=notes&path=build.md&entry=5").text == "History of this entry"


@pytest.mark.parametrize("line", ["0", "2", "4000", "x", "9" * 40])
def test_a_line_outside_of_entries_is_explained_alone_or_not_at_all(
    owner_client: Client, store: Store, line: str
) -> None:
    answer = owner_client.get("/stores/notes/build.md", {"view": "blame", "line": line})

    assert answer.status_code == 200
    assert ("History of this entry" in answer.text) is False
    assert ('id="origin"' in answer.text) is (line == "2")


def test_a_long_document_is_shown_in_pages(
    owner_client: Client, store: Store, port: Change, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(presenter, "LINES_SHOWN", 4)
    address, numbers = "/stores/notes/build.md?view=blame", []
    while address:
        page = read(owner_client.get(address))
        numbers += [number for _, lines in groups(page) for number in lines]
        below = [link for link in page.all("a") if link.text == "Lines below"]
        address = below[0].attributes["href"] if below else ""

    assert numbers == [str(number) for number in range(1, 11)]


def test_lines_older_than_what_is_compared_say_so(
    owner_client: Client, store: Store, port: Change, propose: Propose, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    land(propose, store, owner, replaced("build.md", "# Build", "# How to build"))
    monkeypatch.setattr(operation, "MAX_VERSIONS", 2)

    page = read(owner_client.get("/stores/notes/build.md", {"view": "blame", "line": "8"}))

    assert [said.split(" claude")[0] for said, _ in groups(page)][1:] == ["Older", port.title, "Older"]
    assert "Only the last 2 changes of the document were looked at." in page.text
    assert "Line 8: older than what was looked at." in page.by_id("origin").text


def test_a_renamed_document_keeps_its_authors(
    owner_client: Client, store: Store, port: Change, propose: Propose, owner: User
) -> None:
    land(propose, store, owner, Rename("build.md", "made.md"))

    page = read(owner_client.get("/stores/notes/made.md", {"view": "blame"}))

    assert [said.split(" ")[0] for said, _ in groups(page)] == ["Adopted", port.title.split(" ")[0], "Adopted"]


def test_history_of_an_entry_tells_what_each_change_did(
    owner_client: Client, store: Store, propose: Propose, owner: User
) -> None:
    land(propose, store, owner, replaced("git.md", "Rebase before review.", "Rebase before every review."))
    land(propose, store, owner, replaced("git.md", "- Never", "- Sign every tag.\n- Never"))
    land(propose, store, owner, replaced("git.md", "before every review", "and test before every review"))

    page = read(owner_client.get("/history/", {"store": "notes", "path": "git.md", "entry": "5"}))

    assert page.one("h1").text == "Rebase and test before every review."
    assert [one.text for one in page.all("span", class_="label")] == ["rewrote it", "rewrote it", "added it"]
    assert [one.text for one in page.all("ins")] == ["and test", "every"]
    by_words = read(owner_client.get("/history/", {"store": "notes", "path": "git.md", "entry": "Rebase and test"}))
    assert by_words.one("h1").text == page.one("h1").text


def test_history_of_an_entry_calls_nothing_rolled_back_that_stands_again(
    owner_client: Client, store: Store, port: Change, owner: User
) -> None:
    undone = rollback.roll_back(port, person=owner)
    rollback.roll_back(undone, person=owner)

    page = read(owner_client.get("/history/", {"store": "notes", "path": "build.md", "entry": "5"}))

    entries = [one.text for one in page.all("section", class_="document")]
    assert [("rewrote it" in text, "rolled back since" in text) for text in entries[:3]] == [
        (True, False),
        (True, True),
        (True, False),
    ]


def test_history_of_an_entry_goes_on_where_the_comparison_ends(
    owner_client: Client, store: Store, propose: Propose, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    for old, new in (("Rebase before", "Rebase twice before"), ("# Git", "# Git rules"), ("rules", "manners")):
        land(propose, store, owner, replaced("git.md", old, new))
    monkeypatch.setattr(operation, "MAX_VERSIONS", 2)
    address, told, pages = "/history/?store=notes&path=git.md&entry=4", [], 0
    while address:
        page = read(owner_client.get(address))
        told += [one.text for one in page.all("span", class_="label")]
        further = [link for link in page.all("a") if link.text == "Look further back"]
        address = further[0].attributes["href"] if further else ""
        pages += 1

    assert told == ["rewrote it", "added it"]
    assert pages == 2


def test_an_entry_that_is_gone_is_found_by_its_words(
    owner_client: Client, store: Store, propose: Propose, owner: User
) -> None:
    gone = land(propose, store, owner, Delete("git.md"))

    page = read(owner_client.get("/history/", {"store": "notes", "path": "git.md", "entry": "Never force-push"}))

    assert [one.text for one in page.all("span", class_="label")] == ["removed it", "added it"]
    assert page.one("a", href=f"/changes/{gone.oid}").text == gone.title
    nothing = read(owner_client.get("/history/", {"store": "notes", "path": "git.md", "entry": "never said"}))
    assert nothing.one("h1").text == "No such entry"


def test_history_of_an_entry_is_filtered_as_the_rest(owner_client: Client, store: Store, port: Change) -> None:
    asked = {"store": "notes", "path": "build.md", "entry": "5", "kind": "adopt"}

    page = read(owner_client.get("/history/", asked))

    assert [one.text for one in page.all("span", class_="label")] == ["added it"]


def test_older_version_says_that_it_is_one(owner_client: Client, store: Store, port: Change) -> None:
    first = Change.objects.get(kind="adopt")

    page = read(owner_client.get("/stores/notes/build.md", {"at": first.oid}))
    same = read(owner_client.get("/stores/notes/git.md", {"at": first.oid}))

    assert "The port is 5432." in page.text
    assert "This is an older version" in page.text
    assert page.one("a", href="/stores/notes/build.md").text == "See what is approved now"
    assert "The same text is approved now." in same.text
    assert f"/stores/notes/build.md?at={first.oid}&view=blame" in [a.attributes["href"] for a in page.all("a")]
    assert owner_client.get("/stores/notes/build.md", {"at": "0" * 40}).status_code == 404
    assert owner_client.get("/stores/notes/build.md", {"at": "--help"}).status_code == 404


def test_older_version_of_another_store_is_not_reached(
    owner_client: Client, store: Store, port: Change, make_store: MakeStore
) -> None:
    make_store({"build.md": "Another.\n"}, name="other")

    assert owner_client.get("/stores/other/build.md", {"at": port.oid}).status_code == 404


@pytest.mark.parametrize("asked", [{"at": "oid"}, {"view": "blame"}, {"view": "file"}, {"view": "blame", "line": "6"}])
def test_strangers_see_no_version(
    browser: Browser, stranger: User, store: Store, port: Change, asked: dict[str, str]
) -> None:
    asked = {name: port.oid if text == "oid" else text for name, text in asked.items()}

    assert browser(stranger).get("/stores/notes/build.md", asked).status_code == 404
    entry = browser(stranger).get("/history/", {"store": "notes", "path": "build.md", "entry": "5"})
    assert "Tools" not in entry.text
    assert "5433" not in entry.text


def test_agents_token_opens_no_version(client: Client, store: Store, agent: Agent, port: Change) -> None:
    answer = client.get(f"/stores/notes/build.md?at={port.oid}", headers={"Authorization": "Bearer mrv_x"})

    assert answer.status_code == 403


def test_download_gives_the_very_bytes(owner_client: Client, make_store: MakeStore) -> None:
    content = b"\xef\xbb\xbf# A\r\n<script>alert(1)</script>\xff\r\nno end"
    make_store({"q&a é.md": content}, name="raw")

    answer = owner_client.get("/stores/raw/q&a é.md", {"view": "file"})

    assert answer.content == content
    assert answer.headers["Content-Disposition"] == "attachment; filename*=UTF-8''q%26a%20%C3%A9.md"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert "html" not in answer.headers["Content-Type"]


def test_change_page_has_message_neighbours_and_versions(
    owner_client: Client, store: Store, port: Change, propose: Propose, owner: User
) -> None:
    later = land(propose, store, owner, replaced("build.md", "5433", "5434"))
    first = Change.objects.get(kind="adopt")

    page = read(owner_client.get(f"/changes/{port.oid}"))
    links = {a.text: a.attributes["href"] for a in page.all("a")}

    assert links["Change before"] == f"/changes/{first.oid}?store=notes"
    assert links["Change after"] == f"/changes/{later.oid}?store=notes"
    assert links["As of then"] == f"/stores/notes/build.md?at={port.oid}"
    assert links["Blame"] == f"/stores/notes/build.md?at={port.oid}&view=blame"
    assert owner_client.get(links["Download"]).content == BUILD.replace("5432", "5433").encode()
    message = page.one("pre", class_="trailers").text
    for trailer in (
        "Change-Kind: approved",
        f"Proposal-Id: {port.proposal_id}",
        f"Decision-Id: {port.decision_id}",
        "Agent: claude",
        "Verdict: reviewed",
        "Source: 5d0c",
    ):
        assert trailer in message


def test_change_before_a_rename_is_one_of_the_old_name(
    owner_client: Client, store: Store, port: Change, propose: Propose, owner: User
) -> None:
    moved = land(propose, store, owner, Rename("build.md", "made.md"))
    later = land(propose, store, owner, replaced("made.md", "5433", "5434"))

    links = {a.text: a.attributes["href"] for a in read(owner_client.get(f"/changes/{moved.oid}")).all("a")}

    assert links["Change before"] == f"/changes/{port.oid}?store=notes"
    assert links["Change after"] == f"/changes/{later.oid}?store=notes"
    assert links["As of then"] == f"/stores/notes/made.md?at={moved.oid}"


def test_blame_asks_as_often_after_many_changes_as_after_few(
    owner_client: Client, store: Store, propose: Propose, owner: User
) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as counted:
            assert owner_client.get("/stores/notes/git.md", {"view": "blame"}).status_code == 200
        return len(counted)

    land(propose, store, owner, replaced("git.md", "# Git", "# Git 0"))
    few = queries()
    for number in range(8):
        land(propose, store, owner, replaced("git.md", f"# Git {number}", f"# Git {number + 1}"))

    assert queries() == few
    assert GIT.splitlines()[2] in owner_client.get("/stores/notes/git.md", {"view": "blame"}).text
