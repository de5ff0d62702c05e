from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from django.contrib.auth.models import User

from memoryreview.core.edits import Edit, Replacement, Write
from memoryreview.review.models import Agent, Change, Decision, Intent, Proposal, Reason, State, Store, Verb
from memoryreview.review.operations import decide, receive, takeback
from memoryreview.review.operations.apply import finish
from memoryreview.review.operations.capture import capture
from memoryreview.review.operations.errors import (
    CannotApplyError,
    NotPermittedError,
    RejectedBeforeError,
    StaleViewError,
)
from memoryreview.review.operations.partial import LeftOut, portions_of
from memoryreview.review.operations.receive import Promote, Request
from memoryreview.review.operations.standing import standing
from memoryreview.review.operations.stores import locked, reading
from tests.conftest import MakeStore, Propose, on_disk
from tests.review.operations.test_decide import NOTE, approve

INDEX = "# Index\n\n- [Ports](ports.md): which\n"
HOST = Replacement("Staging listens on 5432", "Staging listens on 6432")
MAIL = Replacement("Mail goes to the sink", "Mail goes to the relay")
PARTLY = NOTE.replace("on 5432", "on 6432")


def without(proposal: Proposal, person: User, *numbers: int, **options: object) -> decide.Decided:
    reason = str(options.pop("reason", ""))
    return approve(proposal, person, left_out=LeftOut(frozenset(numbers), reason), **options)


@pytest.fixture
def store(make_store: MakeStore) -> Store:
    return make_store({"ports.md": NOTE, "MEMORY.md": INDEX}, format="claude")


@pytest.fixture
def waiting(store: Store, propose: Propose) -> Proposal:
    return propose(store, Edit("ports.md", (HOST, MAIL)))


def test_what_is_kept_is_committed_and_the_rest_waits_no_more(store: Store, waiting: Proposal, owner: User) -> None:
    decided = without(waiting, owner, 2, reason=Reason.WORDING, note="It is called the sink.")

    assert (on_disk(store, "ports.md"), decided.proposal.state) == (PARTLY.encode(), State.APPLIED)
    assert decided.change is not None
    assert "6432" in decided.change.title or "Staging" in decided.change.title
    assert "more" not in decided.change.title
    assert not Proposal.objects.live().exists()
    assert decided.decision is not None
    assert (decided.decision.reason, decided.decision.note) == ("wording", "It is called the sink.")


def test_each_action_says_what_became_of_it(waiting: Proposal, owner: User) -> None:
    decided = without(waiting, owner, 2, reason=Reason.WRONG, note="Ask Ana.")

    assert decided.change is not None
    applied, dropped = decided.proposal.revision.actions
    assert (applied["outcome"], applied["commit"], "6432" in applied["new"]) == ("applied", decided.change.oid, True)
    assert (dropped["outcome"], dropped["outcome_reason"]) == ("dropped", "wrong: Ask Ana.")
    assert "the relay" in dropped["new"]
    assert "commit" not in dropped
    assert decided.proposal.dropped == 1


def test_keeping_all_is_the_plain_approval(store: Store, waiting: Proposal, owner: User) -> None:
    decided = without(waiting, owner, reason=Reason.WRONG)

    assert b"the relay" in on_disk(store, "ports.md")
    assert decided.decision is not None
    assert (decided.decision.reason, decided.proposal.dropped) == ("", 0)
    assert all("outcome" not in action for action in decided.proposal.revision.actions)


def test_what_was_not_on_the_page_or_is_all_of_it_changes_nothing(store: Store, waiting: Proposal, owner: User) -> None:
    with pytest.raises(NotPermittedError, match="reject the proposal instead"):
        without(waiting, owner, 1, 2)
    with pytest.raises(StaleViewError):
        without(waiting, owner, 3)
    with pytest.raises(StaleViewError):
        without(waiting, owner, 2, shown="0" * 64)
    with pytest.raises(NotPermittedError, match="credential"):
        without(waiting, owner, 2, note="AKIA" + "KEUCRLBQBNCCN2DH")

    assert on_disk(store, "ports.md") == NOTE.encode()
    assert Proposal.objects.get(pk=waiting.pk).state == State.PENDING
    assert not Decision.objects.filter(proposal=waiting).exists()


