from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from memoryreview.core.edits import Delete, Write
from memoryreview.review.models import Agent, Proposal, State, Store
from memoryreview.review.operations import accounts, receive
from memoryreview.review.presenters.filters import fitting_words
from memoryreview.review.views import queue
from tests.conftest import MakeStore, Propose, replaced

from .conftest import Browser
from .reading import Element, Page, read

HTMX = {"HX-Request": "true"}


def _titles(page: Page) -> list[str]:
    return [row.attributes["data-row"] for row in page.all("a", class_="row__link")]


@pytest.fixture
def three(store: Store, propose: Propose) -> list[Proposal]:
    """A rewrite, a deletion and an addition, in the order they came."""
    return [
        propose(store, replaced("build.md", "5432", "5433")),
        propose(store, replaced("git.md", "- Never force-push to main.\n", "")),
        propose(store, Write(path="new.md", content="# New\n\nA new note.\n")),
    ]


def test_queue_lists_the_riskiest_first_and_shows_it(owner_client: Client, three: list[Proposal]) -> None:
    rewrite, deletion, addition = three

    page = read(owner_client.get("/"))

    assert _titles(page) == [str(deletion.pk), str(rewrite.pk), str(addition.pk)]
    assert page.by_id("proposal").attributes["data-id"] == str(deletion.pk)
    assert page.one("title").text == "(3) Queue · memoryreview"
    assert page.by_id("count").text == "3"


def test_proposal_page_is_the_same_frame_with_that_one_selected(owner_client: Client, three: list[Proposal]) -> None:
    page = read(owner_client.get(f"/proposals/{three[2].pk}"))

    assert len(_titles(page)) == 3
    [current] = page.all("a", aria_current="true", class_="row__link")
    assert current.attributes["data-row"] == str(three[2].pk)
    assert page.by_id("title").text == three[2].title


def test_fragment_and_page_have_the_same_parts(owner_client: Client, three: list[Proposal]) -> None:
    address = f"/proposals/{three[0].pk}"
    whole, part = read(owner_client.get(address)), read(owner_client.get(address, headers=HTMX))

    def ids(page: Page) -> list[str]:
        inside = [e for e in page.elements if any(a.attributes.get("id") == "proposal" for a in e.ancestors)]
        return [e.attributes["id"] for e in inside if "id" in e.attributes]

    assert ids(part) == ids(whole)
    assert part.all("a", class_="row__link") == []
    assert part.one("title").text == whole.one("title").text


def test_history_restore_gets_the_whole_page(owner_client: Client, three: list[Proposal]) -> None:
    answer = owner_client.get(f"/proposals/{three[0].pk}", headers={**HTMX, "HX-History-Restore-Request": "true"})

    assert len(_titles(read(answer))) == 3
    assert "HX-Request" in answer.headers["Vary"]


def test_row_says_what_changes_where_and_who_wants_it(owner_client: Client, three: list[Proposal]) -> None:
    page = read(owner_client.get("/"))

    row = page.one("a", data_row=str(three[1].pk))
    assert row.text.startswith("deletion: Delete “Never force-push to main.” ")
    assert row.text.endswith(" s git.md · claude · notes +0 −1")


def test_pages_follow_each_other_without_gap_or_repeat(
    owner_client: Client, store: Store, propose: Propose, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue, "ROWS", 2)
    for number in range(5):
        propose(store, Write(path=f"n{number}.md", content=f"# N\n\nNote {number}.\n"))
    propose(store, Delete(path="git.md"))

    expected = [str(pk) for pk in Proposal.objects.order_by("-risk", "-id").values_list("pk", flat=True)]

    seen: list[str] = []
    address = "/"
    while address:
        page = read(owner_client.get(address))
        seen += _titles(page)
        address = next((link.attributes["href"] for link in page.all("a", rel="next")), "")

    assert seen == expected
    back = [_titles(page)]
    while links := page.all("a", rel="prev"):
        page = read(owner_client.get(links[0].attributes["href"]))
        back.append(_titles(page))
    assert [pk for one in reversed(back) for pk in one] == expected
    assert _titles(read(owner_client.get("/", {"before": "end"}))) == expected[-2:]


