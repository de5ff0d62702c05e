from __future__ import annotations

from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client

from memoryreview.review.models import Agent, Change, Proposal, Role, Store
from memoryreview.review.operations import rollback, tidy_stops
from memoryreview.review.operations.tidy import preview, tidy
from tests.conftest import MakeStore, on_disk

from .conftest import Browser
from .reading import read

pytestmark = pytest.mark.django_db

REPEATED = "- Staging listens on 5432.\n- Mail goes to the sink.\n- Staging listens on 5432.\n"
SHORTER = "- Do not build the project. The user does it.\n- Do not build the project.\n"


@pytest.fixture
def untidy(make_store: MakeStore) -> Store:
    return make_store({"ports.md": REPEATED, "rules.md": SHORTER, "x.sync-conflict-20260324-101112-ABC.md": "x\n"})


def _tidied(store: Store) -> list[Change]:
    return list(Change.objects.filter(store=store, agent__name=Agent.TIDY))


def test_page_shows_what_would_be_done_and_does_nothing(owner_client: Client, untidy: Store) -> None:
    page = read(owner_client.get("/tidy/"))

    assert "Tidy now: 1 edit, 1 suggestion" in page.text
    assert "Repeated entries" in page.text
    assert "Line 1 above begins with the same words and goes on" in page.text
    assert "left this copy of “x.md”" in page.text
    assert _tidied(untidy) == []
    assert not Proposal.objects.exists()


def test_button_does_what_was_shown(owner_client: Client, untidy: Store) -> None:
    shown = preview(untidy).shown

    form = read(owner_client.get("/tidy/")).form("/tidy/notes/run")

    answer = owner_client.post("/tidy/notes/run", form)

    assert form["shown"] == shown
    assert (answer.status_code, answer["Location"]) == (303, "/tidy/?store=notes")
    assert on_disk(untidy, "ports.md").decode() == REPEATED[:52]
    page = read(owner_client.get("/tidy/?store=notes"))
    assert "Tidied notes: 1 commit and 1 suggestion." in page.text
    assert "There is nothing to tidy." in page.text
    [change] = _tidied(untidy)
    [proposal] = Proposal.objects.waiting()
    assert page.all("a", href=f"/changes/{change.oid}")
    assert page.all("a", href=f"/proposals/{proposal.pk}")
    again = owner_client.post("/tidy/notes/run", {"shown": shown})
    assert again.status_code == 409, "pressing twice does it once"
    assert len(_tidied(untidy)) == 1


def test_a_plan_that_changed_is_shown_instead_of_done(owner_client: Client, untidy: Store) -> None:
    shown = preview(untidy).shown
    tidy(untidy)
    (Path(untidy.root) / "new.md").write_text("New.\n")

    answer = owner_client.post("/tidy/notes/run", {"shown": shown})

    assert answer.status_code == 409
    assert "What tidying would do changed since this page was made. Nothing was changed." in read(answer).text
    assert len(_tidied(untidy)) == 1


@pytest.mark.parametrize("act", ["run", "switch", "resume"])
def test_acts_are_posts_of_those_who_decide(
    act: str, untidy: Store, browser: Browser, stranger: User, owner_client: Client
) -> None:
    body = {"shown": preview(untidy).shown, "on": "0", "rule": "dedupe.exact"}

    assert owner_client.get(f"/tidy/notes/{act}").status_code == 405
    assert browser(stranger).post(f"/tidy/notes/{act}", body).status_code == 404
    assert Client().post(f"/tidy/notes/{act}", body).status_code in (302, 403)
    assert _tidied(untidy) == []
    assert Store.objects.get(pk=untidy.pk).tidies


def test_a_member_of_the_team_does_not_see_what_a_maintainer_may_do(
    make_store: MakeStore, join: object, second: User, browser: Browser
) -> None:
    store = make_store({"ports.md": REPEATED}, name="shared", team=True)
    assert callable(join)
    join(store, second, Role.MEMBER)

    assert browser(second).get("/tidy/?store=shared").status_code == 404
    assert "There is no store in which you decide." in read(browser(second).get("/tidy/")).text


def test_a_rolled_back_rule_is_stopped_and_switched_on_again(owner_client: Client, untidy: Store, owner: User) -> None:
    [change] = tidy(untidy).applied
    rollback.roll_back(change, person=owner)

    page = read(owner_client.get("/tidy/?store=notes"))
    assert "Repeated entries: stopped. olga rolled it back" in page.text

    owner_client.post("/tidy/notes/resume", {"rule": "dedupe.exact"})

    after = read(owner_client.get("/tidy/?store=notes"))
    assert "Switched on again. What was rolled back is not done again." in after.text
    assert preview(untidy).stops == ()
    assert preview(untidy).steps == ()


def test_the_daily_run_is_switched_off_and_on(owner_client: Client, untidy: Store) -> None:
    owner_client.post("/tidy/notes/switch", {"on": "0"})

    assert not Store.objects.get(pk=untidy.pk).tidies
    assert "Run once a day" in read(owner_client.get("/tidy/")).text
    owner_client.post("/tidy/notes/switch", {"on": "1"})
    assert Store.objects.get(pk=untidy.pk).tidies


def test_a_lost_folder_is_said_and_nothing_is_offered(owner_client: Client, make_store: MakeStore) -> None:
    store = make_store({f"{name}.md": REPEATED for name in "abcd"})
    for name in "abc":
        (Path(store.root) / f"{name}.md").unlink()

    answer = owner_client.post("/tidy/notes/run", {"shown": preview(store).shown})

    assert answer.status_code == 409
    page = read(answer)
    assert "Nothing is tidied. 3 of 4 documents are gone from the folder." in page.text
    assert "Tidy now" not in page.text


def test_a_rule_that_does_not_exist_is_not_found(owner_client: Client, untidy: Store) -> None:
    assert owner_client.post("/tidy/notes/resume", {"rule": "no.rule"}).status_code == 404


def test_edits_of_the_day_are_counted(owner_client: Client, untidy: Store) -> None:
    tidy(untidy)

    assert "1 of 200 edits in 24 hours" in read(owner_client.get("/tidy/")).text
    assert tidy_stops.edits_today(untidy) == 1
