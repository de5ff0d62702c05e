"""Help pages: Markdown files in the package, with tables from the code, rendered like any other text."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.text import slugify

from .help_tables import filled
from .markup import rendered

FOLDER = Path(__file__).resolve().parents[2] / "help"
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
    """A part of a page below a heading; `title` is "" before the first one."""

    anchor: str
    title: str
    html: SafeString


@dataclass(frozen=True, slots=True)
class HelpPage:
    name: str
    title: str
    url: str
    sections: tuple[HelpSection, ...]


@cache
def help_page(name: str) -> HelpPage | None:
    """Return a help page, None when there is none of that name."""
    if name not in NAMES:
        return None
    text = help_text(name)
    title = text.partition("\n")[0].removeprefix("# ")
    url = reverse("help") if name == NAMES[0] else reverse("help-page", args=[name])
    first, *others = text.split("\n## ")
    sections = [HelpSection(name, "", rendered(first))]
    for part in others:
        heading = part.partition("\n")[0]
        sections.append(HelpSection(f"{name}-{slugify(heading)}", heading.replace("`", ""), rendered(f"## {part}")))
    return HelpPage(name, title, url, tuple(sections))


def help_text(name: str) -> str:
    """Return a page as Markdown, its tables filled."""
    return filled((FOLDER / f"{name}.md").read_text(encoding="utf-8"))


def help_pages() -> tuple[HelpPage, ...]:
    return tuple(page for name in NAMES if (page := help_page(name)) is not None)
