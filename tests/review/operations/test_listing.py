from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import product
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from memoryreview.review.models import Agent, Membership, Proposal, Revision, Role, State, Store, Team
from memoryreview.review.operations import listing, opened, queue_search, reach, takeback
from memoryreview.review.operations.listing import Asked, Listing, Reader, Risk, Standing, View
from memoryreview.review.operations.permissions import permission
from memoryreview.review.operations.queue_order import Place
from memoryreview.review.prepared import Prepared
from memoryreview.review.views.history import unread_changes
from memoryreview.review.views.queue import _proved

ALL = Proposal.objects.all()
_STATES = (State.PENDING, State.PENDING, State.QUARANTINED, State.CHANGES_REQUESTED, State.REJECTED)


@pytest.fixture
def stores(owner: User, second: User, stranger: User) -> list[Store]:
    """Two stores of the owner, one of a team of the owner and a second maintainer, one of a stranger."""
    team = Team.objects.create(slug="acme", name="Acme")
    for person in (owner, second):
        Membership.objects.create(team=team, person=person, role=Role.MAINTAINER)
    made = [("home", owner, None), ("work", owner, None), ("acme", None, team), ("other", stranger, None)]
    return [
        Store.objects.create(slug=slug, root=f"/{slug}", format="markdown", owner=whose, team=of, scope=scope)
        for slug, whose, of in made
        for scope in ["team" if of else "private"]
    ]


@pytest.fixture
def waiting(stores: list[Store], owner: User, second: User) -> list[Proposal]:
    """Sixty proposals of all sorts, a quarter of them in a store that the owner does not see."""
    agents = [Agent.objects.create(name=f"agent-{who.username}", person=who) for who in (owner, second)]
    now = timezone.now()
    made = Proposal.objects.bulk_create(
        Proposal(
            store=stores[number % 4],
            agent=agents[number % 5 % 2],
            state=_STATES[number % 7 % 5],
            failure="The disk was full." if number % 6 == 0 else "",
            title=f"Change {number}" + (" of zanzibar" if number % 9 == 0 else ""),
            paths=[f"note_{number}.md"],
            kinds=["fact.add"],
            lead_kind=["fact.add", "file.delete", "index.drop"][number % 3],
            risk=number * 7 % 50,
            created_at=now - timedelta(days=number),
            fingerprint=str(number),
        )
        for number in range(60)
    )  # fmt: skip
    Revision.objects.bulk_create(
        Revision(proposal=proposal, base="", submitted_base="", agent=proposal.agent) for proposal in made
    )
    edited = next(one for one in made if one.store.slug == "acme" and one.agent == agents[1])
    Revision.objects.create(proposal=edited, number=2, base="", submitted_base="", person=owner)
    queue_search.bring_up()
    return made


def _walked(reader: Reader, asked: Asked, rows: int, *, is_backwards: bool) -> list[int]:
    """Go through all pages, from the first or from the last, and return what they show, in the order of the list."""
    turn: Callable[..., Listing] = reader.page_before if is_backwards else reader.page_after
    pages: list[list[int]] = []
    place: Place | None = None
    while True:
        page = turn(place, asked, ALL, rows=rows)
        pages.append([proposal.pk for proposal in page.proposals])
        place = page.earlier if is_backwards else page.later
        if place is None:
            break
    return [pk for page in (reversed(pages) if is_backwards else pages) for pk in page]


_IS_OPEN = ("pending", "quarantined")
_ASKED: list[tuple[Asked, Callable[[Proposal], bool]]] = [
    (Asked(), lambda one: True),
    (Asked(agent="agent-sam"), lambda one: one.agent is not None and one.agent.name == "agent-sam"),
    (Asked(store="work"), lambda one: one.store.slug == "work"),
    (Asked(scope="private"), lambda one: one.store.scope == "private"),
    (Asked(kind="index.drop"), lambda one: one.lead_kind == "index.drop"),
    (Asked(risk=Risk.HIGH), lambda one: one.risk >= 30),
    (Asked(risk=Risk.MEDIUM), lambda one: 20 <= one.risk < 30),
    (Asked(risk=Risk.LOW), lambda one: one.risk < 20),
    (Asked(state=Standing.QUARANTINED), lambda one: one.state == "quarantined"),
    (Asked(state=Standing.FAILED), lambda one: one.failure != ""),
    (Asked(days=30), lambda one: one.created_at <= timezone.now() - timedelta(days=30)),
    (Asked(words="ZANZIBAR"), lambda one: "zanzibar" in one.title),
    (Asked(words="note_1"), lambda one: "note_1" in one.paths[0]),
    (Asked(words="zan change"), lambda one: "zanzibar" in one.title),
    (Asked(words="5"), lambda one: "5" in one.title),
    (Asked(words="change", state=Standing.QUARANTINED, store="home"), lambda one: one.state == "quarantined"
     and one.store.slug == "home"),
    (Asked(words="change", risk=Risk.MEDIUM), lambda one: 20 <= one.risk < 30),
    (Asked(words="change", days=30), lambda one: one.created_at <= timezone.now() - timedelta(days=30)),
    (Asked(agent="agent-sam", kind="fact.add", risk=Risk.LOW, days=5, words="change"),
     lambda one: one.agent is not None and one.agent.name == "agent-sam" and one.lead_kind == "fact.add"
     and one.risk < 20 and one.created_at <= timezone.now() - timedelta(days=5)),
]  # fmt: skip


