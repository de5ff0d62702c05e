"""Each help page says the same in each language: what stands in one and not in the other fails here."""

from __future__ import annotations

import re
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest
from django.utils.translation import gettext, override
from markdown_it import MarkdownIt
from markdown_it.token import Token

from memoryreview.review.presenters.help import FOLDER, NAMES, page_path

CHINESE = re.compile(r"[\u4e00-\u9fff]")
PARSER = MarkdownIt("commonmark").enable("table")


@dataclass(frozen=True, slots=True)
class Block:
    """A heading, paragraph, cell or piece of code: what a translation keeps, its `text` without code, and `labels`:
    what stands in it in bold or in quotes, as a button does.
    """

    form: str
    codes: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    strong: int = 0
    text: str = ""
    labels: tuple[str, ...] = ()

    @property
    def kept(self) -> tuple[object, ...]:
        return self.form, self.codes, self.links, self.strong

    @property
    def numbers(self) -> Counter[str]:
        return Counter(re.findall(r"\d(?:[\d,.]*\d)?", self.text))

    @property
    def is_prose(self) -> bool:
        return len(re.findall(r"[A-Za-z]{2,}", self.text)) > 1 and not self.text.startswith("[[")


def blocks(page: str) -> Iterator[Block]:
    for token in PARSER.parse(page):
        if token.children is not None:
            yield _block(token.children)
        elif token.content:
            yield Block(f"{token.type} {token.info}", codes=(token.content,))
        else:
            yield Block(f"{token.type} {token.tag}")


def _block(inline: list[Token]) -> Block:
    text = "".join(token.content for token in inline if token.type == "text")
    return Block(
        form=text if text.startswith("[[") else "text",
        codes=tuple(sorted(token.content for token in inline if token.type == "code_inline")),
        links=tuple(sorted(str(token.attrGet("href")) for token in inline if token.type == "link_open")),
        strong=sum(token.type == "strong_open" for token in inline),
        text=text,
        labels=(*_bold(inline), *re.findall(r"“([^”]+)”", text)),
    )


def _bold(inline: list[Token]) -> Iterator[str]:
    for before, token in pairwise(inline):
        if before.type == "strong_open":
            yield token.content


def _read(name: str, language: str) -> list[Block]:
    return list(blocks(page_path(name, language).read_text(encoding="utf-8")))


def test_every_page_is_there_and_no_other() -> None:
    assert sorted(path.stem for path in (FOLDER / "zh_Hans").glob("*")) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_pages_have_the_same_blocks_with_the_same_code_links_and_tables(name: str) -> None:
    assert [block.kept for block in _read(name, "zh-hans")] == [block.kept for block in _read(name, "en")]


@pytest.mark.parametrize("name", NAMES)
def test_every_figure_and_every_sentence_is_translated(name: str) -> None:
    pairs = list(zip(_read(name, "en"), _read(name, "zh-hans"), strict=True))

    assert sum(bool(CHINESE.search(chinese.text)) for _, chinese in pairs) >= 3
    assert [english.text for english, chinese in pairs if english.numbers - chinese.numbers] == []
    assert [one.text for one, chinese in pairs if one.is_prose and not CHINESE.search(chinese.text)] == []


@pytest.mark.parametrize("name", NAMES)
def test_buttons_are_named_as_the_pages_name_them(name: str) -> None:
    with override("zh-hans"):
        unlike = [
            (label, gettext(label))
            for english, chinese in zip(_read(name, "en"), _read(name, "zh-hans"), strict=True)
            for label in english.labels
            if gettext(label) not in (label, *chinese.labels)
        ]

    assert unlike == []


def test_catalogue_has_the_buttons_that_the_help_names() -> None:
    labels = {label for name in NAMES for block in _read(name, "en") for label in block.labels}

    with override("zh-hans"):
        assert {label for label in labels if gettext(label) != label} >= {"Roll back", "Erase for good", "Side by side"}


def test_wheel_carries_every_page(tmp_path: Path) -> None:
    wheel = pytest.importorskip("hatchling.builders.wheel")

    [built] = wheel.WheelBuilder(str(FOLDER.parents[1])).build(directory=str(tmp_path), versions=["standard"])

    with zipfile.ZipFile(built) as archive:
        carried = {name for name in archive.namelist() if name.startswith("memoryreview/help/")}
    assert carried == {f"memoryreview/help/{folder}{name}.md" for folder in ("", "zh_Hans/") for name in NAMES}


def test_a_block_tells_what_a_translation_has_to_keep() -> None:
    [_, said, _] = blocks("**Press** `x`, see [keys](/help/keys): 1,000 at most.")

    assert said == Block("text", ("x",), ("/help/keys",), 1, "Press , see keys: 1,000 at most.", ("Press",))
    assert said.numbers == Counter({"1,000": 1})
    assert said.is_prose
    assert [block.form for block in blocks("[[states]]")][1] == "[[states]]"
