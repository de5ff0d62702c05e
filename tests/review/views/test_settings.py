from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from memoryreview.core.edits import Edit, Replacement
from memoryreview.core.model import SAFE_KINDS
from memoryreview.review.models import Change, Role, Store
from memoryreview.review.operations.configure import Settings, current
from memoryreview.review.presenters.settings import settings_page
from memoryreview.review.views import stepup
from tests.conftest import PASSWORD, MakeStore, Propose, on_disk

from .conftest import GIT, Browser

FACT = Edit("git.md", (Replacement("Rebase before review.\n", "Rebase before review.\n- Sign every tag.\n"),))


def form(store: Store, **changed: Any) -> dict[str, Any]:
    """What the page of a store sends back when nothing but `changed` was touched. None takes a field out."""
    stated = current(store)
    fields: dict[str, Any] = {
        "shown": stated.shown(),
        "rules": sorted(map(str, SAFE_KINDS - stated.switched_off)),
        "index_row_chars": str(stated.index_row_chars),
        "evidence_root": stated.evidence_root,
    }
    if stated.passive:
        fields["passive"] = "on"
    return {name: value for name, value in (fields | changed).items() if value is not None}


def followed(client: Client, url: str, sent: dict[str, Any]) -> str:
    """Send a form and return the page that the browser is sent on to."""
    answer = client.post(url, sent)
    assert answer.status_code == 303
    return client.get(answer.headers["Location"]).content.decode()


@pytest.fixture
def late(owner_client: Client) -> Client:
    """The owner's browser, long after the password was typed."""
    session = owner_client.session
    session[stepup._PASSWORD_AT] = 0.0
    session.save()
    return owner_client


def test_page_shows_every_rule_and_saves_a_plain_form(store: Store, owner: User, owner_client: Client) -> None:
    page = owner_client.get("/settings/notes/").content.decode()
    assert page.count('name="rules"') == len(SAFE_KINDS)
    assert {rule.kind for rule in settings_page(store, owner, store.created_at).rules} == set(map(str, SAFE_KINDS))

    rules = [str(kind) for kind in SAFE_KINDS if str(kind) != "index.trim"]
    told = followed(owner_client, "/settings/notes/", form(store, rules=rules, index_row_chars="150"))

    assert "Saved. Edits of the rule index.trim wait for a person." in told
    assert "Who set what" in told
    assert (current(store).index_row_chars, {*map(str, current(store).switched_off)}) == (150, {"index.trim"})
    assert f"1 rule of {len(SAFE_KINDS)} waits" in owner_client.get("/settings/").content.decode()


def test_form_that_lacks_its_fields_is_stricter(store: Store, owner_client: Client) -> None:
    Store.objects.filter(pk=store.pk).update(passive=True)

    owner_client.post("/settings/notes/", form(store, rules=["no.such.rule", "fact.add"], passive=None))

    assert current(store) == Settings(switched_off=SAFE_KINDS)


def test_laxer_setting_asks_for_the_password_and_keeps_what_was_typed(store: Store, late: Client) -> None:
    sent = form(store, passive="on", index_row_chars="180")

    asked = late.post("/settings/notes/", sent)
    page = asked.content.decode()
    assert (asked.status_code, current(store)) == (403, Settings())
    assert "New facts land unread." in page
    assert 'type="password"' in page
    assert 'value="180"' in page

    assert late.post("/settings/notes/", {**sent, "password": "wrong horse battery"}).status_code == 403
    assert current(store) == Settings()

    assert late.post("/settings/notes/", {**sent, "password": PASSWORD}).status_code == 303
    assert current(store) == Settings(index_row_chars=180, passive=True)


def test_stricter_setting_asks_for_nothing(store: Store, late: Client) -> None:
    assert late.post("/settings/notes/", form(store, rules=[], index_row_chars="400")).status_code == 303

    assert current(store) == Settings(switched_off=SAFE_KINDS, index_row_chars=400)


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("index_row_chars", "99", "Choose between 120 and 400 characters."),
        ("index_row_chars", "many", "Choose between 120 and 400 characters."),
        ("evidence_root", "code", "Name a folder on this machine by its full path."),
    ],
)
def test_wrong_value_is_told_beside_its_field(
    store: Store, owner_client: Client, field: str, value: str, sentence: str
) -> None:
    answer = owner_client.post("/settings/notes/", form(store, passive="on", **{field: value}))

    page = answer.content.decode()
    assert (answer.status_code, current(store)) == (422, Settings())
    assert f'<p class="error" role="alert">{sentence}' in page
    assert 'name="passive" checked' in page


