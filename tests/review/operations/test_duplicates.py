from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from memoryreview.core.edits import Write
from memoryreview.review.api.answers import proposal_answer
from memoryreview.review.models import Agent, Proposal, State, Store
from memoryreview.review.operations import accounts, takeback
from memoryreview.review.operations.duplicates import originals, reject_as_duplicate
from memoryreview.review.operations.errors import NotPermittedError, StaleViewError
from tests.conftest import MakeStore, Propose, replaced
from tests.review.operations.test_decide import NOTE


@pytest.fixture
def store(make_store: MakeStore) -> Store:
    return make_store({"ports.md": NOTE, "mail.md": "# Mail\n\n- Mail goes to the relay in Frankfurt every night.\n"})


@pytest.fixture
def other(owner: User) -> Agent:
    return accounts.add_agent("codex", person=owner).agent


def test_older_proposals_about_the_same_documents_are_offered(
    store: Store, propose: Propose, owner: User, other: Agent
) -> None:
    first = propose(store, replaced("ports.md", "on 5432", "on 6432"))
    propose(store, Write("else.md", "# Else\n\nSomething else.\n"))
    second = propose(store, replaced("ports.md", "on 5432", "on 6433"), by=other)

    assert [one.key for one in originals(second, owner)] == [f"proposal-{first.pk}"]
    assert originals(first, owner) == ()


def test_the_other_one_is_named_and_reopening_forgets_it(
    store: Store, propose: Propose, owner: User, other: Agent
) -> None:
    first = propose(store, replaced("ports.md", "on 5432", "on 6432"))
    second = propose(store, replaced("ports.md", "on 5432", "on 6433"), by=other)

    decided = reject_as_duplicate(
        second.pk, person=owner, version=second.version, of=f"proposal-{first.pk}", note="Same port."
    )

    assert (decided.proposal.state, decided.proposal.duplicate_of) == (State.REJECTED, first)
    assert decided.decision is not None
    assert decided.decision.reason == "duplicate"
    assert decided.decision.note == f"The same as proposal {first.pk}. Same port."
    assert proposal_answer(decided.proposal)["duplicate_of"] == first.pk
    takeback.undo(decided.decision.pk, person=owner)
    assert Proposal.objects.get(pk=second.pk).duplicate_of is None


def test_an_entry_that_says_it_already_is_offered_and_named(store: Store, propose: Propose, owner: User) -> None:
    proposal = propose(store, Write("night.md", "# Night\n\n- Mail goes to the relay in Frankfurt every night.\n"))

    [original] = originals(proposal, owner)
    decided = reject_as_duplicate(proposal.pk, person=owner, version=proposal.version, of=original.key)

    assert original.key == "entry-3-mail.md"
    assert decided.decision is not None
    assert decided.decision.note == "It stands in “mail.md”, line 3 already."
    assert decided.proposal.duplicate_of is None


def test_what_was_not_offered_decides_nothing(
    store: Store, propose: Propose, owner: User, stranger: User, other: Agent
) -> None:
    first = propose(store, replaced("ports.md", "on 5432", "on 6432"))
    second = propose(store, replaced("ports.md", "on 5432", "on 6433"), by=other)
    key = f"proposal-{first.pk}"

    for of in ("", f"proposal-{second.pk}", "proposal-999", "entry-1-/etc/passwd"):
        with pytest.raises(StaleViewError):
            reject_as_duplicate(second.pk, person=owner, version=second.version, of=of)
    with pytest.raises(StaleViewError):
        reject_as_duplicate(second.pk, person=owner, version=second.version + 1, of=key)
    with pytest.raises(NotPermittedError):
        reject_as_duplicate(second.pk, person=stranger, version=second.version, of=key)

    assert Proposal.objects.get(pk=second.pk).state == State.PENDING
