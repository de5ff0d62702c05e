"""Folded lines that are shown, and both sides beside each other: by plain addresses."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from memoryreview.core.edits import Edit, Replacement, Write
from memoryreview.review.models import Proposal
from tests.conftest import MakeStore, Propose

from .reading import Page, read

LINES = [f"- Fact {n} stands here." for n in range(1, 101)]
TEXT = "# Facts\n\n" + "\n".join(LINES) + "\n"


@pytest.fixture
def proposal(owner: User, make_store: MakeStore, propose: Propose) -> Proposal:
    edits = (
        Replacement("- Fact 30 stands", "- Fact 30 now stands"),
        Replacement("- Fact 70 stands here.\n", ""),
        Replacement("- Fact 90 stands here.", "- Fact 90 st\u0430nds here.  "),
    )
    return propose(make_store({"facts.md": TEXT}), Edit(path="facts.md", edits=edits))


def _page(client: Client, proposal: Proposal, **query: str) -> Page:
    return read(client.get(f"/proposals/{proposal.pk}", query))


def _gaps(page: Page) -> list[str]:
    return [row.text for row in page.all("tr", class_="diff__gap")]


def _numbers(page: Page) -> list[str]:
    """Return the old numbers of the unchanged lines that stand on the page."""
    found = [row.text for row in page.all("tr", class_="diff__line--same")]
    return [text.split("-")[0] for text in found]


def test_folded_lines_are_counted_and_shown_by_their_links(owner_client: Client, proposal: Proposal) -> None:
    page = _page(owner_client, proposal)

    assert _gaps(page) == [
        "28 unchanged lines Show the 20 before Show all",
        "33 unchanged lines Show the next 20 Show the 20 before Show all",
        "13 unchanged lines Show all",
        "7 unchanged lines Show all",
    ]
    link = page.by_id("open-0-1-after").attributes["href"]
    assert link == f"/proposals/{proposal.pk}?open=0.36-56#diff-0"
    opened = read(owner_client.get(link))
    assert _gaps(opened)[1] == "13 unchanged lines Show all"
    assert len(_numbers(opened)) == len(_numbers(page)) + 20
    again = read(owner_client.get(opened.by_id("open-0-1-all").attributes["href"]))
    assert _gaps(again) == [_gaps(page)[0], *_gaps(page)[2:]]
    assert len(_numbers(again)) == len(_numbers(page)) + 33


@pytest.mark.parametrize(
    "stated", ["0.1", "x", "9.1-5", "0.99999999-1", "0.5-2", "0.-1-4", "0.a32", "0.x3", "c0.1-5", "٠.1-5", "," * 500]
)
def test_lines_that_make_no_sense_open_nothing(owner_client: Client, proposal: Proposal, stated: str) -> None:
    assert _gaps(_page(owner_client, proposal, open=stated)) == _gaps(_page(owner_client, proposal))


@pytest.mark.parametrize("layout", ["unified", "split"])
def test_a_very_long_line_is_shown_whole_by_a_link_of_its_own(
    owner_client: Client, make_store: MakeStore, propose: Propose, layout: str
) -> None:
    words = ["word " * 4_000 + f"{end} end." for end in ("first", "old", "last")]
    store = make_store({"long.md": "\n".join(words) + "\n"})
    proposal = propose(store, Edit(path="long.md", edits=(Replacement("old end", "new end"),)))
    page = _page(owner_client, proposal, layout=layout)
    assert page.text.count("word") < 400
    links = [link for link in page.all("a") if link.text == "Show the whole line"]
    assert {link.attributes["href"].partition("open=")[2] for link in links} == {
        "0.s1#diff-0",
        "0.r2,0.a2#diff-0",
        "0.a2,0.r2#diff-0",
        "0.s3#diff-0",
    }

    opened = _page(owner_client, proposal, layout=layout, open="0.r2,0.a2")

    cells = [cell.text for cell in opened.all("td") if "old end" in cell.text or "new end" in cell.text]
    assert [(cell.count("word"), "not shown" in cell) for cell in cells] == [(4_000, False)] * 2
    left = {link.attributes["href"].partition("open=")[2] for link in opened.all("a") if "whole line" in link.text}
    assert left == {"0.r2,0.a2,0.s1#diff-0", "0.r2,0.a2,0.s3#diff-0"}


def test_views_without_a_difference_say_which_numbers_are_those_of_the_difference(
    owner_client: Client, make_store: MakeStore, propose: Propose
) -> None:
    text = "".join(f"- Fact {n} stands here.\n" for n in range(6_000))
    proposal = propose(make_store({"a.md": "- A.\n"}), Write(path="facts.md", content=text))

    words, raw = _page(owner_client, proposal), _page(owner_client, proposal, view="raw")

    assert [note.text for note in words.all("p", class_="document__note")][1] == "1,000 of 6,000 lines shown"
    assert [note.text for note in raw.all("p", class_="document__note")] == [
        "A new document.",
        "In the difference: 1,000 of 6,000 lines shown",
        "5,000 of 6,000 lines shown",
    ]


def test_what_is_left_out_stays_left_out_while_lines_are_shown(owner_client: Client, proposal: Proposal) -> None:
    page = _page(owner_client, proposal, open="0.36-56", drop="1")

    checked = [box for box in page.all("input", name="drop") if "checked" in box.attributes]
    assert [box.attributes["value"] for box in checked] == ["1"]


def test_both_sides_stand_beside_each_other_and_the_browser_remembers_it(
    owner_client: Client, proposal: Proposal
) -> None:
    one_column = _page(owner_client, proposal)
    [link] = [a for a in one_column.all("a") if a.text == "Side by side"]

    response = owner_client.get(link.attributes["href"])

    assert response.cookies["layout"].value == "split"
    remembered = _page(owner_client, proposal)
    rows = [row.text for row in remembered.all("tr", class_="diff__pair")]
    assert "32−removed- Fact 30 stands here. 32+added- Fact 30 now stands here." in rows
    assert "72−removed- Fact 70 stands here." in rows
    assert _gaps(remembered) == _gaps(one_column)
    owner_client.get(f"/proposals/{proposal.pk}", {"layout": "unified"})
    assert _page(owner_client, proposal).all("tr", class_="diff__pair") == []


def test_a_layout_that_does_not_exist_is_not_remembered(owner_client: Client, proposal: Proposal) -> None:
    assert "layout" not in owner_client.get(f"/proposals/{proposal.pk}", {"layout": "<b>"}).cookies


def test_disguised_letters_are_boxes_and_blanks_are_signs(owner_client: Client, proposal: Proposal) -> None:
    page = _page(owner_client, proposal)

    assert "U+0430 Cyrillic a" in [chip.text for chip in page.all("span", class_="chip")]
    assert [blanks.text for blanks in page.all("span", class_="blanks")] == ["··"]


def test_an_entry_that_moves_to_another_document_says_so(
    owner_client: Client, make_store: MakeStore, propose: Propose
) -> None:
    store = make_store({"facts.md": TEXT})
    gone = Edit(path="facts.md", edits=(Replacement("- Fact 7 stands here.\n", ""),))
    proposal = propose(store, gone, Write(path="seven.md", content="# Seven\n\n- Fact 7 stands here.\n"))

    notes = [note.text for note in _page(owner_client, proposal).all("span", class_="diff__note")]

    assert sorted(notes) == ["moved from facts.md, line 9", "moved to seven.md, line 3"]


def test_each_line_stands_below_the_bar_of_its_own_part_on_both_sides(
    owner_client: Client, make_store: MakeStore, propose: Propose
) -> None:
    store = make_store({"t.md": "one\nkeep\ndelta cat\n"})
    edits = (Replacement("one", "one changed"), Replacement("delta cat\n", "beta line\ndelta cat dog\n"))

    page = _page(owner_client, propose(store, Edit(path="t.md", edits=edits)), layout="split")

    first, second = [body.text for body in page.all("tbody") if "Leave out" in body.text]
    assert "one changed" in first
    assert "beta line" not in first
    assert second.index("Leave out") < second.index("beta line") < second.index("delta cat dog")
