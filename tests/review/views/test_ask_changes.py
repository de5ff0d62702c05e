from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from memoryreview.core.edits import Write
from memoryreview.review.models import Agent, Decision, Proposal, State, Store, Verb
from memoryreview.review.operations import decide, receive
from tests.conftest import Propose, on_disk, replaced

from .conftest import BUILD, Browser
from .reading import read

HTMX = {"HX-Request": "true", "HX-Target": "proposal"}
NOTE = "Say “which” <b>host</b>."


@pytest.fixture
def waiting(store: Store, propose: Propose) -> Proposal:
    return propose(store, replaced("build.md", "5432", "5433"))


def test_a_plain_form_hands_it_back_and_goes_on(owner_client: Client, waiting: Proposal, store: Store) -> None:
    form = read(owner_client.get(f"/proposals/{waiting.pk}")).form(f"/proposals/{waiting.pk}/ask")

    answer = owner_client.post(f"/proposals/{waiting.pk}/ask", {**form, "note": NOTE})

    assert (answer.status_code, answer.headers["Location"]) == (303, "/")
    assert Proposal.objects.get(pk=waiting.pk).state == State.CHANGES_REQUESTED
    assert on_disk(store, "build.md") == BUILD.encode()
    queue = read(owner_client.get("/"))
    assert queue.by_id("toast").text.startswith(f"Asked for changes: {waiting.title}")
    assert queue.by_id("undo").text.startswith(f"Asked for changes last: {waiting.title}")
    page = owner_client.get(f"/proposals/{waiting.pk}")
    assert "olga asked for changes. “Say “which” &lt;b&gt;host&lt;/b&gt;.”" in page.content.decode().replace(
        "<b>olga</b>", "olga"
    )


def test_an_empty_note_changes_nothing_and_keeps_the_sheet_open(owner_client: Client, waiting: Proposal) -> None:
    form = read(owner_client.get(f"/proposals/{waiting.pk}")).form(f"/proposals/{waiting.pk}/ask")

    answer = owner_client.post(f"/proposals/{waiting.pk}/ask", {**form, "note": "  "}, headers=HTMX)

    page = read(answer)
    assert answer.status_code == 403
    assert "Say what should change" in page.one("div", role="alert", class_="box box--danger").text
    assert "open" in page.by_id("ask-note").ancestors[-3].attributes
    assert Proposal.objects.get(pk=waiting.pk).state == State.PENDING


def test_a_stale_form_keeps_the_note_that_was_typed(owner_client: Client, waiting: Proposal) -> None:
    form = read(owner_client.get(f"/proposals/{waiting.pk}")).form(f"/proposals/{waiting.pk}/ask")

    answer = owner_client.post(f"/proposals/{waiting.pk}/ask", {**form, "version": "7", "note": NOTE})

    assert answer.status_code == 409
    page = read(answer)
    assert (page.by_id("ask-note").text, page.by_id("reject-note").attributes["value"]) == (NOTE, "")
    assert Proposal.objects.get(pk=waiting.pk).state == State.PENDING


def test_the_new_revision_shows_what_was_asked(
    owner_client: Client, waiting: Proposal, store: Store, owner: User, agent: Agent
) -> None:
    decide.ask_for_changes(waiting.pk, person=owner, version=waiting.version, note="Say which host.")
    receive.revise(waiting.pk, receive.Request(store.slug, (Write("new.md", "# New\n"),)), agent=agent)

    assert "Changes were asked for: “Say which host.”" in read(owner_client.get(f"/proposals/{waiting.pk}")).text


def test_reopen_lets_it_wait_again(owner_client: Client, waiting: Proposal, owner: User) -> None:
    def reject(version: int) -> None:
        decide.reject(waiting.pk, person=owner, version=version)

    def ask(version: int) -> None:
        decide.ask_for_changes(waiting.pk, person=owner, version=version, note="Which?")

    for hold in (reject, ask):
        hold(Proposal.objects.get(pk=waiting.pk).version)
        form = read(owner_client.get(f"/proposals/{waiting.pk}")).form(f"/proposals/{waiting.pk}/reopen")
        answers = [owner_client.post(f"/proposals/{waiting.pk}/reopen", form) for _ in range(2)]
        assert [answer.status_code for answer in answers] == [303, 409]
        assert Proposal.objects.get(pk=waiting.pk).state == State.PENDING
    assert Decision.objects.filter(verb=Verb.REOPEN).count() == 2


def test_strangers_and_get_requests_change_nothing(
    owner_client: Client, waiting: Proposal, browser: Browser, stranger: User
) -> None:
    for act in ("ask", "reopen"):
        address = f"/proposals/{waiting.pk}/{act}"
        assert owner_client.get(address).status_code == 405
        assert browser(stranger).post(address, {"version": waiting.version, "note": NOTE}).status_code == 404
    assert Proposal.objects.get(pk=waiting.pk).state == State.PENDING
    assert not Decision.objects.filter(proposal=waiting).exists()
