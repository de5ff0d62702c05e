"""What memory says already about a proposal: only from stores that the reader may see, and never out of step."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.contrib.auth.models import User
from django.db import connections

from memoryreview.core.edits import Delete, EntryAdd, Write
from memoryreview.core.relations import RelationKind
from memoryreview.review.models import Membership, Proposal, Role
from memoryreview.review.operations import decide, promote, relations
from memoryreview.review.operations.relations import Remembered, near, remembered
from memoryreview.review.operations.standing import standing
from memoryreview.review.operations.stores import baseline_dir, reading
from tests.conftest import MakeStore, Propose, on_disk, replaced

pytestmark = pytest.mark.django_db

CONTRADICTION, ELSEWHERE = RelationKind.CONTRADICTION, RelationKind.ELSEWHERE
_LINKS = (RelationKind.LINKS_IN, RelationKind.LINKS_OUT, RelationKind.ORPHAN)


def look(proposal: Proposal, person: User) -> Remembered:
    with reading(proposal.store) as repository:
        return remembered(proposal, standing(proposal.revision, repository).delta, repository, near(person))


def told(proposal: Proposal, person: User) -> list[tuple[RelationKind, str, str]]:
    return [(r.kind, r.there.store, r.there.path) for r in look(proposal, person).relations if r.kind not in _LINKS]


def test_a_disagreement_in_the_same_store(make_store: MakeStore, propose: Propose, owner: User) -> None:
    store = make_store({"ports.md": "- The API listens on port 8080.\n", "mail.md": "- Mail goes to the sink.\n"})
    proposal = propose(store, Write(path="api.md", content="- The API listens on port 8088.\n"))
    [relation] = look(proposal, owner).relations
    assert (relation.kind, relation.sentence) == (CONTRADICTION, "“8088” here, “8080” there.")
    assert (relation.there.store, relation.there.path, relation.there.line) == ("notes", "ports.md", 1)


def test_a_strangers_store_with_the_same_sentence_is_never_looked_at(
    make_store: MakeStore, propose: Propose, owner: User, stranger: User
) -> None:
    store = make_store({"a.md": "- Something else.\n"})
    secret = make_store({"b.md": "- The API listens on port 8080.\n"}, name="secret")
    secret.owner = stranger
    secret.save(update_fields=["owner"])
    team = make_store({"c.md": "- The API listens on port 8081.\n"}, name="theirs", team=True)
    Membership.objects.filter(team=team.team, person=owner).delete()
    assert team.team is not None
    Membership.objects.create(team=team.team, person=stranger, role=Role.MAINTAINER)
    proposal = propose(store, Write(path="api.md", content="- The API listens on port 8088.\n"))
    assert told(proposal, owner) == []
    secret.owner = owner
    secret.save(update_fields=["owner"])
    assert told(proposal, owner) == [(CONTRADICTION, "secret", "b.md")]
    secret.owner = stranger
    secret.save(update_fields=["owner"])
    assert told(proposal, owner) == []


def test_a_team_proposal_shows_each_reader_their_own_stores_only(
    make_store: MakeStore, propose: Propose, join: Callable[..., Membership], owner: User, second: User
) -> None:
    team = make_store({"window.md": "Something else.\n"}, name="team", team=True)
    join(team, second)
    make_store({"w.md": "Deploy on Tuesdays and Thursdays.\n"}, name="mine")
    proposal = propose(team, Write(path="deploy.md", content="Deploy on Tuesdays between 10:00 and 12:00.\n"))
    assert told(proposal, owner) == [(CONTRADICTION, "mine", "w.md")]
    assert told(proposal, second) == []


def test_the_index_follows_what_is_approved(make_store: MakeStore, propose: Propose, owner: User) -> None:
    store = make_store({"ports.md": "- The API listens on port 8080.\n", "old.md": "- Mail goes to the sink.\n"})
    waiting = propose(store, Write(path="api.md", content="- The API listens on port 8088.\n"))
    assert told(waiting, owner) == [(CONTRADICTION, "notes", "ports.md")]
    change = propose(store, replaced("ports.md", "8080", "8088"))
    decide.approve(change.pk, person=owner, version=change.version, shown=_shown(change))
    assert told(waiting, owner) == [(ELSEWHERE, "notes", "ports.md")]
    deletion = propose(store, Delete(path="ports.md"))
    decide.approve(deletion.pk, person=owner, version=deletion.version, shown=_shown(deletion))
    assert told(waiting, owner) == []
    assert b"8088" not in on_disk(store, "old.md")


def _shown(proposal: Proposal) -> str:
    with reading(proposal.store) as repository:
        return standing(proposal.revision, repository).shown


def test_an_earlier_rejection_names_its_proposal(make_store: MakeStore, propose: Propose, owner: User) -> None:
    store = make_store({"a.md": "- One.\n"})
    first = propose(store, EntryAdd(path="a.md", text="Dana likes green peppers"))
    decide.reject(first.pk, person=owner, version=first.version, reason="wrong", note="she does not")
    again = propose(store, Write(path="dana.md", content="- Dana likes green peppers!\n"))
    found = look(again, owner)
    [relation] = found.relations
    assert relation.kind is RelationKind.REJECTED_BEFORE
    told = found.rejected[relation.there]
    assert (told.id, told.reason, told.note) == (first.pk, "wrong", "she does not")


def test_a_promotion_does_not_repeat_its_own_source(make_store: MakeStore, propose: Propose, owner: User) -> None:
    private = make_store({"p.md": "Deploy on Tuesdays between 10:00 and 12:00.\n"}, name="mine")
    team = make_store({"w.md": "Deploy on Tuesdays and Thursdays.\n"}, name="team", team=True)
    proposal = promote.promote(private, "p.md", to=team, person=owner)
    assert told(proposal, owner) == [(CONTRADICTION, "team", "w.md")]


def test_a_store_that_cannot_be_read_says_nothing(make_store: MakeStore, propose: Propose, owner: User) -> None:
    store = make_store({"a.md": "- Something else.\n"})
    broken = make_store({"b.md": "- The API listens on port 8080.\n"}, name="broken")
    proposal = propose(store, Write(path="api.md", content="- The API listens on port 8088.\n"))
    assert told(proposal, owner) == [(CONTRADICTION, "broken", "b.md")]
    (baseline_dir(broken) / "config").unlink()
    assert told(proposal, owner) == []


def test_a_store_too_large_for_one_page_is_read_by_and_by(
    make_store: MakeStore, propose: Propose, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relations, "MAX_READ_DOCUMENTS", 2)
    files: dict[str, str | bytes] = {f"n{number}.md": f"- Note {number} of many.\n" for number in range(3)}
    store = make_store(files | {"z.md": "- The API listens on port 8080.\n"})
    proposal = propose(store, Write(path="api.md", content="- The API listens on port 8088.\n"))
    first, then = look(proposal, owner), look(proposal, owner)
    assert (first.unread, [r.kind for r in first.relations]) == (2, [])
    assert (then.unread, [r.kind for r in then.relations]) == (0, [CONTRADICTION])


@pytest.mark.django_db(transaction=True)
def test_threads_share_one_index(make_store: MakeStore, propose: Propose, owner: User) -> None:
    store = make_store({f"n{number}.md": f"- Port of service {chr(65 + number)} is open\n" for number in range(20)})
    make_store({"ports.md": "- The API listens on port 8080.\n"}, name="other")
    proposal = propose(store, Write(path="api.md", content="- The API listens on port 8088.\n"))

    def ask(_: int) -> list[tuple[RelationKind, str, str]]:
        try:
            return told(proposal, owner)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(ask, range(8))) == [[(CONTRADICTION, "other", "ports.md")]] * 8
