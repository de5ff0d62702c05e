"""`python -m tests.e2e.pictures [FOLDER]`: a picture of every page of the demo in each look, for people to look at.

Pages are found by following links, so a new page needs no entry here. States that take a press (a second press, what
was refused, what was done) are photographed by test_axe.py, into `artefacts/`.
"""

from __future__ import annotations

import argparse
import html
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import BrowserContext, sync_playwright

from tests.e2e.conftest import CHROMIUM, FLAGS
from tests.server import free_port
from tests.template import ROOT, own_environment

LOOKS: dict[str, dict[str, Any]] = {
    "light": {"color_scheme": "light"},
    "dark": {"color_scheme": "dark"},
    "400": {"viewport": {"width": 400, "height": 860}},
    "400-dark": {"viewport": {"width": 400, "height": 860}, "color_scheme": "dark"},
    "320": {"viewport": {"width": 320, "height": 700}},
    "2560": {"viewport": {"width": 2560, "height": 1300}},
    "forced": {"forced_colors": "active"},
    "print": {},
}
STARTS = (
    *("/", "/proved/", "/views/", "/adopt/", "/search/?q=staging", "/batch?proposal=8&proposal=24", "/no-such-page"),
    *("/stores/acme-web/compare", "/stores/acme-web/erase", "/proposals/31?compare=1-2"),
)
"""Pages to which a form leads, or nothing; the others are linked from these."""
_SORTS = (
    (r"[0-9a-f]{40}", "*"),
    (r"^/(stores|settings|teams)/[^/]+/", r"/\1/*/"),
    (r"^/stores/\*/.+\.md$", "/stores/*/*.md"),
    (r"^/proposals/\d+/", "/proposals/*/"),
)
_TELLING = ("view", "layout", "compare", "show")
"""Parameters that make another page of the same address; the others choose among the same."""


def main() -> None:
    made = argparse.ArgumentParser(description=__doc__)
    made.add_argument("folder", type=Path, nargs="?", default=Path(__file__).parent / "artefacts" / "demo")
    made.add_argument("--looks", nargs="+", choices=LOOKS, default=["light", "dark", "400"])
    made.add_argument("--only", default="", help="a pattern that the address must contain")
    options = made.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    with _demo() as (url, password), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        found: list[str] = []
        for look in options.looks:
            context = browser.new_context(**({"viewport": {"width": 1440, "height": 900}} | LOOKS[look]))
            _sign_in(context, url, password)
            found = found or [path for path in _pages(context, url) if re.search(options.only, path)]
            _photograph(context, url, found, look, options.folder)
            context.close()
        browser.close()
    sys.stdout.write(f"{len(found) * len(options.looks)} pictures in {options.folder}\n")


@contextmanager
def _demo() -> Iterator[tuple[str, str]]:
    """Run the demo; yield its address and the password."""
    process = subprocess.Popen(
        [sys.executable, "-m", "memoryreview", "demo", "--no-open", "--port", str(free_port())],
        cwd=ROOT,
        env=own_environment(),
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        greeting = ""
        while "Stop with" not in greeting:
            line = process.stdout.readline() if process.stdout else ""
            if not line:
                raise SystemExit("The demo did not start.")
            greeting += line
        url, password = re.search(r"is up: (\S+)/$", greeting, re.M), re.search(r"password (\S+)", greeting)
        assert url is not None, greeting
        assert password is not None, greeting
        yield url[1], password[1]
    finally:
        process.terminate()
        process.communicate()


def _sign_in(context: BrowserContext, url: str, password: str) -> None:
    page = context.new_page()
    page.goto(f"{url}/sign-in")
    page.fill("[name=username]", "ana")
    page.fill("[name=password]", password)
    page.press("[name=password]", "Enter")
    page.wait_for_url(f"{url}/")
    page.close()


def _pages(context: BrowserContext, url: str) -> list[str]:
    """Follow links from the first pages; of pages that differ in an id or a name only, the first one."""
    seen: set[tuple[str, ...]] = set()
    found: list[str] = []
    waiting = list(STARTS)
    while waiting:
        path = waiting.pop(0)
        if _shape(path) in seen:
            continue
        seen.add(_shape(path))
        answer = context.request.get(url + path)
        if "html" in answer.headers["content-type"]:
            found.append(path)
            waiting += [html.unescape(link) for link in re.findall(r'href="(/[^"#]*)', answer.text())]
    return found


def _shape(path: str) -> tuple[str, ...]:
    """Return what a page has in common with others of its sort. Each proposal is a sort of its own."""
    split = urlsplit(path)
    said = parse_qs(split.query)
    place = split.path
    for names, sort in _SORTS:
        place = re.sub(names, sort, place)
    telling = [f"{name}={said[name][0]}" for name in _TELLING if name in said]
    if place.startswith("/proposals/"):
        telling = [one for one in telling if not one.startswith("show=")]
    if telling:
        place = re.sub(r"\d+$", "*", place)
    return place, *telling


def _photograph(context: BrowserContext, url: str, paths: list[str], look: str, folder: Path) -> None:
    page = context.new_page()
    if look == "print":
        page.emulate_media(media="print")
    for path in paths:
        page.goto(url + path)
        name = re.sub(r"[^\w.=-]+", "-", path.strip("/")) or "queue"
        page.screenshot(path=folder / f"{name[:80]}-{look}.png", full_page=True)
    page.close()


if __name__ == "__main__":
    main()
