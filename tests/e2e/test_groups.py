"""Alike proposals that stand folded, and proposals that are put aside, by keyboard."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Site, edit
from tests.e2e.test_flows import WATCH_SHIFTS, press


def alike(site: Site, store: str) -> list[int]:
    """Propose to replace one word in four documents, and a change of its own; return them in the order of the list."""
    names = ("alpha", "beta", "delta", "gamma")
    texts = {name: f"# {name}\n\n- The {name} job calls npm in its last step.\n" for name in names}
    site.adopt(store, **texts, rules="# Rules\n\n- Ask before a restart.\n")
    own = site.propose(store, edit("rules.md", "before a restart", "before each restart"))
    return [*reversed([site.propose(store, edit(f"{name}.md", "npm", "pnpm")) for name in names]), own]


def cursor(page: Page) -> int:
    """Return the row that has the focus and can be seen, 0 for none."""
    row = page.locator("[data-row]:focus:visible")
    return int(row.get_attribute("data-row") or 0) if row.count() else 0


def test_j_goes_through_a_folded_group_and_never_loses_the_focus(page: Page, site: Site) -> None:
    numbers = alike(site, "folded")
    page.goto(f"{site.url}/?store=folded")
    inside = page.locator("[data-alike] [data-row]")
    expect(inside).to_have_count(3)
    expect(inside.first).to_be_hidden()
    page.evaluate(WATCH_SHIFTS)
    page.locator(f"[data-row='{numbers[0]}']").focus()

    seen = [cursor(page)]
    for _ in numbers[1:]:
        press(page, "j")
        seen.append(cursor(page))
        expect(page.locator("#proposal")).to_have_attribute("data-id", str(seen[-1]))
    back = []
    for _ in numbers[1:]:
        press(page, "k")
        back.append(cursor(page))

    assert seen == numbers
    assert back == numbers[-2::-1]
    assert page.evaluate("window.shift ?? 0") == 0


def test_deciding_leads_from_the_first_into_its_group_and_out_of_it(page: Page, site: Site) -> None:
    numbers = alike(site, "through")
    page.goto(f"{site.url}/?store=through")
    page.locator(f"[data-row='{numbers[0]}']").focus()

    for left in (4, 3, 2, 1):
        press(page, "a")
        expect(page.locator("[data-row]")).to_have_count(left)
        expect(page.locator("#proposal")).to_have_attribute("data-id", str(numbers[-left]))
        expect(page.locator("[data-row]:focus")).to_have_attribute("data-row", str(numbers[-left]))
        assert cursor(page) == numbers[-left]
        expect(page.locator("[data-others]")).to_have_text([str(left - 1)] if left > 1 else [])

    assert {site.state(number) for number in numbers[:-1]} == {"applied"}


def test_all_that_are_alike_are_selected_by_one_key_and_approved_together(page: Page, site: Site) -> None:
    numbers = alike(site, "together")
    page.goto(f"{site.url}/?store=together")
    page.locator(f"[data-row='{numbers[0]}']").focus()

    press(page, "X")
    expect(page.locator("#status")).to_have_text("Selected all that are alike.")
    page.get_by_role("button", name="Look at the selected").click()
    page.get_by_role("button", name="Approve the ticked").click()

    expect(page.get_by_role("heading", name="4 of 4 approved")).to_be_visible()
    assert {site.state(number) for number in numbers[:-1]} == {"applied"}
    assert site.state(numbers[-1]) == "pending"


def test_a_box_of_all_ticks_each_and_is_ticked_while_each_is(page: Page, site: Site) -> None:
    numbers = alike(site, "ticked")
    page.goto(f"{site.url}/?store=ticked")
    every = page.get_by_label("all 4")
    boxes = [page.locator(f"#row-{number} input[name=proposal]") for number in numbers]

    every.check()
    assert [box.is_checked() for box in boxes] == [True, True, True, True, False]
    boxes[0].uncheck()
    expect(every).not_to_be_checked()
    assert [box.is_checked() for box in boxes] == [False, True, True, True, False]
    boxes[0].check()
    expect(every).to_be_checked()
    every.uncheck()
    assert not any(box.is_checked() for box in boxes)


@pytest.mark.parametrize("key", ["1", "2"])
def test_keys_put_a_proposal_aside_and_take_it_back(page: Page, site: Site, key: str) -> None:
    own = alike(site, f"aside{key}")[-1]
    page.goto(f"{site.url}/?store=aside{key}")
    page.locator(f"[data-row='{own}']").click()
    expect(page.locator("#proposal")).to_have_attribute("data-id", str(own))

    press(page, "s")
    expect(page.locator("input[name=until]").first).to_be_focused()
    press(page, key)
    page.keyboard.press("Enter")
    expect(page.locator("[data-toast]")).to_contain_text("Snoozed until")
    expect(page.locator(f"#row-{own}")).to_have_count(0)
    expect(page.locator("#proposal")).not_to_have_attribute("data-id", str(own))
    expect(page.locator("[data-keys]:focus, [data-keys] :focus")).to_have_count(1)
    page.keyboard.press("u")

    expect(page.locator("[data-toast]")).to_contain_text("It waits again")
    expect(page.locator(f"#row-{own}")).to_have_count(1)
    assert site.state(own) == "pending"