@pytest.mark.parametrize(
    ("query", "expected"),
    [("force-push", [1]), ("build.md", [0]), ("CLAUDE", [1, 0, 2]), ("nothing", []), ("notes", [1, 0, 2])],
)
def test_filter_looks_at_title_document_agent_and_store(
    query: str, expected: list[int], owner_client: Client, three: list[Proposal]
) -> None:
    page = read(owner_client.get("/", {"q": query}))

    assert _titles(page) == [str(three[number].pk) for number in expected]


def test_filter_by_store_stays_in_the_addresses(
    owner_client: Client, three: list[Proposal], make_store: MakeStore, propose: Propose
) -> None:
    other = make_store({"a.md": "# A\n\none\n"}, name="other")
    mine = propose(other, replaced("a.md", "one", "two"))

    page = read(owner_client.get("/", {"store": "other"}))

    [row] = page.all("a", class_="row__link")
    assert row.attributes["href"] == f"/proposals/{mine.pk}?store=other"
    kept = [link.attributes["href"] for link in page.all("a") if "store=other" in link.attributes["href"]]
    own = {f"/proposals/{mine.pk}{act}" for act in ("", "/edit", "/duplicate")}
    assert {href.partition("?")[0] for href in kept} == {*own, "/views/"}
    assert page.form(f"/proposals/{mine.pk}/approve")["store"] == "other"
    edited = read(owner_client.get(f"/proposals/{mine.pk}/edit", {"store": "other"}))
    assert edited.form(f"/proposals/{mine.pk}/edit")["store"] == "other"


def test_what_is_asked_for_stands_in_chips_that_take_it_away(owner_client: Client, three: list[Proposal]) -> None:
    page = read(owner_client.get("/", {"q": "port", "risk": "medium", "agent": "claude", "kind": "fact.rewrite"}))

    assert _titles(page) == [str(three[0].pk)]
    chips = {link.text: link.attributes["href"] for link in page.all("a", class_="label")}
    assert chips == {
        "“port” , take it away": "/?agent=claude&kind=fact.rewrite&risk=medium",
        "Agent: claude , take it away": "/?q=port&kind=fact.rewrite&risk=medium",
        "Kind: Changes a fact , take it away": "/?q=port&agent=claude&risk=medium",
        "Risk: medium , take it away": "/?q=port&agent=claude&kind=fact.rewrite",
    }
    form = page.one("form", role="search")
    chosen = [e.attributes["value"] for e in page.all("option", selected="") if form in e.ancestors]
    assert chosen == ["", "", "fact.rewrite", "medium", "", ""]


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ({"risk": "purple"}, "“purple” is no risk, so it is left out."),
        ({"show": "nonsense"}, "“nonsense” is no view, so it is left out."),
        ({"age": "-1", "state": "x\0y"}, "“-1” is no age, so it is left out."),
        ({"kind": "<b>bold</b>"}, "“<b>bold</b>” is no kind, so it is left out."),
        ({"after": "99999999999999999999-1", "before": "x-y"}, ""),
        ({"after": "-", "q": "\0"}, ""),
    ],
)
def test_values_that_make_no_sense_are_left_out_with_a_word(
    query: dict[str, str], sentence: str, owner_client: Client, three: list[Proposal]
) -> None:
    answer = owner_client.get("/", query)
    page = read(answer)

    assert answer.status_code == 200
    assert len(_titles(page)) == 3
    assert sentence in page.by_id("list").text
    assert page.all("b", class_="bold") == []


def test_a_place_beyond_any_row_is_an_empty_page(owner_client: Client, three: list[Proposal]) -> None:
    for place in ("99999999999999999-99999999999999999", "0-0"):
        assert owner_client.get("/", {"after": place}).status_code == 200
        assert owner_client.get("/", {"before": place, "age": "day"}).status_code == 200


def test_decision_leads_on_within_the_filter(owner_client: Client, three: list[Proposal]) -> None:
    rewrite = three[0]
    page = read(owner_client.get(f"/proposals/{rewrite.pk}", {"risk": "medium"}))

    form = page.form(f"/proposals/{rewrite.pk}/reject")
    answer = owner_client.post(f"/proposals/{rewrite.pk}/reject", form)

    assert form["risk"] == "medium"
    assert answer.headers["Location"] == "/?risk=medium"