def test_a_document_and_its_row_in_the_index_go_together(store: Store, propose: Propose, owner: User) -> None:
    proposal = propose(
        store,
        Write("new.md", "# New\n\nThe cache is warm.\n"),
        Write("MEMORY.md", INDEX + "- [New](new.md): the cache\n"),
        Edit("ports.md", (MAIL,)),
    )
    with reading(store) as repository:
        offered = portions_of(store, standing(proposal.revision, repository))
    [bound] = [portion for portion in offered if len(portion.parts) > 1]

    without(proposal, owner, bound.number)

    assert {part.path for part in bound.parts} == {"new.md", "MEMORY.md"}
    assert not (Path(store.root) / "new.md").exists()
    assert (on_disk(store, "MEMORY.md"), b"the relay" in on_disk(store, "ports.md")) == (INDEX.encode(), True)


def test_the_dropped_part_sent_again_is_known(store: Store, waiting: Proposal, owner: User, agent: Agent) -> None:
    without(waiting, owner, 2, reason=Reason.WRONG, note="Ask Ana.")

    with pytest.raises(RejectedBeforeError) as refusal:
        receive.submit(Request(store.slug, (Edit("ports.md", (MAIL,)),)), agent=agent)

    assert refusal.value.rejected["id"] == waiting.pk
    assert (refusal.value.rejected["reason"], refusal.value.rejected["note"]) == ("wrong", "Ask Ana.")


def test_undo_takes_back_what_was_kept(store: Store, waiting: Proposal, owner: User) -> None:
    decision = without(waiting, owner, 2).decision
    assert decision is not None

    takeback.undo(decision.pk, person=owner)

    assert on_disk(store, "ports.md") == NOTE.encode()
    assert Proposal.objects.get(pk=waiting.pk).state == State.ROLLED_BACK


def test_what_is_dropped_of_a_direct_write_gives_way_on_disk(store: Store, owner: User) -> None:
    root = Path(store.root)
    (root / "ports.md").write_text(NOTE.replace("on 5432", "on 6432").replace("the sink", "the relay"))
    (root / "extra.md").write_text("# Extra\n\nSomething else.\n")
    [direct] = capture(store)
    with reading(store) as repository:
        offered = portions_of(store, standing(direct.revision, repository))
    dropped = [
        portion.number
        for portion in offered
        if any(part.path == "extra.md" or (part.change and b"relay" in part.change.new) for part in portion.parts)
    ]

    without(direct, owner, *dropped)

    store.refresh_from_db()
    assert (on_disk(store, "ports.md"), (root / "extra.md").exists()) == (PARTLY.encode(), False)
    assert (store.differing, capture(store)) == ([], [])


def test_a_promotion_is_approved_as_a_whole(
    store: Store, make_store: MakeStore, propose: Propose, second: User, join: Callable[..., object]
) -> None:
    team = make_store({"ports.md": NOTE.replace("5432", "1").replace("the sink", "x")}, name="shared", team=True)
    join(team, second)
    proposal = propose(store, Promote("ports.md", team.slug))

    with pytest.raises(NotPermittedError, match="as a whole"):
        without(proposal, second, 1)

    assert Proposal.objects.get(pk=proposal.pk).state == State.PENDING


def test_a_kill_after_the_commit_still_tells_what_was_dropped(
    store: Store, waiting: Proposal, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        pass

    def kill(step: str) -> None:
        if step == "documents.written":
            raise Killed

    monkeypatch.setattr("memoryreview.baseline.steps.on_step", kill)
    with pytest.raises(Killed):
        without(waiting, owner, 2, reason=Reason.WRONG)
    monkeypatch.undo()
    with locked(store) as shop:
        for intent in Intent.objects.filter(store=store):
            finish(shop, intent)

    waiting.refresh_from_db()
    assert (waiting.state, waiting.dropped) == (State.APPLIED, 1)
    assert [action["outcome"] for action in waiting.revision.actions] == ["applied", "dropped"]
    assert Change.objects.filter(proposal=waiting).count() == 1


def test_a_failed_landing_leaves_it_whole(store: Store, waiting: Proposal, owner: User) -> None:
    path = Path(store.root) / "ports.md"
    path.chmod(0o444)

    with pytest.raises(CannotApplyError):
        without(waiting, owner, 2)

    waiting.refresh_from_db()
    assert (waiting.state, waiting.dropped) == (State.PENDING, 0)
    assert all("outcome" not in action for action in waiting.revision.actions)
    assert Decision.objects.filter(proposal=waiting, verb=Verb.FAIL).count() == 1
