from __future__ import annotations

import re
from itertools import pairwise

import pytest
from django.contrib.auth.models import User
from django.test import Client

from memoryreview.review.models import Store
from memoryreview.review.presenters import graph
from tests.conftest import MakeStore

from .conftest import Browser
from .reading import read

INDEX = "# Index\n\n- [A](a.md) — first\n- [Gone](gone.md) — away\n"


def test_each_document_is_a_link_and_each_link_an_arc(owner_client: Client, make_store: MakeStore) -> None:
    make_store({"MEMORY.md": INDEX, "a.md": "# A\n\n[b](b.md)\n", "b.md": "# B\n", "lone.md": "# L\n"}, name="web")
    address = read(owner_client.get("/stores/web/")).one("a", href="/stores/web/links").attributes["href"]

    page = read(owner_client.get(address))

    drawn = [text.text for text in page.all("text")]
    assert drawn == ["MEMORY.md index", "a.md", "gone.md missing", "b.md", "lone.md nothing leads here"]
    [svg] = page.all("svg", role="group")
    linked = [link.attributes["href"] for link in page.all("a") if svg in link.ancestors]
    assert linked == [f"/stores/web/{name}.md" for name in ("MEMORY", "a", "b", "lone")]
    assert len(page.all("polygon")) == 3
    assert "3 links between 4 documents. Nothing leads to 1 document; 1 target is missing." in page.text


def test_the_table_says_the_same(owner_client: Client, make_store: MakeStore) -> None:
    make_store({"MEMORY.md": INDEX, "a.md": "# A\n"}, name="web")

    page = read(owner_client.get("/stores/web/links"))

    rows = [
        [cell.text for cell in page.elements if row in cell.ancestors and cell.tag in ("td", "th")]
        for row in page.all("tr")
    ]
    assert rows[1:] == [
        ["MEMORY.md index", "a.md, gone.md", "0 documents"],
        ["a.md", "none", "1 document"],
        ["gone.md missing", "none", "1 document"],
    ]


def test_names_of_any_kind_stay_names(owner_client: Client, make_store: MakeStore) -> None:
    name = '"><script>alert(1)</script>' + "x" * 90 + ".md"
    make_store({name: "# A\n", "bidi\u202e.md": "# B\n"}, name="odd")

    answer = owner_client.get("/stores/odd/links")

    page = read(answer)
    assert [one for one in page.all("script") if "src" not in one.attributes] == []
    assert "\u202e" not in answer.content.decode()
    assert name in [title.text.removesuffix(", nothing leads here") for title in page.all("title")]
    assert all(
        owner_client.get(a.attributes["href"]).status_code == 200
        for a in page.all("a")
        if "/odd/" in a.attributes["href"]
    )


def test_two_hundred_documents_stand_apart(owner_client: Client, make_store: MakeStore) -> None:
    rows = "".join(f"- [N{number}](n{number}.md) — note\n" for number in range(199))
    make_store({"MEMORY.md": rows, **{f"n{n}.md": f"# N{n}\n\n[next](n{n + 1}.md)\n" for n in range(199)}}, name="web")

    page = read(owner_client.get("/stores/web/links"))

    places = [
        int(re.findall(r"\d+", one.attributes["transform"])[1])
        for one in page.all("g")
        if "transform" in one.attributes
    ]
    assert len(places) == 201
    assert {after - before for before, after in pairwise(places)} == {24}
    left = [
        float(match) for arc in page.all("path") for match in re.findall(r"A([\d.]+) ", arc.attributes.get("d", ""))
    ]
    assert 100 < max(left) <= 172


def test_above_the_cap_a_sentence_stands_instead(
    owner_client: Client, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graph, "MAX_DRAWN", 1)

    page = read(owner_client.get("/stores/notes/links"))

    assert page.all("text") == []
    assert "There are 2 names, and a picture of more than 1 tells nothing. The table says the same." in page.text
    assert "build.md" in page.text


def test_strangers_see_no_links(store: Store, stranger: User, browser: Browser) -> None:
    assert browser(stranger).get("/stores/notes/links").status_code == 404