def test_views_are_named_with_their_counts(owner_client: Client, three: list[Proposal]) -> None:
    page = read(owner_client.get("/"))

    views = {link.attributes["href"]: link.text for link in page.all("a") if _is_in(link, "views")}
    assert views == {
        "/": "Waiting 3",
        "/?show=mine": "Mine to decide 3",
        "/?show=second": "Second approval 0",
        "/?show=agents": "With agents 0",
        "/?show=snoozed": "Snoozed 0",
        "/proved/": "Applied by proof since you last looked 0",
    }


def _is_in(element: Element, class_: str) -> bool:
    return any(class_ in one.attributes.get("class", "").split() for one in element.ancestors)


@pytest.fixture
def alike(make_store: MakeStore, propose: Propose) -> list[Proposal]:
    """The same word replaced in three documents, and a change of its own."""
    texts = {f"{name}.md": f"# {name}\n\n- The {name} job calls npm in its last step.\n" for name in "abc"}
    store = make_store(texts, name="alike")
    made = [propose(store, replaced(path, "npm", "pnpm")) for path in texts]
    return [*made, propose(store, replaced("a.md", "last step", "first step"))]


def test_alike_proposals_stand_below_the_first_with_what_differs(owner_client: Client, alike: list[Proposal]) -> None:
    a, b, c, other = (proposal.pk for proposal in alike)

    page = read(owner_client.get("/"))

    folded = page.one("li", class_="alike")
    assert folded.text.startswith("2 more alike, in 3 documents")
    inside = [row.attributes["data-row"] for row in page.all("a", class_="row__link") if folded in row.ancestors]
    assert inside == [str(b), str(a)]
    assert _titles(page) == [str(other), str(c), str(b), str(a)]


def test_alike_proposals_are_selected_as_a_whole(owner_client: Client, alike: list[Proposal]) -> None:
    page = read(owner_client.get("/"))
    pick = page.one("input", name="alike")

    preview = read(owner_client.get("/batch", {"alike": pick.attributes["value"], "proposal": str(alike[3].pk)}))

    chosen = [box.attributes["value"].partition(":")[0] for box in preview.all("input", name="selected")]
    assert sorted(chosen) == sorted(str(proposal.pk) for proposal in alike)


def test_what_changed_after_the_group_was_looked_at_is_not_decided(
    owner_client: Client, agent: Agent, alike: list[Proposal]
) -> None:
    together = read(owner_client.get("/")).one("input", name="alike").attributes["value"]
    preview = read(owner_client.get("/batch", {"alike": together}))
    shown = [box.attributes["value"] for box in preview.all("input", name="selected")]
    revised = receive.Request("alike", (replaced("a.md", "npm", "yarn"),))
    receive.revise(alike[0].pk, revised, agent=agent)

    done = owner_client.post("/batch", {"selected": shown}).content.decode()

    assert "2 of 3 approved" in done
    states = [Proposal.objects.get(pk=proposal.pk).state for proposal in alike]
    assert states == [State.PENDING, State.APPLIED, State.APPLIED, State.PENDING]


@pytest.mark.parametrize("value", ["", "x", ",", ",,x", "99999999999999999999", "1\0,x"])
def test_a_broken_group_selects_nothing(owner_client: Client, alike: list[Proposal], value: str) -> None:
    assert read(owner_client.get("/batch", {"alike": value})).all("input", name="selected") == []


def test_a_stranger_sees_nothing_of_a_group(browser: Browser, stranger: User, alike: list[Proposal]) -> None:
    group = ",".join(str(proposal.pk) for proposal in alike)

    page = read(browser(stranger).get("/batch", {"alike": group}))

    assert page.all("input", name="selected") == []
    assert "pnpm" not in page.text


def test_what_only_looks_alike_or_is_decided_by_itself_is_not_folded(
    owner_client: Client, make_store: MakeStore, propose: Propose, alike: list[Proposal]
) -> None:
    text = "# x\n\n- The x job calls npm in its last step.\n"
    elsewhere = make_store({f"{name}.md": text for name in "xyz"}, name="elsewhere")
    for path in ("x.md", "y.md"):
        propose(elsewhere, replaced(path, "npm", "pnpm"))
    for path in ("x.md", "y.md", "z.md"):
        propose(elsewhere, replaced(path, "- The x job calls npm in its last step.\n", ""))
    Proposal.objects.filter(pk=alike[0].pk).update(state=State.QUARANTINED)

    page = read(owner_client.get("/"))

    assert page.all("li", class_="alike") == []
    assert len(_titles(page)) == 9


