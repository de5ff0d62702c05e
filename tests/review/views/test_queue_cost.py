"""How often the pages of the queue ask the database, however much waits and whatever is asked for."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from memoryreview.core.edits import Write
from memoryreview.review.models import Agent, Membership, Proposal
from memoryreview.review.operations import decide, queue_search, receive, saved
from memoryreview.review.operations.listing import View
from tests.conftest import MakeStore, Propose, replaced

AT_MOST = 8
"""The session, the person, the stores, the list, the counts, the proposal, its documents, what was rejected before."""

HTMX = {"HX-Request": "true"}
_TOOLS = Write("tools.md", "# Tools\n\nUse npm.\n")
_SOURCE = {"evidence": "it moved", "files": [{"path": "ports.yml", "line": 3, "text": "5433"}]}
_FILTERS = (
    *({}, {"agent": "claude"}, {"store": "acme"}, {"scope": "team"}, {"kind": "fact.rewrite"}),
    *({"risk": risk} for risk in ("high", "medium", "low")),
    *({"state": state} for state in ("pending", "quarantined", "failed", "changes_requested")),
    *({"age": age} for age in ("day", "week")),
    *({"q": "port"}, {"q": "po"}, {"q": "nothing of this"}, {"agent": "claude", "kind": "fact.rewrite", "risk": "low"}),
    *({"q": "port", "agent": "claude", "risk": "low"}, {"before": "end"}, {"after": "2000-9000000"}),
)


@pytest.fixture
def waiting(
    make_store: MakeStore, propose: Propose, owner: User, second: User, join: Callable[..., Membership], agent: Agent
) -> None:
    """A private store and one of a team; what the owner's agent proposes there waits for somebody else.

    The riskiest one cites its source, answers what was asked, and repeats what was rejected.
    """
    own = make_store({"build.md": "# Build\n\nThe port is 5432.\n"}, name="own")
    team = make_store({"build.md": "# Build\n\nThe port is 5432.\nThe host is db.\n"}, name="acme", team=True)
    join(team, second)
    edit = replaced("build.md", "The port is 5432.\n", "")
    for store in (own, team):
        once = propose(store, edit)
        decide.reject(once.pk, person=owner, version=once.version, reason="wrong", note="It stands.")
        again = propose(store, edit, source=_SOURCE)
        decide.ask_for_changes(again.pk, person=owner, version=again.version, note="Say why.")
        receive.revise(again.pk, receive.Request(store.slug, (edit, _TOOLS)), agent=agent)
        for number in range(4):
            propose(store, Write(path=f"n{number}.md", content=f"# N\n\nThe port of {number} is new.\n"))
        propose(store, replaced("build.md", "5432", "5433"))
    queue_search.bring_up()
    for number in range(3):
        saved.save_view(owner, name=f"View {number}", query=f"q=port&risk=low&agent={number}")


def _asked(client: Client, address: str, query: dict[str, str], **headers: str) -> list[str]:
    with CaptureQueriesContext(connection) as queries:
        assert client.get(address, query, headers=headers).status_code == 200
    return [query["sql"][:120] for query in queries]


@pytest.mark.parametrize("view", View)
def test_pages_of_the_queue_ask_the_database_little(view: View, waiting: None, owner_client: Client) -> None:
    for query in _FILTERS:
        asked = _asked(owner_client, "/", {**query, "show": str(view)})
        assert len(asked) <= AT_MOST, (query, asked)


def test_parts_of_the_queue_ask_the_database_little(waiting: None, owner_client: Client, owner: User) -> None:
    for proposal in Proposal.objects.live():
        for headers in ({}, HTMX):
            asked = _asked(owner_client, f"/proposals/{proposal.pk}", {}, **headers)
            assert len(asked) <= AT_MOST, (proposal, headers, asked)
