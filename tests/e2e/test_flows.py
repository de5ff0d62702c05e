"""What a person does, by keyboard and by mouse, in Chromium."""

from __future__ import annotations

from playwright.sync_api import BrowserContext, Page, expect

from tests.e2e.conftest import Site, edit

PORTS = (
    "# Ports\n\n" + "".join(f"- Service {n} listens on {5000 + n}.\n" for n in range(6)) + "\nMail goes to the sink.\n"
)

WATCH_SHIFTS = """
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) window.shift = (window.shift ?? 0) + (entry.hadRecentInput ? 0 : entry.value);
}).observe({type: "layout-shift", buffered: true})
"""


def focused(page: Page) -> str:
    found: str = page.evaluate("document.activeElement.closest('[data-keys]')?.dataset.keys ?? ''")
    return found


def settled(page: Page) -> None:
    """Wait until the pane shows the answer of the last key, and what the cursor in the list stands on."""
    expect(page.locator("#proposal[aria-busy=true], .htmx-request")).to_have_count(0)
    expect(page.locator("[data-row]:focus:not([aria-current=true])")).to_have_count(0)


def press(page: Page, key: str) -> None:
    page.keyboard.press(key)
    settled(page)


def test_queue_of_five_is_cleared_by_keyboard_only(page: Page, site: Site) -> None:
    root = site.adopt("five", ports=PORTS)
    lines = [f"Service {n} listens on {{}}." for n in range(4)]
    numbers = [
        site.propose("five", edit("ports.md", line.format(5000 + n), line.format(6000 + n)))
        for n, line in enumerate(lines)
    ]
    deletion = site.propose("five", edit("ports.md", "- Service 5 listens on 5005.\n", ""))
    page.goto(f"{site.url}/?store=five")
    expect(page.locator("[data-row]")).to_have_count(5)
    page.evaluate(WATCH_SHIFTS)

    press(page, "?")
    expect(page.locator("dialog[open]")).to_be_visible()
    press(page, "Escape")
    expect(page.locator("#proposal")).to_have_attribute("data-id", str(deletion))
    press(page, "a")
    expect(page.get_by_role("button", name="Approve deletion")).to_be_focused()
    assert site.state(deletion) == "pending"
    press(page, "Enter")
    expect(page.locator("[data-row]")).to_have_count(4)
    assert focused(page) == "list"
    for key in ("j", "k", "a"):
        press(page, key)
    expect(page.locator("[data-row]")).to_have_count(3)
    for key in ("r", "Space", "Enter"):
        press(page, key)
    expect(page.locator("[data-row]")).to_have_count(2)
    press(page, "u")
    expect(page.locator("[data-row]")).to_have_count(3)
    press(page, "e")
    page.wait_for_url("**/edit*")
    page.keyboard.press("Control+End")
    page.keyboard.type("Edited by a person.")
    page.keyboard.press("Control+Enter")
    page.wait_for_url(lambda url: "/edit" not in url)
    page.goto(f"{site.url}/?store=five")
    while page.locator("[data-row]").count():
        left = page.locator("[data-row]").count()
        press(page, "a")
        if page.get_by_role("button", name="Approve deletion").count():
            press(page, "Enter")
        expect(page.locator("[data-row]")).to_have_count(left - 1)

    assert page.evaluate("window.shift ?? 0") == 0
    assert {site.state(number) for number in [*numbers, deletion]} == {"applied"}
    text = root.joinpath("ports.md").read_text()
    assert "6000" in text
    assert "5005" not in text
    assert "Edited by a person." in text


def test_toast_undoes_an_approval(page: Page, site: Site) -> None:
    root = site.adopt("undo", ports=PORTS)
    pk = site.propose("undo", edit("ports.md", "the sink", "the relay"))
    page.goto(f"{site.url}/proposals/{pk}")

    page.get_by_role("button", name="Approve").click()
    expect(page.locator("[data-toast]")).to_contain_text("Approved")
    assert "the relay" in root.joinpath("ports.md").read_text()
    page.locator("[data-toast]").get_by_role("button", name="Undo").click()
    expect(page.locator("[data-toast]")).to_contain_text("Rolled back")

    assert root.joinpath("ports.md").read_text() == PORTS
    assert site.state(pk) == "rolled_back"


def test_history_rolls_back_with_one_click(page: Page, site: Site) -> None:
    root = site.adopt("history", ports=PORTS.replace("5000", "5000 since 13/04/2025"))
    site.propose("history", edit("ports.md", "13/04/2025", "2025-04-13"))
    oid = site.one.json("history", "history")[0]["oid"]
    page.goto(f"{site.url}/history/?store=history")

    page.goto(f"{site.url}/changes/{oid}")
    page.get_by_role("button", name="Roll back").first.click()
    page.wait_for_load_state()

    assert "13/04/2025" in root.joinpath("ports.md").read_text()
    assert [row["kind"] for row in site.one.json("history", "history")] == ["rollback", "auto", "adopt"]


def test_a_line_is_led_back_by_keyboard(page: Page, site: Site) -> None:
    site.adopt("blame", ports=PORTS)
    pk = site.propose("blame", edit("ports.md", "the sink", "the relay"), source={"session": "5d0c"})
    page.goto(f"{site.url}/proposals/{pk}")
    page.get_by_role("button", name="Approve").click()
    expect(page.locator("[data-toast]")).to_contain_text("Approved")
    page.goto(f"{site.url}/stores/blame/ports.md")
    page.get_by_role("link", name="Blame", exact=True).focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**view=blame")

    page.get_by_role("link", name="Where line 10 comes from", exact=True).focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**#origin")
    expect(page.locator("#origin")).to_contain_text("session 5d0c")
    expect(page.locator("#origin")).to_contain_text("olga approved")
    page.keyboard.press("Tab")
    expect(page.locator("#origin a").first).to_be_focused()
    page.get_by_role("link", name="History of this entry").click()

    expect(page.locator(".label").first).to_have_text("rewrote it")
    expect(page.locator("ins")).to_have_text("relay")


