"""So many documents gone that nobody can have meant it: an alarm, and two answers of a person."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client

from memoryreview.review.models import Change, Decision, Proposal, Store, Verb
from memoryreview.review.operations import audit, losses
from memoryreview.review.operations.capture import capture
from memoryreview.review.operations.errors import CannotApplyError, NotPermittedError
from memoryreview.review.operations.stores import reading
from tests.conftest import PASSWORD, MakeStore, on_disk
from tests.review.operations.test_decide import approve

FILES = {f"n{number}.md": f"text {number}\n" for number in range(8)} | {"sub/deep.md": "deep\n"}


@pytest.fixture
def store(make_store: MakeStore) -> Store:
    made = make_store(FILES)
    for path in FILES:
        if path != "n0.md":
            (Path(made.root) / path).unlink()
    (Path(made.root) / "n0.md").write_text("other\n")
    capture(made)
    made.refresh_from_db()
    assert "8 of 9 documents are gone" in made.alarm
    return made


def test_lost_documents_are_put_back_and_capturing_goes_on(store: Store, owner: User) -> None:
    (Path(store.root) / "n1.md").write_text("somebody was faster\n")

    assert losses.put_back(store, person=owner) == 7

    store.refresh_from_db()
    assert (store.alarm, [p.paths for p in Proposal.objects.waiting()]) == ("", [["n0.md", "n1.md"]])
    assert {path: on_disk(store, path) for path in FILES} == {path: text.encode() for path, text in FILES.items()} | {
        "n0.md": b"other\n",
        "n1.md": b"somebody was faster\n",
    }
    decision = Decision.objects.latest("pk")
    assert (decision.verb, decision.person, decision.note) == (
        Verb.RESTORE,
        owner,
        "Put 7 approved documents back into the folder.",
    )
    assert (audit.audit(store), Change.objects.count()) == ([], 1)


def test_loss_that_is_meant_waits_as_deletions(store: Store, owner: User) -> None:
    made = losses.accept(store, person=owner)

    assert [(p.kinds[0], p.deletes, len(p.paths)) for p in made] == [("fact.rewrite", True, 9)]
    assert (capture(store), capture(store)) == ([], [])
    store.refresh_from_db()
    assert store.alarm == ""
    with reading(store) as repository:
        assert len(repository.snapshot(repository.head() or "")) == 9
    approve(made[0], owner)
    with reading(store) as repository:
        assert dict(repository.snapshot(repository.head() or "")) == {"n0.md": b"other\n"}


def test_what_is_lost_after_a_meant_loss_is_alarming_again(make_store: MakeStore, owner: User) -> None:
    store = make_store({f"n{number}.md": f"text {number}\n" for number in range(20)})
    for number in range(11):
        (Path(store.root) / f"n{number}.md").unlink()
    capture(store)
    losses.accept(store, person=owner)
    for number in range(11, 20):
        (Path(store.root) / f"n{number}.md").unlink()

    assert capture(store) == []

    store.refresh_from_db()
    assert "9 of 20" in store.alarm
    assert losses.put_back(store, person=owner) == 9
    assert not (Path(store.root) / "n0.md").exists()


@pytest.mark.parametrize("answer", [losses.put_back, losses.accept])
def test_stranger_may_say_nothing(store: Store, stranger: User, answer: type) -> None:
    with pytest.raises(NotPermittedError):
        answer(store, person=stranger)

    assert (Proposal.objects.count(), len(list(Path(store.root).iterdir()))) == (0, 2)


@pytest.mark.parametrize("answer", [losses.put_back, losses.accept])
def test_folder_that_is_gone_itself_stays_alarming(store: Store, owner: User, answer: type) -> None:
    shutil.rmtree(store.root)

    with pytest.raises(CannotApplyError, match="Nothing was changed"):
        answer(store, person=owner)

    assert not Path(store.root).exists()


def test_f22_folder_that_vanishes_and_returns_needs_no_answer(make_store: MakeStore, tmp_path: Path) -> None:
    store = make_store(FILES)
    away = Path(store.root).rename(tmp_path / "away")
    capture(store)
    Path(store.root).mkdir()  # the empty mount point
    capture(store)
    store.refresh_from_db()
    assert "9 of 9" in store.alarm
    Path(store.root).rmdir()
    away.rename(store.root)

    assert capture(store) == []

    store.refresh_from_db()
    assert (store.alarm, Proposal.objects.count()) == ("", 0)


def test_alarm_stands_on_every_page_of_who_sees_the_store(store: Store, owner_client: Client, stranger: User) -> None:
    other = Client()
    other.force_login(stranger)
    for address in ("/", "/history/", "/help/", f"/stores/{store.slug}/"):
        assert "Capturing is paused" in owner_client.get(address).content.decode()
        assert "Capturing is paused" not in other.get(address).content.decode()


def test_buttons_of_the_store_page_answer_it(store: Store, owner_client: Client) -> None:
    page = owner_client.get(f"/stores/{store.slug}/").content.decode()
    assert "Put the approved documents back" in page
    assert owner_client.get(f"/stores/{store.slug}/put-back").status_code == 405

    done = owner_client.get(owner_client.post(f"/stores/{store.slug}/put-back")["Location"]).content.decode()

    assert "Put 8 approved documents back." in done
    assert "Capturing is paused" not in done
    again = owner_client.get(owner_client.post(f"/stores/{store.slug}/accept-loss")["Location"]).content.decode()
    assert "Nothing is lost any more." in again


def test_putting_back_asks_for_the_password_again(
    store: Store, owner_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "STEP_UP_MINUTES", 0)
    page = owner_client.get(f"/stores/{store.slug}/").content.decode()
    assert page.count('name="password"') == 1

    for typed in ({}, {"password": "wrong"}):
        assert owner_client.post(f"/stores/{store.slug}/put-back", typed).status_code == 403

    assert not (Path(store.root) / "n1.md").exists()
    assert not Decision.objects.filter(verb=Verb.RESTORE).exists()
    assert owner_client.post(f"/stores/{store.slug}/put-back", {"password": PASSWORD}).status_code == 303
    assert (Path(store.root) / "n1.md").exists()


def test_stranger_cannot_press_them(store: Store, stranger: User) -> None:
    client = Client()
    client.force_login(stranger)

    for name in ("put-back", "accept-loss"):
        assert client.post(f"/stores/{store.slug}/{name}").status_code == 404

    assert not (Path(store.root) / "n1.md").exists()


def test_meant_loss_goes_to_its_proposal(store: Store, owner_client: Client) -> None:
    done = owner_client.post(f"/stores/{store.slug}/accept-loss")

    assert done["Location"].endswith(f"/proposals/{Proposal.objects.get().pk}")
