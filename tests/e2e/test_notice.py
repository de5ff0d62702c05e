"""A page that stays open tells what came, and what is not known while the server is silent."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route, expect

from tests.e2e.conftest import Site, edit

NOTE = "- Port 5000.\n- Mail goes to the sink.\n"
RECORD = """
    window.told = [];
    window.Notification = class {
        static permission = "default";
        static async requestPermission() { return (this.permission = "granted"); }
        constructor(title, { body, tag }) { window.told.push([title, body, tag]); }
    };
    document.hasFocus = () => false;
"""
Gone = Callable[[Route], None]


@pytest.fixture
def pk(site: Site, request: pytest.FixtureRequest) -> int:
    name = re.sub("[^a-z]+", "-", request.node.name)[:40].strip("-")
    site.adopt(name, ports=NOTE)
    return site.propose(name, edit("ports.md", "5000", "6000"))


def _counted(page: Page) -> int:
    return int(page.locator("#count").inner_text())


def test_title_icon_and_desktop_tell_of_what_comes_while_another_page_is_open(page: Page, site: Site, pk: int) -> None:
    page.add_init_script(RECORD)
    page.goto(f"{site.url}/settings/")
    before = _counted(page)
    expect(page).to_have_title(f"({before}) Settings · memoryreview")
    switch = page.get_by_role("button", name="Notify me on this desktop")
    switch.click()
    expect(page.get_by_role("button", name="Stop notifying me on this desktop")).to_have_attribute(
        "aria-pressed", "true"
    )

    store = site.one.json("show", str(pk))["store"]
    site.propose(store, edit("ports.md", "the sink", "a secret place"))

    expect(page).to_have_title(f"({before + 1}) Settings · memoryreview")
    assert page.locator("link[rel=icon]").get_attribute("href") == f"/badge/{before + 1}.svg"
    words = f"{before + 1} proposals wait for you."
    assert page.evaluate("window.told") == [["memoryreview", words, "memoryreview"]]


def test_answer_that_was_lost_is_looked_up_before_anything_can_be_pressed(page: Page, site: Site, pk: int) -> None:
    def lose(route: Route) -> None:
        route.fetch()
        route.abort()

    page.route("**/approve", lose)
    page.goto(f"{site.url}/proposals/{pk}")
    page.locator("[data-act=approve]").click()

    expect(page.locator("#alert")).to_contain_text("decided or changed meanwhile")
    assert site.state(pk) == "applied"
    expect(page.locator("[data-act=approve]")).to_have_count(0)


def test_silent_server_locks_the_buttons_and_keeps_what_was_typed(page: Page, site: Site, pk: int) -> None:
    page.goto(f"{site.url}/proposals/{pk}")
    page.locator("summary", has_text="Reject").click()
    page.locator("#reject-note").fill("not what was agreed")
    page.route(f"{site.url}/**", lambda route: route.abort())
    page.get_by_role("button", name="Reject Enter").click()

    expect(page.locator("#alert")).to_contain_text("not known yet")
    expect(page.locator("[data-act=approve]")).to_be_disabled()
    page.locator("#reject-note").press("Control+Enter")
    page.unroute(f"{site.url}/**")

    expect(page.locator("#alert")).to_contain_text("Nothing was decided; press again.")
    expect(page.locator("[data-act=approve]")).to_be_enabled()
    assert page.locator("#reject-note").input_value() == "not what was agreed"
    assert site.state(pk) == "pending"