def test_stale_page_writes_nothing_and_shows_both_versions(page: Page, site: Site) -> None:
    root = site.adopt("stale", ports=PORTS)
    first = site.propose("stale", edit("ports.md", "the sink", "the relay"))
    second = site.propose("stale", edit("ports.md", "the sink", "the archive"), token=site.other)
    page.goto(f"{site.url}/proposals/{second}")
    tab = page.context.new_page()
    tab.goto(f"{site.url}/proposals/{first}")
    tab.get_by_role("button", name="Approve").click()
    expect(tab.locator("[data-toast]")).to_be_visible()

    page.get_by_role("button", name="Approve").click()

    expect(page.locator("#proposal [role=alert]")).to_contain_text("same lines")
    expect(page.locator("#proposal")).to_contain_text("the relay")
    assert "the relay" in root.joinpath("ports.md").read_text()
    assert site.state(second) == "pending"


def test_two_tabs_make_one_commit(context: BrowserContext, site: Site) -> None:
    site.adopt("tabs", ports=PORTS)
    pk = site.propose("tabs", edit("ports.md", "the sink", "the relay"))
    tabs = [context.new_page() for _ in range(2)]
    for tab in tabs:
        tab.goto(f"{site.url}/proposals/{pk}")

    for tab in tabs:
        tab.get_by_role("button", name="Approve").dblclick()
        settled(tab)

    assert site.state(pk) == "applied"
    assert [row["kind"] for row in site.one.json("history", "tabs")] == ["approved", "adopt"]


def test_rejecting_what_another_tab_approved_tells_the_truth(context: BrowserContext, site: Site) -> None:
    root = site.adopt("truth", ports=PORTS)
    pk = site.propose("truth", edit("ports.md", "the sink", "the relay"))
    approving, rejecting = context.new_page(), context.new_page()
    for tab in (approving, rejecting):
        tab.goto(f"{site.url}/proposals/{pk}")
    approving.get_by_role("button", name="Approve").click()
    expect(approving.locator("[data-toast]")).to_be_visible()

    rejecting.locator("#content").focus()
    rejecting.keyboard.press("r")
    rejecting.keyboard.press("Control+Enter")

    expect(rejecting.locator("[role=alert]").first).to_contain_text("already applied")
    assert "the relay" in root.joinpath("ports.md").read_text()


def test_rollback_under_a_later_edit_offers_both_ways_out(page: Page, site: Site) -> None:
    root = site.adopt("ways", ports=PORTS)
    for old, new in [("the sink", "the relay"), ("the relay", "the archive")]:
        pk = site.propose("ways", edit("ports.md", old, new))
        page.goto(f"{site.url}/proposals/{pk}")
        page.get_by_role("button", name="Approve").click()
        expect(page.locator("[data-toast]")).to_contain_text("Approved")
    first = site.one.json("history", "ways")[1]["oid"]
    page.goto(f"{site.url}/changes/{first}")

    expect(page.locator("main")).to_contain_text("by hand")
    page.get_by_role("button", name="together").click()
    page.wait_for_load_state()

    assert root.joinpath("ports.md").read_text() == PORTS


def test_new_proposals_appear_without_a_reload_and_move_nothing(page: Page, site: Site) -> None:
    site.adopt("live", ports=PORTS)
    site.propose("live", edit("ports.md", "5000", "6000"))
    page.goto(f"{site.url}/")
    before = page.locator("[data-row]").first.bounding_box()

    site.propose("live", edit("ports.md", "5001", "6001"))

    expect(page.locator("#fresh")).to_contain_text("1 new proposal, load", timeout=60_000)
    assert page.locator("[data-row]").first.bounding_box() == before
    page.locator("#fresh a").click()
    expect(page.locator("#rows")).to_contain_text("6001")


def test_single_keys_can_be_switched_off(page: Page, site: Site) -> None:
    site.adopt("keys", ports=PORTS)
    pk = site.propose("keys", edit("ports.md", "the sink", "the relay"))
    page.goto(f"{site.url}/proposals/{pk}")
    page.evaluate("localStorage.setItem('memoryreview.single-keys', 'off')")

    page.keyboard.press("a")
    page.wait_for_timeout(500)

    assert site.state(pk) == "pending"


def test_every_decision_works_without_javascript(chromium: object, site: Site, context: BrowserContext) -> None:
    root = site.adopt("plain", ports=PORTS)
    ids = [site.propose("plain", edit("ports.md", f"{5000 + n}", f"{6000 + n}")) for n in range(2)]
    plain = context.browser.new_context(java_script_enabled=False, storage_state=context.storage_state())  # type: ignore[union-attr]
    page = plain.new_page()

    page.goto(f"{site.url}/proposals/{ids[0]}")
    page.get_by_role("button", name="Approve").click()
    page.goto(f"{site.url}/proposals/{ids[1]}")
    page.locator("summary", has_text="Reject").click()
    page.locator(".sheet__body").get_by_role("button", name="Reject").click()
    plain.close()

    assert [site.state(pk) for pk in ids] == ["applied", "rejected"]
    assert "6000" in root.joinpath("ports.md").read_text()
