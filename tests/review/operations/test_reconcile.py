"""A kill at any step: afterwards every proposal has one true state, disk equals head, nothing is applied twice."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from django.contrib.auth.models import User

from memoryreview.baseline import steps
from memoryreview.core.edits import Delete, Edit, Operation, Replacement, Write
from memoryreview.review.models import Agent, Change, ChangeKind, Intent, Proposal, State, Store
from memoryreview.review.operations import receive, rollback
from memoryreview.review.operations.audit import audit
from memoryreview.review.operations.capture import capture
from memoryreview.review.operations.reconcile import reconcile, reconcile_all
from tests.conftest import MakeStore, Propose, replaced
from tests.review.operations.test_decide import approve

NOTE = "# Ports\n\n- Moved on 13/04/2025.\n- Staging listens on 5432.\n\nMail goes to the sink.\n"


class Killed(BaseException):
    """Stands for the end of the process: no handler of ours catches it."""


def killed_at(number: int, act: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> bool:
    """Run `act` and end it at its n-th durable step; False when it has fewer steps."""
    seen = 0

    def count(_name: str) -> None:
        nonlocal seen
        seen += 1
        if seen == number:
            raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(steps, "on_step", count)
        try:
            act()
        except Killed:
            return True
    return False


def _truth(store: Store) -> None:
    assert audit(store) == []
    assert not Intent.objects.exists()
    assert [path.name for path in Path(store.root).rglob("*") if path.is_file() and path.suffix != ".md"] == []


def _operations(kind: str) -> tuple[Operation, ...]:
    kinds: dict[str, tuple[Operation, ...]] = {
        "edit": (replaced("ports.md", "5432", "6432"),),
        "add": (Write("new/place.md", "New.\n"),),
        "delete": (Delete("ports.md"),),
        "both": (replaced("ports.md", "5432", "6432"), Write("b.md", "b\n"), Delete("a.md")),
    }
    return kinds[kind]


@pytest.mark.parametrize("kind", ["edit", "add", "delete", "both"])
def test_kill_at_each_step_of_an_approval(
    make_store: MakeStore, propose: Propose, owner: User, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    number = 0
    while True:
        number += 1
        store = make_store({"ports.md": NOTE, "a.md": "a\n"}, name=f"s{number}")
        proposal = propose(store, *_operations(kind))
        if not killed_at(number, lambda p=proposal: approve(p, owner), monkeypatch):  # type: ignore[misc]
            break

        reconcile(store)

        _truth(store)
        proposal.refresh_from_db()
        landed = Change.objects.filter(proposal=proposal).count()
        assert (proposal.state, landed) in [(State.PENDING, 0), (State.APPLIED, 1)]
        if proposal.state == State.PENDING:
            approve(proposal, owner)
            _truth(store)
    assert number > 8


def test_kill_at_each_step_of_a_mixed_proposal(
    make_store: MakeStore, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    edit = Edit("ports.md", (Replacement("13/04/2025", "2025-04-13"), Replacement("5432", "6432")))
    number = 0
    while True:
        number += 1
        store = make_store({"ports.md": NOTE}, name=f"s{number}")
        request = receive.Request(store.slug, (edit,))
        if not killed_at(number, lambda r=request: receive.submit(r, agent=agent), monkeypatch):  # type: ignore[misc]
            break

        reconcile(store)

        _truth(store)
        proposal = Proposal.objects.get(store=store)
        assert (proposal.state, proposal.kinds) == (State.PENDING, ["fact.rewrite"])
        assert Change.objects.filter(proposal=proposal, kind=ChangeKind.AUTO).count() == 1
    assert number > 5


def test_kill_at_each_step_of_a_rollback(
    make_store: MakeStore, propose: Propose, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = 0
    while True:
        number += 1
        store = make_store({"ports.md": NOTE}, name=f"s{number}")
        change = approve(propose(store, replaced("ports.md", "5432", "6432")), owner).change
        assert change is not None
        if not killed_at(number, lambda c=change: rollback.roll_back(c, person=owner), monkeypatch):  # type: ignore[misc]
            break

        reconcile(store)

        _truth(store)
        rollback.roll_back(change, person=owner)
        assert (Path(store.root) / "ports.md").read_text() == NOTE
        assert change.rolled_back_by.count() == 1
    assert number > 5


def test_kill_at_each_step_of_a_capture(make_store: MakeStore, monkeypatch: pytest.MonkeyPatch) -> None:
    number = 0
    while True:
        number += 1
        store = make_store({"ports.md": NOTE}, name=f"s{number}")
        changed = NOTE.replace("13/04/2025", "2025-04-13").replace("5432", "6432")
        (Path(store.root) / "ports.md").write_text(changed)
        if not killed_at(number, lambda s=store: capture(s), monkeypatch):  # type: ignore[misc]
            break

        reconcile(store)
        capture(store)  # as the worker does; a kill before the first row leaves nothing to reconcile

        assert (Path(store.root) / "ports.md").read_text() == changed
        assert [p.state for p in Proposal.objects.filter(store=store)] == [State.PENDING]
        _truth(store)
    assert number > 5


def test_reconcile_twice_is_harmless(make_store: MakeStore, propose: Propose, owner: User) -> None:
    store = make_store({"ports.md": NOTE})
    approve(propose(store, replaced("ports.md", "5432", "6432")), owner)

    assert (reconcile_all(), reconcile_all()) == ([], [])
    assert Change.objects.count() == 2


def test_missing_folder_does_not_stop_the_others(make_store: MakeStore) -> None:
    gone, fine = make_store({"a.md": "a\n"}, name="gone"), make_store({"a.md": "a\n"}, name="fine")
    (Path(gone.root) / "a.md").unlink()
    Path(gone.root).rmdir()

    faults = reconcile_all()

    assert len(faults) == 1
    assert capture(fine) == []


def test_file_that_cannot_be_written_does_not_stop_the_store(
    make_store: MakeStore, propose: Propose, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = make_store({"a.md": "a\n", "b.md": "b\n"})
    first, second = propose(store, replaced("a.md", "a", "A")), propose(store, replaced("b.md", "b", "B"))

    def die(name: str) -> None:
        if name == "ref.durable":
            raise Killed

    monkeypatch.setattr(steps, "on_step", die)
    with pytest.raises(Killed):
        approve(first, owner)
    monkeypatch.undo()
    (Path(store.root) / "a.md").chmod(0o444)

    assert approve(second, owner).proposal.state == State.APPLIED
    assert Proposal.objects.get(pk=first.pk).state == State.APPLIED
    assert Store.objects.get().differing == ["a.md"]
