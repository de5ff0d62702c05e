"""Browsers of other people, and a store with something in it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client

from memoryreview.review.models import Store
from memoryreview.review.views import throttle
from tests.conftest import PASSWORD, MakeStore

BUILD = "# Build\n\n## Tools\n\nUse npm for everything.\nThe port is 5432.\n\n## Why\n\nCI caches the npm store.\n"
GIT = "# Git\n\n- Never force-push to main.\n- Rebase before review.\n"

Browser = Callable[[User], Client]


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """What the wrong passwords of one test cost is nothing to the next."""
    standing = Clock()
    monkeypatch.setattr(throttle, "passwords", throttle.Throttle(standing))
    return standing


@pytest.fixture
def browser() -> Browser:
    """Sign a person in as a browser does."""

    def sign_in(person: User) -> Client:
        client = Client()
        client.post("/sign-in", {"username": person.username, "password": PASSWORD})
        return client

    return sign_in


@pytest.fixture
def store(make_store: MakeStore) -> Store:
    return make_store({"build.md": BUILD, "git.md": GIT})
