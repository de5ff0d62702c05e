"""Help pages: Markdown files in the package, rendered like any other text."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from django.urls import reverse
from django.utils.safestring import SafeString

from .markup import rendered

FOLDER = Path(__file__).resolve().parents[2] / "help"
# In the order of the menu; the first is the start page.
NAMES = (
    "start",
    "queue",
    "classes",
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
class HelpPage:
    name: str
    title: str
    url: str
    html: SafeString


@cache
def help_page(name: str) -> HelpPage | None:
    """Return a help page, None when there is none of that name."""
    if name not in NAMES:
        return None
    text = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
    title = text.partition("\n")[0].removeprefix("# ")
    url = reverse("help") if name == NAMES[0] else reverse("help-page", args=[name])
    return HelpPage(name, title, url, rendered(text))


def help_pages() -> tuple[HelpPage, ...]:
    return tuple(page for name in NAMES if (page := help_page(name)) is not None)
