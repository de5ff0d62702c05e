"""The page that erases: previewed, typed again, confirmed, with the password; and the text is in no answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client

from memoryreview.review.models import Change, ChangeKind, Erasure, Store
from memoryreview.review.operations import erase
from memoryreview.review.operations.audit import audit
from memoryreview.review.views import stepup
from tests.conftest import PASSWORD, MakeStore, Propose, on_disk, replaced
from tests.review.operations.test_decide import approve

pytestmark = pytest.mark.django_db(databases=["default", "queue"])

SECRET = "Olga lives at 12 Elm Street"
URL = "/stores/notes/erase"


@pytest.fixture
def store(make_store: MakeStore, propose: Propose, owner: User) -> Store:
    made = make_store({"people.md": "# People\n\n- Sam likes tea.\n"})
    approve(propose(made, replaced("people.md", "- Sam", f"- {SECRET}.\n- Sam")), owner)
    return made


def body(answer: Any) -> str:
    return str(answer.content.decode())


def confirm(client: Client, changed: Mapping[str, str] | None = None) -> Any:
    sent = {"act": "erase", "text": SECRET, "shown": erase.token(SECRET, ""), "confirmation": "notes", "note": "by law"}
    return client.post(URL, sent | dict(changed or {}))


def test_a_typed_text_is_previewed_then_erased(store: Store, owner_client: Client) -> None:
    assert 'type="password" name="text"' in body(owner_client.get(URL))

    seen = owner_client.post(URL, {"text": SECRET})

    assert seen.status_code == 200
    assert SECRET not in body(seen)
    assert "It stands in 1 of 2 commits, in “people.md”." in body(seen)
    assert "- ••••••." in body(seen)
    assert Erasure.objects.count() == 0

    done = confirm(owner_client)

    change = Change.objects.get(kind=ChangeKind.ERASE)
    assert (done.status_code, done.headers["Location"]) == (303, f"/changes/{change.oid}")
    page = owner_client.get(done.headers["Location"])
    assert page.status_code == 200
    assert SECRET not in body(page)
    assert "by law" in body(page)
    assert "What was erased is kept nowhere" in body(page)
    assert "It stood in 1 commit, 1 document and 1 proposal." in body(page)
    assert SECRET.encode() not in on_disk(store, "people.md")
    assert audit(store) == []


def test_the_old_address_of_a_change_leads_to_it(store: Store, owner_client: Client) -> None:
    change = Change.objects.get(kind=ChangeKind.APPROVED)
    old = change.oid
    confirm(owner_client)
    change.refresh_from_db()

    answer = owner_client.get(f"/changes/{old}")

    assert (answer.status_code, answer.headers["Location"]) == (302, f"/changes/{change.oid}")
    assert owner_client.get(f"/changes/{'0' * 40}").status_code == 404


def test_lines_of_a_change_are_chosen_on_its_page(store: Store, owner_client: Client) -> None:
    change = Change.objects.get(kind=ChangeKind.APPROVED)
    assert f"/stores/notes/erase?change={change.oid}&amp;path=people.md" in body(
        owner_client.get(f"/changes/{change.oid}")
    )
    assert SECRET in body(owner_client.get(URL, {"change": change.oid, "path": "people.md"}))
    lines = {"change": change.oid, "path": "people.md", "first": "3", "last": "3"}

    seen = owner_client.post(URL, lines)
    assert "line 3 of “people.md”" in body(seen)
    assert SECRET not in body(seen)
    shown = erase.token(f"- {SECRET}.", "")
    done = owner_client.post(URL, {**lines, "act": "erase", "shown": shown, "confirmation": "notes"})

    assert done.status_code == 303
    assert SECRET.encode() not in on_disk(store, "people.md")


def test_a_whole_document(store: Store, owner_client: Client) -> None:
    seen = owner_client.post(URL, {"path": "people.md"})
    assert "is removed from the memory folder" in body(seen)

    shown = erase.token("", "people.md")
    done = owner_client.post(URL, {"act": "erase", "path": "people.md", "shown": shown, "confirmation": "notes"})

    assert done.status_code == 303
    assert Erasure.objects.get().path == "people.md"
    assert "Erase the document people.md" in body(owner_client.get(URL))
    for change in Change.objects.all():
        assert owner_client.get(f"/changes/{change.oid}").status_code == 200
    for path in ("/history/?store=notes", "/history/?store=notes&path=people.md", "/stores/notes/", "/"):
        assert owner_client.get(path).status_code == 200
    assert SECRET not in body(owner_client.get("/stores/notes/people.md"))


@pytest.mark.parametrize(
    ("changed", "status", "words"),
    [
        ({"confirmation": "nope"}, 403, "type the name of the store"),
        ({"text": SECRET + "!"}, 409, "not what you previewed"),
        ({"note": f"since {SECRET}"}, 403, "The reason holds"),
        ({"text": "abc"}, 409, "6 to 65,536 bytes"),
    ],
)
def test_what_does_not_fit_changes_nothing(
    store: Store, owner_client: Client, changed: dict[str, str], status: int, words: str
) -> None:
    answer = confirm(owner_client, changed)

    assert answer.status_code == status
    assert words in body(answer)
    assert SECRET not in body(answer)
    assert Erasure.objects.count() == 0


def test_it_asks_for_the_password_again(store: Store, owner_client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "STEP_UP_MINUTES", 0)
    session = owner_client.session
    session[stepup._PASSWORD_AT] = 1.0
    session.save()

    assert confirm(owner_client).status_code == 403
    assert confirm(owner_client, {"password": "wrong"}).status_code == 403
    assert Erasure.objects.count() == 0
    assert confirm(owner_client, {"password": PASSWORD}).status_code == 303


def test_who_may_not(store: Store, stranger: User, agent: object) -> None:
    assert Client().get(URL).status_code == 302
    other = Client()
    other.force_login(stranger)
    assert other.post(URL, {"text": SECRET}).status_code == 404
    assert Client(headers={"Authorization": "Bearer mrv_x"}).post(URL, {"text": SECRET}).status_code == 403


def test_a_member_of_the_team_is_refused(make_store: MakeStore, join: object, second: User, owner: User) -> None:
    team_store = make_store({"a.md": f"{SECRET}\n"}, name="shared", team=True)
    join(team_store, second, "member")  # type: ignore[operator]
    client = Client()
    client.force_login(second)

    answer = client.post("/stores/shared/erase", {"text": SECRET})

    assert answer.status_code == 403
    assert "maintainer" in body(answer)


def test_the_text_is_in_no_address_session_or_log(store: Store, owner_client: Client) -> None:
    owner_client.post(URL, {"text": SECRET})
    confirm(owner_client)

    assert SECRET not in str(dict(owner_client.session))
    log = settings.LOG_PATH
    assert not log.exists() or SECRET.encode() not in log.read_bytes()
