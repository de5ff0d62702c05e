"""A running memoryreview and a real browser in front of it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.server import Browser as HttpClient
from tests.server import Installation, installation

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
REQUIRED = bool(os.environ.get("MEMORYREVIEW_REQUIRE_CHROMIUM"))
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

expect.set_options(timeout=30_000)  # ms; a slow machine is no fault


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for test in items:
        if "tests/e2e/" not in test.nodeid:
            continue
        test.add_marker(pytest.mark.e2e)
        test.add_marker(pytest.mark.xdist_group("e2e"))
        if CHROMIUM is None and not REQUIRED:
            test.add_marker(pytest.mark.skip(reason="Chromium is not installed (Debian: apt-get install chromium)"))


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    """The browser of all tests in this folder. Its event loop ends with them: Django asks no database beside one."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with installation(tmp_path_factory.mktemp("site"), is_migrated=True) as one:
        yield Site(one)
        one.stop()


class Site:
    """One installation with an owner and an agent; each test adopts a store of its own."""

    def __init__(self, one: Installation) -> None:
        self.one = one
        one.up()
        HttpClient(one).become_owner()
        self.url = f"http://127.0.0.1:{one.port}"
        self.token: str = one.json("agent", "add", "claude")["token"]
        self.other: str = one.json("agent", "add", "codex")["token"]

    def adopt(self, name: str, **files: str) -> Path:
        return self.one.store(name, **files)

    def propose(self, store: str, *operations: dict[str, Any], token: str = "", **said: Any) -> int:
        status, answer = self.one.post(
            "/api/v1/proposals", {"store": store, "operations": list(operations), **said}, token or self.token
        )
        assert status in (201, 202), answer
        number: int = answer["id"]
        return number

    def revise(self, pk: int, store: str, *operations: dict[str, Any]) -> None:
        body = {"store": store, "operations": list(operations)}
        status, answer = self.one.post(f"/api/v1/proposals/{pk}", body, self.token, "PUT")
        assert status in (200, 202), answer

    def state(self, pk: int) -> str:
        state: str = self.one.json("show", str(pk))["state"]
        return state


def edit(path: str, old: str, new: str) -> dict[str, Any]:
    return {"op": "edit", "path": path, "edits": [{"old": old, "new": new}]}


@pytest.fixture
def context(chromium: Browser, site: Site, request: pytest.FixtureRequest) -> Iterator[BrowserContext]:
    """A signed-in browser profile. Parametrise it indirectly with `new_context` options such as the colour scheme."""
    options: dict[str, Any] = getattr(request, "param", {})
    context = chromium.new_context(**({"viewport": {"width": 1440, "height": 900}} | options))
    page = context.new_page()
    page.goto(f"{site.url}/sign-in")
    page.fill("[name=username]", "olga")
    page.fill("[name=password]", "a long enough phrase")
    page.press("[name=password]", "Enter")
    page.wait_for_url(f"{site.url}/")
    page.close()
    yield context
    context.close()


@pytest.fixture
def page(context: BrowserContext, site: Site) -> Iterator[Page]:
    """A page that must stay silent: no script error, no refused resource, no request to anywhere else."""
    page = context.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: complaints.append(message.text) if _is_complaint(message.text) else None)
    page.on("request", lambda request: complaints.append(request.url) if not request.url.startswith(site.url) else None)
    yield page
    assert complaints == []


def _is_complaint(text: str) -> bool:
    return "Content Security Policy" in text or "Refused to" in text
