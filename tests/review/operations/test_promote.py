from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from memoryreview.core.edits import Delete
from memoryreview.core.errors import InvalidOperationError
from memoryreview.review.models import Agent, ChangeKind, Proposal, State, Store
from memoryreview.review.operations import promote, receive
from memoryreview.review.operations.errors import NotFoundError, RefusedChangeError, SecretDetectedError
from tests.conftest import MakeStore, Propose, on_disk
from tests.review.operations.test_decide import approve

TOPIC = "---\nname: release-checklist\ndescription: how we release\ntype: project\n---\nTag, then push.\n"


@pytest.fixture
def private(make_store: MakeStore) -> Store:
    return make_store({"MEMORY.md": "- [R](project_release.md) — how\n", "project_release.md": TOPIC}, name="mine")


@pytest.fixture
def team(make_store: MakeStore) -> Store:
    files = {"MEMORY.md": "# Team\n\n- [W](team_window.md) — when\n", "team_window.md": "Tuesdays.\n"}
    return make_store(files, name="acme-team", team=True)


def test_promotion_waits_and_carries_its_provenance(private: Store, team: Store, propose: Propose) -> None:
    proposal = propose(private, receive.Promote("project_release.md", "acme-team"))

    assert (proposal.store, proposal.state, proposal.promoted_from) == (team, State.PENDING, private)
    assert (proposal.promoted_path, len(proposal.promoted_commit)) == ("project_release.md", 40)
    assert "scope.promote" in proposal.kinds


def test_approved_promotion_lands_with_its_index_row(
    private: Store, team: Store, propose: Propose, owner: User
) -> None:
    decided = approve(propose(private, receive.Promote("project_release.md", "acme-team")), owner)

    assert decided.change is not None
    assert decided.change.kind == ChangeKind.PROMOTE
    assert on_disk(team, "project_release.md") == TOPIC.encode()
    assert b"(project_release.md)" in on_disk(team, "MEMORY.md")
    assert on_disk(private, "project_release.md") == TOPIC.encode()


def test_person_promotes_what_they_see(private: Store, team: Store, owner: User, stranger: User) -> None:
    with pytest.raises(NotFoundError):
        promote.promote(private, "project_release.md", to=team, person=stranger)

    assert promote.promote(private, "project_release.md", to=team, person=owner).person == owner


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("---\nname: me\ntype: user\n---\nLives at the harbour.\n", RefusedChangeError),
        ("nas: pass" + "=" + "root1234\n", SecretDetectedError),
    ],
)
def test_c139_private_notes_never_go_to_a_team(
    make_store: MakeStore, team: Store, agent: Agent, text: str, error: type[Exception]
) -> None:
    store = make_store({"note.md": text}, name="mine")

    with pytest.raises(error):
        receive.submit(receive.Request(store.slug, (receive.Promote("note.md", "acme-team"),)), agent=agent)

    assert Proposal.objects.count() == 0


def test_promotion_stands_alone(private: Store, team: Store, agent: Agent) -> None:
    operations = (receive.Promote("project_release.md", "acme-team"), Delete("MEMORY.md"))

    with pytest.raises(InvalidOperationError):
        receive.submit(receive.Request(private.slug, operations), agent=agent)
