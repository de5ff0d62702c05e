"""The catalogue has everything that is said, and keeps what must stay the same in each language."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections import Counter
from gettext import GNUTranslations

import pytest

from memoryreview.review import presenters, views
from memoryreview.review.models import Reason
from memoryreview.review.presenters.recorded import CONTEXT
from memoryreview.review.presenters.words import REASON_WORDS, Words

from . import catalogue
from .collect import ROOT, Message, messages, said

_NAME = re.compile(r"%\(\w+\)s|\{\w+\}")
_MARKUP = re.compile(r"</?\w+|&\w+;")
_UPDATE = "run: python -m tests.language.update, then translate what it names"

TRANSLATED = catalogue.read()


def test_catalogue_has_what_the_sources_say_and_nothing_else() -> None:
    found = messages()

    assert sorted(found - TRANSLATED.keys()) == [], _UPDATE
    assert sorted(TRANSLATED.keys() - found) == [], _UPDATE


def test_everything_is_translated() -> None:
    assert [message.one for message, text in TRANSLATED.items() if not text.strip()] == []


def test_no_entry_is_in_doubt_or_there_twice() -> None:
    text = catalogue.PO.read_text(encoding="utf-8")

    assert "fuzzy" not in text
    assert [key for key, count in Counter((m.context, m.one) for m in TRANSLATED).items() if count > 1] == []


def test_names_and_markup_are_kept() -> None:
    wrong = []
    for message, text in TRANSLATED.items():
        names, kept = ({*_NAME.findall(one)} for one in (message.many or message.one, text))
        is_short = message.context == CONTEXT and kept <= names  # "A number goes": Chinese has no article
        same_markup = sorted(_MARKUP.findall(message.one)) == sorted(_MARKUP.findall(text))
        if not (names == kept or is_short) or not same_markup:
            wrong.append((message.one, text))
    assert wrong == []


def test_sentences_end_as_chinese_does() -> None:
    ends = {".": "。", "?": "？", ":": "："}
    wrong = [
        (message.one, text)
        for message, text in TRANSLATED.items()
        if message.one[-1] in ends and len(message.one) > 12 and text[-1] not in (ends[message.one[-1]], "s", "”", ")")
    ]
    assert wrong == []


def test_program_loads_what_people_edit() -> None:
    assert catalogue.MO.read_bytes() == catalogue.compiled(TRANSLATED), _UPDATE


def test_compiled_catalogue_is_what_gettext_reads() -> None:
    with catalogue.MO.open("rb") as file:
        loaded = GNUTranslations(file)

    for message, text in TRANSLATED.items():
        if message.context:
            assert loaded.pgettext(message.context, message.one) == text
        elif message.many:
            assert loaded.ngettext(message.one, message.many, 2) == text
        else:
            assert loaded.gettext(message.one) == text


def test_catalogue_names_no_machine_and_nobody() -> None:
    text = catalogue.PO.read_text(encoding="utf-8")

    assert str(ROOT) not in text
    assert "\n#" not in text
    assert {"POT-Creation-Date", "Last-Translator", "Language-Team"} & set(
        re.findall(r"[\w-]+(?=: )", text[:400])
    ) == set()


def _tables() -> dict[str, Words[object]]:
    modules = [
        importlib.import_module(f"{package.__name__}.{found.name}")
        for package in (presenters, views)
        for found in pkgutil.iter_modules(package.__path__)
    ]
    return {
        f"{module.__name__}.{name}": value
        for module in modules
        for name, value in vars(module).items()
        if isinstance(value, Words)
    }


def test_every_word_of_every_table_is_in_the_catalogue() -> None:
    tables = _tables()

    assert len(tables) > 15
    assert {
        name: missing
        for name, table in tables.items()
        if (missing := [word for word in table.english.values() if Message(word) not in TRANSLATED])
    } == {}


def test_every_reason_has_a_word() -> None:
    assert {*REASON_WORDS} == {*Reason}
    assert {str(reason) for reason in Reason} == {*REASON_WORDS.english.values()}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('raise E(f"“{path}” is gone. Nothing was stored.")', ["“%(path)s” is gone. Nothing was stored."]),
        ('X = "It would be forgotten."', ["It would be forgotten."]),
        ('X = "A YAML reader fails on “{key}” here."', ["A YAML reader fails on “%(key)s” here."]),
        ('f"{a.path} and {b.path} are {100:,} % one name."', []),
        ('x = f"{a.path} and {b.path} are 100 % one name."', ["%(path)s and %(path2)s are 100 %% one name."]),
        ('"""A docstring says nothing to people."""', []),
        ('log.warning("This goes to the log.")', []),
        ('assert x, "Only a programmer reads this."', []),
        ('X = re.compile("no sentence (?:of ours).")', []),
        ('X = "short."', []),
    ],
)
def test_what_core_says_is_found_in_its_source(source: str, expected: list[str]) -> None:
    assert said(source) == expected
