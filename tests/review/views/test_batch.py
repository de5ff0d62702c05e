"""Approving several from the queue: a page that shows exactly what would be written, then the outcome of each."""

from __future__ import annotations

import re
import time

import pytest
from django.contrib.auth.models import User
from django.test import Client

from memoryreview.core.concerns import HIGH
from memoryreview.core.edits import Delete
from memoryreview.review.models import Change, Decision, Proposal, State, Store, Verb
from memoryreview.review.operations import decide, rollback
from memoryreview.review.operations.batch import LARGE
from memoryreview.review.views import batch as view
from tests.conftest import MakeStore, Propose, on_disk, replaced

from .reading import read

pytestmark = pytest.mark.django_db


@pytest.fixture
def store(make_store: MakeStore) -> Store:
    return make_store({f"n/{n}.md": f"- Note {n}.\n" for n in range(LARGE + 1)})


@pytest.fixture
def waiting(store: Store, propose: Propose) -> list[Proposal]:
    return [propose(store, replaced(f"n/{n}.md", f"Note {n}.", f"Text {n}.")) for n in range(3)]


def values(client: Client, proposals: list[Proposal]) -> list[str]:
    page = client.get("/batch", {"proposal": [proposal.pk for proposal in proposals]}).content.decode()
    return re.findall(r'name="selected" value="([^"]+)"', page)


def test_the_queue_offers_a_tick_for_each_row(owner_client: Client, waiting: list[Proposal]) -> None:
    page = owner_client.get("/").content.decode()

    assert re.findall(r'name="proposal" value="(\d+)" form="batch"', page) == [str(p.pk) for p in reversed(waiting)]
    assert '<form id="batch" class="list__batch" method="get" action="/batch">' in page


def test_the_page_shows_each_change_and_decides_nothing(owner_client: Client, waiting: list[Proposal]) -> None:
    page = owner_client.get("/batch", {"proposal": [proposal.pk for proposal in waiting]}).content.decode()

    assert [f"n/{n}.md" in page for n in range(3)] == [True] * 3
    assert not Decision.objects.filter(verb=Verb.APPROVE).exists()


def test_what_was_shown_is_approved_and_each_outcome_told(
    owner_client: Client, store: Store, waiting: list[Proposal], owner: User
) -> None:
    selected = values(owner_client, waiting)
    decide.edit(waiting[1].pk, person=owner, version=waiting[1].version, texts={"n/1.md": "- Another.\n"})

    page = owner_client.post("/batch", {"selected": selected}).content.decode()

    assert "2 of 3 approved" in page
    assert "What would be written is not what you saw." in page
    assert [on_disk(store, f"n/{n}.md") for n in range(3)] == [b"- Text 0.\n", b"- Note 1.\n", b"- Text 2.\n"]
    assert page.count("approved as <code>") == 2
    both = Change.objects.filter(kind="approved").order_by("-pk").values_list("pk", flat=True)
    assert f'href="/history/rollback?change={both[1]}&amp;change={both[0]}">Roll back these 2 of' in page


def test_one_that_is_not_ticked_waits_on(owner_client: Client, waiting: list[Proposal]) -> None:
    owner_client.post("/batch", {"selected": values(owner_client, waiting)[:1]})

    states = [Proposal.objects.get(pk=proposal.pk).state for proposal in waiting]
    assert sorted(states) == [State.APPLIED, State.PENDING, State.PENDING]


def test_a_deletion_is_left_out_with_the_reason(owner_client: Client, store: Store, propose: Propose) -> None:
    deletion = propose(store, Delete("n/5.md"))

    page = owner_client.get("/batch", {"proposal": [deletion.pk]}).content.decode()

    assert "It deletes text: look at it by itself." in page
    assert values(owner_client, [deletion]) == []


