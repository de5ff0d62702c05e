from __future__ import annotations

from django.contrib.auth.models import User
from django.test import Client

from memoryreview.review.models import Proposal, State, Store
from memoryreview.review.operations import accounts
from tests.conftest import Propose, replaced

from .conftest import Browser
from .reading import read


def test_a_plain_form_chooses_the_older_one_and_goes_on(
    owner_client: Client, store: Store, propose: Propose, owner: User
) -> None:
    first = propose(store, replaced("build.md", "5432", "5433"))
    second = propose(store, replaced("build.md", "5432", "5434"), by=accounts.add_agent("codex", person=owner).agent)
    address = f"/proposals/{second.pk}/duplicate"
    assert address in owner_client.get(f"/proposals/{second.pk}").content.decode()
    form = read(owner_client.get(address)).form(address)

    missing = owner_client.post(address, {**form, "of": "", "note": "<b>Same</b>"})
    answer = owner_client.post(address, {**form, "of": f"proposal-{first.pk}"})

    assert missing.status_code == 409
    assert read(missing).by_id("duplicate-note").attributes["value"] == "<b>Same</b>"
    assert (answer.status_code, answer.headers["Location"]) == (303, f"/proposals/{first.pk}")
    assert Proposal.objects.get(pk=second.pk).duplicate_of == first
    assert owner_client.get(address).status_code == 200


def test_a_page_without_a_choice_says_what_to_do(owner_client: Client, store: Store, propose: Propose) -> None:
    proposal = propose(store, replaced("build.md", "5432", "5433"))

    page = owner_client.get(f"/proposals/{proposal.pk}/duplicate").content.decode()

    assert "Reject it with the reason “duplicate” and a note instead." in page
    assert '<form class="form"' not in page


def test_strangers_find_nothing(browser: Browser, stranger: User, store: Store, propose: Propose) -> None:
    proposal = propose(store, replaced("build.md", "5432", "5433"))
    address = f"/proposals/{proposal.pk}/duplicate"
    client = browser(stranger)

    assert (client.get(address).status_code, client.post(address, {"of": "x"}).status_code) == (404, 404)
    assert Proposal.objects.get(pk=proposal.pk).state == State.PENDING
