"""Browsers of other people, and a store with something in it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client

from memoryreview.review.models import Store
from tests.conftest import PASSWORD, MakeStore

BUILD = "# Build\n\n## Tools\n\nUse npm for everything.\nThe port is 5432.\n\n## Why\n\nCI caches the npm store.\n"
GIT = "# Git\n\n- Never force-push to main.\n- Rebase before review.\n"

Browser = Callable[[User], Client]


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