def test_what_is_more_than_a_page_holds_is_counted(
    owner_client: Client, waiting: list[Proposal], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(view, "MAX_SELECTED", 2)

    page = owner_client.get("/batch", {"proposal": [proposal.pk for proposal in waiting]}).content.decode()

    assert "One page holds 2; the other 1 waits in the queue." in page


def test_a_large_batch_asks_for_the_password_again(
    owner_client: Client, store: Store, propose: Propose, waiting: list[Proposal]
) -> None:
    more = [propose(store, replaced(f"n/{n}.md", f"Note {n}.", f"Text {n}.")) for n in range(3, LARGE)]
    selected = values(owner_client, [*waiting, *more])
    session = owner_client.session
    session["password_at"] = time.time() - 24 * 60 * 60
    session.save()

    answer = owner_client.post("/batch", {"selected": selected})

    assert (answer.status_code, Change.objects.filter(kind="approved").count()) == (403, 0)
    assert 'name="password"' in answer.content.decode()
    answer = owner_client.post("/batch", {"selected": selected, "password": "correct horse battery"})
    assert (answer.status_code, Change.objects.filter(kind="approved").count()) == (200, LARGE)


def test_a_stranger_learns_nothing_of_them(stranger: User, client: Client, waiting: list[Proposal]) -> None:
    client.force_login(stranger)
    made_up = [f"{proposal.pk}:{proposal.version}:{'0' * 64}" for proposal in waiting]

    shown = client.get("/batch", {"proposal": [proposal.pk for proposal in waiting]}).content.decode()
    answer = client.post("/batch", {"selected": made_up}).content.decode()

    assert not any(Proposal.objects.get(pk=proposal.pk).title in shown + answer for proposal in waiting)
    assert "0 of 3 approved" in answer
    assert not Change.objects.filter(kind="approved").exists()


@pytest.mark.parametrize("value", ["", "x", "1", "1:2", ":::", "99999999999999999999:1:x", "1:1:\0"])
def test_a_broken_field_is_harmless(owner_client: Client, waiting: list[Proposal], value: str) -> None:
    answer = owner_client.post("/batch", {"selected": [value]})

    assert answer.status_code == 200
    assert not Change.objects.filter(kind="approved").exists()


def test_high_risk_is_left_out_with_the_reason(owner_client: Client, waiting: list[Proposal]) -> None:
    Proposal.objects.filter(pk=waiting[0].pk).update(risk=HIGH)
    made_up = [f"{waiting[0].pk}:{waiting[0].version}:{'0' * 64}"]

    page = owner_client.get("/batch", {"proposal": [proposal.pk for proposal in waiting]}).content.decode()
    answers = [owner_client.post("/batch", {"selected": made_up, "act": act}) for act in ("", "reject")]

    assert "It is of high risk: look at it by itself." in page
    assert len(values(owner_client, waiting)) == 2
    assert ["It is of high risk: look at it by itself. Nothing" in one.content.decode() for one in answers] == [
        True
    ] * 2
    assert Proposal.objects.get(pk=waiting[0].pk).state == State.PENDING


def test_one_press_takes_the_whole_batch_back(owner_client: Client, store: Store, waiting: list[Proposal]) -> None:
    done = read(owner_client.post("/batch", {"selected": values(owner_client, waiting)}))
    batches = set(Decision.objects.filter(verb=Verb.APPROVE).values_list("batch", flat=True))

    answer = owner_client.post("/undo", done.form("/undo"))

    assert len(batches) == 1
    assert (answer.status_code, answer.headers["Location"]) == (303, "/")
    assert [on_disk(store, f"n/{n}.md") for n in range(3)] == [f"- Note {n}.\n".encode() for n in range(3)]
    assert {Proposal.objects.get(pk=one.pk).state for one in waiting} == {State.ROLLED_BACK}
    assert Change.objects.filter(kind="rollback").count() == 1
    assert "Rolled back 3 changes of the batch." in read(owner_client.get("/")).by_id("toast").text


def test_the_queue_offers_to_undo_the_batch_after_part_of_it_was_undone(
    owner_client: Client, store: Store, waiting: list[Proposal], owner: User
) -> None:
    owner_client.post("/batch", {"selected": values(owner_client, waiting)})
    change = Change.objects.filter(proposal=waiting[2]).get()
    rollback.roll_back(change, person=owner)
    queue = read(owner_client.get("/"))

    owner_client.post("/undo", queue.form("/undo"))

    assert "and the others of its batch" in queue.by_id("undo").text
    assert {Proposal.objects.get(pk=one.pk).state for one in waiting} == {State.ROLLED_BACK}


def test_several_are_rejected_for_one_reason_and_wait_again_by_one_press(
    owner_client: Client, waiting: list[Proposal], owner: User
) -> None:
    selected = values(owner_client, waiting)
    decide.edit(waiting[1].pk, person=owner, version=waiting[1].version, texts={"n/1.md": "- Another.\n"})

    asked = owner_client.post("/batch", {"selected": selected, "act": "ask"})
    untouched = {Proposal.objects.get(pk=one.pk).state for one in waiting}
    page = read(asked)
    hidden = [field.attributes["value"] for field in page.all("input", name="selected")]
    done = owner_client.post("/batch", {"selected": hidden, "act": "reject", "reason": "stale", "note": "Old."})

    assert (untouched, hidden) == ({State.PENDING}, selected)
    assert "2 of 3 rejected" in done.content.decode()
    assert "This proposal changed since you saw it." in done.content.decode()
    rejections = Decision.objects.filter(verb=Verb.REJECT)
    assert {(one.reason, one.note) for one in rejections} == {("stale", "Old.")}
    owner_client.post("/undo", read(done).form("/undo"))
    assert {Proposal.objects.get(pk=one.pk).state for one in waiting} == {State.PENDING}
    assert "2 proposals wait again." in read(owner_client.get("/")).by_id("toast").text


def test_a_secret_in_the_note_of_a_batch_changes_nothing(owner_client: Client, waiting: list[Proposal]) -> None:
    note = "AKIA" + "KEUCRLBQBNCCN2DH"

    answer = owner_client.post(
        "/batch", {"selected": values(owner_client, waiting), "act": "reject", "note": f"use {note}"}
    )

    assert answer.status_code == 403
    assert "looks like a credential" in answer.content.decode()
    assert not Decision.objects.filter(verb=Verb.REJECT).exists()
