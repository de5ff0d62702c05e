"""Leaving out a part of a proposal: boxes in the difference, and what plain forms make of them."""

from __future__ import annotations

import pytest
from django.test import Client

from memoryreview.core.edits import Edit, Replacement, Write
from memoryreview.review.models import Decision, Proposal, State, Store, Verb
from tests.conftest import MakeStore, Propose, on_disk

from .conftest import BUILD, GIT
from .reading import Page, read

HTMX = {"HX-Request": "true", "HX-Target": "proposal"}
TOOLS = Replacement("Use npm for everything.", "Use pnpm for everything.")
CACHE = Replacement("CI caches the npm store.", "CI caches the pnpm store.")


@pytest.fixture
def waiting(store: Store, propose: Propose) -> Proposal:
    return propose(store, Edit("build.md", (TOOLS, CACHE)))


def page_of(client: Client, proposal: Proposal, query: str = "") -> Page:
    return read(client.get(f"/proposals/{proposal.pk}{query}"))


def boxes(page: Page) -> list[str]:
    return [box.attributes["value"] for box in page.all("input", name="drop")]


def test_each_part_has_a_box_of_the_approve_form(owner_client: Client, waiting: Proposal) -> None:
    page = page_of(owner_client, waiting)

    assert boxes(page) == ["1", "2"]
    assert {box.attributes["form"] for box in page.all("input", name="drop")} == {"approve"}
    assert not [box for box in page.all("input", name="drop") if "checked" in box.attributes]
    bodies = [body for body in page.all("tbody") if "data-hunk" in body.attributes]
    assert [body.text[:17].strip() for body in bodies] == ["Leave out line 5", "Leave out line 10"]


def test_a_plain_form_approves_what_is_kept(owner_client: Client, waiting: Proposal, store: Store) -> None:
    form = page_of(owner_client, waiting).form(f"/proposals/{waiting.pk}/approve")
    form |= {"drop": "2", "reason": "wrong", "note": "CI uses npm."}

    answer = owner_client.post(f"/proposals/{waiting.pk}/approve", form)

    assert (answer.status_code, answer.headers["Location"]) == (303, "/")
    assert on_disk(store, "build.md") == BUILD.replace(TOOLS.old, TOOLS.new).encode()
    decision = Decision.objects.get(proposal=waiting, verb=Verb.APPROVE)
    assert (decision.reason, decision.note) == ("wrong", "CI uses npm.")
    assert read(owner_client.get("/")).by_id("toast").text.startswith("Approved in part as ")
    page = page_of(owner_client, waiting)
    assert "applied in part" in page.text
    assert boxes(page) == []


def test_nothing_kept_and_unknown_parts_change_nothing(owner_client: Client, waiting: Proposal, store: Store) -> None:
    address = f"/proposals/{waiting.pk}/approve"
    form = page_of(owner_client, waiting).form(address)

    nothing = owner_client.post(address, {**form, "drop": ["1", "2"]}, headers=HTMX)
    unknown = owner_client.post(address, {**form, "drop": ["9"]}, headers=HTMX)
    nonsense = owner_client.post(address, {**form, "drop": ["x"], "version": "77"}, headers=HTMX)

    assert [answer.status_code for answer in (nothing, unknown, nonsense)] == [403, 409, 409]
    assert "You left out all of it." in read(nothing).by_id("proposal").text
    assert len([box for box in read(nothing).all("input", name="drop") if "checked" in box.attributes]) == 2
    assert not [box for box in read(unknown).all("input", name="drop") if "checked" in box.attributes]
    assert (Proposal.objects.get(pk=waiting.pk).state, on_disk(store, "build.md")) == (State.PENDING, BUILD.encode())


def test_leaving_out_the_deletion_needs_no_second_press(owner_client: Client, store: Store, propose: Propose) -> None:
    rule = "- Never force-push to main.\n"
    proposal = propose(
        store,
        Edit("git.md", (Replacement(rule, ""),)),
        Edit("build.md", (TOOLS,)),
    )
    page = page_of(owner_client, proposal)
    address = f"/proposals/{proposal.pk}/approve"
    form = page.form(address)

    asked = read(owner_client.post(address, {**form, "drop": "1"}, headers=HTMX))
    answer = owner_client.post(address, {**form, "drop": "2"})

    assert "change 1 line of build.md" not in asked.by_id("proposal").text
    assert "Approve deletion" in asked.by_id("proposal").text
    assert [box.attributes["value"] for box in asked.all("input", name="drop") if "checked" in box.attributes] == ["1"]
    assert answer.status_code == 303
    assert (on_disk(store, "git.md"), on_disk(store, "build.md")) == (
        GIT.encode(),
        BUILD.replace(TOOLS.old, TOOLS.new).encode(),
    )


def test_one_box_stands_for_a_document_and_its_row(
    owner_client: Client, make_store: MakeStore, propose: Propose
) -> None:
    index = "# Index\n\n- [Build](build.md): how\n"
    store = make_store({"build.md": BUILD, "MEMORY.md": index}, name="claude", format="claude")
    proposal = propose(
        store,
        Write("new.md", "# New\n\nThe cache is warm.\n"),
        Edit("MEMORY.md", (Replacement(": how\n", ": how\n- [New](new.md): the cache\n"),)),
        Edit("build.md", (TOOLS,)),
    )

    page = page_of(owner_client, proposal)

    assert boxes(page) == ["1", "2"]
    assert "Goes with MEMORY.md: an index row and its document stay together." in page.text
    assert "Goes with new.md: an index row and its document stay together." in page.text


def test_there_is_no_box_where_there_is_no_choice(owner_client: Client, store: Store, propose: Propose) -> None:
    single = propose(store, Edit("build.md", (TOOLS,)))
    double = propose(store, Edit("git.md", (Replacement("main", "trunk"), Replacement("Rebase", "Merge"))))

    assert boxes(page_of(owner_client, single)) == []
    assert boxes(page_of(owner_client, double, "?view=rendered")) == []
    assert boxes(page_of(owner_client, double, "?view=raw")) == []
