"""`python -m tests.bench keyboard`: a hundred mixed proposals cleared by keyboard only, at a person's pace."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import sync_playwright

from tests.e2e.clearing import PACE_S, clear, fill
from tests.e2e.conftest import CHROMIUM, FLAGS, Site
from tests.server import installation

MAX_SECONDS = 180.0


def run(*, count: int) -> bool:
    with TemporaryDirectory() as folder, installation(Path(folder), is_migrated=True) as one:
        site = Site(one)
        acts = fill(site, "hundred", count)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
            page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
            page.goto(f"{site.url}/sign-in")
            page.fill("[name=username]", "olga")
            page.fill("[name=password]", "a long enough phrase")
            page.press("[name=password]", "Enter")
            page.wait_for_url(f"{site.url}/")
            figures = clear(site, page, "hundred", acts, pace_s=PACE_S)
            browser.close()
        one.stop()
    decided = len({pk for pk, _, _ in figures.recorded})
    allowed_s = MAX_SECONDS * count / 100
    print(f"{decided} of {count} proposals by {len(figures.recorded)} decisions")
    print(f"in {figures.seconds:.1f} s, at most {allowed_s:.0f}")
    print(f"wrong targets {figures.wrong}, focus lost {len(figures.lost)} times, layout shift {figures.shift:.4f}")
    print(f"answers that moved something later than 500 ms after their key: {figures.late}")
    for act, took_s in sorted(figures.took_s.items()):
        print(f"  {act}: {len(took_s)}, {sum(took_s) / len(took_s):.1f} s each before it is filled up to {PACE_S} s")
    passed = decided == count and figures.wrong == 0 and not figures.lost and figures.shift == 0
    passed = passed and figures.seconds <= allowed_s
    print("pass" if passed else f"FAIL {figures.lost[:5]} {figures.moved[:5]}")
    return passed