def test_a_folded_proposal_that_is_shown_is_unfolded(owner_client: Client, alike: list[Proposal]) -> None:
    closed, opened = read(owner_client.get("/")), read(owner_client.get(f"/proposals/{alike[0].pk}"))

    def fold(page: Page) -> Element:
        [found] = [one for one in page.all("details") if page.one("li", class_="alike") in one.ancestors]
        return found

    assert "open" not in fold(closed).attributes
    assert "open" in fold(opened).attributes
    assert _titles(closed) == _titles(opened)


def test_nothing_waiting_says_what_was_applied_by_proof(
    owner_client: Client, make_store: MakeStore, propose: Propose
) -> None:
    dated = make_store({"a.md": "# A\n\n- decided on 13/04/2025 by all\n"})
    propose(dated, replaced("a.md", "13/04/2025", "2025-04-13"))

    page = read(owner_client.get("/"))

    assert page.by_id("title").text == "Nothing to review"
    assert "1 change was applied by proof today." in page.by_id("content").text


def test_no_store_yet_says_how_to_adopt_one(owner_client: Client) -> None:
    page = read(owner_client.get("/"))

    assert page.by_id("title").text == "No memory is under review yet"
    assert "memoryreview adopt" in page.by_id("content").text


def test_fresh_counts_what_came_since(owner_client: Client, three: list[Proposal]) -> None:
    first = three[0]

    page = read(owner_client.get("/queue/fresh", {"after": first.pk}))

    assert page.one("a", href="/").text == "2 new proposals, load"
    assert page.by_id("fresh").attributes["hx-get"] == f"/queue/fresh?after={first.pk}&seen=2"
    assert page.by_id("count").text == "3"


def test_fresh_says_nothing_twice(owner_client: Client, three: list[Proposal]) -> None:
    answer = owner_client.get("/queue/fresh", {"after": str(three[0].pk), "seen": "2"})

    assert answer.status_code == 204


def test_count_stops_at_a_thousand(
    owner_client: Client, three: list[Proposal], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memoryreview.review.operations.waiting.COUNTED_AT_MOST", 2)

    assert read(owner_client.get("/stores/")).by_id("count").text == "2+"


def test_counts_say_what_they_are() -> None:
    assert fitting_words(12, is_walked=True, total=900) == "12"
    assert fitting_words(12, is_walked=True, total=1_001) == "12+"
    assert fitting_words(1_001, is_walked=False, total=1_001) == "1,000+"


def test_repeats_of_a_proposal_are_counted(owner_client: Client, store: Store, propose: Propose) -> None:
    for _ in range(3):
        proposal = propose(store, replaced("build.md", "5432", "5433"))

    page = read(owner_client.get("/"))

    assert "×3" in page.one("a", data_row=str(proposal.pk)).text


def test_broken_store_leaves_the_queue_readable(
    owner_client: Client, three: list[Proposal], store: Store, make_store: MakeStore, propose: Propose
) -> None:
    other = make_store({"a.md": "# A\n\none\n"}, name="other")
    propose(other, replaced("a.md", "one", "two"))
    Store.objects.filter(pk=store.pk).update(baseline="00000000-0000-0000-0000-000000000000")

    answer = owner_client.get("/")
    page = read(answer)

    assert answer.status_code == 200
    assert len(_titles(page)) == 4
    assert page.all("button", data_act="approve") == []


def test_hostile_agent_sees_only_text(owner: User, owner_client: Client, store: Store, propose: Propose) -> None:
    agent = accounts.add_agent("evil", person=owner).agent
    Agent.objects.filter(pk=agent.pk).update(name="<b onclick=x>evil</b>")
    agent.refresh_from_db()
    propose(store, replaced("build.md", "5432", "5433"), by=agent, title='"><script>alert(1)</script>')

    page = read(owner_client.get("/"))

    assert page.all("b", onclick="x") == []
    assert "<b onclick=x>evil</b>" in page.text
    assert [s for s in page.all("script") if "src" not in s.attributes] == []
