from __future__ import annotations

from django.contrib.auth.models import User
from django.test import Client

from memoryreview.review.models import Store
from tests.conftest import MakeStore

from .conftest import Browser
from .reading import read


def test_hits_are_marked_and_lead_to_their_line(owner_client: Client, store: Store) -> None:
    page = read(owner_client.get("/search/", {"q": "npm"}))

    assert [mark.text for mark in page.all("mark")] == ["npm", "npm"]
    link = page.one("a", aria_label="Line 5 in its document")
    assert link.attributes["href"] == "/stores/notes/build.md#line-5"
    assert read(owner_client.get("/stores/notes/build.md")).by_id("line-5").text == "5Use npm for everything."
    assert page.one("p", role="status").text == "1 document holds it."
    assert page.one("title").text == "npm · Search · memoryreview"


def test_search_of_nothing_says_how(owner_client: Client, store: Store) -> None:
    page = read(owner_client.get("/search/"))

    assert "Documents that hold every word" in page.text
    assert page.all("p", role="status") == []


def test_search_without_a_match_says_so(owner_client: Client, store: Store) -> None:
    page = read(owner_client.get("/search/", {"q": "<script>alert(1)</script>"}))

    assert page.one("p", role="status").text == "No approved document holds all of that."
    assert page.one("input", type="search").attributes["value"] == "<script>alert(1)</script>"
    assert [script for script in page.all("script") if "src" not in script.attributes] == []


def test_hostile_text_and_names_stay_text(owner_client: Client, make_store: MakeStore) -> None:
    name = "<img src=x onerror=alert(1)>.md"
    make_store({name: "# A\n\nneedle \u202e<b>bold</b>\n"}, name="odd")

    answer = owner_client.get("/search/", {"q": "needle"})

    page = read(answer)
    assert (page.all("img"), page.all("b")) == ([], [])
    assert "\u202e" not in answer.content.decode()
    assert "U+202E RLO" in [chip.text for chip in page.all("span", class_="chip")]
    [link] = [link for link in page.all("a") if link.text == name]
    assert owner_client.get(link.attributes["href"]).status_code == 200


def test_search_of_one_store_keeps_its_form_there(owner_client: Client, store: Store, make_store: MakeStore) -> None:
    make_store({"a.md": "# A\n\nUse npm.\n"}, name="other")

    page = read(owner_client.get("/search/", {"q": "npm", "store": "other"}))

    assert [link.text for link in page.all("a") if link.text.endswith(".md")] == ["a.md"]
    assert page.one("option", selected="").attributes["value"] == "other"
    assert read(owner_client.get("/stores/notes/")).form("/search/")["store"] == "notes"


def test_strangers_find_nothing(store: Store, stranger: User, browser: Browser) -> None:
    page = read(browser(stranger).get("/search/", {"q": "npm", "store": "notes"}))

    assert page.all("mark") == []
    assert page.one("p", role="status").text == "No approved document holds all of that."
