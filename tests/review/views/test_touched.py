from __future__ import annotations

from django.contrib.auth.models import User
from django.test import Client

from memoryreview.core.edits import Write
from memoryreview.review.models import Change, Store
from tests.conftest import Propose, replaced
from tests.review.operations.test_decide import approve

from .conftest import Browser
from .reading import read


def test_lines_that_change_are_attributed(owner_client: Client, store: Store, propose: Propose, owner: User) -> None:
    earlier = propose(store, replaced("build.md", "Use npm for", "Use pnpm for"))
    approve(earlier, owner)
    proposal = propose(store, replaced("build.md", "Use pnpm for everything.\nThe port", "Use bun.\nA port"))
    shown = read(owner_client.get(f"/proposals/{proposal.pk}"))

    page = read(owner_client.get(shown.one("a", href=f"/proposals/{proposal.pk}/lines").attributes["href"]))

    newest, first = Change.objects.filter(store=store).order_by("-pk")
    assert [term.text for term in page.all("dt")] == ["Line 5", "Line 6"]
    told = [entry.text for entry in page.all("dd")]
    assert told[0] == f"{newest.title} approved claude and olga, just now, proposal {earlier.pk}"
    assert told[1].startswith(f"{first.title} adopted olga, ")
    assert page.one("a", href="/stores/notes/build.md?view=blame").text == "build.md"


def test_a_part_of_the_page_gets_the_part(owner_client: Client, store: Store, propose: Propose) -> None:
    proposal = propose(store, replaced("build.md", "5432", "5433"))
    address = f"/proposals/{proposal.pk}/lines"

    part = read(owner_client.get(address, headers={"HX-Request": "true"}))

    assert part.elements[0].attributes["id"] == "touched"
    assert part.all("h1") == []
    whole = owner_client.get(address)
    told = read(whole).by_id("touched").text
    assert part.by_id("touched").text == f"The lines that change come from {told}"
    assert "HX-Request" in whole.headers["Vary"]


def test_what_was_decided_is_attributed_as_it_was(
    owner_client: Client, store: Store, propose: Propose, owner: User
) -> None:
    proposal = propose(store, replaced("build.md", "5432", "5433"))
    approve(proposal, owner)

    page = read(owner_client.get(f"/proposals/{proposal.pk}/lines"))

    assert [term.text for term in page.all("dt")] == ["Line 6"]
    assert "Adopt notes" in page.text


def test_additions_touch_no_line(owner_client: Client, store: Store, propose: Propose) -> None:
    proposal = propose(store, Write("more.md", "# More\n\nAll of it.\n"))

    assert read(owner_client.get(f"/proposals/{proposal.pk}")).all("a", href=f"/proposals/{proposal.pk}/lines") == []
    assert "lines are only added" in read(owner_client.get(f"/proposals/{proposal.pk}/lines")).text


def test_strangers_learn_nothing(store: Store, propose: Propose, stranger: User, browser: Browser) -> None:
    proposal = propose(store, replaced("build.md", "5432", "5433"))

    assert browser(stranger).get(f"/proposals/{proposal.pk}/lines").status_code == 404
