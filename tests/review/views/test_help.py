"""The help says all that the code can do, in each language."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import get_commands
from django.test import Client, override_settings
from django.utils.translation import override

from memoryreview.cli import EARLY_COMMANDS
from memoryreview.core.concerns import Concern
from memoryreview.core.errors import MemoryReviewError
from memoryreview.core.model import Kind
from memoryreview.core.scan.catalogue import named_rules
from memoryreview.review.models import ChangeKind, Reason, State, Verb
from memoryreview.review.presenters import help as help_text
from memoryreview.review.presenters.help_tables import options

from .reading import Page, read

ROOT = Path(__file__).parents[3]
LANGUAGES = ("en", "zh-hans")
NAMED = {
    "states": State,
    "verbs": Verb,
    "reasons": Reason,
    "changes": ChangeKind,
    "concerns": Concern,
    "kinds": Kind,
}


@pytest.fixture(params=LANGUAGES)
def language(request: pytest.FixtureRequest) -> Iterator[str]:
    with override(request.param):
        yield request.param


def _shown(client: Client, name: str, language: str) -> Page:
    return read(client.get(f"/help/{name}", headers={"accept-language": language}))


def _source(name: str, language: str) -> str:
    return help_text.page_path(name, language).read_text(encoding="utf-8")


def _codes(page: Page) -> set[str]:
    return {code.text for code in page.all("code")}


def _subclasses(of: type[MemoryReviewError]) -> Iterator[type[MemoryReviewError]]:
    for one in of.__subclasses__():
        yield one
        yield from _subclasses(one)


@pytest.mark.parametrize("name", help_text.NAMES)
def test_help_page_is_there_and_linked(owner_client: Client, name: str, language: str) -> None:
    page = _shown(owner_client, name, language)

    shown = help_text.help_page(name)
    assert shown is not None
    assert page.all("h1")[0].text == shown.title
    assert shown.title in [link.text for link in page.all("a", aria_current="page", href=shown.url)]
    assert page.one("article").attributes["lang"] == {"en": "en", "zh-hans": "zh-Hans"}[language]


def test_unknown_help_page_is_not_found(owner_client: Client) -> None:
    assert owner_client.get("/help/nope").status_code == 404


def test_page_without_a_translation_says_so_and_is_in_english(owner_client: Client) -> None:
    with override_settings(LANGUAGES=[("en", "English"), ("de", "Deutsch")]), override("de"):
        page = _shown(owner_client, "keys", "de")

    assert page.one("article").attributes["lang"] == "en"
    assert page.one("h1").text == "Keys"
    assert "not there in your language yet" in page.text
    assert "not there in your language yet" not in _shown(owner_client, "keys", "en").text


def test_help_names_every_kind(language: str) -> None:
    text = _source("classes", language)
    refused = {Kind.NOT_UTF8, Kind.LINE_ENDS, Kind.DELIMITER, Kind.NAME_CLASH, Kind.OVER_SIZE, Kind.TOOL_GENERATED}

    assert [kind for kind in Kind if f"`{kind}`" not in text and kind not in refused] == []


@pytest.mark.parametrize("table", NAMED)
def test_help_names_every_value_of(table: str, owner_client: Client, language: str) -> None:
    codes = _codes(_shown(owner_client, "life", language))

    assert f"[[{table}]]" in _source("life", language)
    assert [str(value) for value in NAMED[table] if str(value) not in codes] == []


def test_help_names_every_rule_that_a_scanner_may_report(owner_client: Client, language: str) -> None:
    codes = _codes(_shown(owner_client, "scanners", language))
    sources = "".join(path.read_text() for path in (ROOT / "memoryreview" / "core" / "scan").glob("*.py"))
    disguises = set(re.findall(r'(?:_core_hits\(.*, |_hit\(\w+, match, )"(\w+)", Severity', sources))
    stated = set(re.findall(r'(?:_Odd\(at, |_fixed\(|Hit\(\s*"\w+",\s*)"([a-z-]+)"', sources))
    reported = stated | {f"disguise-{name}" for name in disguises}

    assert len(disguises) == 5
    assert len(reported) > 10
    assert sorted((reported | {rule.id for rule in named_rules()}) - codes) == []


def test_help_names_every_argument_of_every_command(owner_client: Client, language: str) -> None:
    codes = _codes(_shown(owner_client, "commands", language))
    found = list(options())

    known = {("propose", "--patch"), ("verify", "--rebuild"), ("agent add", "--store"), ("up", "--port")}
    assert known <= {(one.command, one.name) for one in found}
    assert [(one.command, one.name) for one in found if not one.words or one.name not in codes] == []


def test_help_names_every_setting_and_its_default(language: str) -> None:
    text = _source("settings", language)
    sources = [path.read_text() for path in (ROOT / "memoryreview").rglob("*.py")]
    settings = {name for source in sources for name in re.findall(r"MEMORYREVIEW_[A-Z_]*[A-Z]", source)}
    numbers = re.findall(r'env_int\("(\w+)", (\d[\d *]*)', (ROOT / "memoryreview" / "settings.py").read_text())

    assert sorted(name for name in settings if f"`{name}`" not in text) == []
    assert len(numbers) >= 6
    for name, default in numbers:
        value = math.prod(int(factor) for factor in default.split("*"))
        assert f"| `{name}` | {value} |" in text


def test_all_help_stands_on_one_page_and_each_part_has_the_same_address_in_each_language(
    owner_client: Client, language: str
) -> None:
    page = _shown(owner_client, "all", language)
    anchors = [section.attributes["id"] for section in page.all("section")]

    assert [heading.text for heading in page.all("h1")] == [one.title for one in help_text.help_pages()]
    assert len(anchors) == len(set(anchors))
    assert {"queue", "life-states", "erase-what-is-not-reached"} <= set(anchors)
    assert "[[" not in page.text
    linked = {link.attributes.get("href", "") for link in _shown(owner_client, "life", language).all("a")}
    assert {f"#{anchor}" for anchor in anchors if anchor.startswith("life-")} <= linked


def test_help_names_every_error_type(client: Client, language: str) -> None:
    client.get("/api/v1/nothing")  # loads the doors of agents with their errors
    types = {error.problem for error in _subclasses(MemoryReviewError) if error.__module__.startswith("memoryreview")}

    made_elsewhere = {"unauthorized", "method-not-allowed", "internal-error", "quarantined"}

    assert set(re.findall(r"^\| `([a-z0-9-]+)`", _source("errors", language), flags=re.MULTILINE)) - made_elsewhere == (
        types - {"unreachable"} - made_elsewhere
    )


def test_help_names_every_command(language: str) -> None:
    text = _source("commands", language)
    ours = {name for name, app in get_commands().items() if app == "memoryreview.review"} | set(EARLY_COMMANDS)

    assert sorted(name for name in ours if f"memoryreview {name}" not in text and f"`{name}" not in text) == []
