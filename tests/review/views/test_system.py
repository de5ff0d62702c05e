from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.test import Client, RequestFactory

from memoryreview.review.models import Store
from memoryreview.review.presenters import keys
from memoryreview.review.views.errors import server_error
from memoryreview.review.views.urls import page_urls

from .reading import read

ROOT = Path(__file__).parents[3]
STATIC = ROOT / "static" / "memoryreview"
BOTH = pytest.mark.django_db(databases=["default", "queue"])


@BOTH
def test_health_names_every_part(owner_client: Client, store: Store) -> None:
    page = read(owner_client.get("/health/"))

    parts = [cell.text for cell in page.all("th", scope="row")]
    assert parts == [
        "memoryreview",
        "Django",
        "Database of proposals and decisions",
        "Database of background work",
        "Baseline of notes",
        "Oldest proposal",
        "Worker",
        "Disk of the data folder",
    ]


@BOTH
def test_health_tells_a_baseline_that_cannot_be_read(owner_client: Client, store: Store) -> None:
    Store.objects.filter(pk=store.pk).update(baseline="00000000-0000-0000-0000-000000000000")

    page = read(owner_client.get("/health/"))

    assert page.one("h1").text == "Something needs you"
    assert "cannot be read" in page.text


def test_help_and_dialog_show_the_table_of_keys(owner_client: Client) -> None:
    for address in ("/help/keys", "/"):
        page = read(owner_client.get(address))
        rows = page.one("table", class_="keys-table")
        words = [cell.text for cell in page.all("td") if rows in cell.ancestors]
        assert words == [binding.words for binding in keys.BINDINGS]


def test_page_carries_the_bindings_for_the_handlers(owner_client: Client) -> None:
    page = read(owner_client.get("/"))

    assert page.one("body").attributes["data-bindings"] == keys.as_json()
    script = (STATIC / "js" / "acts.js").read_text()
    acts = set(
        re.findall(r'data-act="([a-z-]+)"', "".join(p.read_text() for p in (ROOT / "templates").rglob("*.html")))
    )
    handled = set(re.findall(r'^  "?([a-z-]+)"?: ', script, re.MULTILINE)) | {"back"}
    assert [binding.act for binding in keys.BINDINGS if binding.act not in acts | handled] == []


def test_no_key_is_bound_twice_in_one_place() -> None:
    bound = [(key, place) for binding in keys.BINDINGS for key in binding.keys for place in binding.where.split()]

    assert len(bound) == len(set(bound))


def test_fault_is_told_without_session_person_or_database() -> None:
    answer = server_error(RequestFactory().get("/"))

    page = read(answer)
    assert answer.status_code == 500
    assert page.one("h1").text == "Something broke"
    assert "nothing is lost" in page.text


def _luminance(colour: str) -> float:
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(one: str, other: str) -> float:
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


SOFT = ("danger-soft", "warn-soft", "ok-soft")
DIFF = ("added", "added-word", "added-gutter", "removed", "removed-word", "removed-gutter")
ON = {
    "text": ("canvas", "surface", "sunken", "hunk", "accent-soft", *SOFT, *DIFF),
    "muted": ("canvas", "surface", "sunken", "hunk", "accent-soft", *SOFT),
    "accent": ("canvas", "surface", "sunken", "hunk", "accent-soft", "added", "removed", *SOFT),
    "danger": ("canvas", "surface", "accent-soft", "danger-soft"),
    "warn": ("canvas", "surface", "accent-soft", "warn-soft", "added", "removed"),
    "ok": ("canvas", "surface", "ok-soft"),
    "surface": ("text", "danger"),
    "added-ink": ("added",),
    "removed-ink": ("removed",),
}
EDGES = {
    "control": ("canvas", "surface"),
    "accent": ("canvas", "surface", "sunken", "accent-soft"),
    "warn": ("warn-soft",),
}
"""Borders of controls, the ring of the focus, bars and meters."""


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_text_stands_out_from_what_is_behind_it(theme: int) -> None:
    css = (STATIC / "css" / "tokens.css").read_text()
    pairs = re.findall(r"--([a-z-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)", css)
    colours = {name: (light, dark)[theme] for name, light, dark in pairs}

    weak = {
        (ink, behind): round(_contrast(colours[ink], colours[behind]), 2)
        for table, least in ((ON, 4.5), (EDGES, 3))
        for ink, grounds in table.items()
        for behind in grounds
        if _contrast(colours[ink], colours[behind]) < least
    }
    assert weak == {}


def test_style_sheets_and_scripts_stay_small() -> None:
    css = sum(path.read_text().count("\n") for path in (STATIC / "css").glob("*.css"))
    longest = max(path.read_text().count("\n") for path in (STATIC / "js").glob("*.js"))

    assert css <= 1000
    assert longest <= 150


def test_only_the_tokens_name_colours() -> None:
    for path in (STATIC / "css").glob("*.css"):
        if path.name != "tokens.css":
            assert re.findall(r"#[0-9a-fA-F]{3,8}\b", path.read_text()) == [], path.name


def test_html_is_called_safe_in_one_place_only() -> None:
    sources = (ROOT / "memoryreview").rglob("*.py")
    templates = (ROOT / "templates").rglob("*.html")

    assert [p.name for p in sources if re.search(r"\bmark_safe\(|\bSafeString\(", p.read_text())] == ["markup.py"]
    assert [p.name for p in templates if re.search(r"\|\s*safe\b|autoescape", p.read_text())] == []


def test_every_template_says_what_it_needs() -> None:
    for path in (ROOT / "templates").rglob("*.html"):
        assert path.read_text().startswith("{#"), path.name


@BOTH
def test_address_without_its_last_slash_leads_to_the_one_with_it(owner_client: Client, store: Store) -> None:
    routes = [str(one.pattern).replace("<slug:slug>", store.slug) for one in page_urls]
    folders = [f"/{route}" for route in routes if route.endswith("/")]

    answers = [owner_client.get(f"{folder[:-1]}?q=a%26b") for folder in folders]

    assert {"/stores/", "/stores/notes/", "/settings/notes/", "/history/", "/help/"} <= set(folders)
    assert [answer.headers.get("Location") for answer in answers] == [f"{folder}?q=a%26b" for folder in folders]
    assert [owner_client.post(folder[:-1]).status_code for folder in folders] == [405] * len(folders)
    assert [owner_client.get(folder).status_code for folder in folders] == [200] * len(folders)


def test_only_pages_have_another_slash(owner_client: Client, client: Client, store: Store) -> None:
    addresses = ["/proposals/1/", "/stores/notes/build.md/", "/stores/notes/nope", "/nope", "/api/v1/stores/"]

    assert [owner_client.get(address).status_code for address in addresses] == [404] * len(addresses)
    assert client.get("/stores/notes").headers["Location"] == "/sign-in?next=%2Fstores%2Fnotes"
