"""A mixed queue cleared by keyboard, in short; `python -m tests.bench keyboard` clears a hundred at a person's pace."""

from __future__ import annotations

from playwright.sync_api import Page

from tests.e2e.clearing import clear, fill
from tests.e2e.conftest import Site


def test_mixed_queue_is_cleared_without_a_mouse_a_wrong_target_or_a_lost_focus(page: Page, site: Site) -> None:
    acts = fill(site, "clearing", 12)

    figures = clear(site, page, "clearing", acts, pace_s=0)

    assert figures.recorded == figures.wanted
    assert {pk for pk, _, _ in figures.recorded} == set(acts)
    assert (figures.lost[:3], figures.moved[:5], figures.shift) == ([], [], 0)
    assert {site.state(pk) for pk, act in acts.items() if act == "ask"} == {"changes_requested"}