def test_form_of_before_somebody_elses_is_not_saved(store: Store, owner_client: Client) -> None:
    old = form(store, index_row_chars="300")
    Store.objects.filter(pk=store.pk).update(index_row_chars=150)

    answer = owner_client.post("/settings/notes/", old)

    assert (answer.status_code, current(store).index_row_chars) == (409, 150)
    assert "changed since you opened the page" in answer.content.decode()
    assert 'value="150"' in answer.content.decode()


def test_settings_are_closed_to_others(
    make_store: MakeStore, store: Store, stranger: User, second: User, join: Any, browser: Browser
) -> None:
    team = make_store({"a.md": "a\n"}, name="team", team=True)
    join(team, stranger, Role.MEMBER)
    join(team, second)
    member, maintainer = browser(stranger), browser(second)

    assert [member.get(f"/settings/{slug}/").status_code for slug in ("notes", "team", "none")] == [404, 403, 404]
    assert member.post("/settings/team/", form(team, index_row_chars="300")).status_code == 403
    assert member.post("/settings/notes/", form(store, index_row_chars="300")).status_code == 404
    assert "No store is yours to set" in member.get("/settings/").content.decode()
    assert Client().get("/settings/notes/").status_code == 302
    assert (current(team), current(store)) == (Settings(), Settings())

    page = maintainer.get("/settings/team/").content.decode()
    assert 'name="passive"' not in page
    assert 'name="evidence_root"' not in page
    assert maintainer.post("/settings/team/", form(team, evidence_root=None, index_row_chars="300")).status_code == 303


def test_agents_token_and_a_form_without_its_nonce_set_nothing(store: Store, owner_client: Client, owner: User) -> None:
    sent = form(store, index_row_chars="300")
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(owner)

    assert strict.post("/settings/notes/", sent).status_code == 403
    assert owner_client.post("/settings/notes/", sent, headers={"Authorization": "Bearer mrv_x"}).status_code == 403
    assert owner_client.post("/settings/notes/", sent, headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403
    assert current(store) == Settings()


@pytest.fixture
def unread(store: Store, propose: Propose) -> Change:
    Store.objects.filter(pk=store.pk).update(passive=True)
    return propose(store, FACT).changes.get()


def test_what_landed_unread_is_found_and_kept(unread: Change, owner_client: Client) -> None:
    assert "1 landed unread" in owner_client.get("/").content.decode()
    listed = owner_client.get("/history/?show=unread").content.decode()
    assert unread.title in listed
    assert "landed unread" in owner_client.get(f"/changes/{unread.oid}").content.decode()

    kept = followed(owner_client, "/history/keep", {"change": [unread.pk, "x", "99"]})

    assert "Kept 1 change." in kept
    assert "Nothing landed that you have not read." in kept
    assert "landed unread" not in owner_client.get("/").content.decode()
    assert "Nothing was left to keep." in followed(owner_client, "/history/keep", {"change": [unread.pk]})


def test_what_landed_unread_is_rolled_back_from_the_list(unread: Change, store: Store, owner_client: Client) -> None:
    sent = {"store": store.slug, "show": "unread"}

    page = followed(owner_client, f"/changes/{unread.oid}/rollback", sent)

    assert "Nothing landed that you have not read." in page
    assert (on_disk(store, "git.md"), Change.objects.unread().count()) == (GIT.encode(), 0)


def test_stranger_keeps_nothing(unread: Change, stranger: User, browser: Browser) -> None:
    other = browser(stranger)

    other.post("/history/keep", {"change": [unread.pk]})

    assert Change.objects.unread().count() == 1
    assert unread.title not in other.get("/history/?show=unread").content.decode()


def test_store_named_settings_has_its_own_pages(make_store: MakeStore, owner_client: Client) -> None:
    store = make_store({"settings.md": "text\n"}, name="settings")

    assert "settings.md" in owner_client.get("/stores/settings/").content.decode()
    assert owner_client.get("/settings/settings/").status_code == 200
    assert Path(store.root).name == "settings"