@pytest.mark.parametrize(("asked", "fits"), _ASKED)
@pytest.mark.parametrize("walked_at_most", [4, 1000])
def test_pages_of_every_filter_follow_each_other_without_gap_or_repeat_both_ways(
    asked: Asked,
    fits: Callable[[Proposal], bool],
    walked_at_most: int,
    waiting: list[Proposal],
    owner: User,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(listing, "WALKED", walked_at_most)
    reader = Reader.of(owner)
    key = (lambda one: (one.created_at, one.pk)) if asked.is_by_age else (lambda one: (-one.risk, -one.pk))
    expected = [
        one.pk
        for one in sorted(waiting, key=key)
        if one.store.slug != "other" and one.state in _IS_OPEN and fits(one)
    ]  # fmt: skip

    assert expected
    assert _walked(reader, asked, 3, is_backwards=False) == expected
    assert _walked(reader, asked, 3, is_backwards=True) == expected
    assert all(reader.holds(asked, pk) for pk in expected)


def test_with_agents_are_those_that_were_asked_for_changes(waiting: list[Proposal], owner: User) -> None:
    expected = {one.pk for one in waiting if one.state == State.CHANGES_REQUESTED and one.store.slug != "other"}

    for asked in (Asked(view=View.AGENTS), Asked(state=Standing.CHANGES_REQUESTED)):
        assert set(_walked(Reader.of(owner), asked, 3, is_backwards=False)) == expected


def test_mine_and_second_approval_share_what_a_person_sees_as_permissions_do(
    waiting: list[Proposal], owner: User
) -> None:
    reader = Reader.of(owner)
    seen = [one for one in waiting if one.store.slug != "other" and one.state in _IS_OPEN]
    may = {one.pk for one in seen if permission(owner, one).allowed}

    assert set(_walked(reader, Asked(view=View.MINE), 5, is_backwards=False)) == may
    assert set(_walked(reader, Asked(view=View.SECOND), 5, is_backwards=False)) == {one.pk for one in seen} - may
    assert any(one.store.slug == "acme" and one.pk in may for one in seen)


def test_a_page_that_looked_through_its_share_says_so_and_leads_on(
    waiting: list[Proposal], owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "WALKED", 6)

    page = Reader.of(owner).page_after(None, Asked(words="59"), ALL, rows=1)

    assert (page.proposals, page.is_short) == ((), True)
    assert page.later is not None


def test_a_stranger_counts_and_lists_nothing_of_others(waiting: list[Proposal], stranger: User) -> None:
    own = {one.pk for one in waiting if one.store.slug == "other" and one.state in _IS_OPEN}
    reader = Reader.of(stranger)

    every, of_another = reader.count([Asked(), Asked(store="home")]).fitting

    assert set(_walked(reader, Asked(), 4, is_backwards=False)) == own
    assert (every, of_another) == (len(own), 0)
    assert not reader.holds(Asked(), next(one.pk for one in waiting if one.store.slug == "home"))


def test_all_counts_are_one_question_and_stop(
    waiting: list[Proposal], owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "COUNTED_AT_MOST", 5)
    reader = Reader.of(owner)

    with CaptureQueriesContext(connection) as queries:
        counted = reader.count([asked for asked, _ in _ASKED])

    assert len(queries) == 1
    assert counted.fitting[0] == 6
    assert counted.fitting[11] == len(_walked(reader, Asked(words="ZANZIBAR"), 50, is_backwards=False))
    assert counted.newest == max(one.pk for one in waiting)


@pytest.mark.parametrize(
    ("asked", "index"),
    [
        (Asked(), "proposal_queue"),
        (Asked(risk=Risk.MEDIUM), "proposal_queue"),
        (Asked(agent="agent-sam"), "proposal_queue_agent"),
        (Asked(kind="fact.add"), "proposal_queue_kind"),
        (Asked(state=Standing.QUARANTINED), "proposal_queue_state"),
        (Asked(view=View.AGENTS), "proposal_queue_state"),
        (Asked(state=Standing.FAILED), "proposal_queue_failed"),
        (Asked(days=7), "proposal_queue_age"),
    ],
)
@pytest.mark.parametrize("store", ["", "home"])
def test_lists_follow_an_index(asked: Asked, index: str, store: str, stores: list[Store], owner: User) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("the plan of a small table says nothing on PostgreSQL")
    place = Place(30, 7)
    reader = Reader.of(owner)

    with CaptureQueriesContext(connection) as queries:
        reader.page_after(place, replace(asked, store=store), ALL, rows=5)
    [sql] = [query["sql"] for query in queries]
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {sql}")
        plan = [row[3] for row in cursor.fetchall()]

    assert any(f"INDEX {index} (" in line for line in plan), plan
    assert not any(line.startswith("SCAN review_proposal") for line in plan), plan


def test_no_question_that_is_kept_holds_the_time_at_which_it_was_built(
    stores: list[Store], owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = tuple(one for one, _ in _ASKED)

    def built(at: datetime) -> list[object]:
        monkeypatch.setattr(timezone, "now", lambda: at)
        reader = Reader.of(owner)
        walks = product(asked, (False, True), (False, True))
        kept: tuple[Prepared[Any], ...] = (
            reach._question.__wrapped__(owner),
            listing._count.__wrapped__(reader, asked, (unread_changes, _proved), (takeback.newest,))[0],
            *(listing._walk.__wrapped__(reader, one, ALL, 9, is_beyond=a, is_backwards=b) for one, a, b in walks),
            *(listing._held.__wrapped__(reader, one) for one in asked),
            opened._visible.__wrapped__(owner),
        )
        return [one._statement for one in kept]

    present = timezone.now()

    assert built(present) == built(present + timedelta(days=400))
