"""What differs between two revisions of a proposal, and what changed since a person looked."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from memoryreview.core.edits import Edit
from memoryreview.review.models import Agent, Proposal, State, Store
from memoryreview.review.operations import decide, receive
from tests.conftest import MakeStore, Propose, on_disk, replaced

from .conftest import BUILD
from .reading import Element, Page, read


@pytest.fixture
def waiting(store: Store, propose: Propose) -> Proposal:
    return propose(store, replaced("build.md", "5432", "5433"))


def _revise(proposal: Proposal, agent: Agent, edit: Edit) -> None:
    receive.revise(proposal.pk, receive.Request(proposal.store.slug, (edit,)), agent=agent)


def _page(client: Client, proposal: Proposal, **query: str) -> Page:
    return read(client.get(f"/proposals/{proposal.pk}", query))


def _marked(page: Page, where: str) -> tuple[list[str], list[str]]:
    """Return the words that go and come in one section of the page."""
    [section] = page.all("section", aria_label=where)
    return tuple([one.text for one in page.all(tag) if section in one.ancestors] for tag in ("del", "ins"))  # type: ignore[return-value]


def _options(page: Page) -> list[Element]:
    return [one for one in page.all("option") if page.by_id("compare") in one.ancestors]


def test_one_revision_offers_nothing_to_compare(owner_client: Client, waiting: Proposal) -> None:
    assert _page(owner_client, waiting, compare="1-1").all("section", aria_label="Revisions") == []


def test_the_last_revision_is_compared_with_the_one_before(
    owner_client: Client, waiting: Proposal, agent: Agent
) -> None:
    for port in ("5434", "5435"):
        _revise(waiting, agent, replaced("build.md", "5432", port))
    page = _page(owner_client, waiting)

    options = [(one.attributes["value"], one.text) for one in _options(page)]
    assert options == [("2-3", "3 against 2"), ("1-2", "2 against 1"), ("1-3", "3 against 1")]

    compared = _page(owner_client, waiting, compare="1-3")
    assert "Revision 3 against revision 1" in compared.one("section", aria_label="Revisions").text
    assert _marked(compared, "Revisions") == (["5433"], ["5435"])
    [chosen] = [one for one in _options(compared) if "selected" in one.attributes]
    assert chosen.attributes["value"] == "1-3"


def test_folded_lines_of_a_comparison_are_shown_in_their_place(
    owner_client: Client, owner: User, make_store: MakeStore, propose: Propose, agent: Agent
) -> None:
    facts = [f"- Fact {n} stands here." for n in range(1, 101)]
    waiting = propose(make_store({"facts.md": "\n".join(facts)}), replaced("facts.md", "Fact 50 ", "Fact 50a "))
    _revise(waiting, agent, replaced("facts.md", "Fact 50 ", "Fact 50b "))
    page = _page(owner_client, waiting, compare="1-2", context="20")
    link = page.by_id("open-c0-0-all").attributes["href"]

    opened = read(owner_client.get(link))

    assert link == f"/proposals/{waiting.pk}?compare=1-2&context=20&open=c0.1-30#diff-c0"
    gaps = {name: _gaps_of(opened, name) for name in ("diff-c0", "diff-0")}
    assert gaps == {"diff-c0": ["30 unchanged lines"], "diff-0": ["29 unchanged lines", "30 unchanged lines"]}
    assert _marked(opened, "Revisions") == (["50a"], ["50b"])


def _gaps_of(page: Page, name: str) -> list[str]:
    table = page.by_id(name)
    return [row.text.partition(" Show")[0] for row in page.all("tr", class_="diff__gap") if table in row.ancestors]


def test_what_the_baseline_took_in_between_two_revisions_is_no_difference_of_theirs(
    owner_client: Client, owner: User, waiting: Proposal, agent: Agent, propose: Propose, store: Store
) -> None:
    other = propose(store, replaced("build.md", "the npm store", "the pnpm store"))
    page = read(owner_client.get(f"/proposals/{other.pk}"))
    owner_client.post(f"/proposals/{other.pk}/approve", page.form(f"/proposals/{other.pk}/approve"))
    _revise(waiting, agent, replaced("build.md", "5432", "5434"))

    assert _marked(_page(owner_client, waiting, compare="1-2"), "Revisions") == (["5433"], ["5434"])


@pytest.mark.parametrize("stated", ["", "x", "1-9", "2-2", "0-1", "1-2-3", "999999999-1"])
def test_revisions_that_do_not_exist_are_not_compared(
    owner_client: Client, waiting: Proposal, agent: Agent, stated: str
) -> None:
    _revise(waiting, agent, replaced("build.md", "5432", "5434"))

    assert "against revision" not in _page(owner_client, waiting, compare=stated).text


def test_a_stale_approval_shows_what_changed_since_the_person_looked(
    owner_client: Client, waiting: Proposal, agent: Agent, store: Store
) -> None:
    form = _page(owner_client, waiting).form(f"/proposals/{waiting.pk}/approve")
    _revise(waiting, agent, replaced("build.md", "5432", "5434"))

    answer = owner_client.post(f"/proposals/{waiting.pk}/approve", form)

    page = read(answer)
    assert (answer.status_code, Proposal.objects.get(pk=waiting.pk).state) == (409, State.PENDING)
    assert "What changed since you looked" in page.one("section", aria_label="Revisions").text
    assert _marked(page, "Revisions") == (["5433"], ["5434"])
    assert on_disk(store, "build.md") == BUILD.encode()
    assert page.form(f"/proposals/{waiting.pk}/approve")["seen"] != form["seen"]


@pytest.mark.parametrize("seen", ["", "1", "1.1." + "0" * 40, "9" * 19 + ".1." + "0" * 40, "<b>"])
def test_what_was_seen_and_is_not_known_shows_nothing(owner_client: Client, waiting: Proposal, seen: str) -> None:
    form = _page(owner_client, waiting).form(f"/proposals/{waiting.pk}/approve")

    answer = owner_client.post(f"/proposals/{waiting.pk}/approve", {**form, "version": "7", "seen": seen})

    assert answer.status_code == 409
    assert "since you looked" not in read(answer).text


def test_the_next_proposal_is_not_compared_with_the_one_decided(
    owner_client: Client, waiting: Proposal, propose: Propose, store: Store
) -> None:
    propose(store, replaced("build.md", "the npm store", "the pnpm store"))
    form = _page(owner_client, waiting).form(f"/proposals/{waiting.pk}/reject")

    answer = owner_client.post(f"/proposals/{waiting.pk}/reject", form, headers={"HX-Request": "true"})

    assert answer.status_code == 200
    assert "since you looked" not in read(answer).text


def test_a_decided_proposal_still_compares_its_revisions(
    owner_client: Client, owner: User, waiting: Proposal, agent: Agent
) -> None:
    _revise(waiting, agent, replaced("build.md", "5432", "5434"))
    waiting.refresh_from_db()
    decide.reject(waiting.pk, person=owner, version=waiting.version)

    assert _marked(_page(owner_client, waiting, compare="1-2"), "Revisions") == (["5433"], ["5434"])
