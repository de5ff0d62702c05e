"""The section of a proposal's page that says what memory already says."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.test import Client

from memoryreview.core.edits import Delete, EntryAdd, Write
from memoryreview.review.models import Proposal, Store
from memoryreview.review.operations import decide
from tests.conftest import MakeStore, Propose, replaced

from .conftest import Browser
from .reading import Element, read


def _section(client: Client, proposal: Proposal) -> Element:
    return read(client.get(f"/proposals/{proposal.pk}")).one("section", class_="memory")


def test_a_pair_that_may_disagree_shows_both_sentences(
    owner_client: Client, make_store: MakeStore, propose: Propose
) -> None:
    store = make_store({"ports.md": "- The API listens on port 8080.\n"})
    proposal = propose(store, Write(path="api.md", content="- The API listens on port 8088.\n"))
    page = read(owner_client.get(f"/proposals/{proposal.pk}"))
    section = page.one("section", class_="memory")
    assert "May disagree. “8088” here, “8080” there." in section.text
    assert "now, ports.md, line 1 The API listens on port 8080." in section.text
    assert "with this change, api.md, line 1 The API listens on port 8088." in section.text
    assert "/stores/notes/ports.md" in [link.attributes.get("href") for link in page.all("a")]


def test_what_memory_says_is_text_and_never_markup(
    owner_client: Client, make_store: MakeStore, propose: Propose
) -> None:
    store = make_store({"a.md": "- The <b>API</b>\u202e listens on port 8080 <script>alert(1)</script>\n"})
    hostile = "- The <b>API</b>\u202e listens on port 8088 <script>alert(1)</script>\n"
    proposal = propose(store, Write(path="b.md", content=hostile))
    html = owner_client.get(f"/proposals/{proposal.pk}").content.decode()
    assert "<script>alert(1)" not in html
    assert "\u202e" not in html


def test_nothing_about_the_same_subject_is_said(owner_client: Client, store: Store, propose: Propose) -> None:
    section = _section(owner_client, propose(store, EntryAdd(path="git.md", text="Tags are signed.")))
    assert section.text == "What memory already says Nothing about the same subject."


def test_a_deletion_names_the_links_that_it_breaks(
    owner_client: Client, make_store: MakeStore, propose: Propose
) -> None:
    store = make_store({"a.md": "See [[b]].\n", "b.md": "Reads [[c]].\n", "c.md": "Text.\n"})
    section = _section(owner_client, propose(store, Delete(path="b.md")))
    assert "These links would lead nowhere: a.md, line 1" in section.text
    assert "Nothing would lead there any more: c.md" in section.text


def test_an_earlier_rejection_of_the_same_claim_leads_to_it(
    owner_client: Client, owner: User, store: Store, propose: Propose
) -> None:
    first = propose(store, EntryAdd(path="git.md", text="Dana likes green peppers"))
    decide.reject(first.pk, person=owner, version=first.version, reason="wrong", note="she does not")
    again = propose(store, Write(path="dana.md", content="- Dana likes green peppers!\n"))
    page = read(owner_client.get(f"/proposals/{again.pk}"))
    section = page.one("section", class_="memory")
    assert "Rejected before. Nearly the same was rejected before." in section.text
    assert "as “wrong”: she does not" in section.text
    assert f"/proposals/{first.pk}" in [link.attributes.get("href") for link in page.all("a")]


def test_the_words_of_a_strangers_store_stand_nowhere_on_the_page(
    browser: Browser, make_store: MakeStore, propose: Propose, owner: User, stranger: User
) -> None:
    store = make_store({"a.md": "- Something else.\n"})
    theirs = make_store({"vault.md": "- The API listens on port 8080.\n"}, name="theirs")
    theirs.owner = stranger
    theirs.save(update_fields=["owner"])
    proposal = propose(store, Write(path="api.md", content="- The API listens on port 8088.\n"))
    html = browser(owner).get(f"/proposals/{proposal.pk}").content.decode()
    assert "What memory already says" in html
    assert "vault.md" not in html
    assert "8080" not in html


def test_a_decided_proposal_compares_no_more(owner_client: Client, owner: User, store: Store, propose: Propose) -> None:
    proposal = propose(store, replaced("git.md", "before review", "after review"))
    decide.reject(proposal.pk, person=owner, version=proposal.version, reason="")
    assert "What memory already says" not in owner_client.get(f"/proposals/{proposal.pk}").content.decode()
