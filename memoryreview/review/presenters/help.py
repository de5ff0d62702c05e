"""Help pages: Markdown files in the package, with tables from the code, rendered like any other text.

English pages lie in `help/`, those of another language in a folder below it, such as `help/zh_Hans/`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.text import slugify
from django.utils.translation import get_language, override, to_locale

from .help_tables import filled
from .markup import rendered

FOLDER = Path(__file__).resolve().parents[2] / "help"
ENGLISH = "en"
ALL = "all"
"""Name of the address that shows every page at once, for the browser's own search."""

# In the order of the menu; the first is the start page.
NAMES = (
    "start",
    "queue",
    "classes",
    "life",
    "scanners",
    "settings",
    "keys",
    "commands",
    "agents",
    "stores",
    "history",
    "rollback",
    "erase",
    "tidy",
    "teams",
    "digest",
    "limits",
    "errors",
)


@dataclass(frozen=True, slots=True)
class HelpSection:
    """A part of a page below a heading; `title` is "" before the first one.

    Anchors come from the English headings, so that an address leads to the same part in each language.
    """

    anchor: str
    title: str
    html: SafeString


@dataclass(frozen=True, slots=True)
class HelpPage:
    """One page. `lang` is the language of its text as HTML names it: English where no translation is there."""

    name: str
    title: str
    url: str
    lang: str
    is_translated: bool
    sections: tuple[HelpSection, ...]


def help_page(name: str) -> HelpPage | None:
    """Return a help page in the language of the request, None when there is none of that name."""
    return _page(name, get_language() or ENGLISH) if name in NAMES else None


def help_pages() -> tuple[HelpPage, ...]:
    return tuple(page for name in NAMES if (page := help_page(name)) is not None)


@cache
def _page(name: str, asked: str) -> HelpPage:
    language = asked if page_path(name, asked).is_file() else ENGLISH
    text = help_text(name, language)
    first, *others = text.split("\n## ")
    sections = [HelpSection(name, "", rendered(first))]
    for anchor, part in zip(_anchors(name), others, strict=True):
        heading = part.partition("\n")[0]
        sections.append(HelpSection(anchor, heading.replace("`", ""), rendered(f"## {part}")))
    return HelpPage(
        name=name,
        title=text.partition("\n")[0].removeprefix("# "),
        url=reverse("help") if name == NAMES[0] else reverse("help-page", args=[name]),
        lang=to_locale(language).replace("_", "-"),
        is_translated=language == asked,
        sections=tuple(sections),
    )


def page_path(name: str, language: str) -> Path:
    """Return where a page stands, or would stand, in a language as Django names it."""
    return (FOLDER if language == ENGLISH else FOLDER / to_locale(language)) / f"{name}.md"


def help_text(name: str, language: str = ENGLISH) -> str:
    """Return a page as Markdown, its tables filled in the same language."""
    with override(language):
        return filled(page_path(name, language).read_text(encoding="utf-8"))


def _anchors(name: str) -> list[str]:
    lines = page_path(name, ENGLISH).read_text(encoding="utf-8").split("\n")
    return [f"{name}-{slugify(line[3:])}" for line in lines if line.startswith("## ")]
